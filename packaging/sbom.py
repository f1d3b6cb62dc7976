#!/usr/bin/env python3
"""sbom.py TARGET [COMMIT]: what the command contains, as CycloneDX 1.5 JSON, by cargo's metadata and Cargo.lock.

Only crates that are linked into the command, or that run to build it, are listed: none of tests, of benchmarks, of other
targets. The same sources give the same file.
"""

import hashlib
import json
import re
import subprocess
import sys
import uuid
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=SOURCES, check=True, stdout=subprocess.PIPE).stdout)


def checksums():
    """SHA-256 of each crate's archive, by name and version."""
    found = {}
    for block in (SOURCES / "Cargo.lock").read_text().split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(\w+) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in fields:
            found[fields["name"], fields["version"]] = fields["checksum"]
    return found


def needed(meta, root):
    """The crates that the root needs, each with those that it needs itself."""
    nodes = {node["id"]: node for node in meta["resolve"]["nodes"]}
    edges, rest = {}, [root]
    while rest:
        crate = rest.pop()
        if crate in edges:
            continue
        # A dependency of tests has the kind "dev".
        edges[crate] = sorted(
            dep["pkg"] for dep in nodes[crate]["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])
        )
        rest += edges[crate]
    return edges


def component(package, sums, ours):
    name, version = package["name"], package["version"]
    described = {
        "type": "library",
        "bom-ref": reference(package),
        "name": name,
        "version": version,
        "scope": "required",
        "purl": reference(package),
    }
    if package.get("description"):
        described["description"] = " ".join(package["description"].split())
    if package.get("license"):
        # Old crates separate the licences that one may choose from by a slash.
        expression = re.sub(r"\s*/\s*", " OR ", package["license"])
        described["licenses"] = [{"expression": expression}]
    if (name, version) in sums:
        described["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    if not ours and package.get("repository"):
        described["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return described


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def main():
    target, commit = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    meta = metadata(target)
    packages = {package["id"]: package for package in meta["packages"]}
    members, sums = set(meta["workspace_members"]), checksums()
    root = next(crate for crate in members if packages[crate]["name"] == "flashrig")
    edges = needed(meta, root)
    command = component(packages[root], sums, True) | {"type": "application"}
    properties = [{"name": "cargo:target", "value": target}]
    if commit:
        properties.append({"name": "git:commit", "value": commit})
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": command, "properties": properties},
        "components": [
            component(packages[crate], sums, crate in members)
            for crate in sorted(edges, key=lambda crate: reference(packages[crate]))
            if crate != root
        ],
        "dependencies": [
            {
                "ref": reference(packages[crate]),
                "dependsOn": sorted({reference(packages[other]) for other in edges[crate]}),
            }
            for crate in sorted(edges, key=lambda crate: reference(packages[crate]))
        ],
    }
    digest = hashlib.sha256(json.dumps(bom, sort_keys=True).encode()).digest()
    named = {"bomFormat": bom.pop("bomFormat"), "specVersion": bom.pop("specVersion")}
    named["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=5)}"
    print(json.dumps(named | bom, indent=2, ensure_ascii=False))


main()
