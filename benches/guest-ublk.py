#!/usr/bin/env python3
"""Has a Linux guest use cards as disks that their server makes with ublk, kills the server under them, and compares speeds.

The guest is a Debian kernel with ublk_drv (Linux 6.12 of bookworm-backports), flashrig, XFS and fio, in QEMU's software
emulation. The first guest

- is refused a disk without the driver and without the right to it, in one line;
- holds the disks' parameters in /sys against the cards;
- writes, verifies, discards and zeroes, and looks whether the card's sectors come free;
- kills the server (SIGKILL) right after writes that no flush has covered, and under XFS with a writer under way: the next
  server goes on with the disk, all that was written is there, nothing fails, and the file system is clean;
- has volumes as disks of their own, attaches by the best way there is, and detaches.

The second one measures random reads and writes of 4 KiB on a card in memory, in alternating rounds: ublk, the kernel's NBD
client, and a loop device on FUSE. Its clock counts the instructions of its processors (QEMU's -icount), so that other work
on this machine does not count, and neither does waiting: the figures are for work that is done, and the waits for another
processor, which cost a real machine most, count for little.

    benches/guest-ublk.py --flashrig target/release/flashrig

Needs qemu-system-x86, busybox-static, fio, xfsprogs, nbd-client, util-linux, cpio and kmod of Debian, and 1 GB in --work.
"""

import collections
import statistics
import sys
import time

import guest

# Seconds that each guest may take, under emulation on a busy machine.
SECONDS = 500
# The bounds of ublk's speed, which the median of rounds has to reach.
BOUNDS = {"nbd0": 1.3, "loop0": 2.0}
NAMES = {"nbd0": "NBD", "loop0": "FUSE and loop"}

BEGIN = r"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mkdir -p /run /card /mnt; mount -t tmpfs -o size=1700m card /card; mount -t tmpfs run /run
fail() { echo "GUEST FAILED $*"; cat /tmp/log; dmesg | tail -n 30; poweroff -f; }
echo "GUEST BOOTED"
ip link set lo up
disk_of() { tries=0; until [ -b $1 ]; do tries=$((tries + 1)); [ $tries -lt 300 ] || fail "no $1"; sleep 0.1; done; }
is_up() { tries=0; until grep -q "ctl" /tmp/log; do tries=$((tries + 1)); [ $tries -lt 300 ] || fail "no server"; sleep 0.1; done; }
start() { : > /tmp/log; flashrig serve "$@" 2>> /tmp/log & server=$!; is_up; }
end() { kill -INT $server; wait $server || fail "the server's end: $?"; }
modules() { for module in $(cat /modules/order); do insmod /modules/$module 2>/tmp/said || fail "no $module: $(cat /tmp/said)"; done; }
"""

BEHAVIOUR = BEGIN + r"""
refused() {
    wanted=$1; shift
    "$@" > /tmp/said 2>&1; code=$?
    [ $code = 2 ] && [ $(wc -l < /tmp/said) = 1 ] && grep -q "$wanted" /tmp/said || fail "exit $code of $*: $(cat /tmp/said)"
}
refused "modprobe ublk_drv" flashrig serve memory-16 --memory --size 64MiB --ublk
modules
refused "only root" /bin/setpriv --reuid 65534 --regid 65534 --clear-groups \
    flashrig serve memory-16 --memory --size 64MiB --ublk --control /tmp/nobody
[ ! -e /dev/ublkb0 ] || fail "a disk"
echo "GUEST DONE refusals"

# Each line: the words of the server; cache, FUA, queues, read-only.
parameters() {
    words=$1; shift
    start $words --ublk
    disk_of /dev/ublkb0
    queue=/sys/block/ublkb0/queue
    found="$(cat $queue/write_cache | tr ' ' -) $(cat $queue/fua) $(ls /sys/block/ublkb0/mq | wc -l) $(cat /sys/block/ublkb0/ro)"
    [ "$found" = "$*" ] || fail "$words: $found"
    units="$(cd $queue; cat logical_block_size physical_block_size minimum_io_size optimal_io_size discard_granularity | tr '\n' ' ')"
    # A disk that can't be written has nothing to discard.
    [ "$units" = "4096 4096 4096 4096 $((4096 * (1 - $4))) " ] || fail "$words: $units"
    [ $(cat $queue/max_hw_sectors_kb) = 512 ] && [ $(cat $queue/rotational) = 0 ] || fail "$words: requests"
    discards="$(cat $queue/discard_max_bytes) $(cat $queue/write_zeroes_max_bytes)"
    [ $4 = 1 ] || [ "$discards" = "1073741824 4194304" ] || fail "$words: $discards"
    [ $(blockdev --getsize64 /dev/ublkb0) = 67108864 ] || fail "$words: size"
    end
    [ ! -e /dev/ublkb0 ] && [ ! -e /dev/ublkc0 ] || fail "$words: the disk stays"
}
parameters "tachion-400 --memory --size 64MiB" write-through 0 1 0
parameters "tachion-400 --memory --size 64MiB --set card.power_loss_protection=false" write-back 1 1 0
parameters "memory-16 --memory --size 64MiB --shards 2" write-back 1 2 0
parameters "tachion-400 --memory --size 64MiB --read-only" write-through 0 1 1
echo "GUEST DONE parameters"

load() { fio --filename=/dev/ublkb0 --direct=1 --ioengine=libaio "$@" > /tmp/said 2>&1 || fail "fio $*: $(cat /tmp/said)"; }
fill() { flashrig ctl $1 status --json | sed -n 's/^ *"fill": \([0-9.]*\).*/\1/p'; }
start memory-16 --memory --size 128MiB --shards 2 --ublk
disk_of /dev/ublkb0
load --name=small --rw=randwrite --bs=4k --iodepth=16 --size=16m --verify=crc32c --fsync=64
load --name=large --rw=randwrite --bsrange=4k-2m --blockalign=4k --iodepth=8 --size=64m --offset=32m --verify=crc32c
load --name=two --rw=randrw --bs=16k --iodepth=8 --size=8m --numjobs=2 --offset_increment=8m --offset=96m --verify=crc32c
full=$(fill memory-16)
/bin/blkdiscard -o 33554432 -l 67108864 /dev/ublkb0 || fail blkdiscard
[ -z "$(dd if=/dev/ublkb0 bs=1M skip=32 count=64 iflag=direct 2>/dev/null | tr -d '\0' | head -c 1)" ] || fail "not all that was discarded is zero"
echo "$full $(fill memory-16)" | awk '{ exit !($1 - $2 > 0.45 && $1 - $2 < 0.51) }' || fail "fill before and after: $full $(fill memory-16)"
dd if=/dev/urandom of=/dev/ublkb0 bs=1M count=8 oflag=direct 2>/dev/null || fail write
/bin/blkdiscard -z -o 1048576 -l 2097152 /dev/ublkb0 || fail zeroes
[ -z "$(dd if=/dev/ublkb0 bs=1M skip=1 count=2 iflag=direct 2>/dev/null | tr -d '\0' | head -c 1)" ] || fail "no zeroes"
[ -n "$(dd if=/dev/ublkb0 bs=1M skip=3 count=1 iflag=direct 2>/dev/null | tr -d '\0' | head -c 1)" ] || fail "too many zeroes"
end
echo "GUEST DONE load"

flashrig create /card/a --card tachion-400 --size 400MiB --shards 2 > /dev/null || fail create
start /card/a --ublk
disk_of /dev/ublkb0
[ "$(cat /sys/block/ublkb0/queue/write_cache)" = "write back" ] || fail "files have a volatile cache"
# More than the journal holds, from two processors; then as much as it does, and no flush of the host after it.
load --name=wide --rw=write --bs=512k --iodepth=32 --size=60m --numjobs=2 --offset_increment=128m --offset=64m --verify=crc32c --do_verify=0
dd if=/dev/urandom of=/tmp/bytes bs=1M count=40 2>/dev/null
dd if=/tmp/bytes of=/dev/ublkb0 bs=512k oflag=direct 2>/dev/null || fail "write"
kill -9 $server; wait $server
refused "waits for a: add --ublk" flashrig serve /card/a --nbd unix:/tmp/s
flashrig attach --list | grep -q "waits for its server  */card/a" || fail "$(flashrig attach --list)"
# The number of changes that were repeated.
goes_on() { start /card/a --ublk; repeated=$(sed -n 's/.*goes on: \([0-9]*\) changes.*/\1/p' /tmp/log); }
goes_on
[ "${repeated:-0}" -ge 1 ] || fail "nothing was repeated"
cmp -n 41943040 /tmp/bytes /dev/ublkb0 || fail "what was written is not there"
# After a flush of the host, what the journal has room for is there to the last write.
dd if=/dev/null of=/dev/ublkb0 conv=fsync,notrunc 2>/dev/null || fail "flush"
dd if=/dev/urandom of=/tmp/bytes bs=1M count=6 conv=notrunc 2>/dev/null
dd if=/tmp/bytes of=/dev/ublkb0 bs=4k count=1536 oflag=direct conv=notrunc 2>/dev/null || fail "write"
kill -9 $server; wait $server
goes_on
[ "${repeated:-0}" -eq 1536 ] || fail "of 1536 writes without a flush ${repeated:-0} were repeated"
cmp -n 41943040 /tmp/bytes /dev/ublkb0 || fail "what was written is not there"
echo "GUEST DONE unflushed writes, $repeated repeated"

/bin/mkfs.xfs -q -f /dev/ublkb0 && mount /dev/ublkb0 /mnt || fail "XFS"
refused "is mounted" flashrig detach /dev/ublkb0
: > /tmp/sums
writer() {
    file=0
    while [ ! -e /tmp/stop ]; do
        file=$((file + 1))
        dd if=/dev/urandom of=/mnt/$file bs=16k count=8 2>/dev/null || { echo "file $file" > /tmp/failed; return; }
        [ $((file % 4)) != 0 ] || sync /mnt/$file || { echo "sync $file" > /tmp/failed; return; }
        md5sum /mnt/$file >> /tmp/sums
    done
}
writer & writing=$!
# A server that takes the disk back and fails leaves it waiting.
kill -9 $server; wait $server
flashrig serve /card/a --ublk --nbd unix:/no/where 2> /tmp/said && fail "a socket in no folder"
grep -q "is in use: it waits" /tmp/said || fail "a server that fails: $(cat /tmp/said)"
start /card/a --ublk
for kill in 1 2 3; do
    before=$(wc -l < /tmp/sums)
    tries=0; until [ $(wc -l < /tmp/sums) -ge $((before + 20)) ]; do
        tries=$((tries + 1)); [ $tries -lt 300 ] && [ ! -e /tmp/failed ] || fail "the writer: $(cat /tmp/failed)"
        sleep 0.1
    done
    kill -9 $server; wait $server
    start /card/a --ublk
    grep -q "ublkb0 goes on" /tmp/log || fail "the disk does not go on"
done
touch /tmp/stop; wait $writing
[ ! -e /tmp/failed ] || fail "the writer: $(cat /tmp/failed)"
sync -f /mnt || fail "sync"
echo 3 > /proc/sys/vm/drop_caches
md5sum -c -s /tmp/sums || fail "files are not as they were written"
# An orderly end under a mount is the same.
end
grep -q "is in use: it waits" /tmp/log || fail "no word of the mount"
start /card/a --ublk
grep -q "ublkb0 goes on" /tmp/log || fail "after an orderly end"
umount /mnt || fail umount
xfs_repair -n /dev/ublkb0 > /tmp/said 2>&1 || fail "xfs_repair: $(cat /tmp/said)"
mount /dev/ublkb0 /mnt && md5sum -c -s /tmp/sums && umount /mnt || fail "files after a new mount"
if dmesg | grep -i "error" | grep -i "ublkb\|xfs"; then fail "errors"; fi
echo "GUEST DONE xfs, $(wc -l < /tmp/sums) files through 3 kills"

flashrig attach /card/a > /tmp/device 2> /tmp/said && [ $(cat /tmp/device) = /dev/ublkb0 ] && grep -q "flashrig: ublk: " /tmp/said || fail "attach: $(cat /tmp/said)"
flashrig ctl /card/a clients | grep -q /dev/ublkb0 || fail "clients: $(flashrig ctl /card/a clients)"
flashrig detach /dev/ublkb0 > /tmp/said 2>&1 && [ ! -e /dev/ublkb0 ] || fail "detach: $(cat /tmp/said)"
kill -9 $server; wait $server
start /card/a --ublk
refused "no disk that waits" flashrig detach --give-up /dev/ublkb0
mount /dev/ublkb0 /mnt || fail "mount"
kill -9 $server; wait $server
refused "is mounted" flashrig detach /dev/ublkb0
flashrig detach --give-up /dev/ublkb0 > /tmp/said 2>&1 && [ ! -e /dev/ublkc0 ] || fail "give up: $(cat /tmp/said)"
umount /mnt || fail "umount of a disk that was given up"
start /card/a --nbd unix:/tmp/s
flashrig attach /card/a > /tmp/device 2> /tmp/said && [ $(cat /tmp/device) = /dev/nbd0 ] \
    && grep -q "taking NBD; no ublk: the server was started without --ublk" /tmp/said || fail "attach: $(cat /tmp/said)"
flashrig detach /dev/nbd0 > /tmp/said 2>&1 || fail "detach: $(cat /tmp/said)"
end
refused "nobody serves it; flashrig serve /card/a --ublk" flashrig attach /card/a
rm -r /card/a
flashrig create /card/b --card tachion-400 --size 64MiB > /dev/null || fail create
flashrig volume create /card/b data --size 20MiB > /dev/null && flashrig volume create /card/b log --size 10MiB > /dev/null || fail volumes
start /card/b --ublk
disk_of /dev/ublkb1
flashrig volume create /card/b more --size 12MiB > /dev/null || fail "a volume of a served card"
disk_of /dev/ublkb2
[ "$(blockdev --getsize64 /dev/ublkb0) $(blockdev --getsize64 /dev/ublkb1) $(blockdev --getsize64 /dev/ublkb2)" = "20971520 10485760 12582912" ] \
    || fail "sizes of volumes"
for disk in 0 1 2; do dd if=/dev/urandom of=/tmp/bytes$disk bs=1M count=8 2>/dev/null; dd if=/tmp/bytes$disk of=/dev/ublkb$disk bs=64k oflag=direct 2>/dev/null || fail "volume $disk"; done
refused "several volumes" flashrig attach /card/b
[ "$(flashrig attach /card/b --volume log 2>/dev/null)" = /dev/ublkb1 ] || fail "attach of a volume"
kill -9 $server; wait $server
start /card/b --ublk
for disk in 0 1 2; do cmp -n 8388608 /tmp/bytes$disk /dev/ublkb$disk || fail "volume $disk after a kill"; done
kill -9 $server; wait $server
flashrig detach --all > /tmp/said 2>&1 && [ $(grep -c "^detached" /tmp/said) = 3 ] || fail "detach: $(cat /tmp/said)"
[ -z "$(ls /dev/ublkb* /run/flashrig/ublk/* /run/flashrig/attached/* 2>/dev/null)" ] || fail "left: $(ls /dev/ublkb* /run/flashrig/*/*)"
start tachion-400 --memory --size 64MiB --ublk
kill -9 $server; wait $server
sleep 1
flashrig detach --all > /tmp/said 2>&1 && [ ! -e /dev/ublkc0 ] || fail "a dead disk: $(cat /tmp/said)"
echo "GUEST DONE attachments"
echo "GUEST ENDED"
poweroff -f
"""

SPEED = BEGIN + r"""
modules
start memory-16 --memory --size 128MiB --ublk --nbd unix:/tmp/s --fuse /mnt
tries=0; until grep -q mounted /tmp/log; do tries=$((tries + 1)); [ $tries -lt 100 ] || fail "no mount"; sleep 0.1; done
flashrig attach nbd:unix:/tmp/s > /tmp/said 2>&1 && flashrig attach /mnt > /tmp/said 2>&1 || fail "attach: $(cat /tmp/said)"
disks="ublkb0 nbd0 loop0"
for disk in $disks; do echo none > /sys/block/$disk/queue/scheduler; done
# All of the card, and twice, so that it collects in every round.
for pass in 1 2 3; do dd if=/dev/urandom of=/dev/ublkb0 bs=1M count=128 oflag=direct 2>/dev/null || fail fill; done
for round in $(seq @ROUNDS@); do
    for depth in 1 16; do
        for work in randread randwrite; do
            for disk in $disks; do
                fio --filename=/dev/$disk --direct=1 --ioengine=libaio --name=x --rw=$work --bs=4k --iodepth=$depth --size=128m \
                    --runtime=1 --time_based --minimal > /tmp/fio 2>&1 || fail "fio: $(cat /tmp/fio)"
                echo "GUEST SPEED $work $depth $disk $(cut -d';' -f8,49 /tmp/fio | tr ';' ' ')"
            done
            disks="${disks#* } ${disks%% *}"
        done
    done
done
end
echo "GUEST ENDED"
poweroff -f
"""


def boot(text, modules, more, options, hear):
    with guest.work_folder(options) as work:
        kernel, release = guest.newest_kernel(options.kernel_root)
        programs = {name: guest.program(name) for name in
                    ["blkdiscard", "blockdev", "fio", "losetup", "mkfs.xfs", "nbd-client", "setpriv", "xfs_repair"]}
        programs["flashrig"] = options.flashrig
        disk = guest.initial_ram_disk(work, release, programs, modules, text, options.kernel_root)
        for last in [False, False, True]:
            began, said = time.monotonic(), []

            def hears(words, began=began, said=said):
                said.append(words)
                hear(words, time.monotonic() - began)

            host = guest.Guest(work, kernel, [disk], ["-m", "2560", *more], options.verbose, hears)
            try:
                host.wait(lambda: host.ended, SECONDS)
                host.kill()
                return
            except SystemExit:
                # The emulation sometimes misses that a kernel patches its own code, within the first two seconds.
                if last or said or not any("Kernel panic" in line for line in host.lines):
                    raise
                print("the emulated kernel did not come up: once more")


def compare(figures):
    """Prints the medians and ratios, and returns the bounds that are missed."""
    missed = []
    for (work, depth), by_disk in figures.items():
        ublk = by_disk["ublkb0"]
        line = f"{work} of 4 KiB, depth {depth}: ublk {statistics.median(ublk):,.0f}/s"
        for disk, bound in BOUNDS.items():
            # Each round has all three, one after the other.
            ratio = statistics.median(ours / theirs for ours, theirs in zip(ublk, by_disk[disk]))
            line += f"; {NAMES[disk]} {statistics.median(by_disk[disk]):,.0f}/s, {ratio:.2f} times"
            if ratio < bound:
                missed.append(f"{work}, depth {depth}: {ratio:.2f} times {NAMES[disk]}, bound {bound}")
        print(line)
    return missed


def main():
    parser = guest.parser(__doc__)
    parser.add_argument("--kernel-root", help="the folder below which a kernel with ublk and its modules lie")
    parser.add_argument("--kernels", default="target/guest-kernel", help="the folder into which such a kernel is fetched")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", choices=["behaviour", "speed"], help="do only this")
    options = parser.parse_args()
    options.kernel_root = options.kernel_root or guest.kernel_root("CONFIG_BLK_DEV_UBLK", options.kernels)
    if options.kernel_root is None:
        print("SKIPPED guest-ublk: no kernel with ublk, here or among Debian's backports")
        return
    print(f"Linux {guest.newest_kernel(options.kernel_root)[1]}")

    def behaves(words, seconds):
        if words[1] == "DONE":
            print(f"{seconds:4.0f} s  {' '.join(words[2:])}", flush=True)

    if options.part != "speed":
        boot(BEHAVIOUR, ["ublk_drv", "nbd", "loop", "xfs"], [], options, behaves)
    figures = collections.defaultdict(lambda: collections.defaultdict(list))

    def is_fast(words, _):
        if words[1] == "SPEED":
            work, depth, disk, reads, writes = words[2:7]
            figures[work, depth][disk].append(float(reads) + float(writes))

    if options.part != "behaviour":
        text = SPEED.replace("@ROUNDS@", str(options.rounds))
        boot(text, ["ublk_drv", "nbd", "loop", "fuse"], ["-icount", "shift=1,sleep=off"], options, is_fast)
        missed = compare(figures)
        for miss in missed:
            print(f"BELOW ITS BOUND: {miss}")
        if any(len(by_disk[disk]) != options.rounds for by_disk in figures.values() for disk in ["ublkb0", *BOUNDS]):
            sys.exit("figures are missing")


if __name__ == "__main__":
    main()
