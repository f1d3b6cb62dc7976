"""Clients that misbehave. None of them may do anything to the others, or to what is on the card."""

import contextlib
import socket
import struct
import time

from nbd import OPTION, READ, REQUEST, TRIM, WRITE

GREETING = struct.pack(">I", 3) + OPTION + struct.pack(">II", 1, 0)


def connected(path):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(2)
    stream.connect(str(path))
    return stream


def request(command, offset, length, magic=REQUEST, flags=0):
    return struct.pack(">IHHQQI", magic, flags, command, 7, offset, length)


def noise(path, size, rng):
    with connected(path) as stream:
        stream.sendall(rng.randbytes(rng.randrange(1, 4096)))


def noise_after_the_greeting(path, size, rng):
    with connected(path) as stream:
        stream.sendall(GREETING + rng.randbytes(rng.randrange(1, 4096)))


def half_a_write(path, size, rng):
    """A payload that stops in its middle."""
    with connected(path) as stream:
        stream.sendall(GREETING + request(WRITE, 0, 65536) + b"x" * rng.randrange(0, 65535))


def beyond_the_end(path, size, rng):
    with connected(path) as stream:
        stream.sendall(GREETING + request(READ, size - 4096, 8192) + request(TRIM, size - 4096, 8192))
        with contextlib.suppress(OSError):
            stream.recv(4096)


def too_long(path, size, rng):
    with connected(path) as stream:
        stream.sendall(GREETING + request(READ, 0, 0xFFFFF000))
        with contextlib.suppress(OSError):
            stream.recv(4096)


def answers_not_taken(path, size, rng):
    with connected(path) as stream:
        stream.sendall(GREETING + request(READ, 0, min(size, 1 << 20)) * 32)
        time.sleep(rng.uniform(0.05, 0.3))


def silent(path, size, rng):
    with connected(path):
        time.sleep(rng.uniform(0.05, 0.3))


ALL = (noise, noise_after_the_greeting, half_a_write, beyond_the_end, too_long, answers_not_taken, silent)


def misbehave(path, size, rng):
    """One of them, whatever becomes of it."""
    client = rng.choice(ALL)
    with contextlib.suppress(OSError):
        client(path, size, rng)
    return client.__name__.replace("_", " ")
