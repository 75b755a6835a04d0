"""Runs expressions as `worker` does, with the engine in another process.

Everything but the engine is the same: programs are read and compiled to text here, values are
prepared here, results are read here. So both placements give the same values. But a result comes
from a process that an expression may have taken over, should the engine have a fault; what it says
is judged here before anyone else sees it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, cast

from saywhy.expr.handed import Handed, passed
from saywhy.expr.names import read_expression
from saywhy.expr.outcome import Evaluated, FunctionAnswer, Names, Outcome, Raised, Suspended
from saywhy.expr.pool import Pool
from saywhy.expr.process import UNREADABLE, Gone, Late, Lost, Process
from saywhy.expr.program import Parameter, Program, Variant
from saywhy.expr.sandbox import Sandbox, engine_errors
from saywhy.expr.sound import is_sound, is_sound_text
from saywhy.expr.transfer import MARK
from saywhy.expr.worker import Worker

WORKER_FAILED: Final = "WorkerFailed"
"""Kind of the error when a process ended, or said what it cannot say."""


class DistantWorker(Worker):
    """One thread's way to the processes of a pool."""

    __slots__ = ("_pool", "_process")

    is_timed: Final = True

    def __init__(self, pool: Pool) -> None:
        # Not `super().__init__`: that makes a sandbox in this process, which nobody would use.
        self._pool: Final = pool
        self._process: Process | None = None
        self._errors = engine_errors()
        self._programs: dict[str, Program] = {}
        self._compiled = 0
        self._sandbox = cast("Sandbox", self)  # of which a worker uses `compile` alone

    def evaluate(
        self,
        source: str,
        names: Names,
        answers: Sequence[FunctionAnswer],
        now_ms: float,
        seed: int,
        as_text: bool,
    ) -> Outcome:
        """One round, as in `Worker`, or an error when the process failed or took too long."""
        try:
            outcome = super().evaluate(source, names, answers, now_ms, seed, as_text)
            if as_text and type(outcome) is Evaluated and type(outcome.value) is not str:
                raise Lost(UNREADABLE)
            return outcome
        except Late:
            kind, message = "TimeLimit", "the expression takes longer than it may"
        except Lost as lost:
            kind, message = WORKER_FAILED, str(lost)
            if self._process is not None:
                self._process.end()
        finally:
            if self._process is not None:
                self._pool.give_back(self._process)
                self._process = None
        return Raised(kind, message, read_expression(source).reads, tuple(answers))

    # ------------------------------------------------------------ in place of a sandbox

    def compile(self, text: str) -> Any:
        """A function that has the process evaluate the program. Raises when it is no JavaScript."""
        number = self._pool.number_of(text)
        if number is None:
            number = self._pool.new_number()
            self._ask(number, text, None)
            self._pool.remember(text, number)

        def call(*arguments: Any) -> Any:
            process = self._process
            if process is None:
                process = self._process = self._pool.take()
            try:
                return process.ask(number, text, arguments)
            except Gone:
                return self._ask(number, text, arguments)

        return call

    def _ask(self, number: int, text: str, arguments: tuple[Any, ...] | None) -> Any:
        """One question to the process that this evaluation has, or to one that still runs."""
        for _ in range(self._pool.size + 1):
            process = self._process
            if process is None or process.over:  # an idle one ended: nothing was begun
                if process is not None:
                    self._pool.give_back(process)
                process = self._process = self._pool.take()
            with suppress(Gone):
                return process.ask(number, text, arguments)
        raise Lost("processes for expressions end before they are asked")

    # ------------------------------------------------------------ in place of contexts here

    def _lent(self, parameter: Parameter, value: Any, names: Names, others: list[Any]) -> Handed:
        """Nothing lies ready here: all that a process is handed travels as text."""
        return passed(parameter, value, names)

    def _is_brief(self, program: Program, shape: Sequence[str], functions: Sequence[str]) -> bool:
        """A process keeps its limit: to be asked costs more."""
        return False

    def _restart(self, arguments: list[Any] | None = None) -> None:
        """The next evaluation of this process gets a new context; programs are text and stay."""
        if self._process is not None:
            self._process.is_stale = True

    def _spent(self) -> float:
        return time.monotonic()

    def _patience(self) -> float:
        return self._pool.limits.deadline_seconds

    def _after_failure(self, program: Program, key: Any, arguments: list[Any], message: str) -> Any:
        """No second try: the process evaluates nothing else, so the time was this expression's."""
        return f"{MARK}!{message}"

    def _marked(
        self,
        result: str,
        program: Program,
        variant: Variant,
        names: Names,
        answers: Sequence[FunctionAnswer],
    ) -> Outcome:
        try:
            outcome = super()._marked(result, program, variant, names, answers)
            if _can_be(outcome, result, program, names, answers):
                return outcome
        except (Late, Lost):
            raise
        except Exception as error:  # what is not of the form can fail in any way
            raise Lost(UNREADABLE) from error
        raise Lost(UNREADABLE)


def _can_be(
    outcome: Outcome,
    result: str,
    program: Program,
    names: Names,
    answers: Sequence[FunctionAnswer],
) -> bool:
    """Whether an outcome is one that this expression can have."""
    if isinstance(outcome, Raised):
        return type(outcome.kind) is str and type(outcome.message) is str
    if isinstance(outcome, Suspended):
        return (
            outcome.name in names.functions
            and outcome.name in program.reading.roots
            and outcome.index == len(answers)
            and type(outcome.args) is list
            and is_sound(outcome.args)
        )
    if is_sound_text(result):
        return True
    return is_sound(outcome.value) and all(is_sound(change.value) for change in outcome.changes)
