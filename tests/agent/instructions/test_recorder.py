"""Promise: what fired and what was offered is counted by tool."""

from __future__ import annotations

import json

from saywhy.agent.hooks import HOOKS, InstructionsFired
from saywhy.agent.instructions.follow_up import resolved_runtime
from saywhy.agent.instructions.recorder import InstructionRecorder
from saywhy.agent.instructions.rule import ResolvedInstruction

OFFER = resolved_runtime({"tool_id": "explain", "params": {}})
GUARD = ResolvedInstruction("guard", "x", OFFER, safety=True)


def test_is_a_recorder_like_any_other() -> None:
    """It is told by a hook, and is not looked for by its class."""
    recorder = InstructionRecorder()
    assert recorder.id == "instruction-recorder"
    hooks = [name for name in HOOKS if hasattr(recorder, name)]
    assert hooks == ["on_instructions_fired"]
    recorder.on_instructions_fired(InstructionsFired(turn_number=1, tool_id="loan", fired=[GUARD]))
    assert recorder.get_firing_count("loan", "guard") == 1


def test_a_summary_is_a_picture_of_its_time() -> None:
    """It does not change with what comes later, and is JSON."""
    recorder = InstructionRecorder()
    recorder.record_firings("loan", [GUARD, ResolvedInstruction("a")])
    before = recorder.get_summary()
    recorder.record_firings("loan", [GUARD])
    recorder.record_firings("other", [])
    assert (before.total_fired, before.total_follow_ups_offered) == (2, 1)
    assert json.loads(json.dumps(recorder.to_snapshot())) == {
        "name": "Instructions",
        "data": {
            "total_fired": 3,
            "total_follow_ups_offered": 2,
            "by_tool": {
                "loan": {
                    "instructions": {
                        "guard": {"fired": 2, "safety": True},
                        "a": {"fired": 1, "safety": False},
                    },
                    "follow_ups": {"explain": {"offered": 2, "tool_id": "explain"}},
                }
            },
        },
    }
    assert recorder.get_fired_instruction_ids("loan") == ["guard", "a"]
    recorder.clear()
    assert recorder.get_fired_instruction_ids("loan") == []
    assert before.total_fired == 2
