"""What an engine runs conversations with, as a document: flows, tools, options.

It is kept in the store under its digest, as charts are, and a stored conversation names the one its
newest turn ran on. So it can be run again without the files it came from. Secrets of tools are
masked in it; functions, globals and agents are not part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from saywhy.errors import StateValueError
from saywhy.flows.model import Library
from saywhy.trace.masking.redact import Policy, Redactor
from saywhy.values import dumps, freeze, loads_raw, thaw

KIND: Final = "setting"
NAME: Final = "setting"
"""Under which a session keeps the digest, beside what else is on record of it."""
OPTIONS: Final = (
    *("language", "intent_detection", "messages", "guidance", "error_text", "keep_empty_says"),
    *("partial_match", "default_max_retries", "commands", "command_words", "offer_interruptions"),
    *("clarify", "function_timeout", "inactivity", "max_steps", "max_depth", "fallback_agent"),
)
"""Options of an engine that decide how a conversation goes."""


def options_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options among what an engine was given."""
    return {name: given[name] for name in OPTIONS if name in given}


def setting_of(
    library: Library, options: Mapping[str, Any], policy: Policy, *, has_model: bool
) -> bytes:
    """The document."""
    tools = [told for one in library.tools if (told := _plain(one.raw)) is not None]
    shown = Redactor(secrets=policy.secrets).text(dumps(tools).decode())
    told = {
        "saywhy": KIND,
        "name": f"({KIND})",
        "flows": [freeze(dict(flow.raw)) for flow in library.flows],
        "tools": loads_raw(shown),
        "options": {name: plain for name, value in options.items() if (plain := _plain(value))},
        "model": has_model,
    }
    return dumps(told)


def digest_of(document: bytes) -> str:
    """What the document is kept under."""
    return f"{KIND}-{sha256(document).hexdigest()[:16]}"


def read_setting(document: bytes) -> dict[str, Any]:
    """`flows`, `tools`, `options` and whether there was a `model`."""
    told: dict[str, Any] = thaw(freeze(loads_raw(document)))
    return told


def _plain(value: Any) -> Any:
    """The value as data; None for what is none."""
    try:
        return freeze(dict(value) if isinstance(value, Mapping) else value)
    except StateValueError:
        return None


__all__ = ["NAME", "digest_of", "options_in", "read_setting", "setting_of"]
