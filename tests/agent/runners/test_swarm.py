"""Promise: a swarm's prompt lists its specialists, and their ids are names a model can call."""

from __future__ import annotations

import pytest

from saywhy.agent.runners.swarm import swarm_problems, swarm_prompt


def test_the_prompt() -> None:
    """Base, list, closing paragraph."""
    prompt = swarm_prompt("", [("a", "Does A."), ("b", "Does B.")])
    assert prompt.splitlines() == [
        "You are an orchestrator. Route to the best specialist.",
        "",
        "You have access to these specialist agents:",
        "- a: Does A.",
        "- b: Does B.",
        "",
        "Call the most appropriate specialist to handle the user's request. "
        "When done, respond directly without calling any specialist.",
    ]
    assert swarm_prompt("Mine.", []).startswith("Mine.\n\n")


@pytest.mark.parametrize(
    ("ids", "tools", "text"),
    [
        ([], [], "a swarm has no specialists"),
        (["1a"], [], "'1a' is no id of a specialist"),
        (["a b"], [], "'a b' is no id of a specialist"),
        (["é"], [], "'é' is no id of a specialist"),
        (["a" * 65], [], f"'{'a' * 65}' is no id of a specialist"),
        (["final"], [], 'a specialist cannot have the id "final"'),
        (["call-llm"], [], 'a specialist cannot have the id "call-llm"'),
        (["a"], ["a"], 'a specialist and a tool have the id "a"'),
        (["a", "a"], [], 'two specialists have the id "a"'),
    ],
)
def test_ids(ids: list[str], tools: list[str], text: str) -> None:
    """What cannot be one is told."""
    assert [one.message for one in swarm_problems(ids, tools)] == [text]


@pytest.mark.parametrize("one", ["a", "A-1_b", "a" * 64, "a-", "a_"])
def test_good_ids(one: str) -> None:
    """A letter, then letters, digits, _ and -."""
    assert not list(swarm_problems([one], []))
