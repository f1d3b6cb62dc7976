"""A served card in a process of its own: made, started, asked over its control socket, killed."""

import contextlib
import json
import subprocess
import time
from pathlib import Path

from nbd import Client, Gone


class DidNotStart(Exception):
    """The server ended before it served: its last line."""


class Server:
    # Four modules of two dies with units of 16 KiB, so that a card is small and its bands are soon full.
    GEOMETRY = {
        "card.user_bytes": "8GB",
        "geometry.modules": 4, "geometry.dies_per_channel": 2, "geometry.page_bytes": "16KiB", "geometry.pages_per_block": 32,
        "ftl.stripe_width": 4, "buffer.bytes": "1MiB", "relocation.sectors_under_way": 64,
    }
    MODULES = GEOMETRY["geometry.modules"]

    def __init__(self, flashrig, folder, modules):
        """`modules`: the paths of the modules' files."""
        self.flashrig, self.folder, self.modules = str(flashrig), Path(folder), [str(path) for path in modules]
        self.card, self.socket, self.control = self.folder / "card", self.folder / "nbd", self.folder / "control"
        self.process, self.said, self.left_out = None, self.folder / "said", []

    def create(self, size, shards, volume=None):
        """Makes the card, and a volume of so many MiB of it where that is asked for, which is its only export then."""
        words = [self.flashrig, "create", self.card, "--card", "drive-array-16", "--size", size, "--shards", str(shards)]
        words += ["--modules", ",".join(self.modules)]
        for name, value in self.GEOMETRY.items():
            words += ["--set", f"{name}={value}"]
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode != 0:
            raise AssertionError(f"create: {made.stderr.strip()}")
        if volume:
            words = [self.flashrig, "volume", "create", self.card, "volume", "--size", f"{volume}MiB"]
            made = subprocess.run(words, capture_output=True, text=True)
            if made.returncode != 0:
                raise AssertionError(f"volume create: {made.stderr.strip()}")

    def start(self):
        """Begins to start; `client` waits until it serves."""
        for path in (self.socket, self.control):
            path.unlink(missing_ok=True)
        words = [self.flashrig, "serve", self.card, "--nbd", f"unix:{self.socket}", "--control", self.control, "--log", "none"]
        with open(self.said, "w") as said:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def last_words(self):
        lines = [line for line in self.said.read_text().splitlines() if line.strip()]
        panic = [line for line in lines if "panicked" in line]
        return (panic or lines or ["nothing"])[-1]

    def is_up(self):
        return self.process is not None and self.process.poll() is None

    def client(self, within_s=60):
        """A connection, as soon as there is one."""
        began = time.monotonic()
        while True:
            if not self.is_up():
                raise DidNotStart(self.last_words())
            with contextlib.suppress(Gone):
                return Client(self.socket)
            if time.monotonic() - began > within_s:
                raise AssertionError(f"the server does not serve after {within_s} s: {self.last_words()}")
            time.sleep(0.003)

    def ctl(self, *words):
        """The answer as JSON, or None where it refuses."""
        done = subprocess.run([self.flashrig, "ctl", self.control, "--json", *words], capture_output=True, text=True)
        if done.returncode != 0:
            return None
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def end(self):
        """Shuts the card down in order."""
        self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise AssertionError("the server does not end within a minute of SIGTERM") from None

    def fsck(self):
        """(exit code, what it prints)."""
        done = subprocess.run([self.flashrig, "fsck", self.card], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
