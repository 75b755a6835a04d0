"""The conversations of the proofs: what is said in each, and what it is there to show.

The flows and tools stand in the files beside this one. A conversation is called after its scene
with a number, `once-3`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from saywhy.flows.load import load_definitions
from saywhy.flows.model import Library

HERE: Final = Path(__file__).parent
FLOWS: Final = HERE / "flows.yaml"
TOOLS: Final = HERE / "tools.yaml"


@dataclass(frozen=True, slots=True)
class Scene:
    """One conversation. `effect` is the class of what it calls, and how that may be in doubt."""

    name: str
    step: str
    effect: str
    words: tuple[str, ...] = ("yes", "no")
    """What the user says after the name of the flow."""
    same_record: bool = True
    """Whether its record is the same however it is disturbed. A call that is tried again leaves the
    tries on record, and one that a crash cut off was none; a decision comes when it comes."""


SCENES: Final = (
    Scene("say", "SAY, SAY-GET", "none"),
    Scene("set", "SET, async function", "none"),
    Scene("case", "CASE", "repeatable"),
    Scene("switch", "SWITCH", "repeatable"),
    Scene("flow", "FLOW", "once, reconcile", ("yes", "yes", "no")),
    Scene("agent", "AGENT", "once, then a flow", ("yes", "yes", "no")),
    Scene("agent-both", "AGENT", "two calls side by side", same_record=False),
    Scene("return", "RETURN", "repeatable", ("yes",)),
    Scene("end", "END", "repeatable", ("yes",)),
    Scene("dispatch", "DISPATCH", "repeatable", ("yes",)),
    Scene("reads", "CALL-TOOL", "reads"),
    Scene("repeatable", "CALL-TOOL", "repeatable"),
    Scene("repeatable-slow", "CALL-TOOL", "repeatable, answer late", same_record=False),
    Scene("repeatable-retried", "CALL-TOOL", "repeatable, maxRetries", same_record=False),
    Scene("once", "CALL-TOOL", "once"),
    Scene("once-waiting", "CALL-TOOL", "once, then a function"),
    Scene("once-twice", "CALL-TOOL", "once, two in a row"),
    Scene("once-reconciled", "CALL-TOOL", "once, reconcile"),
    Scene("approved", "CALL-TOOL", "once, approval", same_record=False),
    Scene("once-handled", "CALL-TOOL", "once, onUnknown"),
    Scene("once-slow", "CALL-TOOL", "once, answer late"),
    Scene("once-retried", "CALL-TOOL", "once, maxRetries"),
    Scene("once-retries", "CALL-TOOL", "once, retries"),
    Scene(
        "corrected",
        "CALL-TOOL",
        "once, undo, once",
        ("yes", "no, the answer is sure", "yes", "no"),
    ),
    Scene("http-reads", "HTTP GET", "reads"),
    Scene("http-repeatable", "HTTP POST", "repeatable"),
    Scene("http-repeatable-slow", "HTTP POST", "repeatable, answer late", same_record=False),
    Scene("http-repeatable-busy", "HTTP POST", "repeatable, 503, retries", same_record=False),
    Scene("http-once", "HTTP POST", "once"),
    Scene("http-once-reconciled", "HTTP POST", "once, reconcile"),
    Scene("http-once-slow", "HTTP POST", "once, answer late"),
)

BY_NAME: Final = {scene.name: scene for scene in SCENES}


def scene_of(session_id: str) -> Scene:
    """The scene that a conversation plays."""
    return BY_NAME[session_id.rpartition("-")[0]]


@cache
def definitions() -> Library:
    """The flows and tools, read once: whoever forks has them already."""
    return load_definitions(FLOWS, TOOLS)


def words_of(session_id: str) -> tuple[str, ...]:
    """All that the user says, beginning with the name of the flow."""
    scene = scene_of(session_id)
    flow = next(flow for flow in definitions().flows if flow.id == scene.name)
    return (flow.name, *scene.words)


async def later(number: float) -> float:
    """An approved function that has to be awaited."""
    return number


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {"later": later}
