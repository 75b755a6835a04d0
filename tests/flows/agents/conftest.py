"""Agents with written answers, and flows that call them."""

from __future__ import annotations

from typing import Any

from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.session import Session


def wants(name: str, **arguments: Any) -> dict[str, Any]:
    """An answer that wants one tool called."""
    return {"for": "chat", "tool_calls": [{"name": name, "arguments": arguments}]}


def replies(*answers: str | dict[str, Any]) -> ScriptedModel:
    """A model that gives these answers in order; texts are answers in words."""
    return ScriptedModel(
        [{"for": "chat", "reply": one} if isinstance(one, str) else one for one in answers]
    )


def agent_of(*answers: str | dict[str, Any], name: str = "desk", **options: Any) -> Agent:
    """An agent whose model gives these answers."""
    return Agent(replies(*answers), name=name, **options)


def asked(agent: Agent, number: int = -1) -> list[dict[str, Any]]:
    """The messages that the agent's model was handed at one of its calls."""
    model: Any = agent.model
    return [dict(message) for message in model.asked[number].messages]


def last(agent: Agent) -> dict[str, Any]:
    """The newest message that the agent's model was handed."""
    return asked(agent)[-1]


def ask_agent(agent: str = "desk", **keys: Any) -> dict[str, Any]:
    """An AGENT."""
    return {"type": "AGENT", "agent": agent, **keys}


def names(session: Session) -> list[str]:
    """The frames of a session, caller first."""
    return [frame.name for frame in session.cursor.frames]
