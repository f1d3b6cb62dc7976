"""Calls of the extension: words in, text out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Protocol, Union

from . import _flashrig

if TYPE_CHECKING:
    from .results import Result


class Bar(Protocol):
    """A progress bar of tqdm, or one that is used like it."""

    total: Any
    n: Any

    def set_description(self, desc: str, /) -> object: ...
    def refresh(self) -> object: ...


#: None and False show nothing, True a bar on standard error. A function is called with what is being done, how many units of
#: it are done, and how many there are; a bar of tqdm is moved.
Progress = Union[bool, None, Callable[[str, int, int], object], Bar]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a call. `result` is what was done until then, marked as partial; None where there was nothing yet."""

    result: Result | None

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class Answer(NamedTuple):
    """What a command would have printed."""

    code: int
    text: str
    notes: str
    interrupted: bool


def ask(words: list[str], progress: Progress = None) -> Answer:
    """Carries out a command in this process, with the interpreter free for other threads.

    Raises ValueError with the command's line where it is refused, and Interrupted where Ctrl-C left nothing to hand out.
    """
    shown, close = _listener(progress)
    try:
        answer = Answer(*_flashrig.call(["flashrig", *words], shown))
    finally:
        close()
    if answer.code == 130 and not answer.text:
        raise Interrupted("stopped by Ctrl-C before there was anything to hand out")
    return answer


def _listener(progress: Progress) -> tuple[Callable[[str, int, int], object] | None, Callable[[], None]]:
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        return _line()
    if hasattr(progress, "refresh") and hasattr(progress, "total"):
        bar: Any = progress

        def move(name: str, done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.set_description(name)
            bar.refresh()

        return move, lambda: None
    if not callable(progress):
        raise TypeError("progress is True, a function of (name, done, total), or a bar of tqdm")
    return progress, lambda: None


def _line() -> tuple[Callable[[str, int, int], object], Callable[[], None]]:
    """A bar of its own: one line on standard error, which is gone at the end."""
    shown = [0]

    def show(name: str, done: int, total: int) -> None:
        share = done / total if total else 0.0
        line = f"{name[:40]:40} [{'=' * int(share * 30):30}] {share:4.0%}"
        shown[0] = max(shown[0], len(line))
        sys.stderr.write("\r" + line.ljust(shown[0]))
        sys.stderr.flush()

    def close() -> None:
        if shown[0]:
            sys.stderr.write("\r" + " " * shown[0] + "\r")
            sys.stderr.flush()

    return show, close


def script() -> str | None:
    """The script `flashrig` beside the interpreter, where the package is installed."""
    beside = os.path.join(os.path.dirname(sys.executable), "flashrig")
    return beside if os.access(beside, os.X_OK) else None
