"""Whether a failed step is tried again, and when.

Pure: a decision and its reason. What the author wrote comes first (`retryOnConditions`, then
`maxRetries`); without a word of the author only errors that look passing are tried again, and
never an act of which nobody knows whether it happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from saywhy.tools.effect import Effect
from saywhy.tools.pattern import MAX_TEXT, found
from saywhy.tools.schema import REFUSED

Action: TypeAlias = Literal["retry", "skip", "fallback", "ask_user", "give_up"]
Strategy: TypeAlias = Literal["immediate", "exponential", "linear", "manual"]

ACTIONS: Final = ("retry", "skip", "fallback", "ask_user")
STRATEGIES: Final = ("immediate", "exponential", "linear", "manual")
BACKOFF_CAP_MS: Final = 30_000.0

_PASSING_WORDS: Final = ("fetch failed", "timeout", "timed out", "network")
_PASSING_STATUS: Final = frozenset({408, 409, 500, 502, 503, 504})
_FINAL_WORDS: Final = ("unauthorized", "unauthorised", "forbidden", "authenticat", "rate limit")
_WORTH_IT_WORDS: Final = ("fetch failed", "timeout", "timed out", "econnrefused", "rate limit")
_WORTH_IT_STATUS: Final = frozenset({502, 503})

_STATUS: Final = re.compile(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?|(?:status|error)(?: code)?)[ :=]{1,2}([1-5]\d\d)\b"
    r"|\b([45]\d\d) (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out"
    r"|Request Time-?out|Conflict|Too Many Requests|Not Found|Unauthorized|Forbidden|Bad Request)",
    re.IGNORECASE | re.ASCII,
)
_LAST_FAILED: Final = "Failed "


class Decision(msgspec.Struct, frozen=True):
    """What to do about a failure. `rule` is the reason, in words or as the author's pattern."""

    action: Action
    delay_ms: float = 0.0
    rule: str = ""
    condition: int | None = None
    """Which of the step's `retryOnConditions` decided, from 0."""


def decide(
    fault_message: str,
    http_status: int | None = None,
    *,
    max_retries: int | None = None,
    conditions: Iterable[Mapping[str, Any]] = (),
    has_on_fail: bool = False,
    attempt: int = 0,
    default_max_retries: int = 2,
    effect: Effect = "once",
    may_have_happened: bool = False,
    strategy: Strategy = "immediate",
    retry_delay_ms: float = 0.0,
) -> Decision:
    """What to do about a failed step; `attempt` counts the retries made so far.

    A condition that skips, falls back or asks holds however many retries are left, for it costs
    none. One that retries without `maxRetries` beside it gets the default number.
    """
    status = http_status if http_status is not None else status_in(fault_message)
    matched = _first_match(conditions, fault_message)
    if matched is not None and matched[1] != "retry":
        number, action, rule = matched
        return Decision(action, rule=rule, condition=number)
    if max_retries is None and may_have_happened and effect == "once":
        return Decision("give_up", rule="it may have happened, and must not happen twice")
    limit, reason = _allowance(
        fault_message, status, max_retries, matched, has_on_fail, default_max_retries
    )
    if limit == 0:
        return Decision("give_up", rule=reason)
    number = matched[0] if matched else None
    if attempt >= limit:
        return Decision("give_up", rule=f"{attempt} of {limit} retries used", condition=number)
    if strategy == "manual":
        return Decision("give_up", rule="retryStrategy is manual", condition=number)
    wait = delay(strategy, retry_delay_ms, attempt)
    return Decision("retry", delay_ms=wait, rule=reason, condition=number)


def _first_match(
    conditions: Iterable[Mapping[str, Any]], message: str
) -> tuple[int, Action, str] | None:
    head = message[:MAX_TEXT]  # the rest is a response body or the like
    for number, condition in enumerate(conditions):
        pattern = str(condition.get("errorPattern") or "")
        action = condition.get("action") or "retry"
        if pattern and action in ACTIONS and found(pattern, head, ignore_case=True):
            return number, action, f"errorPattern {pattern}"
    return None


def _allowance(
    message: str,
    status: int | None,
    max_retries: int | None,
    matched: tuple[int, Action, str] | None,
    has_on_fail: bool,
    default_max_retries: int,
) -> tuple[int, str]:
    """How many retries there may be in all, and why."""
    if max_retries == 0:
        return 0, "maxRetries is 0"
    if max_retries is not None:
        if matched is not None:
            return max_retries, matched[2]
        if is_worth_retrying(message, status):
            return max_retries, "the error looks passing"
        return 0, "maxRetries is for errors that look passing; no errorPattern matches this one"
    if matched is not None:
        return default_max_retries, matched[2]
    if has_on_fail:
        return 0, "onFail takes over"
    if is_transient(message, status):
        return default_max_retries, "the error looks passing"
    return 0, "the error does not look passing"


def is_transient(message: str, status: int | None) -> bool:
    """Whether an error is tried again though the author said nothing about retries."""
    if message.startswith(REFUSED):
        return False
    if status is not None:
        return status in _PASSING_STATUS
    text = message.lower()
    if any(word in text for word in _FINAL_WORDS):
        return False
    return any(word in text for word in _PASSING_WORDS)


def is_worth_retrying(message: str, status: int | None) -> bool:
    """Whether an error that no `errorPattern` names uses up one of the author's `maxRetries`."""
    if message.startswith(REFUSED):
        return False
    text = message.lower()
    return status in _WORTH_IT_STATUS or any(word in text for word in _WORTH_IT_WORDS)


def status_in(message: str) -> int | None:
    """The HTTP status a message reports, `HTTP 503 …` or `status code 503`; else None.

    A number standing alone is none: amounts and ids look the same.
    """
    hit = _STATUS.search(message)
    return int(hit[1] or hit[2]) if hit else None


def delay(strategy: Strategy, retry_delay_ms: float, attempt: int) -> float:
    """Milliseconds before retry number `attempt`, from 0."""
    if strategy == "linear":
        return retry_delay_ms * (attempt + 1)
    if strategy == "exponential":
        return retry_delay_ms + min(1000.0 * 2 ** min(attempt, 10), BACKOFF_CAP_MS)
    return retry_delay_ms


def error_text(message: str) -> str:
    """What a step's variable holds while `onFail` runs: the last "Failed …", else all of it."""
    start = message.rfind(_LAST_FAILED)
    return message[start:] if start >= 0 else message
