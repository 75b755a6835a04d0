"""Are these digits a code, a card, a date on one? And how much of them may be shown?"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any, Final

from saywhy.helpers.moments import HasTime, day_of, now_of
from saywhy.helpers.options import count_of
from saywhy.helpers.words import text_of
from saywhy.values import Date

OTP_MILLISECONDS: Final = 10 * 60 * 1000
MOST_YEARS: Final = 20


def validate_digits(text: Any = None, min: Any = 1, max: Any = None) -> bool:
    """Whether the text is digits alone, at least `min` and at most `max` of them."""
    digits = text_of(text)
    least, most = count_of(min, 1), count_of(max, len(digits))
    return re.fullmatch(r"[0-9]+", digits) is not None and least <= len(digits) <= most


def validate_card_number(text: Any = None) -> bool:
    """Whether the text is 12 to 19 digits whose last one is right (Luhn); spaces and dashes may
    stand between them."""
    said = text_of(text).strip()
    if not re.fullmatch(r"[0-9][0-9 \-]*", said):
        return False
    digits = [int(mark) for mark in said if mark.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return 12 <= len(digits) <= 19 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def validate_expiration(
    month: Any = None, year: Any = None, *, context: HasTime | None = None
) -> bool:
    """Whether month and year, two digits each, are not past and at most 20 years ahead.

    A card is good to the end of its month.
    """
    given = [text_of(month), text_of(year)]
    today = day_of(now_of(context))
    if today is None or not all(re.fullmatch(r"[0-9]{2}", part) for part in given):
        return False
    number, full = int(given[0]), today.year // 100 * 100 + int(given[1])
    return 1 <= number <= 12 and (today.year, today.month) <= (full, number) <= (
        today.year + MOST_YEARS,
        12,
    )


def validate_otp(
    code: Any = None, container: Any = None, *, context: HasTime | None = None
) -> bool:
    """Whether the code is the one whose SHA-256 stands in `container.otpHash`, sent at
    `container.otpTimestamp` (milliseconds) and at most ten minutes ago.

    A right code is used up: hash and time go, `otpVerified` is true and `otpVerifiedAt` the time.
    A refusal leaves `otpFailure`: `missing`, `expired` (hash and time go as well) or `mismatch`.
    """
    if not isinstance(container, dict):
        return False
    now = now_of(context)
    failure = _failure(text_of(code).strip(), container, now)
    if failure:
        container["otpFailure"] = failure
    if failure in {"", "expired"}:
        container.pop("otpHash", None)
        container.pop("otpTimestamp", None)
    if failure:
        return False
    container.pop("otpFailure", None)
    container["otpVerified"] = True
    container["otpVerifiedAt"] = int(now)
    return True


def _failure(code: str, container: dict[str, Any], now: float) -> str:
    wanted, sent = text_of(container.get("otpHash")).strip().lower(), container.get("otpTimestamp")
    at = _milliseconds(sent)
    if not code or not wanted or at is None:
        return "missing"
    if now - at > OTP_MILLISECONDS:
        return "expired"
    digest = hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
    return "" if hmac.compare_digest(digest.encode(), wanted.encode()) else "mismatch"


def _milliseconds(value: Any) -> float | None:
    if isinstance(value, Date):
        return value.milliseconds
    text = text_of(value).strip()
    return float(text) if re.fullmatch(r"-?[0-9]{1,17}(?:\.[0-9]+)?", text) else None


def last4(text: Any = None) -> str:
    """The last four digits, such as a card's; nothing where there are fewer than four."""
    digits = re.sub(r"[^0-9]", "", text_of(text))
    return digits[-4:] if len(digits) >= 4 else ""
