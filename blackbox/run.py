#!/usr/bin/env python3
"""Breaks cards from outside, and finds out whether they lie.

    blackbox/run.py [--seconds 600] [--flashrig target/release/flashrig] [--seed N] [--keep]
    make blackbox

Cards are served to several NBD clients while servers are killed, disks lose what was not synced, modules err, hang, go
and are damaged, and clients misbehave. What a host reads is held against an oracle that knows nothing of Flashrig. Up to
what parity stands for, everything must be there; beyond that an error or a refusal is right, and a wrong sector never is.

A violation prints the seed that leads to it, and the exit code is 1. Seeds that once did are in seeds.txt and are tried
first. What is drawn from a seed repeats; the clock and the kernel do not, so `--seed N --times 20` may be needed.

Needs root and /dev/fuse.
"""

import argparse
import collections
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from coverage import table
from life import Life, Violation
from server import DidNotStart

SEEDS = Path(__file__).with_name("seeds.txt")


def kept_seeds():
    lines = [line.split("#")[0].strip() for line in SEEDS.read_text().splitlines()]
    return [int(line) for line in lines if line]


def live(seed, flashrig, covered, keep, verbose):
    """A life; what was wrong with it, or None."""
    said = []
    folder = Path(tempfile.mkdtemp(prefix="blackbox-"))
    try:
        Life(seed, flashrig, folder, covered, said.append).run()
        return None
    except (Violation, DidNotStart, AssertionError) as violation:
        return "\n".join([*(f"  {line}" for line in said), f"seed {seed}: {violation}"])
    except Exception:
        return "\n".join([*(f"  {line}" for line in said), f"seed {seed}: the harness failed", traceback.format_exc()])
    finally:
        if verbose:
            print(f"seed {seed}: " + "; ".join(said), file=sys.stderr)
        if keep:
            print(f"seed {seed}: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="lives begin for so long")
    parser.add_argument("--flashrig", default="target/release/flashrig", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this seed alone")
    parser.add_argument("--times", type=int, default=1, help="try --seed so often")
    parser.add_argument("--keep", action="store_true", help="keep the folders of the cards")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    flashrig, covered, violations = options.flashrig.resolve(), collections.Counter(), []
    if options.seed is not None:
        seeds = iter([options.seed] * options.times)
    else:
        kept = kept_seeds()
        seeds = iter([*kept, *(seed for seed in range(options.first, options.first + 1_000_000) if seed not in kept)])
    began, lives = time.monotonic(), 0
    for seed in seeds:
        if options.seed is None and time.monotonic() - began > options.seconds:
            break
        wrong = live(seed, flashrig, covered, options.keep, options.verbose)
        lives += 1
        if wrong:
            violations.append(seed)
            print(f"VIOLATION\n{wrong}\n  again: blackbox/run.py --flashrig {options.flashrig} --seed {seed} --times 20", flush=True)
    print(table(covered))
    print(f"{lives} lives in {time.monotonic() - began:.0f} s, {sum(covered.values())} faults, {len(violations)} violations"
          + (f": seeds {', '.join(map(str, violations))}" if violations else ""))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
