"""What a recorded ask looks like, and how two asks differ.

A recording is a list of objects, in a file one JSON text a line. Each has the `number` in which its
ask began, the whole `ask`, whether a `stream` was wanted, the `pieces` with the milliseconds after
which each came, how it `ended` (`stop`, `error` or `cancelled`), and the `error`. The `fingerprint`
is there for whoever looks for a line; reading works it out anew, so that a recording may be edited.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.errors import CallerError, ModelError, SaywhyError
from saywhy.models.failures import failure_of, told_by
from saywhy.models.provider import Ask, Piece, TextPiece
from saywhy.values import same, tagged, untagged

Record: TypeAlias = dict[str, Any]
Redact: TypeAlias = Callable[[Record], Record]

MAX_BYTES: Final = 100_000_000
"""A file that would grow beyond is not written to; one that is larger is not read."""

PARTS: Final = ("task", "system", "messages", "tools", "settings", "schema", "request")
"""The parts of an ask that count. Whether its answer was wanted as a stream changes nothing."""

_SHOWN: Final = 60
_BEFORE: Final = 20


# ------------------------------------------------------------------ asks


def ask_tree(ask: Ask) -> dict[str, Any]:
    """An ask as plain JSON, without the parts that it does not have."""
    parts = {name: getattr(ask, name) for name in PARTS}
    return tagged({name: value for name, value in parts.items() if _is_there(value)})


def _is_there(value: Any) -> bool:
    return value is not None and not (isinstance(value, Mapping) and not value)


def fingerprint(ask: Mapping[str, Any]) -> str:
    """The same for the same ask, whatever the order of its keys."""
    text = json.dumps(ask, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Difference(msgspec.Struct, frozen=True):
    """The first part in which two asks are not the same."""

    part: str
    recorded: Any
    asked: Any

    def text(self) -> str:
        """Both sides, long texts from a little before the place where they part."""
        begin = 0
        if isinstance(self.recorded, str) and isinstance(self.asked, str):
            pairs = zip(self.recorded, self.asked, strict=False)
            common = next((at for at, (a, b) in enumerate(pairs) if a != b), None)
            shorter = min(len(self.recorded), len(self.asked))
            begin = max(0, (shorter if common is None else common) - _BEFORE)
        return f"recorded was {_shown(self.recorded, begin)}, asked is {_shown(self.asked, begin)}"


class _Missing:
    """Stands for a part that is not there."""


_MISSING: Final = _Missing()


def first_difference(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> Difference | None:
    """None where the asks are the same; else the first part that differs, in the order of PARTS."""
    return next(_differences(recorded, asked, "", PARTS), None)


def _differences(one: Any, other: Any, path: str, keys: Sequence[str] = ()) -> Iterator[Difference]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in keys or [*one, *(key for key in other if key not in one)]:
            below = f"{path}.{key}" if path else key
            yield from _differences(one.get(key, _MISSING), other.get(key, _MISSING), below)
    elif isinstance(one, list) and isinstance(other, list):
        for at in range(max(len(one), len(other))):
            left = one[at] if at < len(one) else _MISSING
            right = other[at] if at < len(other) else _MISSING
            yield from _differences(left, right, f"{path}[{at}]")
    elif not (one is other or same(one, other)):
        yield Difference(path, one, other)


def _shown(value: Any, begin: int) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, str):
        text = value[begin : begin + _SHOWN]
        left, right = "…" if begin else "", "…" if begin + _SHOWN < len(value) else ""
        return f"{left}{json.dumps(text, ensure_ascii=False)}{right}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


# ------------------------------------------------------------------ pieces and errors


def piece_tree(piece: Piece, after_ms: float) -> dict[str, Any]:
    """A piece as plain JSON."""
    if isinstance(piece, TextPiece):  # nearly all are
        return {"type": "text", "text": piece.text, "after_ms": after_ms}
    return {**tagged(piece), "after_ms": after_ms}


def piece_of(tree: Mapping[str, Any]) -> Piece:
    """The piece of its JSON. Raises `msgspec.ValidationError` where it is none."""
    return msgspec.convert(untagged(tree), Piece)


def error_tree(error: Exception) -> dict[str, Any]:
    """An error as plain JSON: what a caller can see of it."""
    tree: dict[str, Any] = {"type": type(error).__name__, "message": told_by(error)}
    if isinstance(error, SaywhyError) and error.hint:
        tree["hint"] = error.hint
    if isinstance(error, CallerError):
        return {**tree, "kind": "caller"}
    failure = failure_of(error)
    fields = ("code", "provider", "status_code", "retry_after")
    found = {name: getattr(failure, name) for name in fields}
    told = {name: value for name, value in found.items() if value not in (None, "")}
    return {**tree, "kind": "model", **told}


def error_of(tree: Mapping[str, Any]) -> Exception:
    """An error that is treated as the recorded one was."""
    message, hint = str(tree.get("message", "")), str(tree.get("hint", ""))
    if tree.get("kind") == "caller":
        return CallerError(message, hint=hint)
    return ModelError(
        message,
        code=tree.get("code", "unknown"),
        provider=tree.get("provider", ""),
        status_code=tree.get("status_code"),
        retry_after=tree.get("retry_after"),
        hint=hint,
    )


# ------------------------------------------------------------------ files


def records_in(path: Path, max_bytes: int) -> list[Record]:
    """The records of a file. Raises `CallerError`, naming the line, for what is none.

    A last line without its end is left out: whoever wrote it was stopped in the middle.
    """
    try:
        if path.stat().st_size > max_bytes:
            raise CallerError(
                f"the recording {path} has more than {max_bytes} bytes", hint="raise max_bytes"
            )
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CallerError(f"there is no recording {path}", hint="record it first") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CallerError(f"the recording {path} cannot be read: {error}") from error
    lines = text.split("\n")
    whole = lines[:-1]  # what follows the last end of a line: nothing, or half a record
    found: list[Any] = []
    for number, line in enumerate(whole, start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise CallerError(f"{path}:{number}: no JSON: {error}") from None
            _check(f"{path}:{number}", found[-1])
    return in_order(found)


def checked(records: Sequence[Any]) -> list[Record]:
    """Records from a list. Raises `CallerError`, naming the entry, for what is none."""
    for at, record in enumerate(records):
        _check(f"recording[{at}]", record)
    return in_order(list(records))


def in_order(records: list[Record]) -> list[Record]:
    """As they began; those that ended first stand first in a file."""
    return sorted(records, key=lambda record: record["number"])


def _check(where: str, record: Any) -> None:
    if not isinstance(record, dict):
        raise CallerError(f"{where}: an object, not {type(record).__name__}")
    kinds = {"number": int, "ask": dict, "pieces": list, "ended": str}
    for name, kind in kinds.items():
        if not isinstance(record.get(name), kind):
            raise CallerError(
                f'{where}: "{name}" is {type(record.get(name)).__name__}, not {kind.__name__}',
                hint="recordings are written by RecordingModel",
            )
    for at, piece in enumerate(record["pieces"]):
        try:
            piece_of(piece)
        except (msgspec.ValidationError, TypeError) as error:
            raise CallerError(f"{where}: pieces[{at}]: {error}") from None
