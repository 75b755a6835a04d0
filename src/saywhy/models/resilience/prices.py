"""What a call of a model costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.models.resilience.arguments import number

PER: Final = 1_000_000
ANY: Final = "*"

_DATED: Final = re.compile(r"[-@](?:\d{2,4}-?\d{2}-?\d{2,4}|\d{3,4}|latest)$")
_EXAMPLE: Final = 'prices={"a-model": (0.5, 1.5)}, in and out, for a million tokens each'


class Prices:
    """Money for a million tokens read and written, by the name of a model; `"*"` for all others.

    A vendor answers under a dated name (`a-model-2026-01-01`): the price of `a-model` holds for it.
    """

    def __init__(self, wrapper: str, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise CallerError(
                f"{wrapper}: prices is an object, not {type(given).__name__}", hint=_EXAMPLE
            )
        self._table: Final = {str(name): _pair(wrapper, name, pair) for name, pair in given.items()}

    def __bool__(self) -> bool:
        return bool(self._table)

    def find(self, name: str) -> tuple[float, float] | None:
        """The two prices of a model; None where it has none."""
        undated = _DATED.sub("", name)
        return self._table.get(name) or self._table.get(undated) or self._table.get(ANY)

    def of(self, names: tuple[str, ...]) -> tuple[float, float] | None:
        """Those of the first name that has some.

        A call of which no name is known, as one that was cut off may be, costs what the dearest
        model does: better too much than too little.
        """
        known = [name for name in names if name]
        if not known and self._table:
            return max(self._table.values(), key=sum)
        return next((found for name in known if (found := self.find(name))), None)


def cost_of(prices: tuple[float, float], tokens_in: int, tokens_out: int) -> float:
    """Money for a call."""
    return (tokens_in * prices[0] + tokens_out * prices[1]) / PER


def _pair(wrapper: str, name: Any, given: Any) -> tuple[float, float]:
    where = f'prices["{name}"]'
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise CallerError(f"{wrapper}: {where} is a pair of numbers", hint=_EXAMPLE)
    return number(wrapper, f"{where}[0]", given[0]), number(wrapper, f"{where}[1]", given[1])
