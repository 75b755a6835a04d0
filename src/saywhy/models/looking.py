"""What a scripted answer looks for in a request before it is given: the `when` of an entry.

A model whose answers depend on what it is handed can be asked the same with a piece less, and its
answer shows what that piece did. Which entry answers, and how often, is for `scripted` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.errors import did_you_mean
from saywhy.models.chat import text_of
from saywhy.models.provider import Ask
from saywhy.values import dumps, freeze

EXAMPLE: Final = '"when": "Be kind", or "when": {"last": "lost", "lacks": "Be kind"}'


def holds(condition: Any, ask: Ask) -> bool:
    """Whether the request has what the condition wants: all of it, letter by letter."""
    if not isinstance(condition, Mapping):
        condition = {"anywhere": condition}
    for place, wanted in condition.items():
        if place == "lacks":
            text = _anywhere(ask)
            found = not any(one in text for one in _listed(wanted))
        else:
            text = _PLACES[place](ask)
            found = all(one in text for one in _listed(wanted))
        if not found:
            return False
    return True


def problem_of(condition: Any) -> tuple[str, str] | None:
    """What is wrong with a condition, and what to write."""
    given: Any = condition if isinstance(condition, Mapping) else {"anywhere": condition}
    for place, wanted in given.items():
        if place not in KNOWN:
            hint = did_you_mean(str(place), KNOWN) or f"known: {', '.join(KNOWN)}"
            return f'looks with when at the unknown "{place}"', hint
        texts = _listed(wanted)
        if not texts or not all(isinstance(one, str) and one for one in texts):
            return f'has a when whose "{place}" is no text and no list of texts', EXAMPLE
    return None


def _listed(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple) else [wanted]


# ------------------------------------------------------------------ where it looks


def _system(ask: Ask) -> str:
    return ask.system or ""


def _messages(ask: Ask) -> str:
    return "\n".join(map(_told, ask.messages))


def _last(ask: Ask) -> str:
    return _told(ask.messages[-1]) if ask.messages else ""


def _user(ask: Ask) -> str:
    return ask.user


def _tools(ask: Ask) -> str:
    return "\n".join(dumps(freeze(tool)).decode() for tool in ask.tools or ())


def _anywhere(ask: Ask) -> str:
    return "\n".join((_system(ask), _messages(ask), _tools(ask)))


def _told(message: Mapping[str, Any]) -> str:
    """The text of a message, with the calls that it makes."""
    calls = [
        f"{call.get('name', '')}({dumps(freeze(call.get('arguments') or {})).decode()})"
        for call in message.get("tool_calls") or ()
    ]
    return "\n".join((text_of(message.get("content")), *calls))


_PLACES: Final[dict[str, Callable[[Ask], str]]] = {
    "anywhere": _anywhere,
    "system": _system,
    "messages": _messages,
    "last": _last,
    "user": _user,
    "tools": _tools,
}
KNOWN: Final = (*_PLACES, "lacks")
