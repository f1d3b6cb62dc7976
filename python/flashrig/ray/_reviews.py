"""Reviews of many models on a cluster."""

from __future__ import annotations

from typing import Any, Sequence

from .._call import Interrupted, Progress
from ..card import Card, CardLike
from ..results import ReviewResult
from ..verbs import review
from ._cluster import cluster, each, one_thread


def review_models(cards: Sequence[CardLike], *, progress: Progress = None, **options: Any) -> list[ReviewResult]:
    """`flashrig.review` of each modelled card, with its arguments, a task each; results in the order of the cards.

    A card that is a file must be there on each node; built-in cards and their settings need none. Raises ValueError where a card or
    an option can't be; Interrupted at Ctrl-C, whose `result` is a list of what was done.
    """
    asked = [Card(card) for card in cards]
    ray = cluster()
    texts: dict[int, str] = {}
    calls = [(card.word, card.settings, options) for card in asked]
    try:
        for place, text in each(ray, "reviews", reviewed, calls, progress):
            texts[place] = text
    except KeyboardInterrupt:
        raise Interrupted(f"stopped by Ctrl-C after {len(texts)} of {len(calls)} reviews") from None
    return [ReviewResult(texts[place]) for place in range(len(calls))]


def reviewed(card: str, settings: dict[str, Any], options: dict[str, Any]) -> str:
    """The JSON of one review: the task of a worker."""
    one_thread()
    return review(card, **{**options, "set": {**settings, **(options.get("set") or {})}}).to_json()
