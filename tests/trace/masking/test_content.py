"""Promise: what the tool of an agent gave as text is read as the value that is declared."""

from __future__ import annotations

import pytest

from saywhy import Agent, Policy, define_tool
from saywhy.models.scripted import ScriptedModel
from saywhy.trace.masking.content import content_of, named_in
from saywhy.trace.masking.sensitive import SensitiveNames
from saywhy.values import dumps, freeze

SPOTS = (("result",), ("people", "ssn"))


def test_the_json_of_a_value() -> None:
    """It is written again without what is sensitive, wherever it stands."""
    text = '{"result":4711,"left":3,"people":[{"ssn":"1-2","city":"Bern"}]}'
    found = content_of(freeze({"content": text}), SPOTS)
    assert found is not None
    shown = found.shown(SPOTS, "[X]")
    assert shown == '{"result":"[X]","left":3,"people":[{"ssn":"[X]","city":"Bern"}]}'
    message = freeze({"role": "tool", "content": f"{text} [INSTRUCTION] Be kind."})
    told = freeze({"role": "tool", "content": f"{shown} [INSTRUCTION] Be kind."})
    assert found.replaced(message, shown) == told
    other = freeze({"role": "user", "content": "hello"})
    assert found.replaced(other, shown) is other


def test_text_that_is_no_json() -> None:
    """It is the value itself: all of it is sensitive, or nothing is."""
    found = content_of(freeze({"content": "not found"}), ((),))
    assert found is not None
    assert found.tree == "not found"
    assert found.shown(((),), "[X]") == "[X]"
    assert found.shown(SPOTS, "[X]") == "not found"


def test_a_value_of_a_flow() -> None:
    """Where the declaration speaks of the value itself there is no text to read."""
    assert content_of(freeze({"result": 1, "content": "x"}), SPOTS) is None
    assert content_of(freeze({"result": 1}), ((),)) is None
    assert content_of(freeze({"content": 5}), SPOTS) is None
    assert content_of(freeze([1]), SPOTS) is None
    assert content_of("text", SPOTS) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"ssn":"AB-1","city":"Bern","keys":{"a":{"password":"hunter2"}}}', {"AB-1", "hunter2"}),
        ('[{"password":{"old":"summer","new":[77123]}}]', {"summer", "77123"}),
        ('{"password":"abc","hasPassword":true,"maxTokens":4096,"city":"Bern"}', set()),
        ('{"password":"hunter2"', set()),
        ("password: hunter2", set()),
    ],
)
def test_names_in_json(text: str, found: set[str]) -> None:
    """What stands under a sensitive name, however deep; not what is short, a flag or no JSON."""
    names = SensitiveNames(["ssn"])
    assert set(named_in(freeze({"content": text}), names)) == found
    assert named_in(freeze({"content": 5}), names) == []
    assert named_in("text", names) == []


async def test_an_agent_alone_keeps_none_of_it() -> None:
    """As in an engine: neither in the answer, nor in the messages, nor in what the model makes."""
    given = {"ssn": "AB-77-19", "password": "hunter2-xyz", "city": "Bern"}
    call = {"for": "chat", "tool_calls": [{"name": "give", "arguments": {}}]}
    said = {"for": "chat", "reply": "It is AB-77-19 in Bern."}
    tool = define_tool("give", "Gives it", {}, lambda args: given)
    agent = Agent(ScriptedModel([call, said]), tools=[tool], redact=Policy(names=("ssn",)))
    assert (await agent.run("go")).content == "It is AB-77-19 in Bern."
    kept = b"".join(dumps(commit) for commit in agent.trace)
    assert b"AB-77-19" not in kept
    assert b"hunter2" not in kept
    assert b"Bern" in kept
