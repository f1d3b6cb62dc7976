"""Python's values as the words of the command line."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any, Iterable, Mapping


def words(options: Mapping[str, Any], repeated: Iterable[str] = ()) -> list[str]:
    """The words of options: `fsync_freq=100` is `--fsync-freq=100`.

    None and False are left out, True has no value, a mapping is given again for each key (`--set=ftl.victim=fifo`), a range
    is LEAST..MOST, and a list is joined by commas, or given again where the option is in `repeated`.
    """
    out: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(option)
        elif isinstance(value, Mapping):
            out += [f"{option}={key}={word(one)}" for key, one in value.items()]
        elif name in repeated and not isinstance(value, (str, os.PathLike)):
            out += [f"{option}={word(one)}" for one in value]
        else:
            out.append(f"{option}={word(value)}")
    return out


def word(value: Any) -> str:
    """One value, as it is typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        path = os.fspath(value)
        return path if isinstance(path, str) else os.fsdecode(path)
    if isinstance(value, timedelta):
        return f"{round(value.total_seconds() * 1e9)}ns"
    if isinstance(value, range) and value.step == 1 and len(value) > 0:
        return f"{value[0]}..{value[-1]}"
    if isinstance(value, (list, tuple, range)) or hasattr(value, "tolist"):
        several = value.tolist() if hasattr(value, "tolist") else value
        return ",".join(word(one) for one in several) if isinstance(several, (list, tuple, range)) else word(several)
    return str(value)
