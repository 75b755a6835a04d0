"""Promise: every case of the agent corpus gives what is written.

`SAYWHY_CONFORMANCE=DIR` runs the cases below `DIR/agent` instead of the project's own copies. Each
file below `agent_ops` brings `OPS`: by operation, the function that takes a case's input and gives
what is compared with its `expect`, `async` or not. Cases marked `informative` require nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest

from saywhy.values import thaw
from tests.conformance.agent_ops.dialogue import dialogue_as_loop

HERE = Path(__file__).parent
OWN = HERE.parent / "cases" / "agent"
ELSEWHERE = os.environ.get("SAYWHY_CONFORMANCE")
FOLDER = Path(ELSEWHERE) / "agent" if ELSEWHERE else OWN

NOT_YET: frozenset[str] = frozenset()
"""Operations that nobody runs yet. One that somebody runs may not stand here."""

FORMAT = "agent-conformance/1"
CASES: list[dict[str, Any]] = [
    case
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
]

DIALOGUES = [case for case in CASES if case["op"] == "dialogue" and case["status"] != "informative"]

Operation = Callable[[dict[str, Any]], Any]


def operations() -> dict[str, Operation]:
    """By name: what runs an operation."""
    found: dict[str, Operation] = {}
    for path in sorted((HERE / "agent_ops").glob("*.py")):
        if path.stem == "__init__":
            continue
        module = import_module(f"tests.conformance.agent_ops.{path.stem}")
        for name, run in getattr(module, "OPS", {}).items():
            assert name not in found, f"two modules of agent_ops run {name}"
            found[name] = run
    return found


OPERATIONS = operations()


def same(one: Any, other: Any) -> bool:
    """Deep equality: numbers by value, an absent key equals nothing, no bool is a number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def difference(wanted: Any, got: Any, at: str = "") -> str:
    """Where two values first differ, in words."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in [*wanted, *(key for key in got if key not in wanted)]:
            if key not in wanted or key not in got:
                there, value = ("missing", wanted) if key in wanted else ("not wanted", got)
                return f"{at}.{key} is {there}: {json.dumps(value[key], default=repr)[:300]}"
            if told := difference(wanted[key], got[key], f"{at}.{key}"):
                return told
        return ""
    if isinstance(wanted, list) and isinstance(got, list | tuple):
        for number, (left, right) in enumerate(zip(wanted, got, strict=False)):
            if told := difference(left, right, f"{at}[{number}]"):
                return told
        if len(wanted) == len(got):
            return ""
        return (
            f"{at} has {len(got)} items, not {len(wanted)}: {json.dumps(got, default=repr)[:600]}"
        )
    return "" if same(wanted, got) else f"{at}: wanted {wanted!r}\n  got {got!r}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_case(case: dict[str, Any]) -> None:
    """What an operation gives is what the case says."""
    if case["status"] == "informative":
        pytest.skip("informative: not required")
    run = OPERATIONS.get(case["op"])
    if run is None and case["op"] in NOT_YET:
        pytest.xfail(f"nobody runs {case['op']} yet")
    assert run is not None, f"no module of agent_ops runs {case['op']}"
    got = run(json.loads(json.dumps(case["input"])))
    if isawaitable(got):
        got = await got
    got = thaw(got)
    told = difference(case["expect"], got)
    assert same(case["expect"], got), f"{case['id']}: {case['note']}\n{told}"


@pytest.mark.parametrize("case", DIALOGUES, ids=lambda case: case["id"])
async def test_dialogue_on_the_other_form(case: dict[str, Any]) -> None:
    """The loop that goes back to the model call says and does what the usual form does."""
    told = difference(case["expect"], thaw(await dialogue_as_loop(case["input"])))
    assert not told, f"{case['id']}: {case['note']}\n{told}"


def test_there_are_cases() -> None:
    """A folder without cases is a mistake, not a success."""
    assert CASES, f"no case in {FOLDER}"
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_the_files_are_of_the_known_format() -> None:
    """A file of another format is not read as if it were of this one."""
    for path in sorted(FOLDER.glob("*.json")):
        assert json.loads(path.read_text(encoding="utf-8"))["format"] == FORMAT, path.name


def test_what_is_not_built_yet_only_shrinks() -> None:
    """An operation that is run is taken off the list of those that are not."""
    done = NOT_YET & OPERATIONS.keys()
    assert not done, f"take {', '.join(sorted(done))} off NOT_YET"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        (True, 1, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ],
)
def test_comparing(one: Any, other: Any, alike: bool) -> None:
    """Numbers are compared by value, keys in any order, lists in theirs."""
    assert same(one, other) is alike
    assert (difference(one, other) == "") is alike
