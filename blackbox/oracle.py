"""What a host may read: for each sector of 4 KiB, the versions that it could hold.

A version is the number of a write, 0 for a sector that was never written or was trimmed. A write that was acknowledged
before a flush began, and the flush was answered, is durable, and so is an acknowledged write with FUA. Until then a cut
may leave any version since. What was read once, after a cut, is what the sector holds: a later cut must not take it back.
"""

import struct
import threading

SECTOR = 4096
# The content of a version: this record, again and again, so that a sector that mixes two versions is seen.
RECORD = struct.Struct("<8sQQQ")
MAGIC = b"blackbox"
ZEROES = bytes(SECTOR)


def content(salt, lba, version):
    if version == 0:
        return ZEROES
    return RECORD.pack(MAGIC, salt, lba, version) * (SECTOR // RECORD.size)


def version_in(salt, lba, data):
    """The version that a sector holds, or a text that says what is wrong with it."""
    if data == ZEROES:
        return 0
    magic, of, at, version = RECORD.unpack_from(data)
    if magic != MAGIC:
        return f"bytes that nobody wrote: {data[:16].hex()}"
    if of != salt:
        return "another card's sector"
    if at != lba:
        return f"sector {at}, version {version}"
    if data != content(salt, lba, version):
        return f"version {version}, mixed with something else"
    return version


class Sector:
    """`versions`: all that it may hold. The last is the newest; in a running card it is the only one that counts,
    unless its write was not answered, or with an error (`is_open`)."""

    __slots__ = ("versions", "dropped", "is_open")

    def __init__(self):
        self.versions = [0]
        # Versions before them that count no more.
        self.dropped = 0
        self.is_open = False


class Oracle:
    """All sectors of a card. Each sector has one writer at a time."""

    def __init__(self, salt, sectors):
        self.salt, self.sectors = salt, [Sector() for _ in range(sectors)]
        self.next_version = 1
        self.lock = threading.Lock()
        # Sectors with more than one version.
        self.unsure = set()

    def begin(self, lbas, trims=False):
        """Writes (or trims) of these sectors are about to be sent: their versions."""
        with self.lock:
            versions = []
            for lba in lbas:
                version = 0 if trims else self.next_version
                self.next_version += 1
                sector = self.sectors[lba]
                sector.versions.append(version)
                sector.is_open = True
                self.unsure.add(lba)
                versions.append(version)
            return versions

    def acknowledged(self, lbas, durable=False):
        with self.lock:
            for lba in lbas:
                self.sectors[lba].is_open = False
                if durable:
                    self._settle(lba, self.sectors[lba].versions[-1])

    def before_flush(self, lbas=None):
        """What a flush that is about to be sent covers: the acknowledged versions, of these sectors or of all."""
        with self.lock:
            among = self.unsure if lbas is None else self.unsure & set(lbas)
            newest = {lba: self.sectors[lba] for lba in among if not self.sectors[lba].is_open}
            return {lba: sector.dropped + len(sector.versions) - 1 for lba, sector in newest.items()}

    def flushed(self, covered):
        with self.lock:
            for lba, newest in covered.items():
                sector = self.sectors[lba]
                # Nothing older than the last that was covered counts any more.
                older = max(0, newest - sector.dropped)
                sector.dropped += older
                del sector.versions[:older]
                if len(sector.versions) == 1:
                    self.unsure.discard(lba)

    def _settle(self, lba, version):
        sector = self.sectors[lba]
        sector.dropped += len(sector.versions) - 1
        sector.versions, sector.is_open = [version], False
        self.unsure.discard(lba)

    def crashed(self):
        """The server is gone: each sector may hold any version since the last that is durable."""
        with self.lock:
            for lba in self.unsure:
                self.sectors[lba].is_open = True

    def check(self, lba, data, settles):
        """A sector was read; None if that is right, or what is wrong. `settles`: no write of it is under way."""
        found = version_in(self.salt, lba, data)
        with self.lock:
            sector = self.sectors[lba]
            may = sector.versions if sector.is_open else sector.versions[-1:]
            if found not in may:
                return f"sector {lba}: {found} in place of {' or '.join(map(str, sorted(set(may))))}"
            if settles and sector.is_open:
                self._settle(lba, found)
            return None
