"""How a receipt comes about: from the request as it is handed over, before anything is sent.

A conversation grows by a message or two between two calls, so nothing is hashed twice. Each slot
keeps the parts of the last request and what its chain had come to: where the messages are the same
shared list with more at its end, only what is new is hashed. Anything else is looked at item by
item, and an item is hashed again unless it is the very object of before or is made of the very same
values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from saywhy.agent.receipts.canon import ALGORITHM, CANON, Salt, canon
from saywhy.agent.receipts.receipt import VERSION, Basis, Part, Parts, Receipt
from saywhy.errors import CallerError
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, freeze, raw

NEVER: Final = frozenset({"signal"})
"""Settings that are no part of a request: live objects of the program."""


class Handed(Protocol):
    """What a model is handed. Values of the state are best left as they are: shared and frozen."""

    @property
    def system(self) -> str | None: ...
    @property
    def messages(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def tools(self) -> Sequence[Mapping[str, Any]] | None: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...


class _Rooted(msgspec.Struct):
    """What the root is a hash over; the slots stand for their parts."""

    version: int
    basis: Basis
    slots: dict[str, str]


class _Row:
    """The parts of a slot that holds a list, as of the last request."""

    __slots__ = ("_chain", "_items", "_length", "_part", "_parts", "_salt", "_start")

    def __init__(self, salt: Salt, name: str, part: Callable[[Any], Part]) -> None:
        self._salt = salt
        self._part = part
        self._start = self._chain = salt.start(name)
        self._items: list[Any] = []
        self._length = 0
        self._parts = Parts()

    def of(self, values: Sequence[Any]) -> tuple[Parts, str]:
        """The parts of these values, and what the chain over them comes to."""
        frozen: FrozenList = values if type(values) is FrozenList else freeze(values)
        items = frozen.raw
        length, had = len(items), self._length
        if items is self._items and length >= had:
            if length == had:  # tools, most of the time
                return self._parts, self._chain
            new = list(map(self._part, items[had:]))
        else:
            new = self._compared(items)
        if new:
            self._parts = self._parts.grown(new)
            for part in new:
                self._chain = self._salt.link(self._chain, part.hash)
        self._items, self._length = items, length
        return self._parts, self._chain

    def _compared(self, items: list[Any]) -> list[Part]:
        """The parts to add to those of before; begins anew where those are not all there still."""
        # Objects that are both alive and have one id are one object; frozen ones do not change.
        before, had = self._parts, self._items[: self._length]
        known = dict(zip(map(id, had), before, strict=True))
        parts: list[Part] = []
        for at, item in enumerate(items):
            part = known.get(id(item))
            if part is None:
                made_again = at < len(had) and _same_fields(had[at], item)
                part = before[at] if made_again else self._part(item)
            parts.append(part)
        if len(parts) >= len(before) and all(map(_equal, parts, before)):
            return parts[len(before) :]
        self._parts, self._chain = Parts(), self._start
        return parts


def _same_fields(one: Any, other: Any) -> bool:
    """Whether an object holds what another one does: the very same values, or equal texts.

    A list of tools is put together anew in every round, of the same descriptions and schemas. Equal
    is not enough for other values: to Python true is 1, and their canonical forms differ.
    """
    if type(one) is not dict or type(other) is not dict or len(one) != len(other):
        return False
    for name, value in one.items():  # pyright: ignore[reportUnknownVariableType]
        found = other.get(name, UNDEFINED)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if found is not value and not (type(found) is type(value) is str and found == value):
            return False
    return True


def _equal(one: Part, other: Part) -> bool:
    return one is other or one == other


class Minter:
    """Mints the receipts of one run, one after the other."""

    def __init__(
        self, run_id: str, *, secret_salt: str | bytes | None = None, strict_labels: bool = False
    ) -> None:
        self.salt = Salt(run_id, secret_salt)
        self.strict_labels = strict_labels
        self.last: Receipt | None = None
        """The newest receipt."""
        self._messages = _Row(self.salt, "messages", self._message)
        self._tools = _Row(self.salt, "tools", self._tool)
        self._system: tuple[str, Part, str] | None = None
        self._params: tuple[Any, bytes, Part, str] | None = None

    def basis(
        self, call: int, iteration: int = 0, step_id: str = "", resumed_from: str = ""
    ) -> Basis:
        """The basis of a receipt of this run."""
        salt, labels = self.salt, "hashed" if self.strict_labels else "plain"
        return Basis(
            salt.run_id,
            call,
            iteration,
            step_id,
            resumed_from,
            ALGORITHM,
            CANON,
            salt.keyed_by,
            labels,
        )

    def mint(self, ask: Handed, basis: Basis, previous: Receipt | None = None) -> Receipt:
        """The receipt of a request.

        `previous`, the one before it in the record, matters to a minter that has none yet: equal
        parts are then shared with it. Raises `CallerError` for a basis of another run and for a
        request with a number that JSON lacks.
        """
        if basis.run_id != self.salt.run_id:
            raise CallerError(
                f'a receipt of run "{basis.run_id}" cannot be minted with the salt of run '
                f'"{self.salt.run_id}"',
                hint="take a Minter for each run",
            )
        params, params_chain = self._settings(ask.settings)
        messages, chain = self._messages.of(ask.messages)
        slots = {"messages": chain, "params": params_chain}
        system: Part | None = None
        if ask.system is not None:
            system, slots["system"] = self._prompt(ask.system)
        tools: Parts | None = None
        if ask.tools is not None:
            tools, slots["tools"] = self._tools.of(ask.tools)
        if previous is not None and self.last is None:
            messages = _shared(messages, previous.messages)
        root = self.salt.of("root", _Rooted(VERSION, basis, slots))
        self.last = Receipt(VERSION, basis, system, messages, tools, params, slots, root)
        return self.last

    # ------------------------------------------------------------ parts

    def _prompt(self, text: str) -> tuple[Part, str]:
        kept = self._system
        if kept is None or kept[0] != text:
            part = Part(self.salt.of("system", text), len(text))
            kept = self._system = (text, part, self._alone("system", part))
        return kept[1], kept[2]

    def _settings(self, settings: Mapping[str, Any]) -> tuple[Part, str]:
        kept = self._params
        if not isinstance(settings, FrozenDict):
            settings = freeze(settings if NEVER.isdisjoint(settings) else handed(settings))
        tree = raw(settings)
        if kept is not None and kept[0] is tree:
            return kept[2], kept[3]
        data = canon(tree if NEVER.isdisjoint(tree) else handed(settings))
        if kept is None or kept[1] != data:
            part = Part(self.salt.hash("params", data), _characters(data))
            kept = (tree, data, part, self._alone("params", part))
        self._params = kept = (tree, *kept[1:])
        return kept[2], kept[3]

    def _alone(self, slot: str, part: Part) -> str:
        """The chain of a slot with one part."""
        return self.salt.link(self.salt.start(slot), part.hash)

    def _message(self, message: Any) -> Part:
        if type(message) is not dict:  # only in a record that was altered
            data = canon(message)
            return Part(self.salt.hash("message", data), _characters(data))
        hashed = self.salt.of("message", message)
        content, role = message.get("content"), message.get("role")
        chars = len(content) if type(content) is str else _characters(canon(content))
        call = message.get("tool_call_id")
        call = self._label(call) if call else ""
        return Part(hashed, chars, role if type(role) is str else "", call)

    def _tool(self, tool: Any) -> Part:
        data = canon(tool)
        name = tool.get("name") if type(tool) is dict else None
        return Part(self.salt.hash("tool", data), _characters(data), name=self._label(name))

    def _label(self, text: Any) -> str:
        if type(text) is not str or not text:
            return ""
        return self.salt.of("label", text) if self.strict_labels else text


def handed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are part of a request."""
    return {name: value for name, value in settings.items() if name not in NEVER}


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


def _shared(parts: Parts, previous: Parts) -> Parts:
    """`parts` as grown from `previous`, where they begin with equal ones."""
    kept = len(previous)
    if len(parts) < kept or not all(map(_equal, parts, previous)):
        return parts
    return previous.grown(parts.since(kept))


def mint(
    ask: Handed,
    basis: Basis,
    previous: Receipt | None = None,
    *,
    secret_salt: str | bytes | None = None,
) -> Receipt:
    """The receipt of one request by itself; whoever mints more of a run takes a `Minter`."""
    minter = Minter(basis.run_id, secret_salt=secret_salt, strict_labels=basis.labels == "hashed")
    keyed = msgspec.structs.replace(basis, keyed_by=minter.salt.keyed_by)
    return minter.mint(ask, keyed, previous)
