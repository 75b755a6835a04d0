"""A provider that is asked only while there is something left to spend."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final

from saywhy.clock import Clock
from saywhy.errors import BudgetExceeded, CallerError
from saywhy.models.provider import Ask, Piece, Provider, StopPiece, UsagePiece, pieces_of
from saywhy.models.resilience.arguments import a_provider
from saywhy.models.resilience.budget import CURRENT, Around, Budget
from saywhy.models.resilience.purse import Purse, Spent
from saywhy.models.resilience.steady import SteadyTime
from saywhy.models.resilience.timeout import Overdue, in_time
from saywhy.models.resilience.wrapper import Wrapper

_NAME: Final = "with_budget"


class Budgeted(Wrapper):
    """Counts what is spent and refuses what is too much; see `with_budget`."""

    def __init__(self, provider: Provider, budget: Budget, clock: Clock | None) -> None:
        super().__init__([provider])
        self._provider: Final = provider
        self.budget: Final = budget
        self._time: Final = SteadyTime(clock)

    @property
    def spent(self) -> Spent:
        """What the budget was used for so far, by all that share it."""
        return self.budget.spent

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer; raises `BudgetExceeded` where nobody is asked."""
        around = CURRENT.get()
        budgets = [
            budget
            for budget in dict.fromkeys((self.budget, *around.applied))
            if budget not in around.charged
        ]
        inner = Around(charged=(*around.charged, *budgets))
        asked = str(ask.settings.get("model") or "")
        call = _Call(self._time, budgets, asked)
        async with aclosing(pieces_of(self._provider, ask)) as pieces:
            try:
                while True:
                    try:
                        piece = await call.next(pieces, inner)
                    except StopAsyncIteration:
                        return
                    call.took(piece)
                    yield piece
            finally:
                call.end()


class _Call:
    """One ask, charged to all its budgets or to none."""

    def __init__(self, time: SteadyTime, budgets: list[Budget], asked: str) -> None:
        self._time: Final = time
        for budget in budgets:  # all agree before one counts
            budget.purse.check(asked)
        self._accounts: Final = [(budget.purse, budget.purse.begin()) for budget in budgets]
        self._names: tuple[str, ...] = (asked,)

    def took(self, piece: Piece) -> None:
        """Count what came."""
        if isinstance(piece, UsagePiece):
            for purse, account in self._accounts:
                purse.used(account, piece.tokens_in, piece.tokens_out)
        elif isinstance(piece, StopPiece) and piece.model:
            self._names = (piece.model, *self._names)

    async def next(self, pieces: AsyncGenerator[Piece, None], inner: Around) -> Piece:
        """The next piece, while there is time."""
        # Set for this step alone: a generator shares the context of whoever reads it.
        token = CURRENT.set(inner)
        began = self._time.now()
        left = self._left()
        try:
            if left is None:
                return await anext(pieces)
            return await in_time(self._time, anext(pieces), left[0])
        except Overdue:
            assert left is not None, "without a limit nothing is overdue"
            limit = left[1].limits.seconds or 0.0
            raise BudgetExceeded("seconds", limit, limit) from None
        finally:
            CURRENT.reset(token)
            waited = (self._time.now() - began) / 1000
            for purse, _ in self._accounts:
                purse.waited(waited)

    def _left(self) -> tuple[float, Purse] | None:
        """The fewest seconds that any budget has left, and where they are counted."""
        found = [
            (seconds, at)
            for at, (purse, _) in enumerate(self._accounts)
            if (seconds := purse.seconds_left()) is not None
        ]
        if not found:
            return None
        seconds, at = min(found)
        return seconds, self._accounts[at][0]

    def end(self) -> None:
        """Charge what the call cost."""
        for purse, account in self._accounts:
            purse.end(account, self._names)


def with_budget(
    provider: str | Provider | Callable[..., Any],
    budget: Budget | None = None,
    *,
    tokens: int | None = None,
    cost: float | None = None,
    seconds: float | None = None,
    calls: int | None = None,
    prices: Mapping[str, tuple[float, float]] | None = None,
    clock: Clock | None = None,
) -> Budgeted:
    """Ask while the budget lasts; then `BudgetExceeded` is raised and nobody is asked.

    Hand in a `Budget` to share it between providers, or its limits for one of its own. What a call
    used is known when it ends, and calls under way are let finish: by so much can `tokens` and
    `cost` go over. `calls` never does, and a call that outlasts `seconds` is cut off.
    """
    inner = a_provider(_NAME, provider)
    limits = {"tokens": tokens, "cost": cost, "seconds": seconds, "calls": calls, "prices": prices}
    if budget is None:
        return Budgeted(inner, Budget(**limits), clock)  # pyright: ignore[reportArgumentType]
    given = [name for name, value in limits.items() if value is not None]
    if given:
        raise CallerError(
            f"{_NAME}: {given[0]} and a budget are both given",
            hint="say it where the budget is made",
        )
    if not isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CallerError(
            f"{_NAME}: budget is a Budget, not {type(budget).__name__}", hint="Budget(calls=10)"
        )
    return Budgeted(inner, budget, clock)
