"""What does the example of a standard function give? Evaluated as a flow would evaluate it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection
from typing import Any, Final

from saywhy.expr.javascript import Evaluated, FunctionAnswer, JavaScript, Suspended
from saywhy.expr.names import Path
from saywhy.helpers.catalogue import EXAMPLE_TIME, STANDARD_FUNCTIONS, Helper
from saywhy.helpers.moments import At
from saywhy.marks import CONTEXT
from saywhy.values import UNDEFINED, freeze, thaw

_MOST_CALLS: Final = 10


class _Names:
    """No variable, and every standard function."""

    def __init__(self) -> None:
        self.functions: Collection[str] = STANDARD_FUNCTIONS.keys()

    def has(self, name: str) -> bool:
        return False

    def get(self, path: Path) -> Any:
        return UNDEFINED


def value_of(helper: Helper) -> Any:
    """The value of its example, at the time of all examples."""
    answers: list[FunctionAnswer] = []
    for _ in range(_MOST_CALLS):
        found = JavaScript().evaluate(helper.example, _Names(), answers, now_ms=EXAMPLE_TIME)
        if isinstance(found, Evaluated):
            return thaw(found.value)
        assert isinstance(found, Suspended), f"{helper.example}: {found}"
        answers.append(_answer(found.name, found.args))
    raise AssertionError(f"{helper.example} calls more than {_MOST_CALLS} functions")


def text_of_value(value: Any) -> str:
    """A value as an author writes it, but for the quotes of keys."""
    return json.dumps(value, ensure_ascii=False)


def _answer(name: str, args: list[Any]) -> FunctionAnswer:
    function = STANDARD_FUNCTIONS[name]
    asked, before = freeze(args), freeze(args)
    given = [None if value is UNDEFINED else value for value in args]
    if CONTEXT in inspect.signature(function).parameters:
        value = function(*given, context=At(EXAMPLE_TIME))
    else:
        value = function(*given)
    return FunctionAnswer(
        name, asked, freeze(value), None, None if freeze(args) == before else args
    )
