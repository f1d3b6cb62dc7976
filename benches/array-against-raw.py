#!/usr/bin/env python3
"""A card on an array against the raw disk under it, in runs that alternate: over NBD, and asked within its process.

    benches/array-against-raw.py [FOLDER] [options]                     sixteen modules in files of FOLDER, beside a raw file
    benches/array-against-raw.py --destroy-data --drives /dev/A,/dev/B  modules on drives; ALL that lies on them is lost
    make bench-array [RUNS=5] [SECONDS=3] [SIZE=4GiB] [SHARDS=2] [CELLS='read-*,full-*'] [WAYS=nbd,in-process]
    make bench-array DRIVES=/dev/disk/by-id/A,... DESTROY_DATA=yes
    make bench-array-full [MINUTES=10]                       a full card, written to for so long: a chart of its latency

Needs fio with its nbd engine. FOLDER is made, and removed afterwards. The raw side is fio with io_uring and direct I/O: on
a file of the card's size that was written once; on drives, in their second half, which the card leaves alone. No data can
be compressed. Figures are medians of the runs; a share is the median of the shares of neighbouring runs; the longest
latency is that of all runs. `read` and `wrote` are bytes that the disk read and wrote for each byte that was asked for,
from the kernel's account of the process that has the card.

Latencies of a mix are those of its reads, and of flushed writes those of the flush; but their p50 is the median of the
write and that of its flush together, because a card may do in one what a disk does in the other. `half` is compared with
raw writes that have as many bytes of reads beside them as the card's own had; its rate is that of the writes. A share times
`wrote` is the part of the raw writes that the disk did for the card: relocation and parity included.
"""

import argparse
import contextlib
import dataclasses
import fnmatch
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import latency_chart

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SECTOR = 4096


class Failed(Exception):
    """The benchmark ends with this line."""


@dataclass(frozen=True)
class Work:
    """A load is asked for so long, of a part of the card from its start."""

    kind: str  # read, write, mixed, flushed or trim
    block: int
    depth: int
    random: bool = True
    reads_percent: int = 0
    span: int = 0
    seconds: float | None = None
    total: int | None = None


@dataclass(frozen=True)
class Cell:
    """A figure of the table."""

    name: str
    title: str
    state: str  # what the card holds: emptied, written, half or full
    work: Work
    beside_reads: bool = False


def cells():
    yield Cell("write", "seq write 1M d4", "emptied", Work("write", MIB, 4, random=False))
    yield Cell("read", "seq read 1M d4", "written", Work("read", MIB, 4, random=False))
    for block in (4, 8, 16):
        for depth in (1, 16, 64):
            yield Cell(f"read-{block}k-{depth}", f"read {block}K d{depth}", "written", Work("read", block * KIB, depth))
    yield Cell("mix-8k-16", "80/20 8K d16", "half", Work("mixed", 8 * KIB, 16, reads_percent=80))
    for clients in (1, 16):
        yield Cell(f"flush-8k-{clients}", f"flushed 8K x{clients}", "half", Work("flushed", 8 * KIB, clients))
    yield Cell("half-16k-64", "half 16K d64", "half", Work("write", 16 * KIB, 64), beside_reads=True)
    for depth in (16, 64):
        yield Cell(f"full-16k-{depth}", f"full 16K d{depth}", "full", Work("write", 16 * KIB, depth))


@dataclass
class Run:
    """The outcome of one run. Latencies are microseconds."""

    rate: float
    bytes_per_s: float
    bytes: int
    p50: float
    p99: float
    p999: float
    longest: float
    read_each: float | None = None
    written_each: float | None = None
    cpu_us_each: float | None = None
    reads_percent: int = 0


def fio(engine, work, targets, offset=0, time_based=True, told=None):
    """The outcome of fio's run. Jobs of one work share the targets; each client that flushes has one of them."""
    modes = {"read": "read", "write": "write", "trim": "trim", "mixed": "rw", "flushed": "write"}
    words = ["fio", "--output-format=json", "--lat_percentiles=1", "--clat_percentiles=0", "--percentile_list=50:99:99.9"]
    words += ["--thread", "--group_reporting", "--norandommap", "--randrepeat=0", "--refill_buffers", *engine]
    words += [f"--rw={'rand' if work.random else ''}{modes[work.kind]}", f"--bs={work.block}", f"--offset={offset}"]
    if work.seconds:
        words += [f"--runtime={work.seconds}"] + ["--time_based"] * time_based
    if work.total:
        words.append(f"--io_size={work.total}")
    if work.kind == "mixed":
        words.append(f"--rwmixread={work.reads_percent}")
    if work.kind == "flushed":
        # Engine nbd has one kind of sync, a flush, which is what a disk is sent for fdatasync.
        words += ["--fdatasync=1" if targets else "--fsync=1", "--iodepth=1"]
        for client in range(work.depth):
            target = targets[client % len(targets)] if targets else None
            words += [f"--name=client{client}", f"--size={work.span // max(len(targets), 1)}"]
            words += [f"--filename={escaped(target)}"] if target else []
    else:
        words += ["--name=run", f"--size={work.span}", f"--iodepth={work.depth}"]
        words += ["--filename=" + ":".join(map(escaped, targets))] if targets else []
    done = subprocess.run(words, capture_output=True, text=True)
    text = done.stdout[max(done.stdout.find("\n{"), 0):] if not done.stdout.startswith("{") else done.stdout
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if "err" in line]
        raise Failed(said[0] if said else "fio has failed")
    job = json.loads(text)["jobs"][0]
    if job["error"]:
        raise Failed(f"fio ends with error {job['error']}")
    read, write = job["read"], job["trim"] if work.kind == "trim" else job["write"]
    of_kind = {"read": read, "mixed": read, "flushed": job["sync"]}.get(work.kind, write)
    latency = (job[told] if told else of_kind)["lat_ns"]
    percentile = lambda which: latency.get("percentile", {}).get(which, 0) / 1e3
    return Run(
        rate=read["iops"] + write["iops"],
        bytes_per_s=read["bw_bytes"] + write["bw_bytes"],
        bytes=read["io_bytes"] + write["io_bytes"],
        p50=percentile("50.000000") + (write["lat_ns"]["percentile"]["50.000000"] / 1e3 if work.kind == "flushed" else 0),
        p99=percentile("99.000000"),
        p999=percentile("99.900000"),
        longest=latency["max"] / 1e3,
    ), write["iops"], write["bw_bytes"]


def by_seconds(engine, work, scratch):
    """A long run, whole and second by second."""
    logs = scratch / "seconds"
    engine = [*engine, f"--write_hist_log={logs}", "--log_hist_msec=1000", "--clat_percentiles=1"]
    run = fio(engine, work, [])[0]
    return run, latency_chart.seconds_of(logs.with_name(f"{logs.name}_clat_hist.1.log").read_text())


def escaped(path):
    return str(path).replace(":", "\\:")


class Raw:
    """The disk by itself: a file, or parts of drives that the card leaves alone."""

    def __init__(self, targets, size, offset):
        self.targets, self.size, self.offset = targets, size, offset
        self.engine = ["--ioengine=io_uring", "--direct=1"]

    def fill(self):
        self.ask(Work("write", MIB, 8, random=False, span=self.size), time_based=False)

    def ask(self, work, time_based=True):
        return fio(self.engine, work, self.targets, self.offset, time_based)[0]

    def writes_beside_reads(self, work, reads_percent):
        """Writes alone are counted; so many of a hundred requests are reads."""
        mixed = dataclasses.replace(work, kind="mixed", reads_percent=reads_percent)
        run, iops, bytes_per_s = fio(self.engine, mixed, self.targets, self.offset, told="write")
        return dataclasses.replace(run, rate=iops, bytes_per_s=bytes_per_s, reads_percent=reads_percent)


def ended(process):
    """Ends a process in order, or after a while at once."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Card:
    """A card that runs in a process of its own."""

    title = ""

    def __init__(self, process):
        self.process = process

    def account(self):
        """Bytes that the process has read from the disk, bytes it has written there, and its CPU seconds."""
        of = Path(f"/proc/{self.process.pid}")
        io = dict(line.split(": ") for line in (of / "io").read_text().splitlines())
        ticks = (of / "stat").read_text().rsplit(") ", 1)[1].split()
        return int(io["read_bytes"]), int(io["write_bytes"]), (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")

    def measured(self, work, time_based=True):
        before = self.account()
        run = self.ask(work, time_based)
        read, written, cpu = (after - earlier for after, earlier in zip(self.account(), before))
        if run.bytes:
            run.read_each, run.written_each = read / run.bytes, written / run.bytes
            run.cpu_us_each = cpu * 1e6 / (run.bytes / work.block)
        # The share of reads among the bytes that the disk was asked for.
        run.reads_percent = round(100 * read / (read + written)) if read + written else 0
        return run

    def settle(self):
        """Waits until no more bands become free."""
        free, since, began = -1, time.monotonic(), time.monotonic()
        while time.monotonic() - since < 1 and time.monotonic() - began < 30:
            now = self.status()["free_bands"]
            if now != free:
                free, since = now, time.monotonic()
            time.sleep(0.1)


class OverNbd(Card):
    """The command serves it, and fio is the client."""

    title = "over NBD on a unix socket"

    def __init__(self, options, card, scratch):
        self.flashrig, self.control, socket = options.flashrig, scratch / "control", scratch / "nbd"
        self.engine = ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}"]
        words = [self.flashrig, "serve", card, "--nbd", f"unix:{socket}", "--control", self.control, "--log", "none"]
        self.said = open(scratch / "said", "w+")
        super().__init__(subprocess.Popen(words, stderr=self.said, stdin=subprocess.DEVNULL, start_new_session=True))

    def ready(self):
        for _ in range(600):
            if self.process.poll() is not None:
                self.said.seek(0)
                raise Failed(self.said.read().strip().splitlines()[-1])
            if self.control.exists():
                return
            time.sleep(0.1)
        raise Failed("the server does not listen")

    def status(self):
        done = subprocess.run([self.flashrig, "ctl", self.control, "status", "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout)

    def ask(self, work, time_based=True):
        return fio(self.engine, work, [], time_based=time_based)[0]


class InProcess(Card):
    """One thread of the process that runs it keeps the requests in flight."""

    title = "within the process"

    def __init__(self, options, card, _):
        words = [options.in_process, card]
        pipe = subprocess.PIPE
        super().__init__(subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, start_new_session=True))

    def told(self, asked):
        try:
            print(json.dumps(asked), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failed("the card's process has ended")
        return json.loads(line)

    def ready(self):
        self.status()

    def status(self):
        return self.told({})

    def ask(self, work, time_based=True):
        asked = {"work": work.kind, "random": work.random, "block_bytes": work.block, "depth": work.depth}
        asked |= {"span_bytes": work.span, "seconds": work.seconds, "reads_percent": work.reads_percent}
        # Without an end in time, or where time alone does not end it, the part is gone through once.
        total = work.total or (None if time_based and work.seconds else work.span)
        answer = self.told(asked | {"total_bytes": total})
        latency = answer[{"read": "read", "mixed": "read", "flushed": "flush"}.get(work.kind, "write")]
        return Run(
            rate=answer["bytes"] / work.block / answer["seconds"],
            bytes_per_s=answer["bytes"] / answer["seconds"],
            bytes=answer["bytes"],
            p50=(latency["p50_ns"] + (answer["write"]["p50_ns"] if work.kind == "flushed" else 0)) / 1e3,
            p99=latency["p99_ns"] / 1e3,
            p999=latency["p999_ns"] / 1e3,
            longest=latency["max_ns"] / 1e3,
        )


WAYS = {"nbd": OverNbd, "in-process": InProcess}


class States:
    """Brings the card to what a cell finds on it."""

    def __init__(self, card, size):
        self.card, self.size, self.now = card, size, None

    def once(self, kind, block, depth, span, random=False, total=None):
        self.card.ask(Work(kind, block, depth, random=random, span=span, total=total), time_based=False)

    def emptied(self):
        self.once("trim", 4 * MIB, 4, self.size)
        self.card.settle()

    def bring_to(self, state):
        if state == "emptied":
            if self.now is None:
                # The raw file was written once; so are the files of the card, as it goes round all of its bands.
                for _ in range(2):
                    self.once("write", MIB, 8, self.size)
                    self.emptied()
            # Each run of it writes into an empty card.
            self.emptied()
        elif state != self.now:
            span = self.span(state)
            if state == "half":
                self.emptied()
            self.once("write", MIB, 8, span)
            if state == "written":
                # Nothing is relocated beside the reads.
                self.card.settle()
            else:
                self.once("write", 16 * KIB, 64, span, random=True, total=2 * span)
        self.now = state

    def span(self, state):
        return self.size // 2 if state == "half" else self.size


def measure(cell, card, states, raw, options, tell):
    """Runs of the card and of the disk, by turns."""
    span = states.span(cell.state)
    work = dataclasses.replace(cell.work, span=span, seconds=options.seconds)
    # An empty card is written once, and is full then.
    time_based = cell.state != "emptied"
    of_card, of_raw = [], []
    for number in range(options.runs):
        states.bring_to(cell.state)
        tell(f"{cell.title}, run {number + 1} of {options.runs}")
        of_card.append(card.measured(work, time_based))
        if cell.beside_reads:
            of_raw.append(raw.writes_beside_reads(work, min(of_card[-1].reads_percent, 99)))
        else:
            of_raw.append(raw.ask(work, time_based))
    return of_card, of_raw


def median(runs, field):
    found = [getattr(run, field) for run in runs if getattr(run, field) is not None]
    return statistics.median(found) if found else None


def summary(runs):
    fields = ["rate", "bytes_per_s", "p50", "p99", "p999", "read_each", "written_each", "cpu_us_each", "reads_percent"]
    out = {field: median(runs, field) for field in fields}
    return out | {"longest": max(run.longest for run in runs), "runs": [dataclasses.asdict(run) for run in runs]}


def microseconds(value):
    return f"{value:,.0f}" if value < 1e6 else f"{value / 1e6:.2f} s"


HEAD = f"{'':<16}{'':<5}{'':>9}{'share':>6}{'p50':>7}{'p99':>8}{'p99.9':>8}{'longest':>8}{'read':>6}{'wrote':>7}"


def rows(cell, found):
    for who in ("raw", "card"):
        figures = found[who]
        rate = f"{figures['rate']:,.0f}" if cell.work.random else f"{figures['bytes_per_s'] / 1e6:,.0f} MB/s"
        share = f"{100 * found['share']:.0f} %" if who == "card" else ""
        each = lambda value: "" if value is None else f"{value:.2f}"
        times = [microseconds(figures[field]) for field in ("p50", "p99", "p999", "longest")]
        yield (
            f"{cell.title if who == 'raw' else '':<16}{who:<5}{rate:>9}{share:>6}{times[0]:>7}{times[1]:>8}{times[2]:>8}"
            f"{times[3]:>8}{each(figures['read_each']):>6}{each(figures['written_each']):>7}"
        )


def a_size(text):
    units = {"KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": GIB << 10}
    for unit, factor in units.items():
        if text.endswith(unit):
            return int(text[: -len(unit)]) * factor
    return int(text)


def parse():
    env = os.environ.get
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("target/bench-array"))
    parser.add_argument("--drives", default="", help="block devices for the modules, with commas between")
    parser.add_argument("--destroy-data", action="store_true", help="what lies on the drives may be destroyed")
    parser.add_argument("--card", default="drive-array-16")
    parser.add_argument("--size", type=a_size, help="what a host sees [default: 4GiB; on drives a third of them]")
    parser.add_argument("--shards", type=int, help="shards of the card [default: what flashrig create chooses]")
    parser.add_argument("--cells", default="*", help=f"names, or patterns: {', '.join(cell.name for cell in cells())}")
    parser.add_argument("--ways", default="nbd,in-process")
    parser.add_argument("--runs", type=int, default=int(env("RUNS") or 5))
    parser.add_argument("--seconds", type=float, default=float(env("SECONDS") or 3), help="of a run")
    parser.add_argument("--minutes", type=float, default=0, help="in place of the table: a full card, written to so long")
    parser.add_argument("--depth", type=int, default=16, help="of the writes of --minutes [default: 16]")
    parser.add_argument("--json", action="store_true", help="print JSON, with every run, in place of the table")
    parser.add_argument("--flashrig", default="target/dist/flashrig")
    parser.add_argument("--in-process", help="example in_process of crates/cli [default: beside --flashrig]")
    options = parser.parse_args()
    options.in_process = options.in_process or str(Path(options.flashrig).parent / "examples/in_process")
    options.drives = [drive for drive in options.drives.split(",") if drive]
    options.ways = options.ways.split(",")
    patterns = options.cells.split(",")
    options.cells = [cell for cell in cells() if any(fnmatch.fnmatch(cell.name, pattern) for pattern in patterns)]
    if not options.cells:
        parser.error("no cell has such a name")
    if not set(options.ways) <= set(WAYS):
        parser.error(f"--ways are {' and '.join(WAYS)}")
    if options.minutes < 0 or options.depth < 1:
        parser.error("--minutes and --depth are above 0")
    if options.runs < 1 or options.seconds <= 0:
        parser.error("--runs and --seconds are above 0")
    if options.drives and not options.destroy_data:
        parser.error("everything on the drives would be destroyed: if that is meant, add --destroy-data")
    if options.destroy_data and not options.drives:
        parser.error("--destroy-data has no effect without --drives")
    needed = [options.flashrig] * ("nbd" in options.ways) + [options.in_process] * ("in-process" in options.ways)
    for program in ["fio", options.flashrig, *needed]:
        if not shutil.which(program):
            parser.error(f"{program} is missing: make bench-array builds and installs what it needs")
    return options


def drive_bytes(path):
    try:
        with open(path, "rb") as drive:
            return drive.seek(0, os.SEEK_END)
    except OSError as error:
        raise Failed(str(error)) from error


def create(options, folder):
    """Makes the card, which looks at the drives first; then the raw side. Undoes both in the end."""
    undo = contextlib.ExitStack()
    folder.mkdir(parents=True)
    undo.callback(shutil.rmtree, folder, ignore_errors=True)
    card, drives = folder / "card", options.drives
    words = [options.flashrig, "create", card, "--card", options.card]
    words += ["--shards", f"{options.shards}"] if options.shards else []
    try:
        if drives:
            half = min(map(drive_bytes, drives)) // 2 // MIB * MIB
            # A module is a quarter larger than its part of what a host sees, and small ones have more to spare.
            most = (half - 256 * MIB) * 10 // 14 * len(drives) // GIB * GIB
            options.size = options.size or most
            if not 0 < options.size <= most:
                raise Failed(f"a card on these drives has 1 GiB to {most // GIB} GiB: half of each is for the raw side")
            words += ["--modules", ",".join(drives), "--destroy-data"]
        else:
            options.size = options.size or 4 * GIB
            needed, space = options.size * 5 // 2 + 2 * GIB, os.statvfs(folder)
            if space.f_bavail * space.f_frsize < needed:
                raise Failed(f"{folder} has no room for {needed / 1e9:.1f} GB: choose a smaller --size")
        # Interrupted or not, it comes to its end: only then is it known whether the drives are ours.
        made = subprocess.Popen([*words, "--size", f"{options.size}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, start_new_session=True)
        try:
            said = made.communicate()[1]
        finally:
            if made.wait() == 0 and drives:
                undo.callback(wipe, drives)
        if made.returncode != 0:
            raise Failed(said.strip().removeprefix("flashrig: error: "))
        if drives:
            each = options.size // len(drives) // MIB * MIB
            raw = Raw(drives, each * len(drives), half)
        else:
            raw = Raw([folder / "raw"], options.size, 0)
        raw.fill()
    except BaseException:
        undo.close()
        raise
    return undo, card, raw


def wipe(drives):
    """Takes the card's marks off its drives, so that they are empty for whoever looks."""
    for path in drives:
        with open(path, "r+b", buffering=0) as drive:
            size = drive.seek(0, os.SEEK_END)
            for offset in (0, size // SECTOR * SECTOR - MIB):
                drive.seek(offset)
                drive.write(bytes(MIB))
            os.fsync(drive.fileno())


def carry_out(options, tell):
    undo, folder, raw = create(options, options.folder)
    results = []
    with undo:
        for way in options.ways:
            scratch = Path(tempfile.mkdtemp(prefix="flashrig."))
            undo.callback(shutil.rmtree, scratch, ignore_errors=True)
            card = WAYS[way](options, folder, scratch)
            try:
                card.ready()
                if not options.json:
                    tell("")
                    print(f"{card.title}\n{HEAD}", flush=True)
                states = States(card, options.size)
                for cell in options.cells:
                    of_card, of_raw = measure(cell, card, states, raw, options, tell)
                    share = statistics.median(ours.rate / theirs.rate for ours, theirs in zip(of_card, of_raw))
                    found = {"share": share, "card": summary(of_card), "raw": summary(of_raw)}
                    results.append({"way": way, "cell": cell.name, "title": cell.title, **found})
                    if not options.json:
                        tell("")
                        print("\n".join(rows(cell, found)), flush=True)
                status = card.status()
                if status["degraded"] or status["stopped"] or status["stats"]["errors"]:
                    raise Failed("the card has failed requests, or lost a module: its figures count for nothing")
            finally:
                ended(card.process)
    return results


def carry_out_full(options, tell):
    """A full card is written to for minutes. How steady it is shows second by second."""
    undo, folder, _ = create(options, options.folder)
    with undo:
        scratch = Path(tempfile.mkdtemp(prefix="flashrig."))
        undo.callback(shutil.rmtree, scratch, ignore_errors=True)
        card = OverNbd(options, folder, scratch)
        try:
            card.ready()
            tell("filled, and written over twice")
            States(card, options.size).bring_to("full")
            work = Work("write", 16 * KIB, options.depth, span=options.size, seconds=60 * options.minutes)
            tell(f"random writes of 16 KiB at depth {work.depth} for {options.minutes:g} minutes")
            return by_seconds(card.engine, work, scratch)
        finally:
            ended(card.process)


def print_full(options, run, seconds):
    # The first second and the last are not whole.
    whole = seconds[1:-1] or seconds
    mean = statistics.fmean(second.requests for second in whole)
    slowest = min(second.requests for second in whole)
    if options.json:
        told = {"card": options.card, "size_bytes": options.size, "depth": options.depth, "run": dataclasses.asdict(run)}
        print(json.dumps(told | {"seconds": [dataclasses.asdict(second) for second in seconds]}, indent=2))
        return
    print(f"full card, random writes of 16 KiB at depth {options.depth}, over NBD: {run.bytes_per_s / 1e6:.0f} MB/s")
    print("\n".join(latency_chart.chart(whole)))
    times = [f"{name} {value / 1e3:.1f} ms" for name, value in
             (("p50", run.p50), ("p99", run.p99), ("p99.9", run.p999), ("longest", run.longest))]
    print(f"{', '.join(times)}; slowest second {100 * slowest / mean:.0f} % of the mean")


def main():
    options = parse()

    def stop(*_):
        # A second one must not interrupt the cleaning up.
        for again in (signal.SIGINT, signal.SIGTERM):
            signal.signal(again, signal.SIG_IGN)
        raise KeyboardInterrupt

    def tell(text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, stop)
    try:
        if options.folder.exists():
            raise Failed(f"{options.folder} exists: name a folder that is to be made")
        if options.minutes:
            run, seconds = carry_out_full(options, tell)
            tell("")
            return print_full(options, run, seconds)
        results = carry_out(options, tell)
    except (Failed, OSError) as failed:
        tell("")
        sys.exit(f"array-against-raw: {failed}")
    except KeyboardInterrupt:
        tell("")
        sys.exit(130)
    if options.json:
        given = {"card": options.card, "size_bytes": options.size, "runs": options.runs, "seconds": options.seconds}
        print(json.dumps(given | {"drives": options.drives, "cells": results}, indent=2))


main()
