#!/usr/bin/env python3
"""Cuts the power of a guest whose card lies on drives with volatile caches, and verifies every write that was flushed.

The guest is a Debian kernel with the flashrig command and busybox in an initial RAM disk, in QEMU's software emulation.
It has four SCSI drives: two with logical blocks of 512 bytes, two with 4,096. (QEMU 7.2 emulates NVMe drives that take
forced unit access for an ordinary write, which is no property of the drives that people buy.) In the first life it makes a card of them,
serves it, attaches it over NBD, and writes blocks, each followed by a flush and a line on its console. Then QEMU is
killed. QEMU has logged each write and flush of each drive; the drives of the next life have all that a flush covered, and
of the later writes a random part, as after a power cut of drives with volatile caches. The next life starts the card,
reads every block that was acknowledged, checks that it is the acknowledged version or a later one, and writes on.

    benches/guest-power-cuts.py --flashrig target/release/flashrig --cuts 3 --seed 1

Needs qemu-system-x86, linux-image-amd64, busybox-static, nbd-client, cpio and kmod of Debian, and 3 GB in --work.
"""

import base64
import os
import random
import shutil
import struct
import sys
import tempfile
import time

import guest

DRIVES = [512, 512, 4096, 4096]
DRIVE_BYTES = 256 << 20
BLOCK_BYTES = 64 << 10
BLOCKS = 48
CARD_BYTES = 32 << 20
# Seconds that a life may take to come to its first acknowledged write, under emulation on a busy machine.
LIFE_SECONDS = 400
LOG_FLUSH, LOG_FUA, LOG_DISCARD = 1, 2, 4

INIT = r"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
for module in $(cat /modules/order); do insmod /modules/$module || echo "no $module"; done
ip link set lo up
sleep 1
drives=$(ls -d /dev/sd? | tr '\n' ',' | sed 's/,$//')
echo "GUEST drives $drives"
for queue in /sys/block/sd?/queue; do
    echo "GUEST $queue $(cat $queue/logical_block_size) $(cat $queue/write_cache) $(cat $queue/fua) $(cat $queue/discard_granularity)"
done
fail() { echo "GUEST FAILED $*"; poweroff -f; }
if [ ! -e /card/card.toml ]; then
    flashrig create /card --size @CARD_BYTES@ --quick --destroy-data --modules $drives \
        --set geometry.dies_per_channel=2 --set geometry.blocks_per_plane=14304 || fail create
    echo "GUEST CARD $(base64 /card/card.toml | tr -d '\n')"
fi
flashrig serve /card --nbd 127.0.0.1:10809 & server=$!
tries=0
until nbd-client 127.0.0.1 10809 /dev/nbd0 -b 4096 -N card >/tmp/said 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 60 ] || fail "no server: $(cat /tmp/said)"
    kill -0 $server || fail "the server ended"
    sleep 1
done
flashrig ctl /card status | sed 's/^/GUEST STATUS /'
version=0
if [ -e /acknowledged ]; then
    while read block least; do
        dd if=/dev/nbd0 of=/tmp/found bs=@BLOCK_BYTES@ skip=$block count=1 2>/dev/null || fail "block $block can not be read"
        found=$(head -n 1 /tmp/found)
        yes "$found" | head -c @BLOCK_BYTES@ > /tmp/whole
        cmp -s /tmp/found /tmp/whole || fail "block $block is mixed"
        [ "${found#"$block "}" != "$found" ] || fail "block $block holds $found"
        [ "${found#"$block "}" -ge "$least" ] || fail "block $block is version ${found#"$block "}, and $least was acknowledged"
        [ $least -le $version ] || version=$least
    done < /acknowledged
    echo "GUEST VERIFIED $(wc -l < /acknowledged)"
fi
# Versions that were written and not acknowledged are not written again.
version=$((version + 1000))
while [ ! -e /last ]; do
    version=$((version + 1))
    block=$((version * 7 % @BLOCKS@))
    yes "$block $version" | head -c @BLOCK_BYTES@ | dd of=/dev/nbd0 bs=@BLOCK_BYTES@ seek=$block conv=notrunc,fsync 2>/dev/null \
        || fail "block $block can not be written"
    echo "GUEST ACK $block $version"
done
nbd-client -d /dev/nbd0
kill $server; wait $server
flashrig fsck /card --verify || fail fsck
echo "GUEST ENDED"
poweroff -f
"""


def initial_ram_disk(work, flashrig, release):
    """The files of the guest that are the same in all lives, as a cpio archive."""
    text = INIT.replace("@CARD_BYTES@", str(CARD_BYTES)).replace("@BLOCK_BYTES@", str(BLOCK_BYTES))
    programs = {"flashrig": flashrig, "nbd-client": guest.program("nbd-client")}
    modules = ["virtio_pci", "virtio_scsi", "sd_mod", "nbd"]
    return guest.initial_ram_disk(work, release, programs, modules, text.replace("@BLOCKS@", str(BLOCKS)))


def files_of_life(work, card, acknowledged, is_last):
    """The files of one life, as a second archive behind the first."""
    root = tempfile.mkdtemp(dir=work)
    os.makedirs(os.path.join(root, "card"))
    if card:
        with open(os.path.join(root, "card/card.toml"), "wb") as file:
            file.write(card)
    if acknowledged:
        with open(os.path.join(root, "acknowledged"), "w") as file:
            file.writelines(f"{block} {version}\n" for block, version in sorted(acknowledged.items()))
    if is_last:
        open(os.path.join(root, "last"), "w").close()
    path = guest.archive(root, os.path.join(work, "life.cpio"))
    shutil.rmtree(root)
    return path


class Life:
    """A life of the guest."""

    def __init__(self, work, kernel, base, extra, verbose):
        self.acknowledged, self.card, self.verified = {}, None, None
        words = ["-device", "virtio-scsi-pci"]
        # One thread writes the logs of drives: a killed QEMU leaves no entry behind one that was not written.
        words += ["-object", "main-loop,id=main-loop,thread-pool-max=1"]
        for number, block_bytes in enumerate(DRIVES):
            image, log = os.path.join(work, f"drive-{number}"), os.path.join(work, f"log-{number}")
            with open(log, "wb"):
                pass
            words += ["-blockdev", f"driver=blklogwrites,node-name=d{number},log-sector-size=512,"
                      f"file.driver=file,file.filename={image},file.discard=unmap,log.driver=file,log.filename={log}",
                      "-device", f"scsi-hd,drive=d{number},serial=FLASHRIG{number},logical_block_size={block_bytes},"
                      f"physical_block_size={block_bytes},write-cache=on,dpofua=on"]
        self.guest = guest.Guest(work, kernel, [base, extra], words, verbose, self.hear)

    def hear(self, words):
        if words[1] == "ACK" and len(words) == 4:
            self.acknowledged[int(words[2])] = int(words[3])
        elif words[1] == "CARD":
            self.card = base64.b64decode(words[2])
        elif words[1] == "VERIFIED":
            self.verified = int(words[2])

    def wait(self, until):
        self.guest.wait(until, LIFE_SECONDS)

    def kill(self):
        self.guest.kill()


def after_the_cut(image, log, rng):
    """Makes of a drive's image before a life, and of the log of that life, the drive as a power cut leaves it."""
    entries = []
    with open(log, "rb") as file:
        magic, version, _, sector_bytes = struct.unpack("<QQQI", file.read(28))
        assert (magic, version) == (0x6A736677736872, 1), "a log of QEMU"
        file.seek(sector_bytes)
        while True:
            head = file.read(32)
            if len(head) < 32:
                break
            sector, sectors, flags, _ = struct.unpack("<QQQQ", head)
            if (sector, sectors, flags) == (0, 0, 0):
                if any(piece.strip(b"\0") for piece in iter(lambda: file.read(1 << 20), b"")):
                    sys.exit(f"QEMU's log of a drive, {log}, has entries behind one that was not written")
                break
            file.seek(sector_bytes - 32, os.SEEK_CUR)
            at = file.tell()
            entries.append((sector * sector_bytes, sectors * sector_bytes, flags, at))
            if not flags & LOG_DISCARD:
                file.seek(sectors * sector_bytes, os.SEEK_CUR)
        flushes = [number for number, entry in enumerate(entries) if entry[2] & LOG_FLUSH]
        durable = flushes[-1] if flushes else -1
        lost = 0
        with open(image, "r+b") as drive:
            for number, (offset, length, flags, at) in enumerate(entries):
                if number > durable and not flags & LOG_FUA and rng.random() < 0.5:
                    lost += 1
                    continue
                if length == 0 or flags & LOG_DISCARD:
                    continue
                file.seek(at)
                bytes_left = length
                drive.seek(offset)
                while bytes_left:
                    piece = file.read(min(bytes_left, 1 << 20))
                    # The last entry may be cut; a drive writes whole sectors of it or none.
                    if not piece:
                        break
                    drive.write(piece)
                    bytes_left -= len(piece)
    return len(entries), lost


def main():
    parser = guest.parser(__doc__)
    parser.add_argument("--cuts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with guest.work_folder(options) as work:
        kernel, release = guest.newest_kernel()
        base = initial_ram_disk(work, options.flashrig, release)
        images = [os.path.join(work, f"drive-{number}") for number in range(len(DRIVES))]
        before = [f"{image}.before" for image in images]
        for image in before:
            with open(image, "wb") as file:
                file.truncate(DRIVE_BYTES)
        card, acknowledged = None, {}
        for life in range(options.cuts + 1):
            is_last = life == options.cuts
            for image, kept in zip(images, before):
                guest.run("cp", "--sparse=always", kept, image)
            began = time.monotonic()
            one = Life(work, kernel, base, files_of_life(work, card, acknowledged, is_last), options.verbose)
            if is_last:
                one.wait(lambda: one.guest.ended)
                one.kill()
            else:
                wanted = rng.randint(3, 25)
                one.wait(lambda: len(one.acknowledged) >= wanted)
                time.sleep(rng.random() / 2)
                one.kill()
            if life and one.verified != len(acknowledged):
                sys.exit(f"life {life}: {one.verified} of {len(acknowledged)} blocks were verified")
            card = card or one.card
            acknowledged.update(one.acknowledged)
            seconds = time.monotonic() - began
            if is_last:
                print(f"life {life}: {seconds:.0f} s, {one.verified} blocks verified, an orderly end", flush=True)
                break
            logs = [os.path.join(work, f"log-{number}") for number in range(len(DRIVES))]
            cut = [after_the_cut(kept, log, rng) for kept, log in zip(before, logs)]
            print(f"life {life}: {seconds:.0f} s, {one.verified or 0} blocks verified, {len(acknowledged)} acknowledged; "
                  f"the cut lost {sum(lost for _, lost in cut)} of {sum(all for all, _ in cut)} writes", flush=True)
    print("every block that was flushed is there")


if __name__ == "__main__":
    main()
