"""What a receipt is: hashes, lengths and labels of one request, and how it goes through JSON.

It holds no content. Roles, names of tools and ids of calls are labels: they stand there as they
are unless the run is minted with `strict_labels`. How one comes about is in `mint.py`, how it is
kept beside those before it in `stored.py`, what it is good for in `served.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, Literal, overload

import msgspec

from saywhy.agent.receipts.canon import ALGORITHM, CANON
from saywhy.errors import CallerError
from saywhy.values import dumps, loads_raw

VERSION: Final = 1

SlotName = Literal["system", "messages", "tools", "params"]


class Part(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One piece of a request: a salted hash, a length, and labels that are no content."""

    hash: str
    chars: int
    """Characters of the text; of what is no text, those of its canonical form."""
    role: str = ""
    """Of a message."""
    tool_call_id: str = ""
    """Of a tool's answer: the call that it answers."""
    name: str = ""
    """Of a tool."""


class Basis(msgspec.Struct, frozen=True, gc=False):
    """What a receipt speaks of, and how its hashes were made."""

    run_id: str
    call: int
    """Which model call of the run, from 1."""
    iteration: int = 0
    step_id: str = ""
    resumed_from: str = ""
    """The run that this one goes on from, where it was given a new id."""
    algorithm: str = ALGORITHM
    canon: str = CANON
    keyed_by: Literal["run", "host"] = "run"
    """`host`: besides the run id, the hashes need a salt that only the host knows."""
    labels: Literal["plain", "hashed"] = "plain"


class Parts(Sequence[Part]):
    """Parts in wire order. Those grown from one another share one buffer, each with its length."""

    __slots__ = ("_buffer", "_length")

    def __init__(self, parts: Sequence[Part] = ()) -> None:
        self._buffer = list(parts)
        self._length = len(self._buffer)

    @overload
    def __getitem__(self, index: int) -> Part: ...

    @overload
    def __getitem__(self, index: slice) -> Parts: ...

    def __getitem__(self, index: int | slice) -> Part | Parts:
        if isinstance(index, slice):
            return Parts(self._buffer[: self._length][index])
        if not -self._length <= index < self._length:
            raise IndexError(f"part {index} of {self._length}")
        return self._buffer[index if index >= 0 else self._length + index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Part]:
        return islice(self._buffer, self._length)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Parts) and self.begins_with(other) and len(self) == len(other):
            return True
        return isinstance(other, Parts | tuple | list) and tuple(self) == tuple(other)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Parts({list(self)!r})"

    def begins_with(self, other: Parts) -> bool:
        """Whether these are known to have grown from `other`; False where it is not known."""
        return self._buffer is other._buffer and self._length >= other._length

    def since(self, start: int) -> list[Part]:
        """Those from an index on."""
        return self._buffer[start : self._length]

    def grown(self, more: Sequence[Part]) -> Parts:
        """These and `more`; what is here already is shared unless others grew from it before."""
        if not more:
            return self
        newest = self._length == len(self._buffer)
        found = Parts.__new__(Parts)
        found._buffer = self._buffer if newest else self._buffer[: self._length]
        found._buffer.extend(more)
        found._length = len(found._buffer)
        return found


class Receipt(msgspec.Struct, frozen=True):
    """The fingerprint of one request to a model, minted before it was sent."""

    version: int
    basis: Basis
    system: Part | None
    """None: no system prompt was sent, which is not the same as an empty one."""
    messages: Parts
    tools: Parts | None
    """None: no tools were passed."""
    params: Part
    """Model, temperature and other settings."""
    slots: dict[str, str]
    """`system`, `messages`, `tools`, `params`: for each that was sent, a chain over its parts."""
    root: str
    """A hash over all of the above."""

    def to_json(self) -> bytes:
        """Everything that is known of the request, as JSON that stands by itself."""
        return dumps(self.plain())

    def plain(self) -> dict[str, Any]:
        """The same as a plain tree."""
        tree: dict[str, Any] = msgspec.structs.asdict(self)
        tree["messages"] = list(self.messages)
        tree["tools"] = None if self.tools is None else list(self.tools)
        return msgspec.to_builtins(tree)

    @classmethod
    def from_json(cls, data: bytes | str) -> Receipt:
        """The receipt written by `to_json`. Raises `CallerError` for anything else."""
        try:
            return cls.from_plain(loads_raw(data))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise CallerError(f"this is no receipt: {error}") from error

    @classmethod
    def from_plain(cls, tree: dict[str, Any]) -> Receipt:
        """The receipt behind a plain tree."""
        if tree["version"] != VERSION:
            raise CallerError(f"receipts of version {tree['version']!r} are not known here")
        return msgspec.convert({**tree, "messages": [], "tools": None}, _Bare).with_parts(
            _parts(tree["messages"]), None if tree["tools"] is None else _parts(tree["tools"])
        )


class _Bare(msgspec.Struct):
    version: int
    basis: Basis
    system: Part | None
    params: Part
    slots: dict[str, str]
    root: str

    def with_parts(self, messages: Parts, tools: Parts | None) -> Receipt:
        return Receipt(
            self.version,
            self.basis,
            self.system,
            messages,
            tools,
            self.params,
            self.slots,
            self.root,
        )


def _parts(trees: list[Any]) -> Parts:
    return Parts(msgspec.convert(trees, list[Part]))
