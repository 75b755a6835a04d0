"""Rules over the state, and the evidence of every condition that was tested.

`decide` takes the first rule that holds, `select` all that hold. Both give a `Decision` for the
commit of the stage that asked; how it reads as a sentence is the narrative's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, Final

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.failure import failure_text
from saywhy.chart.view import View, key_of, sight_of
from saywhy.errors import ChartError, did_you_mean
from saywhy.values import UNDEFINED, Date, FrozenDict, FrozenList, dumps, freeze, same

Filter = Mapping[str, Any]
Predicate = Callable[[Any], Any]


# ------------------------------------------------------------------ operators


def _ordered(one: Any, other: Any) -> bool:
    """Whether less and more mean something between two values."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers or (type(one) is type(other) and isinstance(one, str | Date))


def _rank(value: Any) -> Any:
    return value.milliseconds if isinstance(value, Date) else value


def _contains(value: Any, part: Any) -> bool:
    if isinstance(value, str):
        return isinstance(part, str) and part in value
    if isinstance(value, FrozenList):
        return any(same(item, part) for item in value)
    return isinstance(value, FrozenDict) and part in value


def _between(value: Any, bounds: Any) -> bool:
    low, high = bounds
    if not _ordered(value, low) or not _ordered(value, high):
        return False
    return _rank(low) <= _rank(value) <= _rank(high)


OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": same,
    "ne": lambda value, other: not same(value, other),
    "gt": lambda value, other: _ordered(value, other) and _rank(value) > _rank(other),
    "gte": lambda value, other: _ordered(value, other) and _rank(value) >= _rank(other),
    "lt": lambda value, other: _ordered(value, other) and _rank(value) < _rank(other),
    "lte": lambda value, other: _ordered(value, other) and _rank(value) <= _rank(other),
    "in": lambda value, others: any(same(value, other) for other in others),
    "notIn": lambda value, others: not any(same(value, other) for other in others),
    "contains": _contains,
    "exists": lambda value, wanted: (value is not UNDEFINED) is wanted,
    "matches": lambda value, pattern: isinstance(value, str) and bool(re.search(pattern, value)),
    "between": _between,
}
"""Operator of a filter → whether a value of the state holds against what the author wrote."""


def _is_pair(value: Any) -> bool:
    return isinstance(value, FrozenList) and len(value) == 2 and _ordered(value[0], value[1])


def _is_pattern(value: Any) -> bool:
    try:
        re.compile(value)
    except (re.error, TypeError):
        return False
    return True


_WANTED: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "in": (lambda value: isinstance(value, FrozenList), "a list"),
    "notIn": (lambda value: isinstance(value, FrozenList), "a list"),
    "exists": (lambda value: isinstance(value, bool), "True or False"),
    "matches": (_is_pattern, "a regular expression"),
    "between": (_is_pair, "two values in one order, [low, high]"),
}


# ------------------------------------------------------------------ conditions


@dataclass(frozen=True, slots=True)
class Check:
    """One path against one operator."""

    path: str
    operator: str
    threshold: Any

    @property
    def text(self) -> str:
        """`step gte 8`"""
        return f"{self.path} {self.operator} {dumps(self.threshold).decode()}"

    def test(self, view: View) -> Condition:
        """Whether it holds, with the value it read."""
        sight = sight_of(view)
        key = key_of(sight, self.path)
        value = sight.scope.read(key)
        noted = sight.scope.reads[-1]
        return Condition(
            self.text,
            OPERATORS[self.operator](value, self.threshold),
            read=((noted, value),),
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Several conditions as one. All are tested, so that the evidence is whole."""

    words: str
    parts: tuple[Test, ...]
    holds: Callable[[Sequence[bool]], bool]

    @property
    def text(self) -> str:
        """`any of (step gte 8, stop eq true)`"""
        return f"{self.words} ({', '.join(part.text for part in self.parts)})"

    def test(self, view: View) -> Condition:
        """Whether it holds, with the evidence of its parts."""
        tested = tuple(part.test(view) for part in self.parts)
        return Condition(self.text, self.holds([part.result for part in tested]), parts=tested)


@dataclass(frozen=True, slots=True)
class Asked:
    """A function of the state. What it looks at is the evidence."""

    function: Predicate

    @property
    def text(self) -> str:
        """The function's name."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "a function" if name == "<lambda>" else name

    def test(self, view: View) -> Condition:
        """Whether it holds. One that raises does not, and the error is kept."""
        scope = sight_of(view).scope
        before = len(scope.reads)
        error = ""
        try:
            result = bool(self.function(view))
        except Exception as raised:
            result, error = False, f"{type(raised).__name__}: {failure_text(raised)}"
        keys = dict.fromkeys(scope.reads[before:])
        read = tuple((key, scope.peek(key)) for key in keys)
        return Condition(self.text, result, read=read, error=error)


Test = Check | Group | Asked
Given = Filter | Test | Predicate


def _tests(given: Given) -> list[Test]:
    """The conditions in what an author wrote. Raises `ChartError` for what cannot be tested."""
    if isinstance(given, Check | Group | Asked):
        return [given]
    if isinstance(given, Mapping):
        return [check for path, wanted in given.items() for check in _checks(path, wanted)]
    if not callable(given):
        raise ChartError(f"a condition is a filter or a function, not {type(given).__name__}")
    if iscoroutinefunction(given):
        raise ChartError(
            f"the predicate {given.__name__} is async, but rules are tested at once",
            hint="await before, write what you got into the state, and test that",
        )
    return [Asked(given)]


def _checks(path: str, wanted: Any) -> list[Check]:
    if not isinstance(wanted, Mapping):
        return [Check(path, "eq", freeze(wanted, (path,)))]
    return [_check(path, operator, value) for operator, value in wanted.items()]


def _check(path: str, operator: str, value: Any) -> Check:
    if operator not in OPERATORS:
        hint = did_you_mean(operator, list(OPERATORS)) or f"known: {', '.join(OPERATORS)}"
        raise ChartError(f'the filter on {path} has the unknown operator "{operator}"', hint=hint)
    threshold = freeze(value, (path, operator))
    fits, wish = _WANTED.get(operator, (None, ""))
    if fits is not None and not fits(threshold):
        raise ChartError(f"the filter on {path}: {operator} takes {wish}, not {value!r}")
    return Check(path, operator, threshold)


def _all_hold(results: Sequence[bool]) -> bool:
    return bool(results) and all(results)


def _none_holds(results: Sequence[bool]) -> bool:
    return bool(results) and not any(results)


def _grouped(words: str, given: Sequence[Given], holds: Callable[[Sequence[bool]], bool]) -> Group:
    """Each argument counts as one condition; the parts of a filter must all hold."""
    parts: list[Test] = []
    for one in given:
        tests = _tests(one)
        parts.append(tests[0] if len(tests) == 1 else Group("all of", tuple(tests), _all_hold))
    return Group(words, tuple(parts), holds)


def any_of(*given: Given) -> Group:
    """At least one holds."""
    return _grouped("any of", given, any)


def all_of(*given: Given) -> Group:
    """All hold; nothing at all does not."""
    return _grouped("all of", given, _all_hold)


def not_(*given: Given) -> Group:
    """None holds."""
    return _grouped("not", given, _none_holds)


# ------------------------------------------------------------------ rules


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that must all hold, and the branch they lead to."""

    tests: tuple[Test, ...]
    branch: str
    label: str = ""

    @property
    def text(self) -> str:
        """`step gte 8, stop eq true`"""
        return ", ".join(test.text for test in self.tests)

    def test(self, view: View, number: int) -> tuple[bool, list[Condition]]:
        """Whether the rule holds, and the evidence. All conditions are tested, held or not."""
        tested = [test.test(view) for test in self.tests]
        if not tested:  # an empty filter holds never, not always
            tested = [Condition("no conditions", False)]
        evidence = [self._signed(one, number) for one in tested]
        return all(one.result for one in evidence), evidence

    def _signed(self, one: Condition, number: int) -> Condition:
        return Condition(
            one.text, one.result, self.branch, one.read, one.error, number, self.label, one.parts
        )


@dataclass(frozen=True, slots=True)
class When:
    """Conditions still without a branch."""

    tests: tuple[Test, ...]

    def then(self, branch: str, *, label: str = "") -> Rule:
        """The rule that takes `branch` when the conditions hold."""
        return Rule(self.tests, branch, label)


def when(*given: Given, **filters: Any) -> When:
    """Conditions for a rule: filters by name (`step={"gte": 8}`), mappings with dotted paths,
    `any_of`, `all_of`, `not_`, functions of the state. All must hold.

    Raises `ChartError` for an unknown operator.
    """
    tests = [test for one in (*given, filters) for test in _tests(one)]
    return When(tuple(tests))


Default = str | tuple[str, str]
"""A branch, or a branch and what the author calls taking it."""


def decide(s: View, rules: Sequence[Rule], default: Default) -> Decision:
    """The branch of the first rule that holds, else `default`. Later rules are not tested."""
    conditions: list[Condition] = []
    for number, rule in enumerate(rules):
        holds, evidence = rule.test(s, number)
        conditions += evidence
        if holds:
            return Decision(rule.branch, tuple(conditions), label=rule.label)
    branch, label = (default, "") if isinstance(default, str) else default
    return Decision(branch, tuple(conditions), default=True, label=label)


def select(s: View, rules: Sequence[Rule]) -> Decision:
    """The branches of all rules that hold, in the order of the rules; each branch once."""
    conditions: list[Condition] = []
    chosen: dict[str, None] = {}
    for number, rule in enumerate(rules):
        holds, evidence = rule.test(s, number)
        conditions += evidence
        if holds:
            chosen[rule.branch] = None
    return Decision(", ".join(chosen), tuple(conditions), selected=tuple(chosen))
