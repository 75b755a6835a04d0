"""Where in a turn a language model would have been asked."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.testing.model_moments import wanted_of_a_model
from tests.flows.conftest import ask, engine_of, flow, say

CLEAN = "to make a spoken answer clearer"
FIND = "to find the flow that these words start"
ELSEWHERE = "to find out whether these words lead elsewhere"


async def moments(*entries: Any, voice: bool = False, **step: Any) -> list[str]:
    """For each turn what a model would have been asked."""
    interruptable = step.pop("interruptable", False)
    engine = engine_of(
        flow(ask("x", **step), say("{{x}}"), interruptable=interruptable),
        flow(ask("y"), name="Other", interruptable=True),
    )
    session = engine.init_session("ann", "c1")
    session.cargo["voice"] = voice
    found: list[str] = []
    for entry in entries:
        session = await engine.update_activity(entry, session)
        found.append(wanted_of_a_model(session))
    return found


async def test_finding_a_flow() -> None:
    """Only where the words are no name or id, also where a part of one would do without a model."""
    assert await moments("Main", "5", "hello", "Oth", "cancel") == ["", "", FIND, FIND, ""]
    start = {"content": "anything", "start": {"flow": "Main"}}
    assert await moments(start) == [""]


async def test_interrupting() -> None:
    """Only where the flow that waits allows it, and not for the name of another flow."""
    assert await moments("Main", "5") == ["", ""]
    assert await moments("Main", "5", interruptable=True) == ["", ELSEWHERE]
    assert await moments("Main", "Other", interruptable=True) == ["", ""]


@pytest.mark.parametrize(
    ("words", "step", "wanted"),
    [
        ("ada at example", {}, CLEAN),
        ("ada at example", {"asSpoken": True}, ""),
        ("ada at example", {"asSpoken": "x == 'never'"}, CLEAN),
        ("es 41 34", {"digits": {"min": 4, "max": 4}}, ""),
        ("es 41", {"digits": {"min": 4, "max": 4}}, CLEAN),
        ("*", {"digits": {"min": 1, "max": 1}}, ""),
        ("line 1 please", {"digits": {"min": 1, "max": 1}}, ""),
    ],
)
async def test_spoken_answers(words: str, step: dict[str, Any], wanted: str) -> None:
    """Where nothing else makes them clear: no keys in them, and not wanted as spoken."""
    assert await moments("Main", words, voice=True, **step) == ["", wanted]
    assert await moments("Main", words, **step) == ["", ""]
