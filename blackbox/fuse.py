"""A lossy file system under the modules, in a process of its own.

    blackbox/fuse.py BACKING MOUNTPOINT CONTROL

It passes files of the folder BACKING through, over the kernel's FUSE protocol. What was written and not synced is
remembered, so that `lose SEED` on the socket CONTROL can take a part of it back, in pieces of 512 bytes, as a disk's cache
does when power goes. `fail NAME`, `hang NAME SECONDS` and `heal` make a module answer with errors, late, or well again.
"""

import contextlib
import ctypes
import errno
import os
import random
import socket
import struct
import sys
import threading
import time
from pathlib import Path

LOOKUP, FORGET, GETATTR, SETATTR, UNLINK, OPEN, READ, WRITE, STATFS = 1, 2, 3, 4, 10, 14, 15, 16, 17
RELEASE, FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR = 18, 20, 25, 26, 27, 28, 29
CREATE, INTERRUPT, DESTROY, BATCH_FORGET, FALLOCATE = 35, 36, 38, 42, 43
IN_HEADER = struct.Struct("<IIQQIIIHH")
OUT_HEADER = struct.Struct("<IiQ")
PIECE = 512
MAX_WRITE = 1 << 20


class Module:
    """A file: its backing, and what was not synced yet: pieces as they were before, by offset."""

    def __init__(self, path, flags=os.O_RDWR):
        self.fd = os.open(path, flags, 0o644)
        self.before = {}
        self.lock = threading.Lock()
        self.fails = False
        self.hangs_until = 0.0

    def write(self, offset, data, durable):
        with self.lock:
            if not durable:
                end = offset + len(data)
                for at in range(offset // PIECE * PIECE, end, PIECE):
                    if at not in self.before:
                        self.before[at] = os.pread(self.fd, PIECE, at)
            os.pwrite(self.fd, data, offset)
            if durable:
                # These bytes, and no others: what was there before is no way back any more.
                for at in range(offset // PIECE * PIECE, offset + len(data), PIECE):
                    self.before.pop(at, None)

    def sync(self):
        with self.lock:
            self.before.clear()

    def lose(self, rng):
        """Takes back what a disk's cache may lose: all of it, or each piece by chance, or whole stretches."""
        with self.lock:
            how, lost = rng.choice(["all", "pieces", "stretches", "none"]), 0
            is_lost = False
            for number, at in enumerate(sorted(self.before)):
                if how == "stretches" and number % 64 == 0:
                    is_lost = rng.random() < 0.5
                if how == "all" or how == "pieces" and rng.random() < 0.5 or how == "stretches" and is_lost:
                    os.pwrite(self.fd, self.before[at], at)
                    lost += 1
            self.before.clear()
            return lost


class FileSystem:
    def __init__(self, backing):
        self.backing = Path(backing)
        self.names = {}
        self.modules = {}
        self.next_node = 2
        self.lock = threading.Lock()

    def node_of(self, name):
        with self.lock:
            for node, known in self.names.items():
                if known == name:
                    return node
            node, self.next_node = self.next_node, self.next_node + 1
            self.names[node] = name
            return node

    def module(self, node):
        with self.lock:
            name = self.names[node]
            if name not in self.modules:
                self.modules[name] = Module(self.backing / name)
            return self.modules[name]

    def attributes(self, node):
        at = os.stat(self.backing if node == 1 else self.backing / self.names[node])
        mode = 0o40755 if node == 1 else 0o100644
        return struct.pack("<QQQQQQIIIIIIIIII", node, at.st_size, at.st_blocks, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def entry(self, node):
        # Attributes and names are asked for anew each time.
        return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + self.attributes(node)

    def answer(self, opcode, node, body):
        """The body of the reply, or None where there is none."""
        if opcode == INIT:
            major, _, readahead, _ = struct.unpack_from("<IIII", body)
            return struct.pack("<IIIIHHIIHHI28x", major, 31, readahead, 1 << 5 | 1 << 22, 64, 48, MAX_WRITE, 1, MAX_WRITE // 4096, 0, 0)
        if opcode == LOOKUP:
            name = body.rstrip(b"\0").decode()
            if not (self.backing / name).exists():
                raise OSError(errno.ENOENT, name)
            return self.entry(self.node_of(name))
        if opcode == GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if opcode == SETATTR:
            valid, _, _, size = struct.unpack_from("<IIQQ", body)
            if valid & 1 << 3:
                os.ftruncate(self.module(node).fd, size)
            return struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if opcode == CREATE:
            name = body[16:].rstrip(b"\0").decode()
            with self.lock:
                self.modules[name] = Module(self.backing / name, os.O_RDWR | os.O_CREAT)
            return self.entry(self.node_of(name)) + struct.pack("<QII", 0, 1, 0)
        if opcode == UNLINK:
            name = body.rstrip(b"\0").decode()
            os.unlink(self.backing / name)
            with self.lock:
                module = self.modules.pop(name, None)
                if module:
                    os.close(module.fd)
            return b""
        if opcode in (OPEN, OPENDIR):
            # Direct: the kernel keeps nothing of it.
            return struct.pack("<QII", 0, 1 if opcode == OPEN else 0, 0)
        if opcode == READDIR:
            return b""
        if opcode == STATFS:
            at = os.statvfs(self.backing)
            return struct.pack("<QQQQQIIII24x", at.f_blocks, at.f_bfree, at.f_bavail, at.f_files, at.f_ffree, at.f_bsize, 255, at.f_frsize, 0)
        if opcode in (FLUSH, RELEASE, RELEASEDIR):
            return b""
        if opcode in (READ, WRITE, FSYNC, FALLOCATE):
            return self.of_module(opcode, self.module(node), body)
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        raise OSError(errno.ENOSYS, "")

    def of_module(self, opcode, module, body):
        while time.monotonic() < module.hangs_until:
            time.sleep(0.01)
        if module.fails:
            raise OSError(errno.EIO, "")
        if opcode == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return os.pread(module.fd, size, offset)
        if opcode == WRITE:
            _, offset, size, _, _, flags = struct.unpack_from("<QQIIQI", body)
            module.write(offset, body[40:40 + size], flags & os.O_DSYNC != 0)
            return struct.pack("<II", size, 0)
        if opcode == FSYNC:
            module.sync()
            return b""
        _, offset, length, mode = struct.unpack_from("<QQQI", body)
        os.posix_fallocate(module.fd, offset, length) if mode == 0 else os.ftruncate(module.fd, max(os.fstat(module.fd).st_size, offset + length))
        return b""


def serve(device, files):
    """Takes requests until the file system is unmounted. Several threads do."""
    while True:
        try:
            request = os.read(device, MAX_WRITE + 8192)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                continue
            return
        _, opcode, unique, node, *_ = IN_HEADER.unpack_from(request)
        if opcode == DESTROY:
            return
        try:
            body, code = files.answer(opcode, node, request[IN_HEADER.size:]), 0
        except OSError as error:
            body, code = b"", -(error.errno or errno.EIO)
        if body is not None:
            with contextlib.suppress(OSError):
                os.write(device, OUT_HEADER.pack(OUT_HEADER.size + len(body), code, unique) + body)


def control(files, listener):
    """One line for each command; `ok` and a number come back."""
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw") as stream:
            for line in stream:
                word, *rest = line.split()
                number = 0
                if word == "lose":
                    rng = random.Random(int(rest[0]))
                    number = sum(files.modules[name].lose(rng) for name in sorted(files.modules))
                elif word == "fail":
                    files.modules[rest[0]].fails = True
                elif word == "hang":
                    files.modules[rest[0]].hangs_until = time.monotonic() + float(rest[1])
                elif word == "heal":
                    for module in files.modules.values():
                        module.fails, module.hangs_until = False, 0.0
                stream.write(f"ok {number}\n")
                stream.flush()


def main():
    backing, mountpoint, at = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={MAX_WRITE}"
    if libc.mount(b"blackbox", mountpoint.encode(), b"fuse.blackbox", 0, options.encode()) != 0:
        sys.exit(f"fuse: mount {mountpoint}: {os.strerror(ctypes.get_errno())}")
    files = FileSystem(backing)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(at)
    listener.listen()
    threading.Thread(target=control, args=(files, listener), daemon=True).start()
    threads = [threading.Thread(target=serve, args=(device, files), daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
