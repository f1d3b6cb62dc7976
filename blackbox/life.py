"""A life of a card: what befalls it is drawn from a seed, and all that a host reads is held against the oracle."""

import contextlib
import random
import socket
import subprocess
import time
from pathlib import Path

import damage
import nbd
import rude
from load import Load
from oracle import SECTOR, Oracle, content
from server import DidNotStart, Server

ACTIVITIES = ("load", "start", "rebuild", "scrub")
# Whether it needs the lossy file system, and whether it may break more than parity stands for.
FAULTS = {
    "kill -9": (False, False),
    "power cut, cache lost": (True, False),
    "orderly end": (False, False),
    "module pulled": (False, False),
    "module fails": (True, False),
    "module hangs": (True, False),
    "module damaged": (False, False),
    "module rolled back": (False, False),
    "module gone": (False, False),
    "rude client": (False, False),
    "two modules damaged": (False, True),
    "all modules damaged": (False, True),
    "all modules rolled back": (False, True),
}
CELLS = [(fault, activity) for fault in FAULTS for activity in ACTIVITIES]
SIZE = "24MiB"
# MiB of the volume that is asked in place of the card, in some lives.
VOLUME = 20


class Violation(Exception):
    """The card has broken a promise."""


class FileSystem:
    """The lossy file system, in a process of its own."""

    def __init__(self, folder):
        self.backing, self.mountpoint, self.at = folder / "backing", folder / "disks", folder / "fuse"
        self.backing.mkdir()
        self.mountpoint.mkdir()
        words = [Path(__file__).with_name("fuse.py"), self.backing, self.mountpoint, self.at]
        self.process = subprocess.Popen(["python3", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        while not (self.mountpoint.is_mount() and self.at.exists()):
            if self.process.poll() is not None or time.monotonic() - began > 10:
                self.end()
                raise AssertionError("the lossy file system can't be mounted: this needs root and /dev/fuse")
            time.sleep(0.01)

    def tell(self, *words):
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(self.at))
            stream.sendall((" ".join(map(str, words)) + "\n").encode())
            return int(stream.makefile().readline().split()[1])

    def end(self):
        subprocess.run(["umount", "-l", self.mountpoint], capture_output=True)
        self.process.kill()
        self.process.wait()


class Life:
    def __init__(self, seed, flashrig, folder, covered, say):
        self.rng, self.covered, self.say = random.Random(seed), covered, say
        first = CELLS[seed % len(CELLS)]
        steps = [first] + [self.rng.choice(CELLS) for _ in range(self.rng.randrange(2, 5))]
        # Faults beyond parity come last: after them errors are allowed.
        beyond = [step for step in steps if FAULTS[step[0]][1]]
        self.steps = [step for step in steps if not FAULTS[step[0]][1]] + beyond[:1]
        self.files = FileSystem(folder) if any(FAULTS[fault][0] for fault, _ in self.steps) or self.rng.random() < 0.3 else None
        self.real = [(self.files.backing if self.files else folder) / f"module-{slot}" for slot in range(Server.MODULES)]
        paths = [(self.files.mountpoint if self.files else folder) / path.name for path in self.real]
        self.folder, self.server = folder, Server(flashrig, folder, paths)
        self.beyond, self.suspect, self.healthy = False, None, None
        # Drawn on its own: the lives of older seeds stay what they are.
        self.volume = VOLUME if random.Random(f"{seed} volume").random() < 0.4 else None
        self.oracle = Oracle(seed, (self.volume or int(SIZE[:-3])) * 256)

    def run(self):
        # The places of the logs of a card with shards are not known from outside.
        shards = 1 if FAULTS[self.steps[-1][0]][1] else self.rng.choice((1, 1, 2))
        try:
            self.server.create(SIZE, shards, self.volume)
            self.say(f"{'volume of a ' if self.volume else ''}card of {shards} shard(s){', lossy files' if self.files else ''}")
            self._restart()
            for fault, activity in self.steps:
                self.say(f"{fault} during {activity}")
                if self._step(fault, activity):
                    self.covered[fault, activity] += 1
                self._settle()
            self._end()
        finally:
            self.server.kill()
            if self.files:
                self.files.end()

    # Activities of the card.

    def _step(self, fault, activity):
        """One fault during one activity; False: it could not be done now."""
        if not self.server.is_up():
            return False
        if activity == "start":
            load = self._load()
            time.sleep(self.rng.uniform(0.05, 0.5))
            self._crash(load, lose=self.rng.random() < 0.5)
            self._between_starts()
            self.server.start()
            time.sleep(self.rng.choice((0.01, 0.05, 0.2, 0.6)) * self.rng.random())
            return self._strike(fault, None)
        if activity == "rebuild" and not self._begin_rebuild():
            return False
        load = self._load()
        if activity == "scrub":
            self.server.ctl("scrub")
        time.sleep(self.rng.uniform(0.02, 0.8 if activity == "load" else 0.3))
        return self._strike(fault, load)

    def _load(self):
        return Load(self.server, self.oracle, self.rng, self.rng.randrange(1, 5), lambda: self.beyond)

    def _begin_rebuild(self):
        slot = self._slot()
        if self.server.ctl("module", "pull", str(slot)) is None:
            # It is gone already, or another is: then that one is rebuilt.
            return self._is_degraded()
        load = self._load()
        time.sleep(self.rng.uniform(0.1, 0.5))
        self._ends_well(load)
        self.server.ctl("module", "insert", str(slot))
        return True

    def _is_degraded(self):
        status = self.server.ctl("status")
        return bool(status and status.get("degraded"))

    def _rebuilds(self):
        status = self.server.ctl("status")
        return bool(status and status.get("rebuild") is not None)

    # Faults.

    def _slot(self):
        """A module that may break: while another is not well again, that one."""
        if self.suspect is None:
            self.suspect = self.rng.randrange(Server.MODULES)
        return self.suspect

    def _strike(self, fault, load):
        slot = None
        if fault in ("module pulled", "module fails", "module hangs", "module damaged", "module rolled back", "module gone"):
            slot = self._slot()
        if fault == "kill -9":
            self._crash(load)
        elif fault == "power cut, cache lost":
            self._crash(load, lose=True)
        elif fault == "orderly end":
            if load:
                self._ends_well(load)
            if self.server.is_up() and load is None:
                # It may not have begun to listen for signals.
                self._wait_up()
            self._orderly_end()
        elif fault == "module pulled":
            self._wait_up()
            self.server.ctl("module", "pull", str(slot))
            time.sleep(self.rng.uniform(0.05, 0.3))
            self._ends_well(load)
        elif fault in ("module fails", "module hangs"):
            if not self.files:
                return False
            words = ("fail", f"module-{slot}") if fault == "module fails" else ("hang", f"module-{slot}", self.rng.uniform(0.2, 2))
            self.files.tell(*words)
            time.sleep(self.rng.uniform(0.1, 0.4))
            if load is None:
                self._wait_up()
            if self.rng.random() < 0.5:
                self._ends_well(load)
            else:
                self._crash(load, lose=self.rng.random() < 0.5)
            self.files.tell("heal")
        elif fault == "rude client":
            self._wait_up()
            for _ in range(self.rng.randrange(1, 8)):
                rude.misbehave(self.server.socket, len(self.oracle.sectors) * SECTOR, self.rng)
            self._ends_well(load)
        else:
            self._strike_media(fault, slot, load)
        return True

    def _strike_media(self, fault, slot, load):
        """Damage while no server runs."""
        if "rolled back" in fault:
            old = self.real if slot is None else [self.real[slot]]
            copies = self.folder / "before"
            damage.copy(old, copies)
            time.sleep(self.rng.uniform(0.1, 0.5))
        if slot is None:
            self.beyond = True
            self._calm(load)
        self._crash(load)
        if "rolled back" in fault:
            self.say(f"{len(old)} module(s): {damage.roll_back(old, copies, self.rng)} as before")
            return
        if fault == "module gone":
            self.real[slot].rename(self.real[slot].with_suffix(".gone"))
            self._restart()
            self.real[slot].with_suffix(".gone").rename(self.real[slot])
            self._crash(None)
            return
        slots = [slot]
        if fault != "module damaged":
            slots = range(Server.MODULES) if fault == "all modules damaged" else self.rng.sample(range(Server.MODULES), 2)
        regions, kinds, most = damage.REGIONS, damage.KINDS, 512
        if fault != "module damaged":
            regions, kinds, most = damage.REGIONS_OF_SEVERAL, damage.KINDS_OF_SEVERAL, damage.MOST_PAGES_OF_SEVERAL
        region, kind = self.rng.choice(regions), self.rng.choice(kinds)
        for of in slots:
            self.say(f"slot {of}, {region}: {damage.strike(self.real[of], region, kind, self.rng, most)}")

    def _calm(self, load):
        """What modules remember of their last sync may be one sync late: a few are made that cover nothing new."""
        self._ends_well(load)
        self._wait_up()
        for _ in range(4):
            with contextlib.suppress(nbd.Gone, nbd.Refused, DidNotStart):
                client = self.server.client()
                [version] = self.oracle.begin([0])
                [(error, _)] = client.batch([(nbd.WRITE, 0, 0, SECTOR, content(self.oracle.salt, 0, version))])
                if error == 0:
                    self.oracle.acknowledged([0])
                covered = self.oracle.before_flush()
                client.flush()
                self.oracle.flushed(covered)
                client.close()
            time.sleep(0.1)

    def _crash(self, load, lose=False):
        self.server.kill()
        if load:
            self._wrong(load.stop())
        self.oracle.crashed()
        if lose and self.files:
            self.say(f"{self.files.tell('lose', self.rng.randrange(1 << 30))} pieces lost")

    def _between_starts(self):
        """Starts that are killed, none or some."""
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            self.server.start()
            time.sleep(self.rng.uniform(0.01, 0.6))
            self._crash(None, lose=self.rng.random() < 0.5)

    def _orderly_end(self):
        code = self.server.end()
        if code != 0 and not self.beyond:
            raise Violation(f"an orderly end has exit code {code}: {self.server.last_words()}")
        # An orderly end makes all that was acknowledged durable.
        if code == 0 and not self.beyond:
            self.oracle.flushed(self.oracle.before_flush())
        self.oracle.crashed()

    # Promises that the card has to keep.

    def _ends_well(self, load):
        if load:
            time.sleep(self.rng.uniform(0.05, 0.3))
            self._wrong(load.stop())

    def _wrong(self, wrong):
        if wrong:
            raise Violation("; ".join(wrong[:3]))

    def _wait_up(self):
        try:
            self.server.client().close()
        except DidNotStart as ended:
            self._refused(str(ended))

    def _refused(self, why):
        if not self.beyond:
            raise Violation(f"it does not start: {why}")
        if "panicked" in why:
            raise Violation(f"a panic: {why}")

    def _restart(self):
        """Starts it; fsck is asked first, at times. False: it refuses."""
        verdict = self.server.fsck() if self.rng.random() < 0.3 else None
        self.server.start()
        try:
            self.server.client().close()
            return True
        except DidNotStart as ended:
            if verdict and verdict[0] == 0:
                raise Violation(f"fsck calls clean what does not start: {ended}") from None
            self._refused(str(ended))
            return False

    def _settle(self):
        """All is read, and what was broken gets well, at times."""
        if not self.server.is_up():
            if not self._restart():
                return
        self._verify()
        if self.suspect is not None and self.rng.random() < 0.6:
            self._heal()

    def _verify(self):
        client = self.server.client()
        count, most = len(self.oracle.sectors), 128
        for first in range(0, count, most):
            data = self._read(client, first, min(most, count - first))
            for lba, sector in data:
                wrong = self.oracle.check(lba, sector, settles=True)
                if wrong:
                    raise Violation(wrong)
        client.close()

    def _read(self, client, first, count):
        try:
            data = client.read(first * SECTOR, count * SECTOR)
            return [(first + number, data[number * SECTOR:][:SECTOR]) for number in range(count)]
        except nbd.Refused as refused:
            if count > 1:
                return [read for lba in range(first, first + count) for read in self._read(client, lba, 1)]
            if not self.beyond:
                raise Violation(f"sector {first} can't be read: error {refused.args[0]}") from None
            return []
        except nbd.Gone as gone:
            if self.server.is_up():
                raise Violation(f"a read of sectors {first} to {first + count - 1} is not answered: {gone}") from None
            raise Violation(f"the server ended by itself: {self.server.last_words()}") from None

    def _heal(self):
        """The module that was broken is there again, rebuilt and scrubbed."""
        if self._is_degraded() and not self._rebuilds():
            # A module that failed stays given up though it is there again: it is pulled and inserted.
            self.server.ctl("module", "pull", str(self.suspect))
            self.server.ctl("module", "insert", str(self.suspect))
        began = time.monotonic()
        self.server.ctl("scrub")
        while time.monotonic() - began < 30:
            status = self.server.ctl("status")
            if status and not status["degraded"] and status["scrub"] is None and status["rebuild"] is None:
                self.suspect = None
                return
            time.sleep(0.05)
        if not self.beyond:
            said = {name: status and status.get(name) for name in ("degraded", "scrub", "rebuild", "stopped", "lost_sectors")}
            raise Violation(f"slot {self.suspect} is not well again after 30 s: {said}")

    def _end(self):
        if self.server.is_up():
            self._orderly_end()
            if self._restart():
                self._verify()
