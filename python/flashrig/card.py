"""Cards and hosts: built in, in files, or made in Python."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Union

from ._call import ask
from ._words import word, words

if TYPE_CHECKING:
    from pathlib import Path

#: A card, or what names one on the command line: a built-in card, or the path of a TOML file.
CardLike = Union["Card", str, "os.PathLike[str]"]
#: A host, or what names one.
HostLike = Union["Host", str, "os.PathLike[str]", None]


class Number(NamedTuple):
    """A number of a card, and how it is known."""

    value: Any
    basis: str
    """`measured`, `datasheet`, `derived`, `assumed`, or `-` where it needs no source."""
    source: str | None


class Card:
    """A modelled card: a built-in one, or a TOML file. Each number of it says where it comes from.

    >>> Card("tachion-400").with_(**{"ftl.victim": "fifo"}).numbers["ftl.victim"].value
    'fifo'

    Raises ValueError where there is no such card, or a number of it can't be.
    """

    def __init__(self, card: CardLike, settings: Mapping[str, Any] | None = None) -> None:
        if isinstance(card, Card):
            settings = {**card.settings, **(settings or {})}
            self.word: str = card.word
        else:
            self.word = word(card)
        self.settings: dict[str, Any] = dict(settings or {})
        self._shown: dict[str, Any] | None = None
        self.to_dict()

    @classmethod
    def from_toml(cls, text: str, name: str = "card") -> Card:
        """A card from the text of its file; its name is that of a file without the ending."""
        return cls(_kept(text, name))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Mapping[str, Any]], name: str = "card") -> Card:
        """A card from its tables. A number is plain, or `{"value": …, "basis": …, "source": …}`."""
        return cls(_kept(toml(tables), name))

    def with_(self, settings: Mapping[str, Any] | None = None, /, **more: Any) -> Card:
        """The same card with other numbers: `with_({"ftl.victim": "fifo"})`. Keys of the host begin with `host.`."""
        return Card(self, {**(settings or {}), **more})

    def to_dict(self) -> dict[str, Any]:
        """The card as `flashrig show CARD --json` has it: name, title, figures, settings, sources."""
        if self._shown is None:
            own = {key: value for key, value in self.settings.items() if not key.startswith("host.")}
            self._shown = json.loads(ask(["show", "--json", *words({"set": own}), "--", self.word]).text)
        return dict(self._shown or {})

    @property
    def name(self) -> str:
        """The card's name."""
        return str(self.to_dict()["name"])

    @property
    def title(self) -> str:
        """The card's name for people."""
        return str(self.to_dict()["title"])

    @property
    def user_bytes(self) -> int:
        """Bytes that the host can address."""
        return int(self.to_dict()["user_bytes"])

    @property
    def figures(self) -> dict[str, Any]:
        """What follows from the numbers: capacities, spare factors, bandwidths. The unit is the last word of a key."""
        return dict(self.to_dict()["figures"] or {})

    @property
    def numbers(self) -> dict[str, Number]:
        """Every number, by its key (`ftl.victim`), with its basis and its source."""
        shown = self.to_dict()
        sources = shown["sources"]
        return {
            f"{table}.{key}": Number(value, **_source(sources.get(table, {}).get(key)))
            for table, values in shown["settings"].items()
            for key, value in values.items()
        }

    def __repr__(self) -> str:
        settings = f", {self.settings!r}" if self.settings else ""
        return f"Card({self.word!r}{settings})"

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [{"number": key, **number._asdict()} for key, number in self.numbers.items()]
        return f"<b>{self.title}</b>" + table(rows)


class Host:
    """The machine in front of a card: a built-in host, or a TOML file."""

    def __init__(self, host: str | os.PathLike[str]) -> None:
        self.word = word(host)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], name: str = "host") -> Host:
        """A host from its numbers: cores, session_ns, submit_ns, complete_ns, contention."""
        return cls(_kept(toml({"host": settings}), name))

    def __repr__(self) -> str:
        return f"Host({self.word!r})"


def card_words(card: CardLike, settings: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """What names a card, and the settings that are made of it."""
    if isinstance(card, Card):
        return card.word, {**card.settings, **(settings or {})}
    return word(card), dict(settings or {})


def host_word(host: HostLike) -> str | None:
    """What names a host."""
    return host.word if isinstance(host, Host) else None if host is None else word(host)


def cards() -> list[dict[str, Any]]:
    """The built-in cards: name, title, user_bytes, spare_factor, price_usd, usd_per_gb."""
    rows: list[dict[str, Any]] = json.loads(ask(["cards", "--json"]).text)
    return rows


def _source(of: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"basis": of["basis"], "source": of["source"]} if of else {"basis": "-", "source": None}


_folder: str | None = None
_made = 0


def _kept(text: str, name: str) -> Path:
    """A file that lives as long as the process; its name is the card's."""
    import atexit
    import shutil
    import tempfile
    from pathlib import Path

    global _folder, _made
    if "/" in name or not name.strip(". "):
        raise ValueError(f"{name!r} is no name of a card")
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="flashrig-")
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    _made += 1
    path = Path(_folder, str(_made), f"{name}.toml")
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def toml(tables: Mapping[str, Any]) -> str:
    """Tables of plain values, or of values with their sources, as TOML."""
    lines: list[str] = []
    for name, values in tables.items():
        if not isinstance(values, Mapping):
            raise ValueError(f"{name} is a table: {{key: value}}")
        lines.append(f"[{_key(name)}]")
        lines += [f"{_key(key)} = {_value(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines) + "\n"


def _key(key: Any) -> str:
    plain = isinstance(key, str) and key.replace("_", "").replace("-", "").isalnum() and key.isascii()
    return str(key) if plain else json.dumps(str(key))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inner = (f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return "{ " + ", ".join(inner) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, (int, float)) or hasattr(value, "dtype"):
        return word(value)
    # Strings of JSON are strings of TOML but for characters beyond the first plane, which are left as they are.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
