#!/usr/bin/env python3
"""Has a Linux host fail over between two controllers of one card, and verifies every byte.

Three shelves with a module each, and two `flashrig serve --controller` of the card on them, run on this machine. The host is a
guest: a Debian kernel with its own NVMe multipath, nvme-cli, fio and XFS, in QEMU's software emulation, which reaches both
controllers through QEMU's user network. It

- connects to both, and sees one namespace with two paths: one optimized, the other one inaccessible;
- makes a file system on it, mounts it, and writes a file whose checksum it keeps;
- writes and verifies with fio while the owner is killed (kill -9): the other controller takes over, no error reaches the host;
- sees the killed one again as a path that is inaccessible, once it was started again;
- writes and verifies while the owner is told to release the card, while it ends in order, and while it is stopped for longer
  than its lease and goes on (SIGSTOP, SIGCONT);
- verifies all files, unmounts, checks the file system, and finds no I/O error in the kernel's log.

The longest time for which a request of fio was without an answer is printed for each takeover.

    benches/guest-failover.py --flashrig target/release/flashrig

Needs qemu-system-x86, linux-image-amd64, busybox-static, nvme-cli, fio, xfsprogs, cpio and kmod of Debian, and 2 GB in --work.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import guest

CARD_BYTES = 512 << 20
MODULE_BYTES = 512 << 20
# Seconds that a guest may take for all of it, under emulation on a busy machine.
SECONDS = 900
# Seconds for which the guest writes and verifies over each takeover.
RUNTIME = 24
# The longest time without an answer: the host's keep alive timer, which it waits for twice, the lease and the wait of
# docs/two-controllers.md, and the start of the card. An answer that is lost would show as the host's own limit of 30 s.
MOST_SECONDS = 25

INIT = r"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
for module in $(cat /modules/order); do insmod /modules/$module 2>/tmp/said || echo "no $module: $(cat /tmp/said)"; done
mkdir -p /etc/nvme /dev/shm /mnt
mount -t tmpfs tmp /dev/shm
echo nqn.2014-08.org.nvmexpress:uuid:2cd2c43b-a90a-45c1-a8cd-86b33ab273b5 > /etc/nvme/hostnqn
echo 2cd2c43b-a90a-45c1-a8cd-86b33ab273b5 > /etc/nvme/hostid
fail() { echo "GUEST FAILED $*"; nvme list-subsys; dmesg | tail -n 40; poweroff -f; }
ip link set lo up
link=$(ls /sys/class/net | grep -v lo)
ip addr add 10.0.2.15/24 dev $link
ip link set $link up
[ $(cat /sys/module/nvme_core/parameters/multipath) = Y ] || fail "the kernel has no NVMe multipath"
nqn=@NQN@
until_true() {
    tries=0
    until "$@"; do
        tries=$((tries + 1)); [ $tries -lt 600 ] || fail "never: $*"
        sleep 0.2
    done
}
discovers() { nvme discover --transport tcp --traddr 10.0.2.2 --trsvcid $1 > /tmp/found 2>&1; }
for port in @PORTS@; do
    until_true discovers $port
    # Both controllers tell of both ports.
    for other in @PORTS@; do grep -q "trsvcid: *$other" /tmp/found || fail "port $port tells of: $(cat /tmp/found)"; done
    nvme connect --transport tcp --traddr 10.0.2.2 --trsvcid $port --nqn $nqn --keep-alive-tmo 1 --reconnect-delay 1 \
        --ctrl-loss-tmo 600 --nr-io-queues 2 > /tmp/said 2>&1 || fail "connect: $(cat /tmp/said)"
done
# The state of the path through a port: that of its controller, and that of asymmetric access.
path() {
    for controller in /sys/class/nvme/nvme*; do
        grep -q "trsvcid=$1" $controller/address || continue
        echo "$(cat $controller/state) $(cat $controller/nvme*c*n1/ana_state 2>/dev/null)"
    done
}
paths() { for port in @PORTS@; do path $port; done | sort; }
are_one_each() { [ "$(paths)" = "live inaccessible
live optimized" ]; }
until_true [ -b /dev/nvme0n1 ]
until_true are_one_each
[ $(blockdev --getsize64 /dev/nvme0n1) = @BYTES@ ] || fail "the size is $(blockdev --getsize64 /dev/nvme0n1)"
[ $(ls /sys/block | grep -c '^nvme[0-9]*n1$') = 1 ] || fail "several disks: $(ls /sys/block)"
nvme list-subsys | sed 's/^/GUEST LIST /'
for controller in /dev/nvme0 /dev/nvme1; do
    for command in id-ctrl "ana-log" error-log effects-log supported-log-pages; do
        nvme $command $controller > /tmp/said 2>&1 || fail "nvme $command $controller: $(cat /tmp/said)"
    done
done
[ $(cat /sys/block/nvme0n1/queue/write_cache | tr ' ' -) = write-through ] || fail "the host sees a volatile cache"
echo "GUEST DONE paths"

mkfs.xfs -q -K /dev/nvme0n1 > /tmp/said 2>&1 || fail "mkfs: $(cat /tmp/said)"
mount -t xfs /dev/nvme0n1 /mnt > /tmp/said 2>&1 || fail "mount: $(cat /tmp/said)"
dd if=/dev/urandom of=/mnt/kept bs=1M count=16 > /tmp/said 2>&1 || fail "dd: $(cat /tmp/said)"
sync
kept=$(md5sum < /mnt/kept)
echo "GUEST DONE file-system"

# fio writes and verifies until the takeover is over and some more; the host is told when it has begun.
takeover() {
    what=$1
    dmesg -c > /dev/null
    fio --directory=/mnt --name=$what --direct=1 --ioengine=libaio --iodepth=4 --rw=randwrite --bsrange=4k-64k --size=24m \
        --time_based --runtime=@RUNTIME@ --rate_iops=100 --verify=crc32c --do_verify=1 --verify_fatal=1 --output-format=json \
        --output=/tmp/$what.json > /tmp/said 2>&1 & loaded=$!
    sleep 4
    echo "GUEST TAKEOVER $what"
    wait $loaded || fail "fio over $what: $(cat /tmp/said; tail -n 20 /tmp/$what.json)"
    # The longest latencies of writes and reads, in nanoseconds.
    pauses=$(grep '"max"' /tmp/$what.json | tr -dc '0-9\n' | sort -n | tail -n 1)
    if dmesg | grep -qiE "i/o error|critical|XFS.*(error|shutdown)|buffer error"; then fail "errors at the host over $what"; fi
    until_true are_one_each
    echo "GUEST PAUSE $what $pauses"
    [ "$(md5sum < /mnt/kept)" = "$kept" ] || fail "a file has changed over $what"
    echo "GUEST DONE $what"
}
for what in @TAKEOVERS@; do takeover $what; done

echo 3 > /proc/sys/vm/drop_caches
[ "$(md5sum < /mnt/kept)" = "$kept" ] || fail "a file has changed"
umount /mnt > /tmp/said 2>&1 || fail "umount: $(cat /tmp/said)"
xfs_repair -n /dev/nvme0n1 > /tmp/said 2>&1 || fail "the file system is damaged: $(cat /tmp/said)"
nvme disconnect --nqn $nqn > /tmp/said 2>&1 || fail "disconnect: $(cat /tmp/said)"
echo "GUEST ENDED"
poweroff -f
"""


class Controllers:
    """Two controllers of one card on three shelves."""

    def __init__(self, flashrig, work):
        self.flashrig, self.work, self.shelves, self.servers = flashrig, work, [], []
        self.cards = [os.path.join(work, name) for name in ["first", "second"]]
        self.ports = guest.free_ports(2)

    def start(self):
        flashrig, work, cards, shelf_ports = self.flashrig, self.work, self.cards, guest.free_ports(3)
        for number, port in enumerate(shelf_ports):
            module = os.path.join(work, f"module-{number}")
            with open(module, "wb") as file:
                file.truncate(MODULE_BYTES)
            words = [flashrig, "shelf", module, "--listen", f"127.0.0.1:{port}"]
            self.shelves.append(guest.Program(words, os.path.join(work, f"shelf-{number}.log"), r"nqn\."))
            self.shelves[-1].start()
        guest.run(flashrig, "create", cards[0], "--size", str(CARD_BYTES), "--shards", "1", "--shelf",
                  ",".join(f"127.0.0.1:{port}" for port in shelf_ports), stdout=subprocess.DEVNULL)
        # Each host has a folder of its own for the same card.
        shutil.copytree(cards[0], cards[1])
        for number, card in enumerate(cards, start=1):
            words = [flashrig, "serve", card, "--controller", str(number), "--nvme", f"127.0.0.1:{self.ports[number - 1]}"]
            # The guest reaches this machine by another address than the machine itself.
            words += [word for port in self.ports for word in ("--peer", f"10.0.2.2:{port}")]
            self.servers.append(guest.Program(words, os.path.join(work, f"server-{number}.log"), r"NVMe at"))
            self.servers[-1].start()

    def nqn(self):
        return re.search(r": (nqn\.\S+)", self.servers[0].said()).group(1)

    def ask(self, number, *words):
        answer = subprocess.run([self.flashrig, "ctl", self.cards[number], *words], capture_output=True, text=True)
        return answer.stdout

    def owner(self):
        for _ in range(600):
            for number in range(2):
                if self.owns(number):
                    return number
            time.sleep(0.1)
        sys.exit("nobody owns the card")

    def owns(self, number):
        return self.servers[number].process.poll() is None and "owns the card:" in self.ask(number, "ownership")

    def takeover(self, what):
        """Ends the owner in one way or another; it is there again when this returns."""
        number = self.owner()
        owner = self.servers[number]
        if what == "killed":
            owner.kill()
            time.sleep(8)
            owner.start()
        elif what == "released":
            self.ask(number, "release")
            # It says yes before it has begun.
            limit = time.monotonic() + 30
            while self.owns(number) and time.monotonic() < limit:
                time.sleep(0.05)
        elif what == "ended":
            if owner.end() != 0:
                sys.exit(f"the owner did not end in order:\n{owner.said()}")
            time.sleep(4)
            owner.start()
        elif what == "stopped":
            # Longer than the host waits for a sign of life.
            owner.process.send_signal(signal.SIGSTOP)
            time.sleep(16)
            owner.process.send_signal(signal.SIGCONT)
        if self.owner() == number:
            sys.exit(f"controller {number + 1} owns the card still")

    def end(self):
        for program in self.servers + self.shelves:
            if program.process and program.process.poll() is None:
                program.end()

    def kill(self):
        for program in self.servers + self.shelves:
            if program.process and program.process.poll() is None:
                print(f"--- {program.log}\n{program.said()[-3000:]}")
                program.kill()


TAKEOVERS = ["killed", "released", "ended", "stopped", "killed-again"]


def main():
    options = guest.parser(__doc__).parse_args()
    with guest.work_folder(options) as work:
        kernel, release = guest.newest_kernel()
        controllers = Controllers(options.flashrig, work)
        host = None
        try:
            controllers.start()
            text = INIT.replace("@NQN@", controllers.nqn()).replace("@PORTS@", " ".join(map(str, controllers.ports)))
            text = text.replace("@BYTES@", str(CARD_BYTES)).replace("@TAKEOVERS@", " ".join(TAKEOVERS))
            text = text.replace("@RUNTIME@", str(RUNTIME))
            modules = ["virtio_pci", "virtio_net", "crc32c_generic", "crc32c_intel", "nvme_tcp", "xfs"]
            programs = {name: guest.program(name) for name in ["nvme", "fio", "blockdev", "mkfs.xfs", "xfs_repair"]}
            disk = guest.initial_ram_disk(work, release, programs, modules, text)
            began, pauses = time.monotonic(), {}

            def hear(words):
                if words[1] == "DONE":
                    print(f"{time.monotonic() - began:4.0f} s  {' '.join(words[2:])}", flush=True)
                elif words[1] == "LIST":
                    print("        " + " ".join(words[2:]), flush=True)
                elif words[1] == "TAKEOVER":
                    # This is the thread that reads what the guest says: only the main one can end all.
                    try:
                        controllers.takeover(words[2].removesuffix("-again"))
                    except (SystemExit, OSError, subprocess.SubprocessError) as error:
                        host.failed = f"{' '.join(words[1:])}: {error}"
                elif words[1] == "PAUSE":
                    pauses[words[2]] = int(words[3]) / 1e9

            network = ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net"]
            host = guest.Guest(work, kernel, [disk], network, options.verbose, hear)
            host.wait(lambda: host.ended, SECONDS)
            host.kill()
            host = None
            controllers.end()
        finally:
            if host:
                host.process.kill()
            controllers.kill()
        if list(pauses) != TAKEOVERS:
            sys.exit(f"not every takeover was there: {pauses}")
        for what, seconds in pauses.items():
            print(f"longest time without an answer, owner {what.removesuffix('-again')}: {seconds:.1f} s")
        if max(pauses.values()) > MOST_SECONDS:
            sys.exit(f"a host was without an answer for more than {MOST_SECONDS} s")
        print("no error at the host, and all that was written is there")


if __name__ == "__main__":
    main()
