"""A guest under QEMU's software emulation, made of Debian's kernel, busybox and a few programs: no image, no network needed.

The guest's root is an initial RAM disk. Its /init says what it has to say on the console, in lines that begin with GUEST.
Needs qemu-system-x86, linux-image-amd64, busybox-static, cpio and kmod of Debian.
"""

import argparse
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


def parser(description):
    """The options that the scripts of guests have in common."""
    options = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
    options.add_argument("--flashrig", default="target/release/flashrig")
    options.add_argument("--work", help="a folder for cards, images, guests and logs [default: a new one, which is removed]")
    options.add_argument("--verbose", action="store_true", help="print what guests say")
    return options


def work_folder(options):
    """A folder that is there while it is used."""
    return tempfile.TemporaryDirectory(prefix="flashrig-guest-", dir=options.work or "/var/tmp")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def run(*words, **more):
    return subprocess.run(words, check=True, **more)


def newest_kernel(where="/"):
    """The kernel that lies below a folder, and its release."""
    kernels = sorted(glob.glob(os.path.join(where, "boot/vmlinuz-*-amd64")))
    if not kernels:
        sys.exit(f"no Debian kernel in {where}boot: apt-get install linux-image-amd64")
    return kernels[-1], os.path.basename(kernels[-1]).removeprefix("vmlinuz-")


def has(where, release, option):
    """Whether a kernel was built with an option."""
    with open(os.path.join(where, f"boot/config-{release}"), encoding="utf-8") as config:
        return re.search(f"^{option}=[ym]$", config.read(), re.MULTILINE) is not None


def kernel_root(option, folder):
    """The folder below which a kernel lies that was built with an option: this system's, or the newest of Debian's
    backports, which is fetched into `folder` once. None where neither can be had."""
    installed = sorted(glob.glob("/boot/vmlinuz-*-amd64"))
    for where in (["/"] if installed else []) + [os.path.join(folder, "")]:
        if glob.glob(os.path.join(where, "boot/vmlinuz-*-amd64")) and has(where, newest_kernel(where)[1], option):
            return where
    lists = os.path.join(folder, "apt")
    os.makedirs(os.path.join(lists, "lists/partial"), exist_ok=True)
    with open(os.path.join(lists, "sources.list"), "w", encoding="utf-8") as file:
        file.write("deb http://deb.debian.org/debian bookworm-backports main\n")
    places = {"Dir::Etc::sourcelist": f"{lists}/sources.list", "Dir::Etc::sourceparts": "-", "Dir::State::lists": f"{lists}/lists",
              "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": ""}
    options = [word for name, value in places.items() for word in ("-o", f"{name}={os.path.abspath(value) if '/' in value else value}")]
    try:
        run("apt-get", *options, "update", "-qq", capture_output=True)
        needs = run("apt-cache", *options, "depends", "linux-image-amd64", capture_output=True, text=True).stdout
        name = re.search(r"Depends: (linux-image-6\S+-amd64)", needs).group(1)
        run("apt-get", *options, "download", name, cwd=lists, capture_output=True)
        package = glob.glob(os.path.join(lists, f"{glob.escape(name)}_*.deb"))[0]
        run("dpkg-deb", "-x", package, folder, capture_output=True)
        os.remove(package)
        run("depmod", "-b", folder, newest_kernel(folder)[1], capture_output=True)
    except (OSError, subprocess.CalledProcessError, AttributeError, IndexError):
        return None
    where = os.path.join(folder, "")
    return where if has(where, newest_kernel(where)[1], option) else None


def module_files(release, names, where="/"):
    files = []
    for name in names:
        shown = run("modprobe", "-d", where, "--show-depends", "-S", release, name, capture_output=True, text=True).stdout
        for line in shown.splitlines():
            if line.startswith("insmod ") and line.split()[1] not in files:
                files.append(line.split()[1])
    return files


def program(name):
    found = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    return found or sys.exit(f"{name} is missing")


def copy_libraries(path, root):
    for line in run("ldd", path, capture_output=True, text=True).stdout.splitlines():
        found = re.search(r"(/\S+) \(0x", line)
        if found:
            target = root + found.group(1)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.realpath(found.group(1)), target)


def initial_ram_disk(work, release, programs, modules, init, where="/"):
    """The root of the guest as a cpio archive. `programs`: paths by the names that they have in the guest, or by paths where
    they are to lie; `where`: the folder below which the kernel and its modules lie."""
    root = os.path.join(work, "root")
    for folder in ["bin", "modules", "proc", "sys", "dev", "tmp", "card"]:
        os.makedirs(os.path.join(root, folder))
    shutil.copy("/bin/busybox", os.path.join(root, "bin/busybox"))
    for applet in run("/bin/busybox", "--list", capture_output=True, text=True).stdout.split():
        if applet != "busybox":
            os.symlink("busybox", os.path.join(root, "bin", applet))
    for name, path in programs.items():
        target = root + name if name.startswith("/") else os.path.join(root, "bin", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            os.remove(target)
        run("strip", "-o", target, os.path.realpath(path))
        copy_libraries(path, root)
    order = []
    for path in module_files(release, modules, where):
        shutil.copy(path, os.path.join(root, "modules"))
        order.append(os.path.basename(path))
    with open(os.path.join(root, "modules/order"), "w") as file:
        file.write("\n".join(order) + "\n")
    with open(os.path.join(root, "init"), "w") as file:
        file.write(init)
    os.chmod(os.path.join(root, "init"), 0o755)
    return archive(root, os.path.join(work, "base.cpio"))


def archive(root, path):
    names = run("find", ".", "-mindepth", "1", cwd=root, capture_output=True).stdout
    with open(path, "wb") as file:
        run("cpio", "--quiet", "-o", "-H", "newc", cwd=root, input=names, stdout=file)
    return path


class Guest:
    """A guest that runs. What it says is read line by line; `hear` is called with the words of each line."""

    def __init__(self, work, kernel, archives, more, verbose, hear):
        self.lines, self.verbose, self.hear = [], verbose, hear
        self.ended = self.failed = None
        disk = os.path.join(work, "initrd")
        with open(disk, "wb") as file:
            for path in archives:
                with open(path, "rb") as part:
                    shutil.copyfileobj(part, file)
                file.write(b"\0" * (-file.tell() % 4096))
        # Emulation is slow at the wide instructions of newer processors; a kernel module of ublk's guest needs SSE 4.2.
        words = ["qemu-system-x86_64", "-machine", "q35,accel=tcg", "-cpu", "Nehalem", "-smp", "2", "-m", "1024", "-nographic",
                 "-no-reboot", "-nodefaults", "-serial", "stdio", "-kernel", kernel, "-initrd", disk, "-append",
                 "console=ttyS0 quiet panic=-1 mitigations=off", *more]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            line = line.strip()
            self.lines.append(line)
            if self.verbose:
                print("   ", line[:160], flush=True)
            # The first line stands behind what the firmware has done to the terminal.
            words = line[max(line.find("GUEST "), 0):].split()
            if words[:2] == ["GUEST", "ENDED"]:
                self.ended = True
            elif words[:2] == ["GUEST", "FAILED"]:
                self.failed = line
            elif words[:1] == ["GUEST"]:
                self.hear(words)

    def wait(self, until, seconds):
        """Waits for something that the guest says."""
        limit = time.monotonic() + seconds
        while not until():
            if self.failed or self.process.poll() is not None or time.monotonic() > limit:
                self.kill()
                print("\n".join(self.lines[-40:]))
                sys.exit(f"the guest failed: {self.failed or 'it ended, or took too long'}")
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()


class Program:
    """A command that runs until it is told to end, and what it has said."""

    def __init__(self, words, log, listens):
        self.words, self.log, self.listens, self.process = words, log, listens, None

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(600):
            if re.search(self.listens, self.said()):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"{' '.join(self.words)} does not listen:\n{self.said()}")

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)
