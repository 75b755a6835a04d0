"""Promise: corrections come out as the files in `cases/corrections` say, sorted by topic.

Each scenario's title is its promise in a sentence. From the second turn on every session has gone
through JSON, so that the record of a run lives in the session alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.testing.scenario import Scenario, load_scenarios, run_scenario

FOLDER = Path(__file__).parent.parent / "cases" / "corrections"
SCENARIOS = {path.stem: load_scenarios(path) for path in sorted(FOLDER.glob("*.json"))}
ALL = [
    pytest.param(one, id=f"{topic}-{one.id}") for topic, some in SCENARIOS.items() for one in some
]


@pytest.mark.parametrize("scenario", ALL)
async def test_correction(scenario: Scenario) -> None:
    """What the host sees in each turn is what the scenario says."""
    result = await run_scenario(scenario)
    told = "\n".join(failure.render() for failure in result.failures)
    assert result.passed, f"{scenario.title}\n{told}"


def test_each_scenario_says_what_it_shows() -> None:
    """A title is a sentence, no two share an id or a title, and Spanish has cases of each topic."""
    scenarios = [one for some in SCENARIOS.values() for one in some]
    assert all(one.title.endswith(".") and " " in one.title for one in scenarios)
    assert len({one.id for one in scenarios}) == len({one.title for one in scenarios})
    spoken = {topic for topic, some in SCENARIOS.items() for one in some if one.language == "es"}
    assert spoken >= {"answers", "checks", "effects", "flows", "words"}
