#!/usr/bin/env python3
"""Reviews NVMe drives that empty themselves by their own command, in a guest, and refuses what would reach too far.

The guest is a Debian kernel with the flashrig command, smartctl and busybox in an initial RAM disk, in QEMU's software
emulation. QEMU emulates two NVMe drives: one with one namespace, and one with two. There

- `review --purge format` empties the first drive twice (its bursts come before its fill), as the kernel's trace
  counts, and the result says so; its SMART data are in the result;
- the same on a namespace of the second drive leaves the other namespace as it was;
- a partition, a drive without Sanitize, and a purge without --destroy-data are refused in one line, and not a byte changes.

    benches/guest-purge.py --flashrig target/release/flashrig

Needs qemu-system-x86, linux-image-amd64, busybox-static, smartmontools, cpio and kmod of Debian, and 1 GB in --work.
"""

import base64
import json
import os
import sys
import zlib

import guest

DRIVE_BYTES = 96 << 20
# Seconds that the guest may take for all of it, under emulation on a busy machine.
SECONDS = 400

INIT = r"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug
for module in $(cat /modules/order); do insmod /modules/$module || echo "no $module"; done
sleep 1
fail() { echo "GUEST FAILED $*"; poweroff -f; }
one=; two=
for node in /dev/nvme?n1; do
    name=$(basename $node); controller=${name%n1}
    if [ -e /dev/${controller}n2 ]; then two=$node; else one=$node; fi
done
[ -n "$one" ] && [ -n "$two" ] || fail "no drives: $(ls /dev)"
other=${two%1}2
serial() { cat /sys/block/$(basename $1)/device/serial | tr -d ' '; }
dirty() { yes "$1" | head -c @BYTES@ | dd of=$1 bs=1M conv=fsync 2>/dev/null; }
sum() { dd if=$1 bs=1M 2>/dev/null | md5sum; }
cd /tmp
trace=/sys/kernel/debug/tracing
mount -t tracefs tracefs $trace 2>/dev/null
echo 'opcode == 0x80' > $trace/events/nvme/nvme_setup_cmd/filter && echo 1 > $trace/events/nvme/nvme_setup_cmd/enable
formats() { grep -c nvme_admin_format_nvm $trace/trace; }

# A drive of one namespace.
dirty $one
flashrig review $one --destroy-data --serial $(serial $one) --purge format --only burst,threads --quick --budget 45s \
    --out /tmp/result > /tmp/said 2>&1 || fail "review: $(tail -n 5 /tmp/said)"
echo "GUEST FORMATS $(formats)"
echo "GUEST RESULT $(gzip -c /tmp/result.json | base64 | tr -d '\n')"

# A drive of two: the other one is as it was.
dirty $two; dirty $other
before=$(sum $other)
flashrig review $two --destroy-data --serial $(serial $two) --purge format --only threads --quick --budget 30s \
    --out /tmp/two > /tmp/said 2>&1
[ $? = 0 ] || fail "a drive of two namespaces: $(tail -n 5 /tmp/said)"
[ "$(sum $other)" = "$before" ] || fail "the other namespace was changed"

# Refusals.
dirty $one
printf 'o\nn\np\n1\n\n\nw\n' | fdisk $one > /tmp/said 2>&1
until [ -b ${one}p1 ]; do sleep 0.2; done
before=$(sum $one)
refused() {
    words=$1; shift
    flashrig "$@" > /tmp/said 2>&1
    [ $? = 2 ] || fail "$*: $(tail -n 3 /tmp/said)"
    [ $(wc -l < /tmp/said) = 1 ] || fail "$*: $(cat /tmp/said)"
    grep -q -- "$words" /tmp/said || fail "$*: $(cat /tmp/said)"
    [ "$(sum $one)" = "$before" ] || fail "$*: something was written"
    echo "GUEST REFUSED $(cat /tmp/said)"
}
name=$(flashrig review ${one}p1 2>&1 | sed -n "s/.*--serial '\(.*\)'.*/\1/p")
refused "is a partition, and --purge format empties the whole drive" \
    review ${one}p1 --destroy-data --serial "$name" --purge format --out /tmp/three
refused "--destroy-data" review $one --purge format --out /tmp/three
dd if=/dev/zero of=$one bs=1M count=1 conv=fsync 2>/dev/null
blockdev --rereadpt $one; sleep 1
before=$(sum $one)
refused "has no sanitize that empties it" \
    review $one --destroy-data --serial $(serial $one) --purge sanitize --out /tmp/three
echo "GUEST ENDED"
poweroff -f
"""


def main():
    options = guest.parser(__doc__).parse_args()
    with guest.work_folder(options) as work:
        kernel, release = guest.newest_kernel()
        programs = {"flashrig": options.flashrig, "smartctl": guest.program("smartctl")}
        base = guest.initial_ram_disk(work, release, programs, ["nvme"], INIT.replace("@BYTES@", str(DRIVE_BYTES)))
        words = []
        for drive, namespaces in enumerate([1, 2]):
            words += ["-device", f"nvme,id=drive{drive},serial=FLASHRIG{drive}"]
            for number in range(1, namespaces + 1):
                image = os.path.join(work, f"drive-{drive}-{number}")
                with open(image, "wb") as file:
                    file.truncate(DRIVE_BYTES)
                words += ["-drive", f"if=none,id=d{drive}{number},file={image},format=raw,cache=writeback",
                          "-device", f"nvme-ns,drive=d{drive}{number},bus=drive{drive},nsid={number}"]
        said = {}
        one = guest.Guest(work, kernel, [base], words, options.verbose, lambda words: said.setdefault(words[1], []).append(words[2:]))
        one.wait(lambda: one.ended, SECONDS)
        one.kill()
    result = json.loads(zlib.decompress(base64.b64decode(said["RESULT"][0][0]), 31))
    what = result["purge"]["what"]
    if not what.startswith("formatted ") or not what.endswith(" by NVMe's Format, with erasure of user data"):
        sys.exit(f"the first drive was not emptied by its command: {what}")
    if said["FORMATS"] != [["2"]]:
        sys.exit(f"the kernel passed on {said['FORMATS'][0][0]} Format commands, not 2")
    smart = result["health"] and result["health"]["before"]
    if not smart or smart["used_percent"] is None:
        sys.exit(f"no SMART data: {result['health']}")
    print(f"{what}, in {result['purge']['took_s']:.2f} s; {len(said['REFUSED'])} refusals; the other namespace is as it was")


if __name__ == "__main__":
    main()
