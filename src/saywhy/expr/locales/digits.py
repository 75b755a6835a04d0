"""Which digits does a number have, once its options have rounded it?

As `Intl.NumberFormat` has it: places after the point, significant digits, or whichever of the two
keeps more. Exact: what is rounded is the shortest decimal text of the number, as it is printed.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

MAX_DIGITS: Final = 1_500
"""More than any number has that is asked about."""

_CONTEXT: Final = decimal.Context(prec=MAX_DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)

_ROUNDINGS: Final[dict[str, tuple[str, str]]] = {
    "ceil": (decimal.ROUND_UP, decimal.ROUND_DOWN),
    "floor": (decimal.ROUND_DOWN, decimal.ROUND_UP),
    "expand": (decimal.ROUND_UP, decimal.ROUND_UP),
    "trunc": (decimal.ROUND_DOWN, decimal.ROUND_DOWN),
    "halfCeil": (decimal.ROUND_HALF_UP, decimal.ROUND_HALF_DOWN),
    "halfFloor": (decimal.ROUND_HALF_DOWN, decimal.ROUND_HALF_UP),
    "halfExpand": (decimal.ROUND_HALF_UP, decimal.ROUND_HALF_UP),
    "halfTrunc": (decimal.ROUND_HALF_DOWN, decimal.ROUND_HALF_DOWN),
    "halfEven": (decimal.ROUND_HALF_EVEN, decimal.ROUND_HALF_EVEN),
}
"""How the size of a number is rounded: of one above zero, of one below."""


class Refused(Exception):
    """An option that cannot be; `kind` is the name of JavaScript's error."""

    def __init__(self, message: str, kind: str = "RangeError") -> None:
        self.kind = kind
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Rounding:
    """The options for digits, settled."""

    by: Literal["places", "digits", "more", "less"]
    whole: int
    places: tuple[int, int]
    digits: tuple[int, int]
    mode: str
    strips: bool
    """Write no zeros after the point of a whole number."""

    def of(self, size: Decimal, *, is_negative: bool) -> Decimal:
        """`size`, which is not below zero, rounded; its exponent tells the zeros to be written."""
        mode = _ROUNDINGS[self.mode][is_negative]
        by_places = _at(size, -self.places[1], mode)
        if self.by == "places":
            return self._padded(by_places, self.places[0])
        by_digits = _at(size, _exponent(size, self.digits[1]), mode)
        takes_digits = self.by == "digits" or (
            _exponent(size, self.digits[1]) <= -self.places[1]
        ) == (self.by == "more")
        if not takes_digits:
            return self._padded(by_places, self.places[0])
        # Rounding may have made a digit more: 9.99 to two digits is 10.
        return self._padded(by_digits, max(0, -_exponent(by_digits, self.digits[0])))

    def _padded(self, number: Decimal, least: int) -> Decimal:
        """`number` with as many places as it needs, but `least` at least."""
        whole = number.to_integral_value(context=_CONTEXT)
        if whole == number:
            return whole if self.strips else _at(whole, -least, decimal.ROUND_DOWN)
        plain = number.normalize(_CONTEXT)
        places = max(least, -_tail(plain))
        return _at(plain, -places, decimal.ROUND_DOWN)

    def texts(self, number: Decimal) -> tuple[str, str]:
        """The digits before and after the point."""
        whole, _, fraction = format(number, "f").partition(".")
        return whole.rjust(self.whole, "0"), fraction

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` says of it."""
        told: dict[str, Any] = {"minimumIntegerDigits": self.whole}
        if self.by != "digits":
            told["minimumFractionDigits"], told["maximumFractionDigits"] = self.places
        if self.by != "places":
            told["minimumSignificantDigits"], told["maximumSignificantDigits"] = self.digits
        return told


_MOST: Final = 101
_COUNTS: Final = (
    "minimumIntegerDigits",
    "minimumFractionDigits",
    "maximumFractionDigits",
    "minimumSignificantDigits",
    "maximumSignificantDigits",
)
_NUMBER: Final = re.compile(r"-?(\d{1,1000}(\.\d{1,400})?(e[+-]?\d{1,3})?|NaN|Infinity)")


def checked(text: str) -> str:
    """`text`, where it is a number as JavaScript prints it, and of bounded length."""
    if not _NUMBER.fullmatch(text):
        raise Refused("not a number that can be written")
    return text


def _tail(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _at(number: Decimal, exponent: int, mode: str) -> Decimal:
    return number.quantize(Decimal((0, (1,), exponent)), rounding=mode, context=_CONTEXT)


def _exponent(number: Decimal, digits: int) -> int:
    """Of the last of so many significant digits."""
    return (number.adjusted() if number else 0) - digits + 1


def rounding_of(
    options: Mapping[str, Any], usual: tuple[int, int], *, is_compact: bool = False
) -> Rounding:
    """The options settled, where `usual` are the places after the point without any."""
    for name in _COUNTS:
        if options.get(name, 0) not in range(_MOST):
            raise Refused(f"{name} value is out of range.")
    least, most = options.get("minimumFractionDigits"), options.get("maximumFractionDigits")
    has_places = least is not None or most is not None
    fewest, fullest = (options.get(f"{end}SignificantDigits") for end in ("minimum", "maximum"))
    has_digits = fewest is not None or fullest is not None
    priority = options.get("roundingPriority", "auto")
    by: Literal["places", "digits", "more", "less"] = "places"
    digits = (fewest or 1, fullest or 21)
    if priority != "auto":
        by = "more" if priority == "morePrecision" else "less"
    elif has_digits:
        by = "digits"
    elif is_compact and not has_places:
        by, digits = "more", (1, 2)
    if digits[0] > digits[1]:
        raise Refused("maximumSignificantDigits value is out of range.")
    if options.get("roundingIncrement", 1) != 1:
        raise Refused("the option roundingIncrement is not available in expressions")
    return Rounding(
        by,
        options.get("minimumIntegerDigits", 1),
        (0, 0) if is_compact and not has_places else _places(least, most, usual),
        digits,
        options.get("roundingMode", "halfExpand"),
        options.get("trailingZeroDisplay") == "stripIfInteger",
    )


def _places(least: int | None, most: int | None, usual: tuple[int, int]) -> tuple[int, int]:
    if least is not None and most is not None and least > most:
        raise Refused("maximumFractionDigits value is out of range.")
    if least is None:
        least = usual[0] if most is None else min(usual[0], most)
    return least, max(usual[1], least) if most is None else most
