#!/usr/bin/env python3
"""Has two Linux hosts take turns with one PostgreSQL on one card, kept apart by reservations, and loses no commit.

The card is served on this machine. Each host is a guest: a Debian kernel with nvme-cli, XFS and PostgreSQL, in QEMU's software
emulation, which reaches the card over NVMe/TCP. As clusters without a lock manager do it:

- the first host reserves the card (Write Exclusive), makes a file system, and runs a database that commits rows;
- the second one comes while the first one still commits, takes the reservation by Preempt and Abort, mounts, and recovers;
- the first one's writes are refused from that moment on: its file system shuts down, and it commits nothing more. It can still
  read the card, and no attempt of its own to write it succeeds;
- every row that the first one has committed is there, and none appears later; the second one commits rows of its own,
  ends in order, and releases the card;
- the first one registers again, takes the card, finds all rows of both, and the file system is whole.

    benches/guest-turns.py --flashrig target/release/flashrig

Needs qemu-system-x86, linux-image-amd64, busybox-static, nvme-cli, xfsprogs, postgresql, cpio and kmod of Debian, and 1 GB in
--work.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

import guest

CARD_BYTES = 1 << 30
# Seconds that both hosts may take for all of it, under emulation on a busy machine.
SECONDS = 900
# Rows that the first host commits before the second one comes, and that the second one commits.
ROWS = 20
UUIDS = ["2cd2c43b-a90a-45c1-a8cd-86b33ab273b5", "8d0f7a52-0d5e-4d0e-9f4b-3a1f9ad3a6c1"]
# Memory of a guest, in MiB: its root, which is there twice while it starts, and the database.
MEMORY = 1536

COMMON = r"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs -o mode=1777 tmp /tmp
for module in $(cat /modules/order); do insmod /modules/$module 2>/tmp/said || echo "no $module: $(cat /tmp/said)"; done
mkdir -p /etc/nvme /dev/shm /mnt /usr/share/zoneinfo
mount -t tmpfs -o mode=1777 tmp /dev/shm
echo nqn.2014-08.org.nvmexpress:uuid:@UUID@ > /etc/nvme/hostnqn
echo @UUID@ > /etc/nvme/hostid
echo postgres:x:70:70::/tmp:/bin/sh > /etc/passwd
echo root:x:0:0::/:/bin/sh >> /etc/passwd
fail() { dmesg | tail -n 20; echo "GUEST FAILED @NAME@: $*"; poweroff -f; }
ip link set lo up
link=$(ls /sys/class/net | grep -v lo)
ip addr add 10.0.2.15/24 dev $link
ip link set $link up
disk=/dev/nvme0n1
nvme connect --transport tcp --traddr 10.0.2.2 --trsvcid @PORT@ --nqn @NQN@ --nr-io-queues 1 > /tmp/said 2>&1 \
    || fail "connect: $(cat /tmp/said)"
until_true() {
    tries=0
    until "$@"; do
        tries=$((tries + 1)); [ $tries -lt @TRIES@ ] || fail "never: $*: $(cat /tmp/said)"
        sleep 0.5
    done
}
until_true [ -b $disk ]
echo "GUEST DONE connected"
resv() { nvme resv-"$@" > /tmp/said 2>&1; }
must() { "$@" || fail "$*: $(cat /tmp/said)"; }
pg=@BIN@
start_database() {
    # PostgreSQL does not run as root. The shell becomes the program, so that its number is the database's.
    su postgres -c "exec $pg/postgres -D /mnt/data -k /tmp -c listen_addresses= -c timezone=GMT -c log_timezone=GMT \
        -c max_connections=10 -c shared_buffers=16MB -c restart_after_crash=off" >> /tmp/log 2>&1 & database=$!
    tries=0
    until query "select 1"; do
        tries=$((tries + 1)); [ $tries -lt 120 ] || fail "the database does not start: $(cat /tmp/said)"
        kill -0 $database 2>/dev/null || fail "the database has ended: $(tail -n 5 /tmp/log | tr '\n' ' ')"
        sleep 1
    done
}
query() { timeout 60 $pg/psql -h /tmp -U postgres -d postgres -qAtX -v ON_ERROR_STOP=1 -c "$1" > /tmp/answer 2>/tmp/said; }
rows() { query "select count(*) from turns where host = '$1'" || fail "count: $(cat /tmp/said)"; cat /tmp/answer; }
# Commits rows, and tells of each when it is committed. Without a number: until one fails.
commit_rows() {
    row=0
    while [ $row != "${1:-never}" ]; do
        row=$((row + 1))
        query "insert into turns values ('@NAME@', $row)" || return 1
        echo "GUEST COMMITTED @NAME@ $row"
    done
}
mount_card() { must mount -t xfs $disk /mnt; }
"""

FIRST = COMMON + r"""
must resv register $disk --nrkey 0xA --rrega 0 --cptpl 3
must resv acquire $disk --crkey 0xA --rtype 1 --racqa 0
mkfs.xfs -q -K $disk > /tmp/said 2>&1 || fail "mkfs: $(cat /tmp/said)"
mount_card
cp -a /cluster /mnt/data && chown -R 70:70 /mnt/data && chmod 700 /mnt/data || fail "the cluster can't be copied"
# As initdb does.
sync
start_database
query "create table turns (host text, number int)" || fail "create: $(cat /tmp/said)"
query "checkpoint" || fail "checkpoint: $(cat /tmp/said)"
echo "GUEST DONE database"
commit_rows && fail "it commits for ever"
echo "GUEST DONE refused"
kill -9 $database 2>/dev/null; wait $database
umount /mnt 2>/dev/null || umount -l /mnt
# Direct, past the kernel's cache: writes must not reach the card, and reads may.
dd if=$disk of=/dev/null bs=4096 count=1 iflag=direct 2>/tmp/said || fail "a read is refused: $(cat /tmp/said)"
dd if=/dev/zero of=$disk bs=4096 seek=1000 count=1 oflag=direct 2>/tmp/said && fail "a host that was preempted writes"
echo "GUEST DONE shut-out"

# It was preempted, so it is no registrant any more.
must resv register $disk --nrkey 0xA1 --rrega 0 --cptpl 3
until_true resv acquire $disk --crkey 0xA1 --rtype 1 --racqa 0
echo 3 > /proc/sys/vm/drop_caches
blockdev --flushbufs $disk
mount_card
start_database
echo "GUEST ROWS last $(rows first) $(rows second)"
kill -INT $database; wait $database || fail "the database does not end: $(tail -n 20 /tmp/log)"
umount /mnt || fail "umount"
xfs_repair -n $disk > /tmp/said 2>&1 || fail "the file system is damaged: $(cat /tmp/said)"
must resv release $disk --crkey 0xA1 --rtype 1 --rrela 0
echo "GUEST ENDED"
poweroff -f
"""

SECOND = COMMON + r"""
must resv register $disk --nrkey 0xB --rrega 0 --cptpl 3
dd if=/dev/zero of=$disk bs=4096 seek=1000 count=1 oflag=direct 2>/tmp/said && fail "a host without the reservation writes"
resv acquire $disk --crkey 0xB --rtype 1 --racqa 0 && fail "a card that is reserved can be acquired"
must resv acquire $disk --crkey 0xB --prkey 0xA --rtype 1 --racqa 2
echo "GUEST DONE preempted"
mount_card
start_database
echo "GUEST ROWS taken $(rows first) $(rows second)"
commit_rows @ROWS@ || fail "a commit is refused: $(cat /tmp/said)"
kill -INT $database; wait $database || fail "the database does not end: $(tail -n 20 /tmp/log)"
umount /mnt || fail "umount"
must resv release $disk --crkey 0xB --rtype 1 --rrela 0
nvme disconnect-all
echo "GUEST ENDED"
poweroff -f
"""


def newest_postgresql():
    """The folder of PostgreSQL's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else sys.exit("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql")


def make_cluster(work, programs):
    """A cluster that a guest may copy onto its card. initdb refuses to be run by root."""
    cluster = os.path.join(work, "cluster")
    os.mkdir(cluster)
    who = {}
    if os.geteuid() == 0:
        os.chmod(work, 0o755)
        shutil.chown(cluster, "postgres", "postgres")
        who = {"user": "postgres", "group": "postgres"}
    guest.run(os.path.join(programs, "initdb"), "-D", cluster, "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "-N",
              stdout=subprocess.DEVNULL, cwd="/", env={**os.environ, "TZ": "GMT"}, **who)
    return cluster


class Hosts:
    """The two guests, and what they have said."""

    def __init__(self, options, work, server):
        self.options, self.work, self.server = options, work, server
        self.kernel, self.release = guest.newest_kernel()
        self.programs = newest_postgresql()
        self.cluster = make_cluster(work, self.programs)
        self.began, self.committed, self.rows, self.done = time.monotonic(), {"first": 0, "second": 0}, {}, []

    def start(self, name, text, uuid):
        work = os.path.join(self.work, name)
        os.mkdir(work)
        for key, value in [("UUID", uuid), ("NAME", name), ("PORT", self.server.port), ("NQN", self.server.nqn),
                           ("BIN", self.programs), ("ROWS", ROWS), ("TRIES", SECONDS)]:
            text = text.replace(f"@{key}@", str(value))
        tools = ["nvme", "mkfs.xfs", "xfs_repair", "blockdev", "mount", "umount"]
        programs = {tool: guest.program(tool) for tool in tools}
        programs |= {f"{self.programs}/{tool}": f"{self.programs}/{tool}" for tool in ["postgres", "psql"]}
        share = self.programs.replace("/usr/lib/", "/usr/share/").removesuffix("/bin")
        for folder in [share, self.programs.removesuffix("bin") + "lib"]:
            shutil.copytree(folder, os.path.join(work, "root" + folder), symlinks=False,
                            ignore=shutil.ignore_patterns("llvm*", "bitcode", "pgxs", "man", "extension", "*.a"))
        shutil.copytree(self.cluster, os.path.join(work, "root/cluster"))
        modules = ["virtio_pci", "virtio_net", "crc32c_generic", "crc32c_intel", "nvme_tcp", "xfs"]
        disk = guest.initial_ram_disk(work, self.release, programs, modules, text)
        more = ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net", "-m", str(MEMORY)]
        return guest.Guest(work, self.kernel, [disk], more, self.options.verbose, lambda words: self.hear(name, words))

    def hear(self, name, words):
        if words[1] == "DONE":
            self.done.append(words[2])
            print(f"{time.monotonic() - self.began:4.0f} s  {name} host: {' '.join(words[2:])}", flush=True)
        elif words[1] == "COMMITTED":
            self.committed[words[2]] = int(words[3])
        elif words[1] == "ROWS":
            self.rows[words[2]] = (int(words[3]), int(words[4]))


class Server(guest.Program):
    """A served card."""

    def __init__(self, flashrig, work):
        card = os.path.join(work, "card")
        [self.port] = guest.free_ports(1)
        guest.run(flashrig, "create", card, "--card", "tachion-400", "--size", str(CARD_BYTES), stdout=subprocess.DEVNULL)
        words = [flashrig, "serve", card, "--nvme", f"127.0.0.1:{self.port}"]
        super().__init__(words, os.path.join(work, "log"), r"nqn\.")
        self.start()
        self.nqn = re.search(r": (nqn\.\S+)", self.said()).group(1)


def main():
    options = guest.parser(__doc__).parse_args()
    with guest.work_folder(options) as work:
        server = Server(options.flashrig, work)
        hosts, running = Hosts(options, work, server), []
        try:
            running.append(hosts.start("first", FIRST, UUIDS[0]))
            running[0].wait(lambda: hosts.committed["first"] >= ROWS, SECONDS)
            running.append(hosts.start("second", SECOND, UUIDS[1]))
            for host in reversed(running):
                host.wait(lambda host=host: host.ended, SECONDS)
            if server.end() != 0:
                sys.exit(f"the server did not end in order:\n{server.said()}")
        finally:
            for host in running:
                host.process.kill()
            if server.process.poll() is None:
                print(server.said()[-3000:])
                server.process.kill()
    first, second = hosts.committed["first"], hosts.committed["second"]
    taken, last = hosts.rows["taken"], hosts.rows["last"]
    print(f"the first host has committed {first} rows, and {taken[0]} were there when the second one took the card")
    # A commit may be durable whose answer the first host did not live to see.
    if not first <= taken[0] <= first + 1 or taken[1] != 0:
        sys.exit(f"rows at the second host: {taken}")
    if last != (taken[0], second) or second != ROWS:
        sys.exit(f"rows at the end: {last}, and the second host has committed {second}")
    print(f"all of them, and {second} of the second host, were there when the first one took it back")


if __name__ == "__main__":
    main()
