"""Promise: a budget drops texts about behaviour, the least important first, and says so."""

from __future__ import annotations

import pytest

from saywhy.agent.instructions.budget import estimated_tokens, within_budget
from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.render import render_instructions
from saywhy.agent.instructions.rule import ResolvedInstruction
from saywhy.values import FrozenDict

OFFER = ResolvedFollowUp("x", FrozenDict({}), "Do x", "asked")
RULES = [
    ResolvedInstruction("act", None, OFFER),
    ResolvedInstruction("first", "a" * 40),
    ResolvedInstruction("second", "b" * 400, OFFER),
    ResolvedInstruction("third", "c" * 40),
    ResolvedInstruction("guard", "s" * 400, safety=True),
]


def kept_texts(tokens: int) -> list[str]:
    kept, _ = within_budget(RULES, tokens)
    return [one.id for one in kept if one.text]


@pytest.mark.parametrize(
    ("tokens", "texts"),
    [
        (1000, ["first", "second", "third", "guard"]),
        (200, ["first", "third", "guard"]),
        (162, ["first", "guard"]),
        (0, ["guard"]),
    ],
)
def test_what_stays(tokens: int, texts: list[str]) -> None:
    """Safety and actions always; of the texts those that fit, in their order."""
    kept, log = within_budget(RULES, tokens)
    assert kept_texts(tokens) == texts
    assert [one.id for one in kept] == [one.id for one in RULES]
    assert [one.resolved_follow_up for one in kept] == [one.resolved_follow_up for one in RULES]
    assert {one.id for one in log} == {"first", "second", "third"} - set(texts)


def test_what_is_said_of_it() -> None:
    """Each dropped text has a line."""
    _, log = within_budget(RULES[1:2], 5)
    assert [one.to_value() for one in log] == [
        {
            "id": "first",
            "outcome": "dropped",
            "fired": False,
            "part": "text",
            "error": "over the instruction budget of 5 tokens",
        }
    ]


@pytest.mark.parametrize("tokens", [0, 10, 60, 150, 162, 163, 200, 300, 1000])
def test_the_budget_is_kept(tokens: int) -> None:
    """What is shown is within the budget, or is what may not be dropped."""
    kept, log = within_budget(RULES, tokens)
    assert log or len(kept_texts(tokens)) == 4
    texts = [one for one in kept if one.text and not one.safety]
    assert not texts or estimated_tokens(render_instructions(kept)) <= tokens


def test_estimate() -> None:
    """Four characters a token, rounded up."""
    assert [estimated_tokens(text) for text in (None, "", "a", "abcd", "abcde")] == [0, 0, 1, 1, 2]
