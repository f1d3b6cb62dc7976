"""Clients that write, trim, read and flush, each in a part of the card that is its own."""

import random
import threading

import nbd
from oracle import SECTOR, content

LONGEST = 16


class Load:
    """Several clients at work, until they are stopped or the server is gone."""

    def __init__(self, server, oracle, rng, clients, may_fail):
        """`may_fail()`: errors are allowed, because more is broken than parity stands for."""
        self.oracle, self.may_fail = oracle, may_fail
        self.wrong, self.stops = [], threading.Event()
        count = len(oracle.sectors) // clients
        # Connected here, so that a server that does not serve is noticed by the caller.
        connected = [server.client() for _ in range(clients)]
        self.threads = []
        for number, client in enumerate(connected):
            lbas = range(number * count, (number + 1) * count)
            thread = threading.Thread(target=self._run, args=(client, lbas, rng.randrange(1 << 62)), daemon=True)
            thread.start()
            self.threads.append(thread)

    def stop(self):
        """Ends the load, and returns what was wrong."""
        self.stops.set()
        for thread in self.threads:
            thread.join(120)
            if thread.is_alive():
                self.wrong.append("a request is not answered within two minutes")
        return self.wrong

    def _run(self, client, lbas, seed):

        rng = random.Random(seed)
        # A part that is written often, so that collection has something to do.
        hot = range(lbas.start, lbas.start + max(LONGEST, len(lbas) // 4))
        try:
            while not self.stops.is_set():
                self._batch(client, rng, hot if rng.random() < 0.6 else lbas)
            client.close()
        except nbd.Gone:
            pass
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    def _batch(self, client, rng, lbas):
        """Some requests that do not overlap, and sometimes a flush after them."""
        taken, asked = set(), []
        for _ in range(rng.randrange(1, 9)):
            count = rng.choice((1, 1, 2, 4, LONGEST))
            first = rng.randrange(lbas.start, lbas.stop - count + 1)
            among = range(first, first + count)
            if taken.isdisjoint(among):
                taken.update(among)
                kind = rng.choices(("write", "durable", "trim", "read"), (60, 8, 4, 28))[0]
                asked.append((kind, among))
        requests = [self._request(kind, among) for kind, among in asked]
        try:
            answers = client.batch(requests)
        except nbd.Gone:
            for number, (error, data) in list(client.answered.items()):
                self._answered(*asked[number], error, data)
            raise
        for (kind, among), (error, data) in zip(asked, answers):
            self._answered(kind, among, error, data)
        if rng.random() < 0.2:
            among = None if client.flags & nbd.CAN_MULTI_CONN else lbas
            covered = self.oracle.before_flush(among)
            try:
                client.flush()
            except nbd.Refused as refused:
                self._failed("flush", refused.args[0], lbas)
            else:
                self.oracle.flushed(covered)

    def _request(self, kind, among):
        offset, length = among.start * SECTOR, len(among) * SECTOR
        if kind == "read":
            return (nbd.READ, 0, offset, length, None)
        versions = self.oracle.begin(among, trims=kind == "trim")
        if kind == "trim":
            return (nbd.TRIM, 0, offset, length, None)
        payload = b"".join(content(self.oracle.salt, lba, version) for lba, version in zip(among, versions))
        return (nbd.WRITE, nbd.FUA if kind == "durable" else 0, offset, length, payload)

    def _answered(self, kind, among, error, data):
        if error:
            self._failed(kind, error, among)
        elif kind == "read":
            for number, lba in enumerate(among):
                wrong = self.oracle.check(lba, data[number * SECTOR:][:SECTOR], settles=False)
                if wrong:
                    self.wrong.append(wrong)
        else:
            self.oracle.acknowledged(among, durable=kind == "durable")

    def _failed(self, what, error, among):
        if not self.may_fail():
            self.wrong.append(f"{what} of sectors {among.start} to {among.stop - 1}: error {error}")
