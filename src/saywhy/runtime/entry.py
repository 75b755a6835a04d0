"""What a host hands in for a turn: text, or a whole entry. spec: flow-engine 1.2"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.model import Charts
from saywhy.errors import CallerError, UnknownFlow
from saywhy.values import Date, dumps, freeze, loads_into

ROLES = ("user", "assistant")
TIMER: Final = "timer"
"""The role of an entry that says nothing but that it is time, by our clock or by `timestamp`."""
_EXAMPLE: Final = '"the words", or {"role": "user", "content": "the words"}'
LATEST = 8.64e15
"""The farthest moment that a date can be, in milliseconds on either side of 1970."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A checked entry. Make one with `Entry.of`."""

    text: str
    role: str = "user"
    content: Any = None
    timestamp: float | None = None
    metadata: Any = None
    start: dict[str, Any] | None = None
    cargo: Any = None
    """Changes to cargo that come with the message, an object."""
    language: str | None = None
    """The language of a conversation that begins with this message, or from here on."""
    authenticated: bool | None = None
    """What the host says about the user from here on; None: as before."""
    decision: dict[str, Any] | None = None
    """No message at all, but what a person decided about a call; see `outside`."""
    timer: dict[str, Any] | None = None
    """No message at all, but a moment that has come; see `due`."""

    @classmethod
    def of(
        cls,
        given: str | Mapping[str, Any],
        cargo: Mapping[str, Any] | None = None,
        language: str | None = None,
        authenticated: bool | None = None,
    ) -> Entry:
        """The entry behind a text or a mapping `{role, content, timestamp?, metadata?, start?}`.

        Raises `CallerError` for another role, a missing content or a malformed start.
        """
        changes = _object("cargo", cargo) if cargo else None
        if authenticated is not None and not isinstance(authenticated, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            raise CallerError(f"authenticated is True or False, not {authenticated!r}")
        if language is not None and not isinstance(language, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            raise CallerError(f"a language is text like 'en', not {language!r}")
        if isinstance(given, str):
            return cls(given, cargo=changes, language=language, authenticated=authenticated)
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            raise CallerError(
                f"an entry is text or a mapping, not {type(given).__name__}", hint=_EXAMPLE
            )
        role = given.get("role", "user")
        if role == TIMER:
            at = _timestamp(given.get("timestamp"))
            return cls("", TIMER, timer={} if at is None else {"at": at})
        if role not in ROLES:
            raise CallerError(
                f"Unsupported role \"{role}\". Only 'user' and 'assistant' roles are supported.",
                hint=_EXAMPLE,
            )
        content = given.get("content")
        if content is None and given.get("start") is None:
            raise CallerError("the entry has no content", hint="content is text or an object")
        return cls(
            _text(content),
            role,
            None if isinstance(content, str) else freeze(content),
            _timestamp(given.get("timestamp")),
            _object("metadata", given["metadata"]) if given.get("metadata") else None,
            _start(given.get("start")),
            changes,
            language,
            authenticated,
        )

    def to_json(self) -> bytes:
        """The entry as a store keeps it until the turn has ended."""
        return dumps(self)

    @classmethod
    def from_json(cls, data: bytes) -> Entry:
        """The entry written by `to_json`."""
        return loads_into(data, _DECODER)

    def check_start(self, charts: Charts) -> None:
        """Raise `UnknownFlow` when the host starts a flow that does not exist."""
        if self.start is None:
            return
        chart = charts.find(str(self.start["flow"]))
        if chart is None or chart.kind != "flow":
            flows = [one for one in charts if one.kind == "flow"]
            known = [*(one.id for one in flows), *(one.name for one in flows)]
            raise UnknownFlow(str(self.start["flow"]), known)


_DECODER: Final = msgspec.json.Decoder(Entry)


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
    if isinstance(at, bool) or not isinstance(at, int | float) or not -LATEST <= at <= LATEST:
        raise CallerError(
            f"the timestamp of an entry is milliseconds since 1970, not {given!r:.40}"
        )
    return float(at)


def _object(name: str, given: Any) -> Any:
    """An object whose names are the host's: it stays frozen, so that none is taken for ours."""
    if not isinstance(given, Mapping):
        raise CallerError(f"the {name} of an entry must be an object, not {type(given).__name__}")
    return freeze(given, (name,))


def _start(start: Any) -> dict[str, Any] | None:
    if start is None:
        return None
    if not isinstance(start, Mapping) or not start.get("flow"):
        raise CallerError(
            "start needs the name or id of a flow", hint='{"flow": "pay", "arguments": {…}}'
        )
    arguments = _object("arguments", start.get("arguments") or {})
    return {"flow": str(start["flow"]), "arguments": arguments}
