"""A fit on a cluster: every worker carries out the same fit, and the simulations are divided among them."""

from __future__ import annotations

import json
import os
import tempfile
import time
from typing import Any, Sequence

from .. import _flashrig
from .._call import Interrupted, Progress
from .._words import word, words
from ..card import CardLike, HostLike, card_words, host_word
from ..results import FitResult
from ..verbs import PathLike
from ._cluster import cluster, each, one_thread

#: A point that nobody has answered after this time is given to somebody else too, in seconds.
PATIENCE = 20.0
#: Time after which a worker asks again, when there is nothing to do, in seconds.
PAUSE = 0.01


class Desk:
    """What is known of points, and who simulates which: the actor that workers ask."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.begun: dict[str, float] = {}
        self.states: dict[str, set[str]] = {}

    def share(self, worker: str, question: str) -> str:
        """The answer to a worker's question (study::fit::Exchange)."""
        asked = json.loads(question)
        keys, states = asked["keys"], asked["states"]
        for place, figures in asked["found"]:
            self.known.setdefault(keys[place], figures)
        known = [[place, self.known[key]] for place, key in enumerate(keys) if key in self.known]
        place = self._next(self.states.setdefault(worker, set()), keys, states)
        if place is not None:
            self.begun[keys[place]] = time.monotonic()
            self.states[worker].add(states[place])
        return json.dumps({"known": known, "todo": [] if place is None else [place]})

    def points(self) -> int:
        """Points whose figures are known."""
        return len(self.known)

    def _next(self, mine: set[str], keys: list[str], states: list[str]) -> int | None:
        """A point to be simulated: of a state that the worker has, else of one that nobody has, else any."""
        late = time.monotonic() - PATIENCE
        open_ = [i for i, key in enumerate(keys) if key not in self.known and self.begun.get(key, late) <= late]
        taken = {state for states_of in self.states.values() for state in states_of}
        # The least of these wins: 0, 1 or 2, and then the place.
        rank = {i: 0 if states[i] in mine else 1 if states[i] not in taken else 2 for i in open_}
        return min(open_, key=lambda i: (rank[i], i), default=None)


def fit(
    results: PathLike | Sequence[PathLike],
    *,
    workers: int | None = None,
    base: CardLike | None = None,
    host: HostLike = None,
    progress: Progress = None,
    **options: Any,
) -> FitResult:
    """`flashrig.fit` on a cluster, with its arguments; the same result, byte for byte.

    `workers` is the number of tasks, one processor each (all that the cluster has). Files are read here and sent along. Raises
    ValueError where there is nothing to fit, Interrupted at Ctrl-C.
    """
    ray = cluster()
    files = [word(one) for one in ([results] if isinstance(results, (str, os.PathLike)) else results)]
    given: dict[str, Any] = {"host": host_word(host), "json": True, **options}
    if base is not None:
        given["base"] = card_words(base, None)[0]
    texts = {name: _text(name) for name in [*files, given.get("base"), given["host"]] if _is_file(name)}
    count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    actor: Any = ray.remote(num_cpus=0)(Desk)
    desk = actor.remote()
    shared = ray.put(texts)
    try:
        calls = [(desk, str(worker), files, given, shared) for worker in range(count)]
        for _, (text, code, card) in each(ray, "fit", fitted, calls, progress):
            # All come to the same: the first is the answer.
            result = FitResult(text, code)
            result._card_toml = card
            return result
    except KeyboardInterrupt:
        raise Interrupted("stopped by Ctrl-C: a fit is whole or nothing") from None
    finally:
        ray.kill(desk)
    raise RuntimeError("a cluster without workers")


def fitted(
    desk: Any, worker: str, files: list[str], given: dict[str, Any], texts: dict[str, str]
) -> tuple[str, int, str | None]:
    """The fit, with the others: the task of a worker."""
    import ray

    one_thread()

    def ask(question: str) -> str:
        answer: str = ray.get(desk.share.remote(worker, question))
        if '"todo": []' in answer:
            time.sleep(PAUSE)
        return answer

    with tempfile.TemporaryDirectory(prefix="flashrig-") as folder:
        places = {name: _place(folder, name, text) for name, text in texts.items()}
        local = {key: places.get(value, value) if isinstance(value, str) else value for key, value in given.items()}
        out = os.path.join(folder, "fitted.toml")
        typed = ["fit", *words({**local, "out": out, "force": True}), "--", *(places.get(name, name) for name in files)]
        code, text, _, _ = _flashrig.call(["flashrig", *typed], None, ask)
        card = _text(out) if os.path.exists(out) else None
    for name, place in places.items():
        # The result names files as the caller did.
        text = text.replace(place, name)
        card = card and card.replace(place, name)
    return text, code, card


def _place(folder: str, name: str, text: str) -> str:
    """Where a file of the caller is on this node."""
    if _is_file(name) and _text(name) == text:
        return name
    path = os.path.join(folder, name.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _is_file(name: Any) -> bool:
    return isinstance(name, str) and os.path.isfile(name)


def _text(name: str) -> str:
    with open(name, encoding="utf-8") as file:
        return file.read()
