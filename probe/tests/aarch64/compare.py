#!/usr/bin/env python3
"""Compares two reports, each a document of `fpprobe judge --format json` of one device.

    compare.py bits ONE OTHER ONE.same OTHER.same   leaves the kernels that give the same bits, to be judged again
    compare.py verdicts ONE OTHER                   exit status 1 unless both were judged the same
"""

import json
import sys

# What judging says of a device; everything else is what the device is, or what it did.
JUDGED = ("traits", "causes", "profiles", "findings", "answers", "texels")


def read(path):
    """A report and its device, whose observations hold inputs and results themselves."""
    with open(path) as file:
        report = json.load(file)
    (device,) = report["devices"]
    results = {}
    for one in device["observations"]:
        if isinstance(one.get("in"), str):
            one["in"] = report["inputs"][one["in"]]
        if isinstance(one.get("out"), dict):
            one["out"] = results[one["out"]["same_as"]]
        results[one["kernel"]] = one.get("out")
    return report, device


def bits(one, other, *left):
    sides = [read(path) for path in (one, other)]
    measured = [{one["kernel"]: one for one in device["observations"]} for _, device in sides]
    kernels = measured[0].keys() | measured[1].keys()
    same = {kernel for kernel in kernels if measured[0].get(kernel) == measured[1].get(kernel)}
    for path, (report, device) in zip(left, sides):
        device["observations"] = [one for one in device["observations"] if one["kernel"] in same]
        with open(path, "w") as file:
            json.dump(report, file)
    print(f"{len(same)} of {len(kernels)} kernels give the same bits, all but:", *sorted(kernels - same))
    return 0 if 2 * len(same) >= len(kernels) else "less than half of the kernels are the same: little would be compared"


def verdicts(*paths):
    one, other = (read(path)[1] for path in paths)
    # A part without content is left out.
    differ = [part for part in JUDGED if one.get(part) != other.get(part)]
    return f"the same bits are judged differently: {', '.join(differ)}" if differ else 0


if __name__ == "__main__":
    sys.exit({"bits": bits, "verdicts": verdicts}[sys.argv[1]](*sys.argv[2:]))
