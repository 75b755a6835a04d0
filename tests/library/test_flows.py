"""Promise: each flow of the package is right, in English and Spanish, by text and by voice.

The conversations are scenarios; `saywhy test tests/cases/library` runs them as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.flows.load import load_files
from saywhy.helpers import STANDARD_FUNCTIONS
from saywhy.library import NAMES
from saywhy.runtime.validation import report_of
from saywhy.testing.scenario import Scenario, find_scenario_files, load_scenarios, run_scenario

FOLDER = Path(__file__).parent.parent / "cases/library"
SCENARIOS = [one for file in find_scenario_files([FOLDER]) for one in load_scenarios(file)]
LIBRARY = load_files(f"library:{name}" for name in NAMES)
PROGRAM = (
    *("sendCodeBySMS", "sendCodeByEmail", "switchToSMS", "searchProducts", "findStoresWithStock"),
    *("lookupOrders", "getOrderStatus", "searchPolicies"),
)
"""The functions that the program registers, beside the standard ones."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
async def test_the_scenario(scenario: Scenario) -> None:
    """What is expected comes of it, turn by turn."""
    result = await run_scenario(scenario)
    assert result.passed, "\n".join(one.render() for one in result.failures)


@pytest.mark.parametrize("names", [("system",), NAMES])
def test_check_finds_nothing(names: tuple[str, ...]) -> None:
    """No error, no warning, no note, and no text missing in Spanish."""
    files = load_files(f"library:{name}" for name in names)
    functions = {**STANDARD_FUNCTIONS, **dict.fromkeys(PROGRAM, print)}
    report = report_of(files, functions, languages=["en", "es"])
    assert [problem.render() for problem in report.problems] == []


def test_nothing_more_is_wanted_of_the_program() -> None:
    """Every function that a tool calls is standard or in the list, and the list has no more."""
    called = {tool.raw["implementation"]["function"] for tool in LIBRARY.tools}
    assert called - STANDARD_FUNCTIONS.keys() == set(PROGRAM)


@pytest.mark.parametrize("flow", [flow.id for flow in LIBRARY.flows])
def test_each_flow_is_played_in_both_languages_and_by_voice(flow: str) -> None:
    """No flow of the package is left out."""
    played = [one for one in SCENARIOS if flow in one.tags]
    tags = {tag for one in played for tag in one.tags}
    assert {"en", "es", "text", "voice"} <= tags, f"{flow} has {sorted(tags)}"
