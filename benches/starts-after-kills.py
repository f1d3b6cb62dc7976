#!/usr/bin/env python3
"""How long does a card take to start after it was killed in a rebuild, and in the starts after that?

    benches/starts-after-kills.py FOLDER [--rounds 100] [--size 64MiB] [--shards 1] [--flashrig target/dist/flashrig]
    make bench-starts [ROUNDS=100]

Each round makes a card on sixteen files and loads it from three clients; a module is pulled, and put back while they go on;
the server is killed while it rebuilds, started and killed again within 0.6 s up to twice, and started. The time from there
to the first read that is answered counts, and the bytes that the process has read from the disk until then.

Needs fio with its nbd engine. FOLDER is made, and removed afterwards.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Failed(Exception):
    """The benchmark ends with this line."""


class Server:
    """A server of the card, in a process of its own."""

    def __init__(self, flashrig, card, scratch):
        self.socket, self.control = scratch / "nbd", scratch / "control"
        for path in (self.socket, self.control):
            path.unlink(missing_ok=True)
        words = [flashrig, "serve", card, "--nbd", f"unix:{self.socket}", "--control", self.control, "--log", "none"]
        self.said = open(scratch / "said", "w+")
        self.began = time.monotonic()
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=self.said)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def first_read_s(self):
        """Seconds from the start to the answer to a read of the first sector."""
        while True:
            if self.process.poll() is not None:
                self.said.seek(0)
                raise Failed(self.said.read().strip().splitlines()[-1])
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as stream:
                stream.connect(str(self.socket))
                read_first_sector(stream)
                return time.monotonic() - self.began
            time.sleep(0.002)

    def read_bytes(self):
        io = Path(f"/proc/{self.process.pid}/io").read_text()
        return int(dict(line.split(": ") for line in io.splitlines())["read_bytes"])

    def ctl(self, flashrig, *words):
        done = subprocess.run([flashrig, "ctl", self.control, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        return done.stdout

    def load(self, seconds):
        """Three clients write, flush and read; they end by themselves."""
        words = ["fio", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={self.socket}", "--thread", "--rw=randrw", "--bs=16k"]
        words += ["--rwmixread=30", "--iodepth=8", "--fsync=20", "--time_based", f"--runtime={seconds}", "--norandommap"]
        words += ["--randrepeat=0", "--refill_buffers", "--numjobs=3", "--name=load"]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def received(stream, count):
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise OSError("the server has gone")
        data += more
    return data


def read_first_sector(stream):
    received(stream, 18)
    # NBD_FLAG_C_FIXED_NEWSTYLE and NBD_FLAG_C_NO_ZEROES, then NBD_OPT_EXPORT_NAME of the default export.
    stream.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 0))
    received(stream, 10)
    stream.sendall(struct.pack(">IHHQQI", 0x25609513, 0, 0, 1, 0, 4096))
    received(stream, 16 + 4096)


def one_round(options, folder, rng):
    card = folder / "card"
    words = [options.flashrig, "create", card, "--card", "drive-array-16", "--size", options.size]
    made = subprocess.run([*words, "--shards", str(options.shards)], capture_output=True, text=True)
    if made.returncode != 0:
        raise Failed(made.stderr.strip())
    server = Server(options.flashrig, card, folder)
    try:
        server.first_read_s()
        server.load(0.5).wait()
        server.ctl(options.flashrig, "module", "pull", "0")
        server.load(0.5).wait()
        server.ctl(options.flashrig, "module", "insert", "0")
        load = server.load(2)
        time.sleep(rng.uniform(0.02, 0.4))
        server.kill()
        load.kill()
        load.wait()
        for _ in range(rng.randrange(3)):
            server = Server(options.flashrig, card, folder)
            time.sleep(rng.uniform(0.02, 0.6))
            server.kill()
        server = Server(options.flashrig, card, folder)
        return server.first_read_s(), server.read_bytes()
    finally:
        server.kill()
        shutil.rmtree(card)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--size", default="64MiB")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flashrig", default="target/dist/flashrig")
    parser.add_argument("--json", action="store_true", help="print JSON, with every round, in place of the line")
    options = parser.parse_args()
    options.flashrig = os.path.abspath(options.flashrig)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.folder.mkdir(parents=True)
    rng, rounds = random.Random(options.seed), []
    try:
        with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
            for number in range(options.rounds):
                rounds.append(one_round(options, Path(scratch), rng))
                if sys.stderr.isatty():
                    print(f"\rround {number + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(options.folder, ignore_errors=True)
        if sys.stderr.isatty():
            print(file=sys.stderr)
    seconds, read = sorted(s for s, _ in rounds), sorted(b for _, b in rounds)
    if options.json:
        print(json.dumps({"size": options.size, "shards": options.shards, "rounds": [
            {"first_read_s": s, "read_bytes": b} for s, b in rounds]}))
        return
    print(f"first read after {statistics.median(seconds):.2f} s (median), {seconds[-1]:.2f} s (longest); "
          f"read {statistics.median(read) / 1e6:.0f} MB (median), {read[-1] / 1e6:.0f} MB (most); "
          f"{len(rounds)} rounds of {options.size}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"starts-after-kills: {failed}")
    except KeyboardInterrupt:
        sys.exit(130)
