"""Objects of JSON with named fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Iterator, Mapping


class Record:
    """An object of a result: its fields are attributes, and its keys are those of the JSON.

    Fields that a result leaves out are None. The unit is the last word of a field's name: `_ns`, `_s`, `_bytes`.
    """

    _nested: ClassVar[Mapping[str, Any]] = {}
    _keys: ClassVar[Mapping[str, str]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._made: dict[str, Any] = {}

    if not TYPE_CHECKING:  # A name that no class declares is a mistake that the type checker finds.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or not self._declares(name):
                raise AttributeError(f"{type(self).__name__} has no field {name}; it has {', '.join(self._fields())}")
            if name not in self._made:
                value = self._data.get(self._keys.get(name, name))
                self._made[name] = _wrapped(value, self._nested.get(name))
            return self._made[name]

    @classmethod
    def _declares(cls, name: str) -> bool:
        return any(name in getattr(base, "__annotations__", ()) for base in cls.__mro__)

    @classmethod
    def _fields(cls) -> list[str]:
        names = (name for base in reversed(cls.__mro__) for name in getattr(base, "__annotations__", ()))
        return [name for name in names if not name.startswith("_")]

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields()]

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={_short(value)}" for key, value in self._data.items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            return bool(self._data == other._data)
        return bool(self._data == other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """The object as the JSON has it."""
        import copy

        return copy.deepcopy(dict(self._data))


def _wrapped(value: Any, of: Any) -> Any:
    if of is None or value is None:
        return value
    if isinstance(value, list):
        return [_wrapped(item, of) for item in value]
    if isinstance(of, tuple):
        of = _kind(value, of)
    if isinstance(value, dict):
        return of(value)
    return value


def _kind(value: Any, classes: tuple[type[Record], ...]) -> type[Record]:
    """The class that declares most of an object's keys."""
    return max(classes, key=lambda one: sum(one._declares(key) for key in value))


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return f"[{len(value)}]"
    return repr(value)
