"""What a failed model call was: a vendor's status and words, or any exception, as a `ModelError`.

Vendors answer the same failure with different statuses, and some only with words; here is the one
table of both. Which package raises what is for the leaves to know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from saywhy.errors import ModelError, ModelErrorCode

_BY_STATUS: Final[dict[int, ModelErrorCode]] = {
    401: "auth",
    403: "auth",
    408: "timeout",
    413: "context_length",
    422: "context_length",
    429: "rate_limit",
    499: "aborted",
}
_BY_KIND: Final[dict[str, ModelErrorCode]] = {
    "api_error": "server",
    "authentication_error": "auth",
    "deadline_exceeded": "timeout",
    "insufficient_quota": "rate_limit",
    "internal": "server",
    "invalid_api_key": "auth",
    "invalid_argument": "invalid_request",
    "invalid_request_error": "invalid_request",
    "not_found_error": "invalid_request",
    "overloaded_error": "server",
    "permission_denied": "auth",
    "permission_error": "auth",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "request_too_large": "context_length",
    "resource_exhausted": "rate_limit",
    "server_error": "server",
    "timeout_error": "timeout",
    "unauthenticated": "auth",
    "unavailable": "server",
}
"""What the `type`, `code` or `status` of an error in a body, or in a stream, stands for."""

_TOO_LONG: Final = re.compile(
    r"context[_ ]length|context[_ ]window|maximum (context|prompt|input) length|prompt is too long"
    r"|input is too long|input token count|too many (input )?tokens|reduce the length of"
    r"|exceeds? the maximum number of (input )?tokens",
    re.IGNORECASE,
)
"""How vendors say that the conversation does not fit, with a status that says less."""


_MISTAKES: Final = (ArithmeticError, AttributeError, LookupError, NameError, TypeError)
"""What code of the host's own raises, seldom with words that are enough."""


def code_of(status: int | None, kind: str = "", text: str = "") -> ModelErrorCode:
    """What went wrong, from the status of an answer, the kind of error in it, and its words."""
    is_clear = status is not None and status >= 400
    code = _by_status(status) if status is not None and is_clear else None
    code = code or _BY_KIND.get(kind.lower(), "unknown")
    if code in ("invalid_request", "unknown") and _TOO_LONG.search(f"{kind} {text}"):
        return "context_length"
    return code


def _by_status(status: int) -> ModelErrorCode:
    known = _BY_STATUS.get(status)
    return known or ("server" if status >= 500 else "invalid_request")


def retry_after(headers: Mapping[str, str], now_seconds: float | None = None) -> float | None:
    """How many seconds a server asks us to wait, from the headers of its answer.

    A date counts from `now_seconds` (since 1970), and where that is None from the server's own.
    """
    known = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _number(known.get(name, ""))
        if seconds is not None:
            return seconds / unit
    due = _date(known.get("retry-after", ""))
    now = now_seconds if now_seconds is not None else _date(known.get("date", ""))
    return None if due is None or now is None else max(0.0, due - now)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError):
        return None


def status_failure(
    who: str,
    provider: str,
    status: int | None,
    text: str,
    *,
    kind: str = "",
    headers: Mapping[str, str] | None = None,
) -> ModelError:
    """The error for an answer that is none: `who` is the model, `text` what the server said."""
    said = f"{who}: {text}" if text else f"{who}: the server said nothing"
    return ModelError(
        f"{said} (HTTP {status})" if status is not None and status >= 400 else said,
        code=code_of(status, kind, text),
        provider=provider,
        status_code=status if status is not None and status >= 400 else None,
        retry_after=retry_after(headers) if headers else None,
    )


def cut_off(who: str, provider: str, why: object = "") -> ModelError:
    """The error for an answer that stopped before it was complete."""
    reason = told_by(why) if isinstance(why, BaseException) else str(why)
    return ModelError(
        f"the answer of {who} broke off before it was complete" + (f": {reason}" if reason else ""),
        code="network",
        provider=provider,
    )


def failure_of(error: BaseException, provider: str = "") -> ModelError:
    """Any exception of a provider as a `ModelError`; one that is stays what it is."""
    if isinstance(error, ModelError):
        return error
    code: ModelErrorCode = "unknown"
    if isinstance(error, TimeoutError):
        code = "timeout"
    elif isinstance(error, ConnectionError):
        code = "network"
    text = told_by(error)
    if isinstance(error, _MISTAKES) and text != type(error).__name__:
        text = f"{type(error).__name__}: {text}"  # alone, 'name' or 0 would say nothing
    made = ModelError(text, code=code, provider=provider)
    made.__cause__ = error
    return made


def error_facts(error: ModelError) -> dict[str, Any]:
    """What is kept of a failure beside its text."""
    facts: dict[str, Any] = {"code": error.code, "retryable": error.retryable}
    told = {
        "provider": error.provider or None,
        "status": error.status_code,
        "retryAfter": error.retry_after,
    }
    return facts | {name: fact for name, fact in told.items() if fact is not None}


def told_by(error: BaseException) -> str:
    """What an exception of anybody's says; its class name where it says nothing, or cannot."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # a class of somebody else's
        return type(error).__name__
