"""Flash storage in software, for notebooks: review a device, model a card, ask what it would do.

>>> import flashrig
>>> run = flashrig.run("tachion-400", "rndwr", threads=8, writes=20_000)
>>> run.write.iops > 20_000
True

Functions are the commands of `flashrig`, with the same words and the same JSON: `run`, `replay`, `whatif`, `lifetime`, `review`,
`fit`, `validate`, `compare`, `history`, `torture`, `takeovers`, `read_result`. See docs/python.md.
"""

from __future__ import annotations

from ._call import Interrupted
from .card import Card, Host, Number, cards
from .loads import Fileio, Oltp, Redo, Slob
from .results import (
    CompareResult,
    FitResult,
    HistoryResult,
    LifetimeResult,
    Result,
    ReviewResult,
    RunResult,
    TakeoversResult,
    TortureResult,
    ValidateResult,
    WhatifResult,
    read_result,
)
from .served import Event, Served, connect
from .verbs import compare, fit, history, lifetime, published, replay, review, run, takeovers, torture, validate, whatif

__all__ = [
    "Card",
    "CompareResult",
    "Event",
    "Fileio",
    "FitResult",
    "HistoryResult",
    "Host",
    "Interrupted",
    "LifetimeResult",
    "Number",
    "Oltp",
    "Redo",
    "Result",
    "ReviewResult",
    "RunResult",
    "Served",
    "Slob",
    "TakeoversResult",
    "TortureResult",
    "ValidateResult",
    "WhatifResult",
    "cards",
    "compare",
    "connect",
    "fit",
    "history",
    "lifetime",
    "published",
    "read_result",
    "replay",
    "review",
    "run",
    "takeovers",
    "torture",
    "validate",
    "whatif",
]
