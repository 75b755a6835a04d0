"""Promise: rules pick branches, and every condition tested leaves what it read and what it gave."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.decide import all_of, any_of, decide, not_, select, when
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.scope import Scope
from saywhy.chart.view import Env, Sight, View, sight_of
from saywhy.errors import ChartError
from saywhy.values import freeze

NODE = Node("route", "decider")
CHART = Chart.of("c", [NODE])


def view_of(**variables: Any) -> View:
    cursor = Cursor([Frame(1, CHART.digest, "c", "route", "s")])
    cursor.state.scopes["s"] = {name: freeze(value) for name, value in variables.items()}
    cursor.state.scopes["args"] = {"limit": 5}
    scope = Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))
    return View(Sight(scope, "s", Env({})))


def holds(given: Any, **variables: Any) -> bool:
    return not decide(view_of(**variables), [when(given).then("yes")], "no").default


DAY = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "operator", "threshold", "result"),
    [
        (5, "eq", 5, True),
        (5, "eq", 5.0, True),
        (True, "eq", 1, False),
        ({"a": [1]}, "eq", {"a": [1]}, True),
        (5, "ne", 6, True),
        (5, "gt", 4, True),
        (5, "gt", 5, False),
        (5, "gte", 5, True),
        (5, "lt", 5, False),
        (5, "lte", 5, True),
        ("b", "gt", "a", True),
        ("5", "gt", 4, False),
        (True, "gt", 0, False),
        (None, "lt", 1, False),
        (DAY, "gte", DAY, True),
        ("a", "in", ["a", "b"], True),
        (1, "in", [True], False),
        ("c", "notIn", ["a", "b"], True),
        ("hello", "contains", "ell", True),
        ([1, {"a": 2}], "contains", {"a": 2}, True),
        ({"key": 0}, "contains", "key", True),
        (5, "contains", 5, False),
        (None, "exists", True, True),
        (None, "exists", False, False),
        ("2026-01-01", "matches", r"^\d{4}-", True),
        (2026, "matches", r"\d", False),
        (5, "between", [5, 7], True),
        (8, "between", [5, 7], False),
        (DAY, "between", [DAY, DAY], True),
        ("x", "between", [5, 7], False),
    ],
)
def test_operators(value: Any, operator: str, threshold: Any, result: bool) -> None:
    """Each operator compares as the state compares: no text is a number, true is not 1."""
    assert holds({"v": {operator: threshold}}, v=value) is result


@pytest.mark.parametrize("operator", ["eq", "gt", "lte", "in", "contains", "matches", "between"])
def test_what_is_missing_matches_nothing(operator: str) -> None:
    """A variable that is not there fails every positive test, and only `exists` tells why."""
    thresholds = {"in": [1], "between": [0, 1], "matches": "x"}
    assert not holds({"v": {operator: thresholds.get(operator, 1)}})
    assert holds({"v": {"exists": False}})
    assert holds({"v": {"ne": 1}})


def test_all_conditions_of_a_filter_are_tested() -> None:
    """No short cut: the evidence has each condition with the value it read, held or not."""
    s = view_of(a=1, b=2)
    rule = when(a={"gt": 5, "lt": 9}, b=2).then("x", label="both")
    decision = decide(s, [rule], default=("y", "otherwise"))
    assert (decision.chosen, decision.default, decision.label) == ("y", True, "otherwise")
    assert [(c.text, c.result, c.read, c.rule, c.branch, c.label) for c in decision.conditions] == [
        ("a gt 5", False, ((("s", "a"), 1),), 0, "x", "both"),
        ("a lt 9", True, ((("s", "a"), 1),), 0, "x", "both"),
        ("b eq 2", True, ((("s", "b"), 2),), 0, "x", "both"),
    ]
    assert sight_of(s).scope.reads == [("s", "a"), ("s", "a"), ("s", "b")]


def test_the_first_rule_that_holds_wins_and_later_ones_are_not_tested() -> None:
    """What was not tested is no evidence."""
    s = view_of(a=1)
    rules = [when(a=2).then("x"), when(a=1).then("y", label="one"), when(a=1).then("z")]
    decision = decide(s, rules, "w")
    assert (decision.chosen, decision.default, decision.label) == ("y", False, "one")
    assert [condition.rule for condition in decision.conditions] == [0, 1]


def test_select_takes_all_that_hold_each_branch_once() -> None:
    """All rules are tested; a branch that two rules want is taken once."""
    s = view_of(a=1)
    rules = [when(a=1).then("x"), when(a=2).then("y"), when(a=1).then("z"), when(a=1).then("x")]
    decision = select(s, rules)
    assert decision.selected == ("x", "z")
    assert len(decision.conditions) == 4
    assert select(s, [when(a=2).then("y")]).selected == ()


def test_an_empty_filter_never_holds() -> None:
    """Nothing to test is no reason to go; the evidence says that there was nothing."""
    decision = decide(view_of(), [when().then("x"), when({}).then("y")], "z")
    assert decision.chosen == "z"
    assert [condition.text for condition in decision.conditions] == ["no conditions"] * 2


def test_a_predicate_leaves_what_it_looked_at() -> None:
    """The reads of a function are its evidence, with their values."""

    def rich(s: View) -> bool:
        return s.account.balance > s.args.limit

    decision = decide(view_of(account={"balance": 10}), [when(rich).then("x")], "y")
    (condition,) = decision.conditions
    assert (condition.text, condition.result) == ("rich", True)
    assert condition.read == ((("s", "account", "balance"), 10), (("args", "limit"), 5))


def test_a_predicate_that_raises_is_no_match() -> None:
    """The error is kept as the reason; the next rule is tested."""
    rules = [when(lambda s: s.a / 0).then("x"), when(a=1).then("y")]
    decision = decide(view_of(a=1), rules, "z")
    assert decision.chosen == "y"
    first = decision.conditions[0]
    assert (first.text, first.result) == ("a function", False)
    assert first.error == "ZeroDivisionError: division by zero"
    assert first.read == ((("s", "a"), 1),)


def test_groups() -> None:
    """any_of, all_of and not_ nest; the evidence of their parts is inside theirs."""
    either = any_of({"a": {"gt": 5}}, all_of({"b": 2}, {"c": 3}), lambda s: False)
    assert holds(either, a=1, b=2, c=3)
    assert not holds(either, a=1, b=2, c=4)
    assert holds(not_({"a": 2}, {"b": 1}), a=1, b=2)
    assert not holds(not_({"a": 1}), a=1)
    assert not holds(any_of())
    assert not holds(all_of())
    assert not holds(not_())
    decision = decide(view_of(a=1, b=2, c=3), [when(either).then("x")], "y")
    (group,) = decision.conditions
    assert group.text == "any of (a gt 5, all of (b eq 2, c eq 3), a function)"
    assert [part.result for part in group.parts] == [False, True, False]
    assert group.parts[1].parts[0].read == ((("s", "b"), 2),)


def test_a_filter_of_several_counts_as_one_in_a_group() -> None:
    """A mapping with two conditions holds in any_of only when both do."""
    assert not holds(any_of({"a": 1, "b": 1}), a=1, b=2)
    assert holds(any_of({"a": 1, "b": 2}), a=1, b=2)


def test_dotted_paths_lead_into_values() -> None:
    """Objects by name, lists by number, arguments under `args`."""
    assert holds({"user.tags.1": "y"}, user={"tags": ["x", "y"]})
    assert holds({"args.limit": {"gte": 5}})


@pytest.mark.parametrize(
    ("given", "text", "hint"),
    [
        (
            {"a": {"gtt": 1}},
            'the filter on a has the unknown operator "gtt"',
            'did you mean "gt"?',
        ),
        ({"a": {"in": "abc"}}, "the filter on a: in takes a list, not 'abc'", ""),
        ({"a": {"between": [2]}}, "the filter on a: between takes two values in one order", ""),
        ({"a": {"matches": "("}}, "the filter on a: matches takes a regular expression", ""),
        ({"a": {"exists": 1}}, "the filter on a: exists takes True or False, not 1", ""),
        (7, "a condition is a filter or a function, not int", ""),
    ],
)
def test_what_cannot_be_tested_is_refused_when_written(given: Any, text: str, hint: str) -> None:
    """A mistake in a rule is an error when the rule is written, not a rule that never holds."""
    with pytest.raises(ChartError) as caught:
        when(given)
    assert text in str(caught.value)
    assert hint in caught.value.hint


def test_an_async_predicate_is_refused() -> None:
    """A coroutine is true whatever it would give: it is refused when written."""

    async def ask(s: View) -> bool:
        return False

    with pytest.raises(ChartError, match="the predicate ask is async, but rules are tested at on"):
        when(ask)
