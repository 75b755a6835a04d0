"""How receipts stand in the state and in a store: each by what it adds to the one before.

An entry is a small JSON object. The first of a run holds everything; a later one names the entry
it follows by its root, says which parts of it it takes over, and holds the rest. Hashes are written
in base64: shorter, and digits of a secret that a record masks hardly ever occur in them by chance.
An entry that cannot be read is told as such, and so are those that lean on it.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from saywhy.agent.receipts.receipt import VERSION, Basis, Part, Parts, Receipt
from saywhy.trace.rebuild import doubt_in
from saywhy.values import raw

Cause = Literal["unknown-version", "redacted", "cut", "damaged", "entry-before-missing"]

_DOUBTS: Final[dict[str, Cause]] = {"redacted": "redacted", "cut": "cut"}

_AFTER: Final = 18
"""Digits of the root before that an entry repeats: 72 bits, no other will have them."""


class Unreadable(msgspec.Struct, frozen=True):
    """An entry that gives no receipt any more."""

    cause: Cause
    root: str = ""
    """Its root, where that much could be read."""


# ------------------------------------------------------------------ writing


def stored_form(receipt: Receipt, previous: Receipt | None = None) -> dict[str, Any]:
    """The entry of a receipt that follows `previous`, the last one in the list it is added to."""
    basis = receipt.basis
    entry: dict[str, Any] = {
        "version": receipt.version,
        "call": basis.call,
        "iteration": basis.iteration,
        "step": basis.step_id,
        "root": _short(receipt.root),
    }
    if previous is None or not _same_run(basis, previous.basis):
        return _whole(entry, receipt)
    entry["after"] = _mark(previous)
    if not _same(receipt.system, previous.system):
        entry["system"] = _part(receipt.system)
    if not _same_parts(receipt.messages, previous.messages):
        entry["messages"] = _added(receipt.messages, previous.messages)
    if not _same_parts(receipt.tools, previous.tools):
        entry["tools"] = _optional(receipt.tools, previous.tools)
    if not _same(receipt.params, previous.params):
        entry["params"] = _part(receipt.params)
    known = previous.slots
    entry["slots"] = {
        name: _short(chain) for name, chain in receipt.slots.items() if known.get(name) != chain
    }
    return entry


def _same(one: Part | None, other: Part | None) -> bool:
    """Whether two parts say the same. In one process they are one object, after a rest two."""
    return one is other or one == other


def _same_parts(one: Parts | None, other: Parts | None) -> bool:
    if one is other:
        return True
    if one is None or other is None or len(one) != len(other):
        return False
    return all(_same(mine, its) for mine, its in zip(one, other, strict=True))


def _whole(entry: dict[str, Any], receipt: Receipt) -> dict[str, Any]:
    basis = receipt.basis
    entry["run"] = [basis.run_id, basis.resumed_from, basis.keyed_by, basis.labels]
    entry["made"] = [basis.algorithm, basis.canon]
    entry["system"] = _part(receipt.system)
    entry["messages"] = [_part(part) for part in receipt.messages]
    entry["tools"] = None if receipt.tools is None else [_part(part) for part in receipt.tools]
    entry["params"] = _part(receipt.params)
    entry["slots"] = {name: _short(chain) for name, chain in receipt.slots.items()}
    return entry


def _same_run(one: Basis, other: Basis) -> bool:
    return (
        one.run_id == other.run_id
        and one.resumed_from == other.resumed_from
        and one.keyed_by == other.keyed_by
        and one.labels == other.labels
        and one.algorithm == other.algorithm
        and one.canon == other.canon
    )


def _optional(parts: Parts | None, previous: Parts | None) -> list[Any] | None:
    return None if parts is None else _added(parts, previous or Parts())


def _added(parts: Parts, previous: Parts) -> list[Any]:
    """`[start, count]` for what is taken over from `previous`, a part for what is new."""
    if parts.begins_with(previous):
        kept: list[Any] = [[0, len(previous)]] if previous else []
        return kept + [_part(part) for part in parts.since(len(previous))]
    places = {part.hash: at for at, part in enumerate(previous)}
    found: list[Any] = []
    run: list[int] = [0, 0]
    for part in parts:
        at = places.get(part.hash, -1)
        if run[1] and at == run[0] + run[1]:
            run[1] += 1
        elif at >= 0:
            run = [at, 1]
            found.append(run)
        else:
            run = [0, 0]
            found.append(_part(part))
    return found


def _part(part: Part | None) -> list[Any] | None:
    if part is None:
        return None
    if part.role or part.tool_call_id or part.name:
        labels = [part.role, part.tool_call_id, part.name]
        while not labels[-1]:
            labels.pop()
        return [_short(part.hash), part.chars, *labels]
    return [_short(part.hash), part.chars]


def _mark(receipt: Receipt) -> str:
    """What an entry says of the one it follows."""
    return b2a_base64(bytes.fromhex(receipt.root[:_AFTER]), newline=False).decode()


def _short(digits: str) -> str:
    return b2a_base64(bytes.fromhex(digits), newline=False)[:-1].decode()  # it ends in one `=`


# ------------------------------------------------------------------ reading


def from_stored(entries: Iterable[Any]) -> list[Receipt | Unreadable]:
    """The receipts of a list of entries, in order; what cannot be read is told, not raised."""
    reader = Reader()
    return [reader.read(entry) for entry in entries]


class Reader:
    """Reads entries one after the other."""

    def __init__(self) -> None:
        self.last: Receipt | None = None

    def read(self, entry: Any) -> Receipt | Unreadable:
        """The receipt of the next entry."""
        tree = raw(entry)
        root = root_of(tree)
        found: Receipt | Unreadable
        if root and isinstance(tree, dict) and tree.get("version") != VERSION:  # pyright: ignore[reportUnknownMemberType]
            found = Unreadable("unknown-version", root)
        else:
            try:
                found = self._read(tree)
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):
                doubt = doubt_in(tree)
                cause: Cause = _DOUBTS.get(doubt, "damaged")
                found = Unreadable(cause, root)
        self.last = found if isinstance(found, Receipt) else None
        return found

    def _read(self, tree: Mapping[str, Any]) -> Receipt | Unreadable:
        after = None if "run" in tree else tree["after"]
        before = self.last if after is not None else None
        if after is not None and (before is None or _mark(before) != after):
            return Unreadable("entry-before-missing", root_of(tree))
        system = _read_part(tree["system"]) if "system" in tree or not before else before.system
        messages = _taken(tree, "messages", before.messages if before else None)
        tools = _taken(tree, "tools", before.tools if before else None)
        if messages is None:
            raise ValueError("no messages")
        params = _read_part(tree["params"]) if "params" in tree or not before else before.params
        if params is None:
            raise ValueError("no params")
        slots = dict(before.slots) if before else {}
        slots.update((name, _long(chain)) for name, chain in tree["slots"].items())
        if system is None:
            slots.pop("system", None)
        if tools is None:
            slots.pop("tools", None)
        basis = _read_basis(tree, before)
        return Receipt(VERSION, basis, system, messages, tools, params, slots, _long(tree["root"]))


def root_of(entry: Any) -> str:
    """The root that an entry names; empty where it names none."""
    try:
        return _long(raw(entry)["root"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return ""


def _read_basis(tree: Mapping[str, Any], before: Receipt | None) -> Basis:
    place = (tree["call"], tree["iteration"], tree["step"])
    if before is not None:
        call, iteration, step = place
        if type(call) is not int or type(iteration) is not int or type(step) is not str:
            raise TypeError("call and iteration are numbers, the step is a text")
        return msgspec.structs.replace(before.basis, call=call, iteration=iteration, step_id=step)
    run_id, resumed_from, keyed_by, labels = tree["run"]
    made = tree["made"]
    fields = [run_id, *place, resumed_from, *made, keyed_by, labels]
    return msgspec.convert(dict(zip(Basis.__struct_fields__, fields, strict=True)), Basis)


def _taken(tree: Mapping[str, Any], name: str, before: Parts | None) -> Parts | None:
    if name not in tree:
        return before
    if tree[name] is None:
        return None
    return _read_parts(raw(tree[name]), before or Parts())


def _read_parts(items: Sequence[Any], before: Parts) -> Parts:
    if items and list(items[0]) == [0, len(before)]:
        return before.grown([part for item in items[1:] for part in _read_some(item, before)])
    return Parts([part for item in items for part in _read_some(item, before)])


def _read_some(item: Any, before: Parts) -> Sequence[Part]:
    if isinstance(item[0], int):
        start, count = item
        if not 0 <= start <= start + count <= len(before):
            raise ValueError("takes over what is not there")
        return before[start : start + count]
    part = _read_part(item)
    if part is None:
        raise ValueError("a part is missing")
    return (part,)


def _read_part(item: Any) -> Part | None:
    if item is None:
        return None
    digits, chars, *labels = raw(item)
    fields = dict(zip(("role", "tool_call_id", "name"), labels, strict=False))
    return msgspec.convert({"hash": _long(digits), "chars": chars, **fields}, Part)


def _long(letters: str) -> str:
    found = a2b_base64(f"{letters}=", strict_mode=True)
    if len(found) != 32:
        raise ValueError("no hash of 32 bytes")
    return found.hex()
