"""AGENT steps: the agent they name, what it is handed, and where its answer goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.spot import Spot
from saywhy.flows.read_flow import kind_of

HISTORY: Final = ("conversation", "none")


def check_agent(spot: Spot) -> Iterator[Problem]:
    """Everything that is wrong with an AGENT step."""
    yield from _agent(spot)
    for key, value in spot.step.raw.items():
        if (key == "value" or key.startswith("value_")) and not isinstance(value, str):
            message = f"`{key}` must be a text, this is {kind_of(value)}"
            hint = "write what the agent is told, or leave it out: then it gets the user's words"
            yield spot.problem(message, key, hint=hint)
    say, history = spot.get("say"), spot.get("history")
    if say is not None and not isinstance(say, bool):
        message = f"`say` must be true or false, this is {kind_of(say)}"
        yield spot.problem(message, "say", hint="write true or false without quotes")
    if history is not None and history not in HISTORY:
        hint = f"use {' or '.join(HISTORY)}"
        yield spot.problem(f'unknown history "{history}"', "history", hint=hint)
    if say is False and not spot.has("variable"):
        message = "the agent's answer is neither said nor kept"
        hint = 'name a variable for it: "variable": "answer"'
        yield spot.problem(message, hint=hint, severity="warning")


def _agent(spot: Spot) -> Iterator[Problem]:
    name, known = spot.get("agent"), spot.known.agents
    if not isinstance(name, str) or not name:
        hint = 'name it as the engine does: "agent": "support"'
        yield spot.problem("AGENT has no `agent`", hint=hint)
    elif known is not None and name not in known:
        names = sorted(known)
        hint = did_you_mean(name, names) or "hand it to the engine: Engine(agents=[…])"
        yield spot.problem(f'no agent has the name "{name}"', "agent", hint=hint, known_names=names)
