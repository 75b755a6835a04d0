"""Promise: a scenario can approve, deny and settle, and says where one is written wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import DefinitionError
from saywhy.testing.scenario import Result, load_scenario, run_scenario

FLOW = {
    "id": "refund",
    "name": "Refund",
    "version": "1.0",
    "primary": True,
    "prompt": "refund",
    "description": "Gives money back",
    "steps": [
        {
            "id": "pay",
            "type": "CALL-TOOL",
            "tool": "refund",
            "variable": "got",
            "args": {"amount": 120},
        },
        {"id": "done", "type": "SAY", "value": "Refunded, {{got.receipt}}."},
    ],
}
TOOL: dict[str, Any] = {
    "id": "refund",
    "name": "Give back",
    "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
    "implementation": {"type": "local", "function": "pay"},
}
APPROVED = {**TOOL, "approval": {"expires": "1h"}}
SLOW = {**TOOL, "implementation": {"type": "local", "function": "slow", "timeout": 50}}
FUNCTIONS = {
    "pay": {"kind": "constant", "value": {"receipt": "r-1"}},
    "slow": {"kind": "slow", "value": {"receipt": "r-2"}, "ms": 500},
}
WAITS = {"tool": "Give back", "args": {"amount": 120}}
BEGIN = {"content": "Refund", "expect": {"approval": WAITS, "unknown": []}}
DOUBT = {"content": "Refund", "expect": {"approval": None, "unknown": [WAITS]}}


async def play(folder: Path, tool: dict[str, Any], *turns: Any) -> Result:
    file = folder / "s.json"
    scenario = {"flows": [FLOW], "tools": [tool], "functions": FUNCTIONS, "turns": [*turns]}
    file.write_text(json.dumps(scenario))
    return await run_scenario(load_scenario(file))


def told(result: Result) -> str:
    return "\n".join([result.not_run, *(one.render() for one in result.failures)])


@pytest.mark.parametrize("approve", [True, {"by": "eve", "tool": "Give back", "note": "fine"}])
async def test_it_approves(tmp_path: Path, approve: Any) -> None:
    """The call is made, and the conversation goes on."""
    done = {"response": "Refunded, r-1.", "approval": None, "tool_calls": [{"tool": "Give back"}]}
    result = await play(tmp_path, APPROVED, BEGIN, {"approve": approve, "expect": done})
    assert result.passed, told(result)


async def test_it_approves_other_arguments(tmp_path: Path) -> None:
    """Those are asked for anew; a session written as JSON meanwhile waits on."""
    anew = {"approval": {"args": {"amount": 80}}, "tool_calls": []}
    result = await play(
        tmp_path,
        APPROVED,
        BEGIN,
        {"approve": {"args": {"amount": 80}}, "expect": anew},
        {"approve": True, "roundtrip": True, "expect": {"response": "Refunded, r-1."}},
    )
    assert result.passed, told(result)


async def test_it_denies(tmp_path: Path) -> None:
    """The step fails with the reason."""
    said = {"response_contains": ["not approved: too much"], "tool_calls": []}
    deny = {"deny": {"by": "eve", "reason": "too much"}, "expect": said}
    result = await play(tmp_path, APPROVED, BEGIN, deny)
    assert result.passed, told(result)


async def test_an_approval_that_comes_too_late(tmp_path: Path) -> None:
    """Time passes in a scenario as everywhere."""
    late = {"name": "ApprovalExpired"}
    turn = {"approve": True, "wait_ms": 3_600_001, "expect": {"error": late}}
    result = await play(tmp_path, APPROVED, BEGIN, turn)
    assert result.passed, told(result)


@pytest.mark.parametrize(
    ("settle", "said"),
    [
        ({"done": {"receipt": "r-9"}, "by": "eve"}, "Refunded, r-9."),
        ({"failed": "no money"}, "Give back did not work: no money"),
        ({"done": {"receipt": "r-9"}, "tool": "Give back"}, "Refunded, r-9."),
    ],
)
async def test_it_settles(tmp_path: Path, settle: Any, said: str) -> None:
    """A call nobody knew the end of is done or failed, as somebody says."""
    expect = {"response": said, "unknown": []}
    result = await play(tmp_path, SLOW, DOUBT, {"settle": settle, "expect": expect})
    assert result.passed, told(result)


async def test_what_was_not_done_is_made_again(tmp_path: Path) -> None:
    """And here it is too slow once more."""
    again = {"settle": {"not_done": True}, "expect": {"unknown": [WAITS]}}
    result = await play(tmp_path, SLOW, DOUBT, again)
    assert result.passed, told(result)


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ({"approve": True}, "there is no call to approve"),
        ({"deny": {"tool": "Other"}}, 'there is no call of "Other" to approve'),
        ({"settle": {"not_done": True}}, "there is no call of unknown outcome"),
    ],
)
async def test_nothing_to_decide(tmp_path: Path, turn: Any, text: str) -> None:
    """It raises as the engine does, and may be expected."""
    error = {"name": "NothingPending", "message": text}
    result = await play(tmp_path, TOOL, {**turn, "expect": {"error": error}})
    assert result.passed, told(result)
    unexpected = await play(tmp_path, TOOL, {**turn, "expect": {"response": "Refunded."}})
    assert [failure.key for failure in unexpected.failures] == ["response", "error"]
    assert unexpected.failures[1].actual == {"name": "NothingPending", "message": text}


async def test_what_is_expected_can_fail(tmp_path: Path) -> None:
    """`approval` and `unknown` are compared, not just read."""
    wrong = {"approval": {"args": {"amount": 121}}, "unknown": [{}]}
    result = await play(tmp_path, APPROVED, {"content": "Refund", "expect": wrong})
    assert [failure.key for failure in result.failures] == ["approval", "unknown"]


@pytest.mark.parametrize(
    ("turn", "at", "message"),
    [
        ({"approve": "yes"}, "approve", '"approve" must be an object or true, not "yes"'),
        ({"deny": False}, "deny", '"deny" must be an object or true, not false'),
        ({"settle": True}, "settle", '"settle" must be an object, not true'),
        ({"settle": {}}, "settle", '"settle" says what became of the call, in one way'),
        (
            {"settle": {"done": 1, "failed": "x"}},
            "settle",
            '"settle" says what became of the call, in one way',
        ),
        (
            {"settle": {"not_done": False}},
            "settle/not_done",
            '"not_done" can only be true, not false',
        ),
        ({"settle": {"dun": 1, "done": 1}}, "settle/dun", '"dun" is no key of "settle"'),
        ({"approve": {"args": [1]}}, "approve/args", '"args" must be an object, not [1]'),
        ({"deny": {"by": 5}}, "deny/by", '"by" must be text, not 5'),
        ({"approve": True, "deny": True}, "deny", 'a turn has one decision, "approve" or "deny"'),
        (
            {"approve": True, "content": "hi"},
            "content",
            'a turn that decides has no "content"',
        ),
        ({"aprove": True}, "aprove", '"aprove" is no key of a scenario here'),
    ],
)
def test_what_is_written_wrongly(tmp_path: Path, turn: Any, at: str, message: str) -> None:
    """Each has its place, and a word on what to write."""
    file = tmp_path / "s.json"
    turns = [{**turn, "expect": {"response": "x"}}]
    file.write_text(json.dumps({"flows": [FLOW], "turns": turns}, indent=1))
    with pytest.raises(DefinitionError) as refusal:
        load_scenario(file)
    (problem,) = refusal.value.problems
    assert problem.message == message
    assert problem.place.pointer == f"/turns/0/{at}"
    assert problem.place.line is not None
    assert problem.hint
