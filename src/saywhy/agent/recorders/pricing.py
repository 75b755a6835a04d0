"""What tokens cost, by model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from saywhy.errors import CallerError


class Price(msgspec.Struct, frozen=True):
    """The price of a million tokens, in whatever currency."""

    input: float = 0.0
    output: float = 0.0

    def of(self, input_tokens: int, output_tokens: int) -> tuple[float, float]:
        """What so many tokens cost: those that were handed in, and those that came back."""
        return input_tokens / 1e6 * self.input, output_tokens / 1e6 * self.output


FREE = Price()
"""That of a model which is not listed."""

Pricing: TypeAlias = Mapping[str, Price | Mapping[str, float]]
"""By the model's name as it reports it: its price, or `{"input": …, "output": …}`."""


def prices_of(pricing: Pricing | None) -> dict[str, Price]:
    """The table, checked. Raises `CallerError` for a price that is none."""
    return {name: _price(name, given) for name, given in (pricing or {}).items()}


def _price(name: str, given: Any) -> Price:
    if isinstance(given, Mapping):
        unknown = sorted(set(map(str, given)) - {"input", "output"})
        numbers = [value for value in given.values() if _is_price(value)]
        if not unknown and len(numbers) == len(given):
            return Price(**given)
    elif isinstance(given, Price) and _is_price(given.input) and _is_price(given.output):
        return given
    raise CallerError(
        f'the price of the model "{name}" is no price: {given!r}',
        hint='write {"input": 2.5, "output": 10}, per million tokens',
    )


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
