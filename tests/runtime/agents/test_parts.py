"""Promise: anything that can be run may be a part, and what parts mask is masked in the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from saywhy.cancel import CancelToken
from saywhy.errors import CallerError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.parts import named_runners, policy_of
from saywhy.runtime.agents.sequence import Sequence
from saywhy.runtime.agents.wrappers import with_retry
from saywhy.trace.masking.declared import NOTHING
from saywhy.trace.masking.redact import USUAL, Policy
from tests.runtime.agents.models import Replies


@dataclass
class Told:
    content: str
    paused: bool = False
    pause_data: Mapping[str, str] | None = None
    iterations: int = 0


class Asks:
    """Brings no chart, and asks a person before it answers."""

    def __init__(self) -> None:
        self.signals: list[Any] = []

    async def run(self, message: str, *, signal: Any = None) -> Told:
        self.signals.append(signal)
        return Told("", True, {"question": f"{message}?", "tool_call_id": "t"})

    async def resume(self, answer: str) -> Told:
        return Told(f"it is {answer}", iterations=2)


async def test_what_brings_no_chart_may_ask() -> None:
    """The run rests at its question, and it is resumed with the answer."""
    asks = Asks()
    runner = Sequence(asks, lambda message: message.upper())
    result = await runner.run("why", signal=CancelToken())
    assert dict(result.pause_data or {}) == {"question": "why?", "tool_call_id": "t"}
    assert [type(one) for one in asks.signals] == [CancelToken]
    result = await runner.resume("so")
    assert (result.content, result.iterations) == ("IT IS SO", 2)


async def test_values_of_functions_become_text() -> None:
    """JSON where they are no text, with or without `await`."""

    async def later(message: str) -> Any:
        return {"said": message}

    assert (await Sequence(later).run("x")).content == '{"said":"x"}'
    assert (await Sequence(lambda message: None).run("x")).content == "null"


async def test_what_parts_mask_is_masked() -> None:
    """A secret of the innermost runner stands nowhere in the record of the whole."""
    inner = Agent(Replies("the code is 4711-x"), redact=Policy(secrets=("4711-x",)))
    runner = Sequence(with_retry(inner), lambda message: message)
    assert (await runner.run("code?")).content == "the code is 4711-x"
    assert "4711-x" not in runner.get_narrative()
    assert "4711-x" not in str(list(runner.trace))


def test_policies_together() -> None:
    """Everything that any masks; open is what all leave open."""
    one = Agent(Replies(), redact=Policy(names=("a",), open=("x", "y"), max_value_bytes=9))
    two = Agent(Replies(), redact=Policy(names=("b", "a"), open=("y",), tools=("t",)))
    both = policy_of(None, [one, len, two])
    assert replace(both, declared=NOTHING) == Policy(("a", "b"), ("y",), (), 9, ("t",))
    assert both.declared == two.redact.declared
    assert policy_of(None, [len]) is USUAL
    assert policy_of(USUAL, [one]) is USUAL


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"a": len, "b": len}, ["a", "b"]),
        ([("a", len), len], ["a", "step-2"]),
        ([Agent(Replies(), name="my agent")], ["my-agent"]),
        ([Agent(Replies()), Agent(Replies())], ["agent", "agent-2"]),
    ],
)
def test_names(given: Any, ids: list[str]) -> None:
    """Said, taken from the runner, or counted."""
    assert [one for one, _ in named_runners(given, "step")] == ids


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("ab", "each step stands in a list, not in str"),
        (7, "each step stands in a list, not in int"),
        ([("a", len, 3)], "a step is a pair of id and runner, not 3 things"),
    ],
)
def test_what_is_no_list_of_runners(given: Any, text: str) -> None:
    """Is told as such."""
    with pytest.raises(CallerError) as caught:
        named_runners(given, "step")
    assert str(caught.value) == text
