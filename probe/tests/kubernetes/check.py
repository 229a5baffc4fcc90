"""Checks manifests of Kubernetes without a cluster.

check.py FILE... prints as JSON `problems`, what the schemas of Kubernetes or the rules below refuse,
and `commands`, what each container runs. The rules are those of the pod security standard
`restricted`, and a read-only root; a container that writes a folder of the node may be its root.
"""

import json
import sys

import kubernetes_validate
import yaml

PODS = {"DaemonSet": ["spec", "template", "spec"], "Job": ["spec", "template", "spec"], "Pod": ["spec"]}


def refused(pod, container):
    """What of a container is not confined."""
    context = pod.get("securityContext", {}) | container.get("securityContext", {})
    folders = {volume["name"]: "hostPath" in volume for volume in pod.get("volumes", [])}
    mounts = container.get("volumeMounts", [])
    writes_node = any(folders[mount["name"]] and not mount.get("readOnly") for mount in mounts)
    opens_device = any("/" in name for name in container.get("resources", {}).get("limits", {}))
    yield not (context.get("runAsNonRoot") and context.get("runAsUser")) and not writes_node, "is root"
    yield writes_node and opens_device, "writes a folder of the node and opens a device"
    yield context.get("readOnlyRootFilesystem") is not True, "has a root that can be written"
    yield context.get("allowPrivilegeEscalation") is not False, "may gain privileges"
    yield context.get("privileged", False), "is privileged"
    yield context.get("capabilities") != {"drop": ["ALL"]}, "has capabilities"
    yield context.get("seccompProfile") != {"type": "RuntimeDefault"}, "has no seccomp profile"
    yield "memory" not in container.get("resources", {}).get("limits", {}), "has no limit of memory"
    yield "cpu" not in container.get("resources", {}).get("requests", {}), "requests no processor"


problems, commands = [], []
for path in sys.argv[1:]:
    for document in yaml.safe_load_all(open(path, encoding="utf-8")):
        name = f"{path.rsplit('/', 1)[-1]}: {document['kind']} {document['metadata']['name']}"
        try:
            kubernetes_validate.validate(document, "1.32", strict=True)
        except kubernetes_validate.ValidationError as error:
            problems.append(f"{name}: {error.message}")
        pod = document
        for key in PODS.get(document["kind"], ["spec"]):
            pod = pod.get(key, {})
        if "containers" not in pod:
            continue
        if pod.get("automountServiceAccountToken") is not False:
            problems.append(f"{name}: gets a token of the API")
        if any(pod.get(key) for key in ["hostNetwork", "hostPID", "hostIPC"]):
            problems.append(f"{name}: shares what is the host's")
        for container in pod.get("initContainers", []) + pod["containers"]:
            own = f"{name}, {container['name']}"
            problems += [f"{own} {what}" for is_so, what in refused(pod, container) if is_so]
            commands.append([own, container.get("command", []), container.get("args", [])])
json.dump({"problems": problems, "commands": commands}, sys.stdout)
