#!/usr/bin/env python3
"""Checks wheels that others are to install: their processor, the oldest C library, the size.

usage: check_wheels.py MAX_BYTES WHEEL...
"""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from pathlib import Path

#: Machines of ELF, and the byte and word of a header that names them.
MACHINES = {62: "x86_64", 183: "aarch64"}


def check(wheel: Path, max_bytes: int) -> str:
    """A line about the wheel. Raises ValueError where its name promises what it does not hold."""
    tag = re.search(r"-cp310-abi3-manylinux_2_(\d+)_(\w+)\.whl$", wheel.name)
    if tag is None:
        raise ValueError("the name says no manylinux and stable interface")
    with zipfile.ZipFile(wheel) as file:
        library = file.read("flashrig/_flashrig.abi3.so")
    machine = MACHINES.get(struct.unpack_from("<H", library, 18)[0], "another machine")
    if machine != tag[2]:
        raise ValueError(f"its library is for {machine}")
    # Versions of symbols stand in the library as text.
    needed = max(int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", library))
    if needed > int(tag[1]):
        raise ValueError(f"its library needs GLIBC_2.{needed}")
    size = wheel.stat().st_size
    if size > max_bytes:
        raise ValueError(f"{size} bytes; at most {max_bytes} are meant")
    return f"{machine}, needs GLIBC_2.{needed}, {size} bytes"


def main() -> int:
    wrong = 0
    for name in sys.argv[2:]:
        try:
            print(f"{Path(name).name}: {check(Path(name), int(sys.argv[1]))}")
        except ValueError as error:
            print(f"{name}: {error}", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
