"""Where the expressions of an engine are evaluated, and where its flows run for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from saywhy.errors import CallerError
from saywhy.expr.isolated import Isolated
from saywhy.expr.javascript import JavaScript, Placement
from saywhy.expr.sandbox import Limits
from saywhy.runtime.apart import Apart

IN_PROCESS: Final = "in-process"
ISOLATED: Final = "isolated"


@dataclass(frozen=True, slots=True)
class Expressions:
    """The placement, and for one that waits for other processes the threads to wait in."""

    placement: Placement
    apart: Apart | None = None

    @classmethod
    def of(cls, where: str, workers: int | None, deadline_seconds: float | None) -> Expressions:
        """What the options of an engine say. Raises `CallerError`."""
        if where == ISOLATED:
            usual = Limits()
            limits = (
                usual
                if deadline_seconds is None
                else usual._replace(deadline_seconds=deadline_seconds)
            )
            return cls(Isolated(limits, size=workers), Apart())
        if where != IN_PROCESS:
            raise CallerError(
                f"expressions is {IN_PROCESS} or {ISOLATED}, not {where!r}",
                hint=f'"{ISOLATED}" is for flows that somebody else can edit',
            )
        if workers is not None or deadline_seconds is not None:
            option = "expression_workers" if workers is not None else "expression_deadline_seconds"
            raise CallerError(
                f"{option} is for isolated expressions", hint=f'add expressions="{ISOLATED}"'
            )
        return cls(JavaScript())

    def close(self) -> None:
        """End processes and threads. Later evaluations start new ones."""
        if isinstance(self.placement, Isolated):
            self.placement.close()
        if self.apart is not None:
            self.apart.close()
