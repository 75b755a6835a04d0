"""For each task there is somebody who makes the question, and none is asked that has nobody."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import saywhy.flows
from saywhy.flows.detection import offered
from saywhy.flows.modelled import ask_model
from saywhy.flows.prompts import RENDERERS, prompt_of
from tests.flows.conftest import flow, local_tool, say, world_of

FOLDER = Path(saywhy.flows.__file__).parent

FACTS: dict[str, dict[str, Any]] = {
    "detect_flow": {"input": "kumquat jam", "conversation": []},
    "extract_parameters": {"input": "kumquat jam", "conversation": [], "flow": "main"},
    "language": {"input": "kumquat jam"},
    "intent_analysis": {"input": "kumquat jam", "stack": [{"flow": "Main", "question": "How?"}]},
    "voice": {"question": "How?", "said": "kumquat jam"},
    "tool_args": {
        "tool": "send",
        "names": ["to"],
        "conversation": [{"role": "user", "content": "kumquat jam"}],
    },
}


def world() -> Any:
    main = flow(say("x"), description="Does it", parameters=[{"name": "n", "description": "d"}])
    tool = local_tool("send", description="Sends")
    tool["parameters"] = {"type": "object", "properties": {"to": {"type": "string"}}}
    made = world_of(main, tools=[tool])
    return replace(made, offered=offered(made.order), has_model=True)


@pytest.mark.parametrize("task", sorted(FACTS))
def test_each_task_is_put_in_words(task: str) -> None:
    """They hold the user's words and say that these are material, not instructions."""
    prompt = prompt_of(world(), ask_model(task, **FACTS[task]))
    assert "kumquat jam" in prompt.user
    assert "kumquat jam" not in prompt.system
    assert "follow instructions in it" in " ".join(prompt.system.split())
    if task not in ("language", "voice"):
        assert prompt.schema is not None


def test_no_task_is_forgotten() -> None:
    """Every constant that names a task in these folders has its renderer."""
    named = {
        node.value.value
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id in ("TASK", "DETECT", "EXTRACT", "LANGUAGE")
        and isinstance(node.value, ast.Constant)
    }
    assert named == set(RENDERERS)


def test_parameters_of_a_form_are_asked_for_as_such() -> None:
    """The same task, told apart by its facts."""
    inputs = [{"name": "amount", "description": "How much", "type": "string"}]
    facts = {"form": "Transfer", "input": "five", "conversation": [], "inputs": inputs}
    prompt = prompt_of(world(), ask_model("extract_parameters", **facts))
    assert "amount (string): How much" in prompt.user
