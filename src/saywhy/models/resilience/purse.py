"""What calls of a model have used, and whether something is left.

Here is only the counting. Who may spend what is a `Budget`, which a host makes.
"""

from __future__ import annotations

from typing import Final

import msgspec

from saywhy.errors import BudgetExceeded, CallerError
from saywhy.models.resilience.prices import Prices, cost_of


class Spent(msgspec.Struct, frozen=True):
    """What calls have used so far, those that failed or were cut off included, as far as known."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """Money, in whatever the prices are in."""
    seconds: float = 0.0
    """Waiting for models; what runs at the same time counts each for itself."""
    uncounted: int = 0
    """How many of the calls ended without a word about their tokens."""
    unpriced: tuple[str, ...] = ()
    """Names of models that were asked and are missing among the prices, where there are any."""

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.tokens_in + self.tokens_out


class Limits(msgspec.Struct, frozen=True):
    """The most there may be of each; None: no limit."""

    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    calls: int | None = None


class Account:
    """What is charged for one call, as it becomes known."""

    __slots__ = ("tokens_in", "tokens_out", "was_told")

    def __init__(self) -> None:
        self.tokens_in = 0
        self.tokens_out = 0
        self.was_told = False


class Purse:
    """Counts what is used, against limits."""

    def __init__(self, limits: Limits, prices: Prices) -> None:
        self.limits: Final = limits
        self._prices: Final = prices
        self._calls = self._tokens_in = self._tokens_out = self._uncounted = 0
        self._cost = self._seconds = 0.0
        self._unpriced: list[str] = []

    def spent(self) -> Spent:
        """What was used so far."""
        return Spent(
            self._calls,
            self._tokens_in,
            self._tokens_out,
            self._cost,
            self._seconds,
            self._uncounted,
            tuple(self._unpriced),
        )

    def check(self, name: str) -> None:
        """Raise `BudgetExceeded` where something is used up.

        And `CallerError` where it could not be told what the model of this name costs, or one that
        was asked before.
        """
        limits = self.limits
        for what, limit, used in (
            ("calls", limits.calls, self._calls),
            ("tokens", limits.tokens, self._tokens_in + self._tokens_out),
            ("cost", limits.cost, self._cost),
            ("seconds", limits.seconds, self._seconds),
        ):
            if limit is not None and used >= limit:
                raise BudgetExceeded(what, limit, used)
        if limits.cost is None:
            return
        is_unpriced = bool(name) and self._prices.find(name) is None
        unpriced = name if is_unpriced else next(iter(self._unpriced), "")
        if unpriced:
            raise CallerError(
                f'the budget has no price for the model "{unpriced}"',
                hint='add it to prices, or a price for "*", all that are not named',
            )

    def begin(self) -> Account:
        """Count a call."""
        self._calls += 1
        return Account()

    def seconds_left(self) -> float | None:
        """Seconds that may still be waited; None: no limit."""
        limit = self.limits.seconds
        return None if limit is None else max(0.0, limit - self._seconds)

    def waited(self, seconds: float) -> None:
        """So long was waited for a model."""
        self._seconds += seconds

    def used(self, account: Account, tokens_in: int, tokens_out: int) -> None:
        """A call has used so much up to now."""
        self._tokens_in += tokens_in - account.tokens_in
        self._tokens_out += tokens_out - account.tokens_out
        account.tokens_in, account.tokens_out, account.was_told = tokens_in, tokens_out, True

    def end(self, account: Account, names: tuple[str, ...]) -> None:
        """A call has ended; `names` are what its model is called, the likeliest first."""
        if not account.was_told:
            self._uncounted += 1
            return
        prices = self._prices.of(names)
        if prices is not None:
            self._cost += cost_of(prices, account.tokens_in, account.tokens_out)
            return
        named = next((name for name in names if name), "") if self._prices else ""
        if named and named not in self._unpriced:
            self._unpriced.append(named)
