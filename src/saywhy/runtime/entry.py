"""What a host hands in for a turn: text, or a whole entry. spec: flow-engine 1.2"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from saywhy.chart.model import Charts
from saywhy.errors import CallerError, UnknownFlow
from saywhy.values import Date, dumps, freeze, loads_raw

ROLES = ("user", "assistant")


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A checked entry. Make one with `Entry.of`."""

    text: str
    role: str = "user"
    content: Any = None
    timestamp: float | None = None
    metadata: dict[str, Any] | None = None
    start: dict[str, Any] | None = None
    cargo: dict[str, Any] | None = None
    """Changes to cargo that come with the message."""
    language: str | None = None
    """The language of a conversation that begins with this message, or from here on."""

    @classmethod
    def of(
        cls,
        given: str | Mapping[str, Any],
        cargo: Mapping[str, Any] | None = None,
        language: str | None = None,
    ) -> Entry:
        """The entry behind a text or a mapping `{role, content, timestamp?, metadata?, start?}`.

        Raises `CallerError` for another role, a missing content or a malformed start.
        """
        changes = dict(freeze(cargo, ("cargo",)).raw) if cargo else None
        if isinstance(given, str):
            return cls(given, cargo=changes, language=language)
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            raise CallerError(f"an entry is text or a mapping, not {type(given).__name__}")
        role = given.get("role", "user")
        if role not in ROLES:
            raise CallerError(
                f"Unsupported role \"{role}\". Only 'user' and 'assistant' roles are supported."
            )
        content = given.get("content")
        if content is None and given.get("start") is None:
            raise CallerError("the entry has no content", hint="content is text or an object")
        return cls(
            _text(content),
            role,
            None if isinstance(content, str) else freeze(content),
            _timestamp(given.get("timestamp")),
            _metadata(given.get("metadata")),
            _start(given.get("start")),
            changes,
            language,
        )

    def to_json(self) -> bytes:
        """The entry as a store keeps it until the turn has ended."""
        return dumps(self)

    @classmethod
    def from_json(cls, data: bytes) -> Entry:
        """The entry written by `to_json`."""
        return msgspec.convert(loads_raw(data), cls)

    def check_start(self, charts: Charts) -> None:
        """Raise `UnknownFlow` when the host starts a flow that does not exist."""
        if self.start is None:
            return
        chart = charts.find(str(self.start["flow"]))
        if chart is None or chart.kind != "flow":
            flows = [one for one in charts if one.kind == "flow"]
            known = [*(one.id for one in flows), *(one.name for one in flows)]
            raise UnknownFlow(str(self.start["flow"]), known)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "" if content is None else dumps(freeze(content)).decode()


def _timestamp(given: Any) -> float | None:
    if given is None:
        return None
    at = freeze(given, ("timestamp",))
    if isinstance(at, Date):
        at = at.milliseconds
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        raise CallerError(f"the timestamp of an entry is milliseconds since 1970, not {given!r}")
    return float(at)


def _metadata(given: Any) -> dict[str, Any] | None:
    if not given:
        return None
    if not isinstance(given, Mapping):
        raise CallerError("the metadata of an entry are an object")
    return dict(freeze(given, ("metadata",)).raw)


def _start(start: Any) -> dict[str, Any] | None:
    if start is None:
        return None
    if not isinstance(start, Mapping) or not start.get("flow"):
        raise CallerError(
            "start needs the name or id of a flow", hint='{"flow": "pay", "arguments": {…}}'
        )
    arguments = start.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise CallerError("the arguments of start are an object of variable names and values")
    return {"flow": str(start["flow"]), "arguments": dict(freeze(arguments).raw)}
