"""Promise: the first runner whose condition holds answers, and the record says why."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError, DefinitionError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.conditional import Conditional
from saywhy.runtime.agents.llm_call import LLMCall
from tests.runtime.agents.models import Replies


def about(word: str) -> Any:
    def speaks_of(context: Any) -> bool:
        return word in context.message

    return speaks_of


async def test_the_first_that_holds() -> None:
    """Its evidence is kept: what was tested, on what, with what result."""
    runner = (
        Conditional.create()
        .when("money", about("money"), LLMCall(Replies("m")))
        .when("both", about("o"), LLMCall(Replies("b")))
        .otherwise("rest", LLMCall(Replies("r")))
        .build()
    )
    result = await runner.run("no way")
    assert (result.content, result.chosen) == ("b", "both")
    decision = next(one.decision for one in runner.trace if one.node == "choose" and one.decision)
    assert [(one.branch, one.result) for one in decision.conditions] == [
        ("money", False),
        ("both", True),
    ]
    assert {key[-1]: value for key, value in decision.conditions[0].read} == {
        "userMessage": "no way",
        "turnNumber": 1,
    }
    assert (await runner.run("hm")).chosen == "rest"


async def test_what_was_said_is_handed_on() -> None:
    """Whoever is taken reads the whole conversation; a single call reads the message alone."""
    agent, call = Replies("b"), Replies("a")
    runner = Conditional(
        [("first", lambda c: c.turn_number == 1, LLMCall(call)), ("rest", None, Agent(agent))]
    )
    await runner.run("one")
    result = await runner.run("two")
    assert call.messages == [[{"role": "user", "content": "one"}]]
    assert [one["content"] for one in agent.messages[0]] == ["one", "a", "two"]
    assert [one["content"] for one in result.messages] == ["one", "a", "two", "b"]


async def test_a_condition_that_raises_does_not_hold() -> None:
    """And the record says what it raised."""
    runner = Conditional(
        [
            ("odd", lambda context: context.nothing, Agent(Replies())),
            ("rest", None, LLMCall(Replies("r"))),
        ]
    )
    assert (await runner.run("x")).chosen == "rest"
    step = next(one for one in runner.trace if one.node == "choose")
    assert step.decision is not None
    assert step.decision.conditions[0].error.startswith("AttributeError: ")
    assert step.warnings[0].startswith("condition odd raised AttributeError")


@pytest.mark.parametrize(
    ("cases", "texts"),
    [
        (
            [],
            [
                "there is nothing to choose",
                "nothing is said about what happens when no condition holds",
            ],
        ),
        (
            [("a", about("x"), Agent(Replies())), ("a", None, Agent(Replies()))],
            ['2 of the branches have the id "a"'],
        ),
        (
            [("a", about("x"), Agent(Replies())), ("b", None, len), ("c", None, len)],
            ["more than one runner is taken otherwise: b, c"],
        ),
        ([("a", "x", len), ("b", None, len)], ['the condition of "a" is no plain function']),
    ],
)
def test_what_is_wrong(cases: Any, texts: list[str]) -> None:
    """There is a condition, one way without any, and no id twice."""
    with pytest.raises(DefinitionError) as caught:
        Conditional(cases)
    assert [one.message for one in caught.value.problems] == texts


def test_a_case_has_three_parts() -> None:
    """Anything else is the caller's mistake."""
    with pytest.raises(CallerError, match="a case is an id, a condition or None, and a runner"):
        Conditional([("a", len)])  # type: ignore[list-item]
