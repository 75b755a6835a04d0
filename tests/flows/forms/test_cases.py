"""Promise: forms behave as the files in `cases/forms` say, sorted by topic.

Each scenario's title is its promise in a sentence. From the second turn on every session has gone
through JSON, so that a draft lives nowhere else.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.testing.scenario import Scenario, load_scenarios, run_scenario

FOLDER = Path(__file__).parents[2] / "cases" / "forms"
SCENARIOS = {path.stem: load_scenarios(path) for path in sorted(FOLDER.glob("*.json"))}
ALL = [
    pytest.param(one, id=f"{topic}-{one.id}") for topic, some in SCENARIOS.items() for one in some
]


@pytest.mark.parametrize("scenario", ALL)
async def test_form(scenario: Scenario) -> None:
    """What the host sees in each turn is what the scenario says."""
    result = await run_scenario(scenario)
    told = "\n".join(failure.render() for failure in result.failures)
    assert result.passed, f"{scenario.title}\n{told}"


@pytest.mark.parametrize("topic", SCENARIOS)
def test_each_scenario_says_what_it_shows(topic: str) -> None:
    """A title is a sentence, and no two scenarios of a topic share an id or a title."""
    scenarios = SCENARIOS[topic]
    assert all(one.title.endswith(".") and " " in one.title for one in scenarios)
    assert len({one.id for one in scenarios}) == len(scenarios)
    assert len({one.title for one in scenarios}) == len(scenarios)


def test_each_scenario_is_stored_between_its_turns() -> None:
    """From the second turn on the session of every scenario has gone through JSON."""
    later = [turn for some in SCENARIOS.values() for one in some for turn in one.turns[1:]]
    assert len(later) > 100
    assert all(turn.roundtrip for turn in later)
