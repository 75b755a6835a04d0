"""How much asking models may cost in all, and what it has cost so far.

A `Budget` is shared by whoever is handed it. Inside `with budget.applied():` it counts also for
every provider that has any budget around it, so that one run of an agent can have its own.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import msgspec

from saywhy.errors import CallerError
from saywhy.models.resilience.arguments import number, whole
from saywhy.models.resilience.prices import Prices
from saywhy.models.resilience.purse import Limits, Purse, Spent

_NAME: Final = "budget"


class Budget:
    """At most so many `tokens`, so much `cost`, so many `seconds` of waiting, so many `calls`.

    `prices` are needed for `cost`: `{"a-model": (0.5, 1.5)}` is money for a million tokens read and
    written, `"*"` all models that are not named. Without any limit it only counts.
    """

    def __init__(
        self,
        *,
        tokens: int | None = None,
        cost: float | None = None,
        seconds: float | None = None,
        calls: int | None = None,
        prices: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        """Raises `CallerError` for a limit that makes no sense."""
        limits = Limits(
            None if tokens is None else whole(_NAME, "tokens", tokens, 0),
            None if cost is None else number(_NAME, "cost", cost),
            None if seconds is None else number(_NAME, "seconds", seconds),
            None if calls is None else whole(_NAME, "calls", calls, 0),
        )
        made = Prices(_NAME, {} if prices is None else prices)
        if cost is not None and not made:
            raise CallerError(
                f"{_NAME}: cost needs prices, or nobody knows what a call costs",
                hint='prices={"a-model": (0.5, 1.5)}, in and out, for a million tokens each',
            )
        self.purse: Final = Purse(limits, made)
        """Where the wrapper counts."""

    @property
    def spent(self) -> Spent:
        """What was used so far."""
        return self.purse.spent()

    @contextmanager
    def applied(self) -> Generator[Budget]:
        """For what is done inside, this budget counts as well."""
        around = CURRENT.get()
        token = CURRENT.set(msgspec.structs.replace(around, applied=(*around.applied, self)))
        try:
            yield self
        finally:
            CURRENT.reset(token)


class Around(msgspec.Struct, frozen=True):
    """The budgets around a call."""

    applied: tuple[Budget, ...] = ()
    """Those to be charged by the next wrapper."""
    charged: tuple[Budget, ...] = ()
    """Those that a wrapper further out charges for this call."""


_NONE: Final = Around()
CURRENT: Final[ContextVar[Around]] = ContextVar("saywhy.models.budget", default=_NONE)
