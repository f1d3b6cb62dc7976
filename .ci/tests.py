#!/usr/bin/env python3
"""Builds all test programs and runs as many at a time as there are cores, as cargo runs one after the other.

Usage: tests.py LOG FIRST[,FIRST...] [option of the test programs]...

Programs of the packages FIRST begin first: they take longest. Whatever a program prints comes when it is done. Exit code 1
when a program fails.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

BUILD = ["cargo", "test", "--tests", "--locked"]


def programs():
    """Each test program, and the folder of its package, where cargo would run it."""
    build = subprocess.run(
        [*BUILD, "--no-run", "--message-format=json-render-diagnostics"], stdout=subprocess.PIPE, text=True
    )
    if build.returncode != 0:
        sys.exit(build.returncode)
    messages = (json.loads(line) for line in build.stdout.splitlines() if line.startswith("{"))
    return [
        (Path(message["executable"]), Path(message["manifest_path"]).parent)
        for message in messages
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]
    ]


def run(program, folder, options):
    """Exit code and text: what the program printed, below how long it took."""
    # --report-time is unstable: only the test programs are told that it is meant.
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1", CARGO_MANIFEST_DIR=str(folder))
    command = [program, *options, "-Z", "unstable-options", "--report-time"]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read().decode(errors="replace")
    seconds = time.monotonic() - begin
    cpu = used.ru_utime + used.ru_stime
    title = f"     Running {folder.name}: {program.name}, {seconds:.0f} s, {cpu:.0f} s of CPU\n"
    return child.returncode, title + printed


def main():
    log, first, *options = sys.argv[1:]
    first = first.split(",")

    def turn(program):
        name = program[1].name
        return first.index(name) if name in first else len(first)

    failed = []
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as log, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = {pool.submit(run, *program, options): program for program in sorted(programs(), key=turn)}
        try:
            for done in as_completed(runs):
                program, folder = runs[done]
                code, text = done.result()
                log.write(text)
                print(text, end="", flush=True)
                if code != 0:
                    failed.append(f"{folder.name}: {program} ended with exit code {code}")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            sys.exit(130)
    for line in failed:
        print(line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
