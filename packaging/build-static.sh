#!/bin/bash
# build-static.sh FLASHRIG TARGET MAX_BYTES OUT: the static command with its list of contents and checksums; prints its path.
set -euo pipefail

flashrig=$1 target=$2 max_bytes=$3 out=$4
sources=$(realpath "$(dirname "$0")/..")

if readelf --program-headers "$flashrig" | grep -q INTERP; then
    echo "$flashrig asks for a loader: it is not static" >&2
    exit 1
fi
bytes=$(stat -c %s "$flashrig")
if [ "$bytes" -gt "$max_bytes" ]; then
    echo "$flashrig has $bytes bytes, more than $max_bytes" >&2
    exit 1
fi
version=$("$flashrig" --version | cut -d ' ' -f 2)
name=flashrig-$version-$target
mkdir -p "$out"
install -m 755 "$flashrig" "$out/$name"
"$sources/packaging/sbom.py" "$target" "$(git -C "$sources" rev-parse HEAD 2>/dev/null)" >"$out/$name.cdx.json"
(cd "$out" && sha256sum "$name" "$name.cdx.json" >"$name.sha256")
echo "$out/$name: $bytes bytes"
