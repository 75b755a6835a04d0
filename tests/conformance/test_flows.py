"""Promise: every conversation of the corpus comes out as written.

`SAYWHY_CONFORMANCE=DIR` runs the cases below `DIR/flows` instead of the project's own copies. What
is not built yet stands in `not_yet.json`: by id under "flows", and under "quirks", with the reason,
where the recorded behaviour is odd and the documented one differs. Both lists may only shrink.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from saywhy.testing.scenario import Scenario, Turn, load_scenarios, run_scenario

HERE = Path(__file__).parent
OWN = HERE.parent / "cases" / "flows"
ELSEWHERE = os.environ.get("SAYWHY_CONFORMANCE")
FOLDER = Path(ELSEWHERE) / "flows" if ELSEWHERE else OWN

LISTED: dict[str, Any] = json.loads((HERE / "not_yet.json").read_text(encoding="utf-8"))
NOT_YET: list[str] = LISTED["flows"]
QUIRKS: dict[str, str] = LISTED.get("quirks", {})
MOST_NOT_YET = 0
"""How many there were at most. Lower it when cases are taken off the list; never raise it."""

SCENARIOS = [one for path in sorted(FOLDER.glob("*.json")) for one in load_scenarios(path)]


def whole(scenario: Scenario) -> Scenario:
    """The corpus says all of each request: what it does not name was not sent."""
    turns: list[Turn] = []
    for turn in scenario.turns:
        told = turn.expect.get("http")
        requests = [{"query": None, "body": None, **one} for one in told or ()]
        named = {"http": requests} if told is not None else {}
        turns.append(replace(turn, expect={**turn.expect, **named}))
    return replace(scenario, turns=tuple(turns))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_conversation(scenario: Scenario) -> None:
    """What the host sees in each turn is what the case says."""
    result = await run_scenario(whole(scenario))
    told = "\n".join(failure.render() for failure in result.failures)
    listed = scenario.id in NOT_YET or scenario.id in QUIRKS
    if listed and result.passed:
        pytest.fail(f"{scenario.id} passes: take it off tests/conformance/not_yet.json")
    if listed:
        pytest.xfail(QUIRKS.get(scenario.id, "not yet") + "\n" + told)
    assert result.passed, f"{scenario.id}: {scenario.title}\n{told}"


def test_there_are_cases() -> None:
    """A folder without cases is a mistake, not a success."""
    assert SCENARIOS, f"no case in {FOLDER}"


def test_the_list_only_shrinks() -> None:
    """Nothing is put on the list of what is not built yet, and nothing stands on it twice."""
    own = {path.stem for path in OWN.glob("*.json")}
    assert len(NOT_YET) <= MOST_NOT_YET
    assert len(set(NOT_YET)) == len(NOT_YET)
    unknown = (set(NOT_YET) | set(QUIRKS)) - own
    assert not unknown, f"no such case: {', '.join(sorted(unknown))}"
    assert not set(NOT_YET) & set(QUIRKS)
