"""A client of the NBD protocol, over a Unix socket, that shares nothing with the server it asks."""

import contextlib
import socket
import struct

REQUEST, REPLY, OPTION = 0x25609513, 0x67446698, b"IHAVEOPT"
READ, WRITE, DISCONNECT, FLUSH, TRIM = 0, 1, 2, 3, 4
FUA = 1
CAN_MULTI_CONN = 1 << 8


class Gone(Exception):
    """The server has closed the connection, or never took it."""


class Refused(Exception):
    """The server has answered with an error: its number is the argument."""


class Client:
    """A connection on which requests may be sent in batches; each call returns when all of a batch are answered."""

    def __init__(self, path, timeout_s=90):
        self.handle = 0
        try:
            self.stream = socket.socket(socket.AF_UNIX)
            self.stream.settimeout(timeout_s)
            self.stream.connect(str(path))
            self._receive(18)
            # Fixed newstyle without zeroes, and the default export by the oldest of the options.
            self.stream.sendall(struct.pack(">I", 3) + OPTION + struct.pack(">II", 1, 0))
            self.size_bytes, self.flags = struct.unpack(">QH", self._receive(10))
        except OSError as error:
            raise Gone(str(error)) from error

    def _receive(self, count):
        data = bytearray()
        while len(data) < count:
            try:
                more = self.stream.recv(count - len(data))
            except OSError as error:
                raise Gone(str(error) or "timeout") from error
            if not more:
                raise Gone("closed")
            data += more
        return bytes(data)

    def batch(self, requests):
        """Sends (command, flags, offset, length, payload) for each, and returns (error, data) for each, in their order.

        Raises Gone if the connection ends before all are answered; `answered` then has those that were.
        """
        sent, answers = bytearray(), {}
        first = self.handle
        for command, flags, offset, length, payload in requests:
            sent += struct.pack(">IHHQQI", REQUEST, flags, command, self.handle, offset, length) + (payload or b"")
            self.handle += 1
        self.answered = answers
        try:
            self.stream.sendall(sent)
        except OSError as error:
            raise Gone(str(error)) from error
        while len(answers) < len(requests):
            magic, error, handle = struct.unpack(">IIQ", self._receive(16))
            number = handle - first
            if magic != REPLY or not 0 <= number < len(requests) or number in answers:
                raise AssertionError(f"an answer that nobody asked for: magic {magic:#x}, handle {handle}")
            command, _, _, length, _ = requests[number]
            data = self._receive(length) if command == READ and error == 0 else b""
            answers[number] = (error, data)
        return [answers[number] for number in range(len(requests))]

    def read(self, offset, length):
        [(error, data)] = self.batch([(READ, 0, offset, length, None)])
        if error:
            raise Refused(error)
        return data

    def flush(self):
        [(error, _)] = self.batch([(FLUSH, 0, 0, 0, None)])
        if error:
            raise Refused(error)

    def close(self):
        with contextlib.suppress(OSError):
            self.stream.sendall(struct.pack(">IHHQQI", REQUEST, 0, DISCONNECT, 0, 0, 0))
        with contextlib.suppress(OSError):
            self.stream.close()
