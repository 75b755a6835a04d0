"""How long to wait before another attempt. Pure."""

from __future__ import annotations

from typing import Any, Final

CAP_SECONDS: Final = 30.0


def pause_seconds(number: int, retry_delay_ms: Any, retry_after: str, now_ms: float) -> float:
    """Seconds before retry `number`, from 0.

    What the server asks for in `Retry-After`, else what the author wrote, else 1, 2, 4 and so on
    up to half a minute.
    """
    asked = retry_after_seconds(retry_after, now_ms)
    if asked is not None:
        return asked
    if isinstance(retry_delay_ms, int | float) and not isinstance(retry_delay_ms, bool):
        return retry_delay_ms / 1000
    return min(2.0 ** min(number, 10), CAP_SECONDS)


def retry_after_seconds(text: str, now_ms: float) -> float | None:
    """What a `Retry-After` header asks for: seconds, or a date. None where it says nothing."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    if not text:
        return None
    from email.utils import parsedate_to_datetime  # slow to import, and rarely wanted

    try:
        moment = parsedate_to_datetime(text)
        return max(0.0, moment.timestamp() - now_ms / 1000)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
