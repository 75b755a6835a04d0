"""Promise: every standard function gives what its cases say, in English and in Spanish.

A case names the function, its arguments, the language of the conversation and what is expected;
`now` is the time it is called at, `after` what it has made of its arguments.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from saywhy.helpers import CATALOGUE, STANDARD_FUNCTIONS, At

FOLDER = Path(__file__).parent.parent / "cases" / "helpers"
NOW = "2026-11-30T12:00:00Z"
FEWEST = 8


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}-{number}-{case['function']}-{case['language']}")
        for path in sorted(FOLDER.glob("*.json"))
        for number, case in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]


def called(case: dict[str, Any], args: list[Any]) -> Any:
    function = STANDARD_FUNCTIONS[case["function"]]
    parameters = list(inspect.signature(function).parameters)
    more: dict[str, Any] = {}
    if "language" in parameters[len(args) :]:
        more["language"] = case["language"]
    if "context" in parameters:
        more["context"] = At(datetime.fromisoformat(case.get("now", NOW)).timestamp() * 1000)
    return function(*args, **more)


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    """The function gives what is expected and changes what it is said to change."""
    args = json.loads(json.dumps(case["args"]))
    given = called(case, args)
    assert given == case["expected"]
    assert type(given) is type(case["expected"])
    assert args == case.get("after", case["args"])


def test_every_function_has_cases() -> None:
    """At least eight for each, and for each language where the words of a person matter."""
    found = [case.values[0] for case in cases()]
    counted = Counter((case["function"], case["language"]) for case in found)
    few = [helper.name for helper in CATALOGUE if counted[helper.name, "en"] < FEWEST]
    spoken = {helper.name for helper in CATALOGUE if helper.group.startswith("Reading")}
    spoken |= {"amountToSpeech", "dateToWords", "urlToSpeech", "textWithUrlToSpeech"}
    few += [f"{name} in Spanish" for name in sorted(spoken) if counted[name, "es"] < FEWEST]
    assert not few, f"fewer than {FEWEST} cases: {', '.join(few)}"


def test_every_function_has_positives_and_negatives() -> None:
    """A reader that reads everything, or a check that is always true, does not pass."""
    found = [case.values[0] for case in cases()]
    for helper in CATALOGUE:
        given = [case["expected"] for case in found if case["function"] == helper.name]
        assert len({json.dumps(value) for value in given}) > 1, helper.name
