"""The commands as functions.

A keyword argument is the command line's option with underscores for hyphens, and is checked by the same definitions: where the
command refuses, a function raises ValueError with the line that the command prints. None is the command's default. Sizes
are numbers of bytes or texts ("16k", "8g", binary); times are texts ("2ms", "30s") or timedelta; shares are numbers from 0
to 1 or texts ("50%").

Every function leaves the interpreter free for other threads, takes `progress` (True for a bar, a function, a bar of tqdm), and
is ended by Ctrl-C, which raises Interrupted with what was done.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Mapping, Sequence, TypeVar, Union

from ._call import Progress, ask, script
from ._words import word, words
from .card import CardLike, HostLike, card_words, host_word
from .loads import Load, Size, Time
from .results import (
    CompareResult,
    FitResult,
    HistoryResult,
    LifetimeResult,
    ReviewResult,
    RunResult,
    TakeoversResult,
    TortureResult,
    ValidateResult,
    WhatifResult,
    made,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LoadOptions

T = TypeVar("T")
PathLike = Union[str, "os.PathLike[str]"]
Share = Union[float, str]
Settings = Union[Mapping[str, Any], None]
#: One value, several, or a range of whole ones that is searched: `range(20, 101)` is 20..100.
Several = Union[T, Sequence[T], range, str, None]


def run(
    card: CardLike,
    load: Load | str | None = None,
    *,
    fill: Share | None = None,
    scale: Share | None = None,
    set: Settings = None,
    host: HostLike = None,
    compressible: Share | None = None,
    seed: int | None = None,
    fresh: bool = False,
    seconds: float | None = None,
    requests: int | None = None,
    writes: int | None = None,
    explain_tail: bool = False,
    histograms: bool = False,
    cache_of: str | None = None,
    cache_mode: str | None = None,
    cache_policy: str | None = None,
    cache_size: Size | None = None,
    progress: Progress = None,
    **options: Unpack[LoadOptions],
) -> RunResult:
    """Runs one load on a modelled card: a mode of fileio, "redo", "slob", "oltp", "tpcc",
    "replica", or an object of `loads`.

    `fill` is the share of the user capacity that holds data before, `scale` the part of the card that is modelled (1/64),
    `seconds` are virtual, `histograms` keeps whole distributions of latency (`to_fio_json`). Options of the load are those
    of `flashrig run --help`: `block="16k"`, `threads=8`, `redo_readers=4`. With `cache_of` the card is a cache of another device.
    `compressible` is the share of the data that a card that compresses takes away.
    Raises ValueError where the card, the load or a value can't be.
    """
    given = {"fill": fill, "scale": scale, "seed": seed, "fresh": fresh, "seconds": seconds, "requests": requests}
    given.update(compressible=compressible)
    given.update(writes=writes, explain_tail=explain_tail, histograms=histograms)
    given.update(cache_of=cache_of, cache_mode=cache_mode, cache_policy=cache_policy, cache_size=cache_size)
    if isinstance(load, Load):
        given.update(load.options())
        load = load.word
    return made(RunResult, modelled("run", card, set, host, {"load": load, **given, **options}), progress)


def replay(
    card: CardLike,
    trace: PathLike,
    *,
    trace_format: str | None = None,
    speed: str | None = None,
    skip_bad: bool = False,
    trace_volume: str | None = None,
    depth: int | None = None,
    fill: Share | None = None,
    scale: Share | None = None,
    set: Settings = None,
    host: HostLike = None,
    compressible: Share | None = None,
    seed: int | None = None,
    fresh: bool = False,
    seconds: float | None = None,
    requests: int | None = None,
    explain_tail: bool = False,
    histograms: bool = False,
    cache_of: str | None = None,
    cache_mode: str | None = None,
    cache_policy: str | None = None,
    cache_size: Size | None = None,
    progress: Progress = None,
) -> RunResult:
    """Replays a block trace on a modelled card (`flashrig run --trace`).

    `speed` is "recorded", "max" or so many times faster ("2x"). Raises ValueError where the trace or a value can't be.
    """
    given = {key: value for key, value in locals().items() if key not in ("card", "set", "host", "progress")}
    return made(RunResult, modelled("run", card, set, host, given), progress)


def whatif(
    card: CardLike,
    *,
    fill: Several[Share] = None,
    reserve: Several[Share] = None,
    threads: Several[int] = None,
    load: Several[str] = None,
    read_percent: Several[Share] = None,
    block: Several[Size] = None,
    vary: Mapping[str, Sequence[Any] | str] | None = None,
    target_p99: Time | None = None,
    min_mb_s: float | None = None,
    depth: int | None = None,
    access: str | None = None,
    think: Time | None = None,
    rate: float | None = None,
    scale: Share | None = None,
    set: Settings = None,
    host: HostLike = None,
    compressible: Share | None = None,
    seed: int | None = None,
    seconds: float | None = None,
    cache_of: str | None = None,
    cache_mode: str | None = None,
    cache_policy: str | None = None,
    cache_size: Size | None = None,
    progress: Progress = None,
) -> WhatifResult:
    """Asks what a modelled card would do: a grid of questions, or how far it holds a bound.

    Each axis is a value or a list; the grid is their product. `fill`, `reserve` and `read_percent` are in percent, 0 to 100,
    `block` in bytes. With `target_p99` or `min_mb_s` (10^6 bytes a second) one of `fill`, `reserve`, `threads` is a range that
    is searched: `fill=range(20, 101)`. `vary={"ftl.victim": ["greedy", "fifo"]}` varies any number of the card or the host.

    Raises ValueError where a point can't exist, and says which axis asks for it.
    """
    given = {key: value for key, value in locals().items() if key not in ("card", "set", "host", "progress")}
    return made(WhatifResult, modelled("whatif", card, set, host, given), progress)


def lifetime(
    card: CardLike,
    *,
    load: str | None = None,
    per_day: Size | None = None,
    fill: Share | None = None,
    block: Size | None = None,
    access: str | None = None,
    fsync_freq: int | None = None,
    threads: int | None = None,
    reserve: Several[Share] = None,
    years: float | None = None,
    cycles: int | None = None,
    scale: Share | None = None,
    set: Settings = None,
    host: HostLike = None,
    compressible: Share | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> LifetimeResult:
    """Wears a modelled card out: years, bytes and drive writes a day, and what its reserve buys.

    `per_day` are bytes that the host writes a day ("4TB"), `reserve` percents of the capacity sold, one life each, `fill` is a
    share, `fsync_freq` writes from one flush to the next. Raises ValueError where nothing is written, or a value can't be.
    """
    given = {key: value for key, value in locals().items() if key not in ("card", "set", "host", "progress")}
    return made(LifetimeResult, modelled("lifetime", card, set, host, given), progress)


def review(
    target: CardLike,
    *,
    only: Sequence[str] | str | None = None,
    quick: bool = False,
    fill: Share | None = None,
    seed: int | None = None,
    price: float | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    overwrite: bool = False,
    export_fio: PathLike | None = None,
    size: Size | None = None,
    budget: Time | None = None,
    destroy_data: bool = False,
    serial: str | None = None,
    purge: str | None = None,
    keep: bool = False,
    scale: Share | None = None,
    set: Settings = None,
    host: HostLike = None,
    database: str | None = None,
    sessions: Sequence[int] | str | None = None,
    parts: Sequence[str] | str | None = None,
    db_size: Size | None = None,
    shared_buffers: Size | None = None,
    point: Time | None = None,
    mix: Mapping[str, Any] | None = None,
    slob: Mapping[str, Any] | None = None,
    crash: bool = False,
    cycles: int | None = None,
    pg_bin: PathLike | None = None,
    progress: Progress = None,
) -> ReviewResult:
    """Reviews a device as a database engineer does: a modelled card, a real drive, a file.

    A review of a model writes files where `out` names them; one of a real device always writes NAME.json and NAME.html, as the
    command does, because it takes hours. A block device is overwritten with `destroy_data=True` and its `serial`, which nobody
    is asked for; `purge="format"` or `"sanitize"` empties an NVMe drive by its own command. Raises ValueError where the device
    may not be overwritten, or a value can't be.
    """
    given = {key: value for key, value in locals().items() if key not in ("target", "set", "host", "progress", "out")}
    if (program := script()) is not None:
        from . import _flashrig

        _flashrig.program_is(program)
    name, _ = card_words(target, None)
    if out is not None or database is not None or not _is_model(name, size):
        return made(ReviewResult, modelled("review", target, set, host, {**given, "json": True, "out": out}), progress)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="flashrig-") as folder:
        files = {**given, "json": True, "out": folder + "/"}
        return made(ReviewResult, modelled("review", target, set, host, files), progress)


def fit(
    results: PathLike | Sequence[PathLike],
    *,
    base: CardLike | None = None,
    host: HostLike = None,
    host_out: PathLike | None = None,
    fill: Share | None = None,
    hold_out: int | None = None,
    bound: Share | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    force: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
) -> FitResult:
    """Finds the card that would have measured like this: reviews, fio's JSON, tables, `published:NAME`.

    `result.card` is the card, `result.ok` whether the fit is good: half of the points that were left out are predicted better
    than `bound`, a share. Raises ValueError where there is nothing to fit.
    """
    import tempfile

    given: dict[str, Any] = {"host": host_word(host), "json": True, "host_out": host_out, "fill": fill}
    given.update(hold_out=hold_out, bound=bound, seed=seed)
    if base is not None:
        given["base"], settings = card_words(base, None)
        if settings:
            raise ValueError("a fit begins with a card as its file says: write the settings into a file first")
    files = [word(one) for one in ([results] if isinstance(results, (str, os.PathLike)) else results)]
    with tempfile.TemporaryDirectory(prefix="flashrig-") as folder:
        place = os.path.join(folder, "fitted.toml") if out is None else word(out)
        where = {"out": place, "force": force or out is None, "overwrite": overwrite}
        result = made(FitResult, ["fit", *words({**given, **where}), "--", *files], progress)
        if os.path.exists(place):
            with open(place, encoding="utf-8") as file:
                result._card_toml = file.read()
    return result


def validate(
    *,
    table: str | None = None,
    datasheets: bool = False,
    card: str | None = None,
    scale: Share | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> ValidateResult:
    """Holds the models against measurements that other people published. `result.ok` is False where a bound is missed.

    With `datasheets` drives are held against their data sheets instead, all of them or `card` alone.
    """
    given = {"table": table, "datasheets": datasheets, "card": card, "scale": scale, "seed": seed, "json": "-"}
    return made(ValidateResult, ["validate", *words(given)], progress)


def compare(
    *results: PathLike,
    out: PathLike | None = None,
    fail_if: Sequence[str] | str | None = None,
    junit: PathLike | None = None,
    all: bool = False,
) -> CompareResult:
    """Puts results side by side: reviews, other tools' results, `published:NAME`, NAME=FILE.

    `fail_if` are conditions ("p99>+10%", "read.p99>2ms"); `result.ok` is False where one is met. Raises ValueError where a file
    is no result.
    """
    given = {"out": out, "fail_if": fail_if, "junit": junit, "all": all, "json": True}
    return made(CompareResult, ["compare", *words(given, ["fail_if"]), "--", *map(word, results)])


def history(
    *places: PathLike,
    out: PathLike | None = None,
    markdown: PathLike | None = None,
    svg: PathLike | None = None,
    png: PathLike | None = None,
    all: bool = False,
) -> HistoryResult:
    """Tells how devices have changed, over reviews and folders of them: one sentence for each device, and its figures by review.

    `out` is a page, `markdown` a summary, `svg` and `png` a picture of the one device that there is; `all` takes in every
    figure. Raises ValueError where there is no review.
    """
    given = {"out": out, "markdown": markdown, "svg": svg, "png": png, "all": all, "json": True}
    return made(HistoryResult, ["history", *words(given), "--", *map(word, places)])


def torture(
    *,
    seed: int | None = None,
    lives: int | None = None,
    first: int | None = None,
    for_: Time | None = None,
    card: str | None = None,
    operations: int | None = None,
    beyond: bool = False,
    require_coverage: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> TortureResult:
    """Tries simulated cards to destruction: power cuts, lost modules, wrong bytes; and checks every sector.

    A life that fails is made small and written to torture-SEED.json, and `result.replay` is the line that lives it again.
    """
    given = {key: value for key, value in locals().items() if key != "progress"}
    return made(TortureResult, ["torture", *words({**given, "json": True})], progress)


def takeovers(
    *,
    seed: int | None = None,
    lives: int | None = None,
    first: int | None = None,
    for_: Time | None = None,
    require_coverage: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> TakeoversResult:
    """Plays lives of controllers that share an array, one of which owns it at a time, and judges what hosts were answered.

    This is `flashrig torture --takeovers`; docs/two-controllers.md has the rules that are tried.
    """
    given = {key: value for key, value in locals().items() if key != "progress"}
    return made(TakeoversResult, ["torture", *words({**given, "takeovers": True, "json": True})], progress)


def published() -> list[str]:
    """Names of the published measurements that `compare`, `fit` and `read_result` take as `published:NAME`."""
    return ask(["compare", "--list-published"]).text.split()


def modelled(verb: str, card: CardLike, set: Settings, host: HostLike, options: Mapping[str, Any]) -> list[str]:
    """The words of a command about a card."""
    name, settings = card_words(card, set)
    output = {} if verb == "review" or "plan" in options else {"json": "-"}
    if word(options.get("trace")) == "-":
        raise ValueError("standard input is the interpreter's: name the trace's file")
    stray = [key for key in ("json", "csv", "settings") if key in options and verb != "review"]
    if stray:
        raise TypeError(f"{stray[0]} is no argument: the result has to_json(), save() and to_pandas()")
    given = {**options, "host": host_word(host), "set": settings, **output}
    return [verb, *words(given, ["mix", "slob"]), "--", name]


def _is_model(name: str, size: Any) -> bool:
    """What `flashrig review` takes for a card: a name, unless something says that a file is meant."""
    return name.endswith(".toml") or not ("/" in name or os.path.exists(name) or size is not None)
