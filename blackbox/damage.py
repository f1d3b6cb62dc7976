"""Damage to modules from outside, while no server has them: by slot and by region."""

import os
import shutil

REGIONS = ("front", "table", "units", "log", "end", "anywhere")
# In several modules at once nothing tells of some losses, and docs/media-format.md and docs/module-files.md say so: both
# copies of the newest record of the log, zeroes over units that were synced last, whole blocks of a band.
REGIONS_OF_SEVERAL = ("front", "table", "units")
MOST_PAGES_OF_SEVERAL = 64
# Where the units end at the latest, in 64ths of a module of one shard.
UNITS_END = 60
KINDS = KINDS_OF_SEVERAL = ("zeroes", "noise", "a flipped bit")


def region(path, name, rng, at_most=512):
    """A place in the file: (offset, length). Where what lies is told by docs/module-files.md in the rough."""
    size = os.path.getsize(path)
    pages = size // 4096
    of = {"front": (0, 4), "table": (4, 8), "units": (16, pages * UNITS_END // 64), "log": (pages * 62 // 64, pages - 8),
          "end": (pages - 6, pages), "anywhere": (0, pages)}
    first, end = of[name]
    at = rng.randrange(first, max(end, first + 1))
    most = {"front": 4, "table": 4, "end": 6}.get(name, at_most)
    count = min(rng.randrange(1, most + 1), (end if name == "units" else pages) - at)
    return at * 4096, count * 4096


def strike(path, name, kind, rng, at_most=512):
    """Damages a region of a module."""
    offset, length = region(path, name, rng, at_most)
    with open(path, "r+b") as file:
        file.seek(offset)
        if kind == "a flipped bit":
            data = bytearray(file.read(length))
            for _ in range(rng.randrange(1, 9)):
                data[rng.randrange(length)] ^= 1 << rng.randrange(8)
        else:
            data = bytes(length) if kind == "zeroes" else rng.randbytes(length)
        file.seek(offset)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return f"{kind} at {offset}, {length} bytes"


def copy(paths, folder):
    """Copies of the modules as they are."""
    folder.mkdir(exist_ok=True)
    for path in paths:
        shutil.copyfile(path, folder / path.name)


def roll_back(paths, folder, rng):
    """A stretch of these modules is as it was when they were copied: the same in each, as drives that forget."""
    size = os.path.getsize(paths[0]) * UNITS_END // 64
    length = min(rng.choice((64, 256, 1024, 4096)) * 1024, size // 2)
    offset = rng.randrange(16, (size - length) // 4096) * 4096
    for path in paths:
        with open(folder / path.name, "rb") as old, open(path, "r+b") as new:
            old.seek(offset)
            new.seek(offset)
            new.write(old.read(length))
            new.flush()
            os.fsync(new.fileno())
    return f"{length} bytes at {offset}"
