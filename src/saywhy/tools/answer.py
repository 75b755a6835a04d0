"""What came of a tool call, as data that every layer reads and a journal keeps.

How a call is made is `call`; what may stand around one, a journal for instance, is told here by its
shape only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.errors import Fault
from saywhy.values import dumps, loads_raw, seal


class Attempt(msgspec.Struct, frozen=True, rename="camel"):
    """A call that was really made, whatever came of it: `lastTurnToolCalls` lists these."""

    tool: str
    """The tool's name, not its id."""
    implementation: str
    transaction_id: str | None
    at: int
    """Milliseconds since 1970."""


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What came of a call.

    `refused`: nothing was sent, the call broke a rule before. `may_have_happened`: nobody knows
    whether the effect took place. `arguments_after`: the arguments, where the function changed
    something inside them.
    """

    value: Any = None
    fault_message: str | None = None
    fault_name: str = "Error"
    fault_hint: str = ""
    fault_at: str = ""
    """The line of the host's code that raised, `pay.py:12 in charge`."""
    refused: bool = False
    may_have_happened: bool = False
    ran: bool = False
    """It failed after the call itself had come to its end: only what it gave is of no use."""
    http_status: int | None = None
    attempts: tuple[Attempt, ...] = ()
    arguments_after: Any = None
    warnings: tuple[str, ...] = ()
    """What of the response mapping did not work out, though the call went well."""
    mapped: Any = None
    """Which fields a response mapping took from where, and which fallbacks it took."""
    is_data: bool = False
    """Whether the value was read from JSON or XML, so that a response mapping applies to it."""
    is_result: bool = False
    """Whether the function gave a `ToolResult`, whose fields the value holds."""
    fault_code: str = ""
    """What the exception had as its `code`."""
    to_approve: Any = None
    """The arguments a person must approve before the call is made."""
    cached: bool = False
    """It is the answer of an earlier call; none was made."""
    circuit: str = ""
    """`open`: refused for that; `opened` or `closed` by this call."""

    @property
    def fault(self) -> Fault | None:
        """The error as data, None after a success."""
        if self.fault_message is None:
            return None
        return Fault(self.fault_message, self.fault_name)

    def to_json(self) -> bytes:
        """JSON text; `from_json` gives an equal answer."""
        return dumps(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> ToolAnswer:
        """The answer written by `to_json`."""
        tree = loads_raw(data)
        fields = {name: tree[key] for name, key in _JSON_NAMES if key in tree}
        fields["value"] = seal(fields.get("value"))
        fields["warnings"] = tuple(fields.get("warnings", ()))
        fields["mapped"] = seal(fields.get("mapped"))
        fields["arguments_after"] = seal(fields.get("arguments_after"))
        fields["to_approve"] = seal(fields.get("to_approve"))
        fields["attempts"] = tuple(
            Attempt(item["tool"], item["implementation"], item["transactionId"], item["at"])
            for item in fields.get("attempts", ())
        )
        return cls(**fields)


_JSON_NAMES: Final = tuple(
    (field.name, field.encode_name) for field in msgspec.structs.fields(ToolAnswer)
)


Make: TypeAlias = Callable[[], Awaitable[ToolAnswer]]
"""A call that is ready to be made."""

Around: TypeAlias = Callable[[Make], Awaitable[ToolAnswer]]
"""A journal: makes the call it is handed, or gives the answer that is on record already."""

__all__ = ["Around", "Attempt", "Make", "ToolAnswer"]
