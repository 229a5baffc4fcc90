#!/usr/bin/env python3
"""Compares two folders of `fpprobe run --dump-raw` byte by byte, and what `fpprobe diff --format json` says with that.

    compare.py OLD NEW                                  the differing inputs, counted by kernel, as JSON
    compare.py OLD NEW --diff DIFF.json --report NEW.json
                                                        exit status 1 unless the diff names exactly these inputs

OLD and NEW are the folders of one device each. Nothing of fpprobe's reports goes into the comparison: a report only tells
which inputs belong to the number of a case.
"""

import argparse
import json
import os
import sys
from collections import Counter



def read(path):
    """Head and results of a file: for each case a tuple of numbers."""
    with open(path, "rb") as file:
        head = json.loads(file.readline())
        columns = []
        for part in head["parts"]:
            bytes_ = file.read(part["bytes"])
            columns.append((part, bytes_))
    cases = []
    for slot in head["slots"]:
        values = []
        for part, bytes_ in columns:
            for component in range(part["components"]):
                at = slot * part["stride"] + component * part["size"]
                values.append(int.from_bytes(bytes_[at : at + part["size"]], "little"))
        cases.append(tuple(values))
    return head, cases


# Numbers of the second run: by the first one's pipeline, and of commands, which have none.
SECOND = (2, 1)


def runs(folder, kernel):
    """The files of a kernel's first run and its second; those of the kernel by itself, where its results depend on others."""
    for asked in (".2", ""):
        paths = [os.path.join(folder, f"{kernel}.run{run}{asked}.raw") for run in (0, *SECOND)]
        paths = [path for path in paths if os.path.exists(path)][:2]
        if len(paths) == 2:
            return paths
    return paths


def kernels(folder):
    """Kernels of which both runs are there."""
    ending = ".run0.raw"
    names = set(os.listdir(folder))
    found = (name[: -len(ending)] for name in names if name.endswith(ending))
    return {name for name in found if any(f"{name}.run{run}.raw" in names for run in SECOND)}


def differing(old, new):
    """For each kernel in both folders the cases whose results differ: number, and both runs before and now."""
    changes, others = {}, []
    for kernel in sorted(kernels(old) & kernels(new)):
        sides = [[read(path) for path in runs(folder, kernel)] for folder in (old, new)]
        heads = [side[0][0] for side in sides]
        if heads[0]["inputs"] != heads[1]["inputs"]:
            others.append(kernel)
            continue
        answers = [list(zip(side[0][1], side[1][1])) for side in sides]
        cases = [(case, before, now) for case, (before, now) in enumerate(zip(*answers)) if before != now]
        if cases:
            changes[kernel] = cases
    return changes, others


def numbers(value):
    """The numbers of a value of a report, in order."""
    return (int(value, 16),) if isinstance(value, str) else tuple(one for part in value for one in numbers(part))


def named_by_diff(path, slot):
    """What the diff names: for each kernel the changed inputs with both answers; and kernels without answers."""
    with open(path) as file:
        devices = json.load(file)["devices"]
    changes, unanswered = {}, set()
    for device in devices:
        if slot and device["slot"] != slot:
            continue
        for change in (change for change in device["changes"] if change["subject"] == "kernel"):
            if "lanes" not in change:
                unanswered.add(change["id"])
                continue
            lanes = changes.setdefault(change["id"], Counter())
            for lane in change["lanes"]["changed"]:
                before, now = numbers(lane["old"]), numbers(lane["new"])
                again = numbers(lane.get("old_second", lane["old"])), numbers(lane.get("new_second", lane["new"]))
                lanes[json.dumps(lane["in"]), (before, again[0]), (now, again[1])] += 1
    changes = {kernel: lanes for kernel, lanes in changes.items() if lanes}
    return changes, unanswered


def inputs_of(path, slot):
    """For each kernel of a report its list of inputs."""
    with open(path) as file:
        report = json.load(file)
    devices = [device for device in report["devices"] if not slot or device["slot"] == slot]
    asked = {one["kernel"]: one["in"] for device in devices for one in device["observations"]}
    return lambda kernel: report["inputs"][asked[kernel]] if isinstance(asked[kernel], str) else asked[kernel]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--diff")
    parser.add_argument("--report")
    parser.add_argument("--slot")
    options = parser.parse_args()
    changes, others = differing(options.old, options.new)
    result = {
        "compared": len(kernels(options.old) & kernels(options.new)),
        "asked_otherwise": others,
        "kernels": len(changes),
        "inputs": sum(map(len, changes.values())),
    }
    if not options.diff:
        result["by_kernel"] = {kernel: len(cases) for kernel, cases in changes.items()}
        print(json.dumps(result, indent=1))
        return 0
    named, unanswered = named_by_diff(options.diff, options.slot)
    inputs = inputs_of(options.report, options.slot)
    found = {}
    for kernel, cases in changes.items():
        if kernel not in unanswered:
            asked = inputs(kernel)
            found[kernel] = Counter((json.dumps(asked[case]), before, now) for case, before, now in cases)
    wrong = sorted(kernel for kernel in named.keys() | found.keys() if named.get(kernel) != found.get(kernel))
    result["named_by_diff"] = sum(sum(lanes.values()) for lanes in named.values())
    result["without_answers_once"] = sorted(changes.keys() & unanswered)
    result["wrong"] = wrong
    print(json.dumps(result, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
