#!/usr/bin/env python3
"""Has a Linux host discover, connect, load, reset, lose and reconnect a card over NVMe/TCP, and verifies every byte.

The server runs on this machine, the host is a guest: a Debian kernel with its nvme-tcp module, nvme-cli and fio, in QEMU's
software emulation, which reaches the server through QEMU's user network. With digests and without, it

- finds the card by discovery, reads every log and structure that nvme-cli knows, and reserves it;
- writes, verifies, trims and zeroes with fio, in sizes up to beyond the longest transfer;
- resets the controller again and again while fio writes and verifies;
- takes its network away for longer than the keep alive timer: the server ends the controller, and the host reconnects;
- goes on when the server was killed in the middle and started again, with the same data and the same reservation;
- disconnects in order;
- authenticates itself by DH-HMAC-CHAP, in one direction and in both, and is refused with a wrong secret; this only where the
  guest's kernel can (6.12 of bookworm-backports, 6.1 of bookworm can't: --kernel-root).

    benches/guest-nvme.py --flashrig target/release/flashrig

Needs qemu-system-x86, linux-image-amd64, busybox-static, nvme-cli, fio, cpio and kmod of Debian, and 1 GB in --work.
"""

import base64
import os
import re
import signal
import subprocess
import sys
import time
import zlib

import guest

CARD_BYTES = 256 << 20
# Seconds that a guest may take for all of it, under emulation on a busy machine.
SECONDS = 540

INIT = r"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
for module in $(cat /modules/order); do insmod /modules/$module 2>/tmp/said || echo "no $module: $(cat /tmp/said)"; done
mkdir -p /etc/nvme /dev/shm
mount -t tmpfs tmp /dev/shm
echo nqn.2014-08.org.nvmexpress:uuid:2cd2c43b-a90a-45c1-a8cd-86b33ab273b5 > /etc/nvme/hostnqn
echo 2cd2c43b-a90a-45c1-a8cd-86b33ab273b5 > /etc/nvme/hostid
fail() { echo "GUEST FAILED $*"; dmesg | tail -n 30; poweroff -f; }
ip link set lo up
link=$(ls /sys/class/net | grep -v lo)
ip addr add 10.0.2.15/24 dev $link
ip link set $link up
at="--transport tcp --traddr 10.0.2.2 --trsvcid @PORT@"
tries=0
until nvme discover $at > /tmp/found 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 10 ] || fail "discover: $(cat /tmp/found)"
    sleep 1
done
nqn=$(sed -n 's/^subnqn: *//p' /tmp/found)
[ "$nqn" = "@NQN@" ] || fail "discovered $nqn"
echo "GUEST DONE discover"

connect() {
    nvme connect $at --nqn $nqn --keep-alive-tmo 5 --reconnect-delay 2 --ctrl-loss-tmo 300 --nr-io-queues 2 "$@" \
        > /tmp/said 2>&1 || fail "connect $*: $(cat /tmp/said)"
    tries=0
    until [ -b /dev/nvme0n1 ]; do
        tries=$((tries + 1)); [ $tries -lt 100 ] || fail "no disk"
        sleep 0.2
    done
}
state() { cat /sys/class/nvme/nvme0/state; }
is_live() {
    tries=0
    until [ "$(state)" = live ]; do
        tries=$((tries + 1)); [ $tries -lt 600 ] || fail "the controller is $(state)"
        sleep 0.2
    done
}
load() {
    fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --output=/tmp/fio "$@" > /tmp/said 2>&1 \
        || fail "fio $*: $(cat /tmp/said /tmp/fio)"
}

connect
[ $(cat /sys/class/nvme/nvme0/transport) = tcp ] || fail "the transport is $(cat /sys/class/nvme/nvme0/transport)"
[ $(blockdev --getsize64 /dev/nvme0n1) = @BYTES@ ] || fail "the size is $(blockdev --getsize64 /dev/nvme0n1)"
echo "GUEST SAID write cache: $(cat /sys/block/nvme0n1/queue/write_cache)"
for command in "id-ctrl /dev/nvme0" "id-ns /dev/nvme0n1" "ns-descs /dev/nvme0n1" "list-ns /dev/nvme0" "smart-log /dev/nvme0" \
    "error-log /dev/nvme0" "fw-log /dev/nvme0" "effects-log /dev/nvme0" "ana-log /dev/nvme0" "supported-log-pages /dev/nvme0" \
    "changed-ns-list-log /dev/nvme0" "get-property /dev/nvme0 -o 0" "get-property /dev/nvme0 -o 0x1c" \
    "get-feature /dev/nvme0 -f 7 -H" "get-feature /dev/nvme0 -f 6 -H" "get-feature /dev/nvme0 -f 0xf -H" \
    "get-feature /dev/nvme0 -f 0xb" "flush /dev/nvme0n1" "list-subsys"; do
    nvme $command > /tmp/said 2>&1 || fail "nvme $command: $(cat /tmp/said)"
done
head -c 4096 /dev/urandom > /tmp/block
nvme write /dev/nvme0n1 -s 9 -c 0 -z 4096 -d /tmp/block > /tmp/said 2>&1 || fail "write: $(cat /tmp/said)"
nvme compare /dev/nvme0n1 -s 9 -c 0 -z 4096 -d /tmp/block > /tmp/said 2>&1 || fail "compare: $(cat /tmp/said)"
nvme compare /dev/nvme0n1 -s 8 -c 0 -z 4096 -d /tmp/block > /tmp/said 2>&1 && fail "a compare finds what is not there"
nvme write-zeroes /dev/nvme0n1 -s 9 -c 0 > /tmp/said 2>&1 || fail "write-zeroes: $(cat /tmp/said)"
dd if=/dev/nvme0n1 bs=4096 skip=9 count=1 2>/dev/null | cmp -s - /dev/zero; [ $? -le 1 ] || fail "zeroes"
nvme dsm /dev/nvme0n1 -d -s 9 -b 1 > /tmp/said 2>&1 || fail "dsm: $(cat /tmp/said)"
nvme read /dev/nvme0n1 -s 65536 -c 0 -z 4096 > /tmp/said 2>&1 && fail "a read beyond the end"
nvme resv-register /dev/nvme0n1 --nrkey 0xA --rrega 0 --cptpl 3 > /tmp/said 2>&1 || fail "resv-register: $(cat /tmp/said)"
nvme resv-acquire /dev/nvme0n1 --crkey 0xA --rtype 1 --racqa 0 > /tmp/said 2>&1 || fail "resv-acquire: $(cat /tmp/said)"
reserved() {
    nvme resv-report /dev/nvme0n1 --eds > /tmp/said 2>&1 || fail "resv-report: $(cat /tmp/said)"
    grep -q "rtype *: 1" /tmp/said && grep -q "rkey *: a" /tmp/said || fail "reservations: $(cat /tmp/said)"
}
reserved
echo "GUEST DONE commands"

load --name=small --rw=randwrite --bs=4k --iodepth=16 --size=16m --verify=crc32c --fsync=64
load --name=large --rw=randwrite --bsrange=4k-2m --bs_unaligned=0 --blockalign=4k --iodepth=8 --size=64m --offset=64m --verify=crc32c
load --name=mixed --rw=randrw --bs=16k --iodepth=8 --size=16m --offset=128m --verify=crc32c
blkdiscard -f -o 67108864 -l 16777216 /dev/nvme0n1 > /tmp/said 2>&1 || fail "blkdiscard: $(cat /tmp/said /sys/block/nvme0n1/queue/discard_max_bytes)"
[ -z "$(dd if=/dev/nvme0n1 bs=1M skip=64 count=16 2>/dev/null | tr -d '\0' | head -c 1)" ] || fail "not all that was discarded is zero"
echo "GUEST DONE load"

fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --output=/tmp/fio --name=reset --rw=randwrite --bs=8k --iodepth=8 \
    --size=24m --verify=crc32c --loops=3 > /tmp/said 2>&1 & loaded=$!
resets=0
while kill -0 $loaded 2>/dev/null && [ $resets -lt 5 ]; do
    nvme reset /dev/nvme0 > /tmp/reset 2>&1 || fail "reset: $(cat /tmp/reset)"
    resets=$((resets + 1))
    is_live
    sleep 1
done
wait $loaded || fail "fio under resets: $(cat /tmp/said /tmp/fio)"
echo "GUEST DONE reset $resets"
nvme disconnect --nqn $nqn > /tmp/said 2>&1 || fail "disconnect: $(cat /tmp/said)"
echo "GUEST DONE disconnect"

connect --hdr-digest --data-digest
load --name=digests --rw=randwrite --bsrange=4k-256k --blockalign=4k --iodepth=8 --size=32m --verify=crc32c
echo "GUEST DONE digests"

fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --output=/tmp/fio --name=cut --rw=randwrite --bs=16k --iodepth=4 \
    --size=16m --offset=32m --verify=crc32c --rate=2m > /tmp/said 2>&1 & loaded=$!
sleep 1
ip link set $link down
sleep 12
ip link set $link up
wait $loaded || fail "fio over a lost connection: $(cat /tmp/said /tmp/fio)"
is_live
echo "GUEST DONE keep-alive"

# The write cache is volatile: only what was flushed, or written by force, is there after the server was killed.
nvme flush /dev/nvme0n1 > /tmp/said 2>&1 || fail "flush: $(cat /tmp/said)"
fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --output=/tmp/fio --name=kill --rw=randwrite --bs=16k --iodepth=4 \
    --size=16m --offset=96m --verify=crc32c --sync=dsync --rate=2m > /tmp/said 2>&1 & loaded=$!
sleep 2
echo "GUEST KILL"
wait $loaded || fail "fio over a server that was killed: $(cat /tmp/said /tmp/fio)"
is_live
load --name=digests --rw=randread --bsrange=4k-256k --blockalign=4k --iodepth=8 --size=32m --verify=crc32c --verify_only=0
reserved
nvme resv-release /dev/nvme0n1 --crkey 0xA --rtype 1 --rrela 0 > /tmp/said 2>&1 || fail "resv-release: $(cat /tmp/said)"
echo "GUEST DONE kill"
nvme disconnect-all || fail disconnect

if [ -n "@SECRET@" ]; then
    at="--transport tcp --traddr 10.0.2.2 --trsvcid @SECRET_PORT@"
    nqn=@SECRET_NQN@
    nvme discover $at > /tmp/found 2>&1 || fail "discover: $(cat /tmp/found)"
    nvme connect $at --nqn $nqn > /tmp/said 2>&1 && fail "a host without a secret is let in"
    nvme connect $at --nqn $nqn --dhchap-secret "@OTHER@" > /tmp/said 2>&1 && fail "a host with a wrong secret is let in"
    nvme connect $at --nqn $nqn --dhchap-secret "@SECRET@" --dhchap-ctrl-secret "@OTHER@" > /tmp/said 2>&1 \
        && fail "the server proves what it does not know"
    for both in "" "--dhchap-ctrl-secret @CONTROLLER_SECRET@"; do
        connect --dhchap-secret "@SECRET@" $both
        load --name=authenticated --rw=randwrite --bs=16k --iodepth=8 --size=8m --verify=crc32c
        nvme disconnect-all || fail disconnect
    done
    echo "GUEST DONE authentication"
fi
echo "GUEST ENDED"
poweroff -f
"""


class Server:
    """A served card, which is killed and started again."""

    def __init__(self, flashrig, work):
        self.flashrig, self.card, self.log = flashrig, os.path.join(work, "card"), os.path.join(work, "log")
        [self.port] = guest.free_ports(1)
        guest.run(flashrig, "create", self.card, "--card", "tachion-400", "--size", str(CARD_BYTES),
                  "--set", "card.power_loss_protection=false", stdout=subprocess.DEVNULL)
        self.process, self.kills = None, 0
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            words = [self.flashrig, "serve", self.card, "--nvme", f"127.0.0.1:{self.port}"]
            self.process = subprocess.Popen(words, stderr=log)
        for _ in range(600):
            if re.search(r"NVMe at", self.said().rsplit("start:", maxsplit=1)[-1]):
                return
            if self.process.poll() is not None:
                sys.exit(f"the server ended:\n{self.said()}")
            time.sleep(0.1)
        sys.exit(f"the server does not listen:\n{self.said()}")

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def nqn(self):
        return re.search(r": (nqn\.\S+)", self.said()).group(1)

    def kill_and_start(self):
        self.process.kill()
        self.process.wait()
        # As after a crash: connections are refused for a while.
        time.sleep(3)
        os.truncate(self.log, 0)
        self.start()
        self.kills += 1

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def secret(key, code, name):
    """A secret as nvme gen-dhchap-key writes it."""
    if len(key) not in (32, 48, 64):
        sys.exit(f"{name}: a key of {len(key)} bytes")
    return f"DHHC-1:{code}:{base64.b64encode(key + zlib.crc32(key).to_bytes(4, 'little')).decode()}:"


class Guarded:
    """A served card in memory, whose hosts have to know a secret."""

    def __init__(self, flashrig, work):
        self.secret = secret(os.urandom(48), "02", "host")
        self.controller_secret = secret(os.urandom(32), "00", "controller")
        self.other = secret(os.urandom(32), "01", "other")
        self.log = os.path.join(work, "guarded")
        with open(self.log, "wb") as log:
            words = [flashrig, "serve", "memory-16", "--memory", "--size", "64MiB", "--nvme", "127.0.0.1:0", "--control",
                     os.path.join(work, "guarded-control"), "--nvme-secret", self.secret,
                     "--nvme-controller-secret", self.controller_secret]
            self.process = subprocess.Popen(words, stderr=log)
        for _ in range(100):
            with open(self.log, encoding="utf-8", errors="replace") as log:
                self.said = log.read()
            found = re.search(r"NVMe at \S+:(\d+)\n.*: (nqn\.\S+)", self.said)
            if found:
                self.port, self.nqn = found.groups()
                return
            time.sleep(0.1)
        sys.exit(f"the server with a secret does not listen:\n{self.said}")

    def put_into(self, text):
        for name, value in [("SECRET_PORT", self.port), ("SECRET_NQN", self.nqn), ("OTHER", self.other),
                            ("CONTROLLER_SECRET", self.controller_secret), ("SECRET", self.secret)]:
            text = text.replace(f"@{name}@", value)
        return text


def main():
    parser = guest.parser(__doc__)
    parser.add_argument("--kernel-root", default="/", help="the folder below which the guest's kernel and its modules lie")
    options = parser.parse_args()
    where = options.kernel_root
    with guest.work_folder(options) as work:
        kernel, release = guest.newest_kernel(where)
        server = Server(options.flashrig, work)
        text = INIT.replace("@PORT@", str(server.port)).replace("@NQN@", server.nqn()).replace("@BYTES@", str(CARD_BYTES))
        modules = ["virtio_pci", "virtio_net", "crc32c_generic", "crc32c_intel", "nvme_tcp"]
        guarded = None
        if guest.has(where, release, "CONFIG_NVME_HOST_AUTH") or guest.has(where, release, "CONFIG_NVME_AUTH"):
            guarded = Guarded(options.flashrig, work)
            text = guarded.put_into(text)
            modules = ["hmac", "sha256_generic", "sha512_generic", "dh_generic", *modules]
        else:
            print(f"SKIPPED authentication: Linux {release} has none for NVMe")
            text = text.replace("@SECRET@", "")
        programs = {name: guest.program(name) for name in ["nvme", "fio", "blkdiscard", "blockdev"]}
        disk = guest.initial_ram_disk(work, release, programs, modules, text, where)
        done, began, said = [], time.monotonic(), []

        def hear(words):
            if words[1] == "DONE":
                done.append(words[2])
                print(f"{time.monotonic() - began:4.0f} s  {' '.join(words[2:])}", flush=True)
            elif words[1] == "SAID":
                said.append(" ".join(words[2:]))
            elif words[1] == "KILL":
                server.kill_and_start()

        network = ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net"]
        host = guest.Guest(work, kernel, [disk], network, options.verbose, hear)
        try:
            host.wait(lambda: host.ended, SECONDS)
            host.kill()
            if "write cache: write back" not in said:
                sys.exit(f"the card has a volatile write cache, and the host sees: {said}")
            if server.kills != 1:
                sys.exit("the server was not killed")
            if server.stop() != 0:
                sys.exit(f"the server did not end in order:\n{server.said()}")
        finally:
            if server.process.poll() is None:
                print(server.said()[-3000:])
                server.process.kill()
            if guarded:
                guarded.process.kill()
        print("all that was written is there, through resets, a lost connection and a killed server")


if __name__ == "__main__":
    main()
