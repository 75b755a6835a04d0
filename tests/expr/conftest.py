"""Variables, approved functions and the loop around `evaluate`, as a flow would have them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from saywhy.expr.chains import Path
from saywhy.expr.javascript import (
    Evaluated,
    FunctionAnswer,
    JavaScript,
    Outcome,
    Raised,
    Suspended,
)
from saywhy.values import UNDEFINED, Value, freeze, get_path

Functions = dict[str, Callable[..., Any]]


class Variables:
    """The names of one evaluation; remembers which paths were asked for."""

    def __init__(self, values: dict[str, Any], functions: Functions | None = None) -> None:
        self.values = freeze(values)
        self.functions = frozenset(functions or ())
        self.asked: list[Path] = []

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, path: Path) -> Value:
        self.asked.append(path)
        return get_path(self.values, path)


class Runner:
    """Evaluates to the end, answering calls of approved functions."""

    def __init__(self) -> None:
        self.engine = JavaScript()
        self.rounds = 0

    def __call__(
        self,
        source: str,
        values: dict[str, Any] | None = None,
        functions: Functions | None = None,
        **options: Any,
    ) -> Outcome:
        names = Variables(values or {}, functions)
        answers: list[FunctionAnswer] = []
        self.rounds = 0
        while True:
            self.rounds += 1
            outcome = self.engine.evaluate(source, names, answers, **options)
            if not isinstance(outcome, Suspended):
                return outcome
            assert outcome.index == len(answers)
            answers.append(answer(outcome, (functions or {})[outcome.name]))

    def value(self, source: str, values: dict[str, Any] | None = None, **options: Any) -> Any:
        """The value; fails when the expression raises."""
        outcome = self(source, values, **options)
        assert isinstance(outcome, Evaluated), f"{source}: {outcome}"
        return outcome.value

    def raised(self, source: str, values: dict[str, Any] | None = None, **options: Any) -> Raised:
        """The error; fails when there is none."""
        outcome = self(source, values, **options)
        assert isinstance(outcome, Raised), f"{source}: {outcome}"
        return outcome


def answer(call: Suspended, function: Callable[..., Any]) -> FunctionAnswer:
    """What `function` gives for the call, and what it did to its arguments."""
    args = copy.deepcopy(call.args)
    error, value = None, UNDEFINED
    try:
        value = function(*args)
    except Exception as problem:
        error = str(problem)
    after = args if args != call.args else None
    return FunctionAnswer(call.name, call.args, value, error, after)


@pytest.fixture
def run() -> Runner:
    return Runner()
