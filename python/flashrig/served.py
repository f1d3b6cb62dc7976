"""A running card, by its control socket."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Iterator, NamedTuple

from ._call import ask
from ._records.control import Client, Export, Module, Ownership, Pulled, Settings, Smart, Status
from ._words import word
from .loads import Size


class Event(NamedTuple):
    """Something of a running card that is no longer what it was."""

    time_s: float
    """When it was seen, in seconds of the Unix epoch."""
    what: str
    """`degraded`, `powered`, `slot 3 state`, `client 7` …"""
    before: Any
    now: Any


class Served:
    """A card that `flashrig serve` runs: its directory, its control socket, or its name.

    Whoever may connect may do anything to the card, also cut its power. Raises ValueError where no card answers, or where it
    refuses, with the line that `flashrig ctl` prints.
    """

    def __init__(self, card: str | os.PathLike[str]) -> None:
        self.card = word(card)

    def _ask(self, *words: str) -> Any:
        return json.loads(ask(["ctl", "--json", self.card, *words]).text)

    def status(self) -> Status:
        """How the card stands: state, size, latencies, flash management, settings."""
        return Status(self._ask("status"))

    def modules(self) -> list[Module]:
        """Its slots, and what is in them."""
        return [Module(one) for one in self._ask("modules")["modules"]]

    def smart(self) -> Smart:
        """Its health, in the words of NVMe's log page 02h."""
        return Smart(self._ask("smart"))

    def clients(self) -> list[Client]:
        """Who reads and writes it."""
        return [Client(one) for one in self._ask("clients")["clients"]]

    def exports(self) -> list[Export]:
        """Under which names it can be asked."""
        return [Export(one) for one in self._ask("clients")["exports"]]

    def pull(self, slot: int, *, force: bool = False) -> Pulled:
        """Takes a module out, with the card at work; `force` also when more are missing then than parity stands for."""
        return Pulled(self._ask("module", "pull", word(slot), *(["--force"] if force else [])))

    def insert(
        self,
        slot: int,
        path: str | os.PathLike[str] | None = None,
        *,
        new: bool = False,
        destroy_data: bool = False,
    ) -> Module:
        """Puts a module back, or the image, file or drive at `path`; a blank one with `new`."""
        options = [*(["--new"] if new else []), *(["--destroy-data"] if destroy_data else [])]
        return Module(self._ask("module", "insert", word(slot), *options, *([word(path)] if path is not None else [])))

    def power_cut(self) -> None:
        """Cuts its power: what was not durable is lost."""
        self._ask("power", "cut")

    def power_on(self) -> None:
        """Gives it power again: the card finds itself on its media."""
        self._ask("power", "on")

    def scrub(self) -> None:
        """Has it read all that it holds; `status().scrub` says how far it is."""
        self._ask("scrub")

    def trim(self, offset: Size, length: Size) -> int:
        """Declares a range unused, in bytes; returns the bytes of the whole 4 KiB sectors in it."""
        return int(self._ask("trim", word(offset), word(length))["trimmed_bytes"])

    def set(self, **settings: Any) -> Settings:
        """Changes how it works from now on: gc, target_free_bands, rebuild_bytes_per_s (None: as fast as it can)."""
        given = [f"{key}={'none' if value is None else word(value)}" for key, value in settings.items()]
        return Settings(self._ask("set", *given))

    def ownership(self) -> Ownership | None:
        """Which controller owns a shared card; None of a card that one server has alone."""
        found = self._ask("ownership")["ownership"]
        return None if found is None else Ownership(found)

    def take_over(self) -> None:
        """Has the controller at this socket own the shared card, whether its owner lives or not."""
        self._ask("take-over")

    def release(self) -> None:
        """Has another controller own the shared card."""
        self._ask("release")

    def events(self, interval: float = 1.0) -> Iterator[Event]:
        """What changes, for ever, as seen every `interval` seconds: power, state, modules, clients, scrub, settings, errors.

        Two changes between two looks are one.
        """
        before = self._state()
        while True:
            time.sleep(interval)
            now = self._state()
            for what in sorted(before.keys() | now.keys()):
                if before.get(what) != now.get(what):
                    yield Event(time.time(), what, before.get(what), now.get(what))
            before = now

    def _state(self) -> dict[str, Any]:
        status = self._ask("status")
        state = {key: status[key] for key in ("powered", "stopped", "read_only", "degraded", "power_cuts")}
        state["scrub"], state["rebuild"] = status["scrub"] is not None, status["rebuild"] is not None
        state["errors"] = status["stats"]["errors"]
        state.update({f"settings {key}": value for key, value in status["settings"].items()})
        for module in self._ask("modules")["modules"]:
            state[f"slot {module['slot']} state"] = module["state"]
        for client in self._ask("clients")["clients"]:
            state[f"client {client['number']}"] = client["peer"]
        return state

    def __repr__(self) -> str:
        return f"Served({self.card!r})"


def connect(card: str | os.PathLike[str]) -> Served:
    """A running card, by its directory, its control socket, or its name. Raises ValueError where none answers."""
    served = Served(card)
    served.status()
    return served
