"""Paths of a response mapping: `page.items[0].sku`, `$.total`, `rates.{currency}`, `$args.city`.

A path leads through what the answer itself holds, never through what a programming language adds:
`__proto__`, `__class__` and `constructor` give nothing. A key that is not there at the end of a
path is undefined; where the path breaks off before its end, it is null.

An argument put into a path stands for one key, whatever is in it: dots in it lead nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from saywhy.tools.mapping.run import Run
from saywhy.tools.mapping.texts import text_of, utf16_length
from saywhy.values import UNDEFINED, FrozenDict, FrozenList

Key: TypeAlias = str | int
Reader: TypeAlias = Callable[[Run, Any], Any]
"""From the data a mapping stands on to a value, never raising."""

BLOCKED: Final = frozenset({"__proto__", "__class__", "constructor"})
ARGUMENTS: Final = "$args"
WHOLE: Final = ("", ".", "$")
MAX_KEYS: Final = 100

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")
_PART: Final = re.compile(
    r"""(?P<dot>\.?)(?:(?P<name>(?:\{[^{}]+\}|[^.\[\]{}])+)"""
    r"""|\[\s*(?:(?P<index>\d{1,10})|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|\{(?P<argument>[^{}]+)\})\s*\])"""
)


class Path(NamedTuple):
    """A path taken apart. `is_fixed`: no argument is to be put into it."""

    text: str
    keys: tuple[Key, ...]
    from_arguments: bool = False
    is_fixed: bool = True


class PathProblem(ValueError):
    """A text that is no path; the message says why."""


def parse_path(text: str) -> Path:
    """`text` as a path. Raises `PathProblem`."""
    rest = text.strip()
    if rest in WHOLE:
        return Path(text, ())
    from_arguments = rest == ARGUMENTS or rest.startswith((f"{ARGUMENTS}.", f"{ARGUMENTS}["))
    if from_arguments:
        rest = rest[len(ARGUMENTS) :].removeprefix(".")
    elif rest.startswith(("$.", "$[")):
        rest = rest[1:].removeprefix(".")
    keys = _keys(rest, text) if rest or not from_arguments else ()
    return Path(text, keys, from_arguments, not _has_placeholder(keys))


def _keys(rest: str, text: str) -> tuple[Key, ...]:
    found: list[Key] = []
    at = 0
    while at < len(rest) or not found:
        part = _PART.match(rest, at)
        if part is None or not _joins(part, first=at == 0):
            raise PathProblem(f'"{text}" is no path: {_reason(rest, at)}')
        found.append(_key(part))
        at = part.end()
    if len(found) > MAX_KEYS:
        raise PathProblem(f"a path of more than {MAX_KEYS} keys")
    return tuple(found)


def _joins(part: re.Match[str], *, first: bool) -> bool:
    """A name follows a dot, except at the start; an index never does."""
    if part["name"] is None:
        return not part["dot"]
    return bool(part["dot"]) is not first


def _key(part: re.Match[str]) -> Key:
    if part["index"] is not None:
        return int(part["index"])
    if part["argument"] is not None:
        return f"{{{part['argument']}}}"
    for name in ("name", "double", "single"):
        if part[name] is not None:
            return part[name]
    raise AssertionError("one of the groups took part")


def _reason(rest: str, at: int) -> str:
    left = rest[at:]
    if not left or (left.startswith(".") and not left.strip(".")):
        return "a key is missing at its end"
    if left.startswith("."):
        return "a key is missing between two dots" if at else "it begins with a dot"
    if left.startswith("["):
        return 'in brackets stands a whole number from 0 or a key in quotes, as in rows[0]["a b"]'
    return f'"{left[:20]}" cannot stand there'


def _has_placeholder(keys: tuple[Key, ...]) -> bool:
    return any(isinstance(key, str) and _PLACEHOLDER.search(key) for key in keys)


# ------------------------------------------------------------------ reading


def reader_of(path: Path) -> Reader:
    """The function that follows `path`."""
    if path.from_arguments:
        return lambda run, data: run.argument(path.keys, walk)
    if not path.is_fixed:
        return lambda run, data: walk(data, filled(path.keys, run))
    match path.keys:
        case ():
            return lambda run, data: data
        case (str() as name,) if name not in BLOCKED:
            return _by_name(name, path.keys)
        case (str() as outer, str() as inner) if not BLOCKED.intersection(path.keys):
            return _by_two_names(outer, inner, path.keys)
        case keys:
            return lambda run, data: walk(data, keys)


def single_name(path: Path) -> str | None:
    """The name, where the path is one plain key of the data."""
    if path.from_arguments or not path.is_fixed or len(path.keys) != 1:
        return None
    name = path.keys[0]
    return name if isinstance(name, str) and name not in BLOCKED else None


def _by_name(name: str, keys: tuple[Key, ...]) -> Reader:
    """One key of an object is what nearly every path in a list of items is."""

    def read(run: Run, data: Any) -> Any:
        return data.get(name, UNDEFINED) if type(data) is dict else walk(data, keys)

    return read


def _by_two_names(outer: str, inner: str, keys: tuple[Key, ...]) -> Reader:
    def read(run: Run, data: Any) -> Any:
        if type(data) is dict:
            parent = data.get(outer)
            if type(parent) is dict:
                return parent.get(inner, UNDEFINED)
        return walk(data, keys)

    return read


def filled(keys: tuple[Key, ...], run: Run) -> tuple[Key, ...]:
    """`keys` with the arguments in their places; one that is missing leads nowhere."""
    return tuple(_filled(key, run) if isinstance(key, str) else key for key in keys)


def _filled(key: str, run: Run) -> Key:
    whole = _PLACEHOLDER.fullmatch(key)
    if whole is not None:
        value = _argument(whole[1], run)
        return value if type(value) is int and value >= 0 else text_of(value)
    return _PLACEHOLDER.sub(lambda match: text_of(_argument(match[1], run)), key)


def _argument(name: str, run: Run) -> Any:
    name = name.strip().removeprefix(f"{ARGUMENTS}.")
    return run.argument(tuple(name.split(".")), walk)


def walk(data: Any, keys: tuple[Key, ...]) -> Any:
    """What stands at `keys` inside `data`."""
    value = data
    for key in keys:
        if value is None or value is UNDEFINED:
            return None
        value = _member(value, key)
    return value


def _member(value: Any, key: Key) -> Any:
    kind = type(value)
    if kind is FrozenDict or kind is FrozenList:
        value = value.raw
        kind = type(value)
    if kind is dict:
        name = str(key)
        return UNDEFINED if name in BLOCKED else value.get(name, UNDEFINED)
    if kind is list:
        return _item(value, key)
    if kind is str and key == "length":
        return utf16_length(value)
    return UNDEFINED


def _item(items: list[Any], key: Key) -> Any:
    if isinstance(key, str):
        if key == "length":
            return len(items)
        if _INDEX.fullmatch(key) is None:
            return UNDEFINED
        key = int(key)
    return items[key] if key < len(items) else UNDEFINED


def is_there(data: Any, keys: tuple[Key, ...]) -> bool:
    """Whether the data has something at `keys`, be it null."""
    return walk(data, keys) is not UNDEFINED if not keys else _has(data, keys)


def _has(data: Any, keys: tuple[Key, ...]) -> bool:
    parent = walk(data, keys[:-1])
    if parent is None or parent is UNDEFINED:
        return False
    return _member(parent, keys[-1]) is not UNDEFINED


def what_stands(data: Any, keys: tuple[Key, ...]) -> str:
    """What the data had where a path broke off, for an error: `page has total, items`."""
    at = 0
    while at < len(keys) and is_there(data, keys[: at + 1]):
        at += 1
    name = "the answer" if not at else "".join(map(_shown, keys[:at])).lstrip(".")
    value = walk(data, keys[:at])
    value = value.raw if isinstance(value, FrozenDict | FrozenList) else value
    if isinstance(value, dict):
        known = ", ".join(list(value)[:8]) + (", …" if len(value) > 8 else "")
        return f"{name} has {known}" if value else f"{name} is an empty object"
    if isinstance(value, list):
        return f"{name} is a list of {len(value)}"
    if value is None or value is UNDEFINED:
        return f"{name} is null"
    return f"{name} is {'text' if isinstance(value, str) else 'no object'}"


def _shown(key: Key) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{key}"
