"""Promise: a real shop's flows run whole conversations, in two languages, by text and by voice.

Each journey is a scenario, with a scripted model and stubbed tools: `saywhy test` runs them as
well. See the licence beside the flows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.testing.scenario import Scenario, find_scenario_files, load_scenarios, run_scenario

FOLDER = Path(__file__).parent.parent / "cases/journeys/shop"
JOURNEYS = [one for file in find_scenario_files([FOLDER]) for one in load_scenarios(file)]
TOPICS = ("sign-in", "contact", "orders", "products", "agent", "cancel", "interruption", "switch")


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda one: one.id)
async def test_the_journey(journey: Scenario) -> None:
    """What the scenario expects comes of it, turn by turn."""
    result = await run_scenario(journey)
    assert result.passed, "\n".join(one.render() for one in result.failures)


@pytest.mark.parametrize("topic", TOPICS)
def test_each_topic_is_played_in_both_languages_and_both_ways(topic: str) -> None:
    """No topic loses its Spanish or its voice."""
    tags = [one.tags for one in JOURNEYS if topic in one.tags]
    for wanted in ("en", "es", "text", "voice"):
        assert any(wanted in each for each in tags), f"{topic} has no journey with {wanted}"
