"""The agent of the demo: a clerk who looks a payment up, with words that are written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saywhy.runtime.agents.agent import Agent

SCRIPT = [
    {"tool_calls": [{"name": "find_payment", "arguments": {"receipt": "R-8000"}}]},
    {"reply": "Ann has the 80. The fee was 8."},
    {"reply": "It was more than 50, and above that the fee is a tenth."},
]


def find_payment(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a payment."""
    return {"payee": "Ann", "amount": 80, "fee": 8, "rule": "fee_7c1e90b2"}


def read_rule(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The rule by which a fee was found."""
    return {"rule": arguments["rule"], "says": "up to 50 it is 2, above that a tenth"}


def clerk() -> Agent:
    """The agent, with a model that nobody has asked yet."""
    from saywhy.agent.instructions.follow_up import follow
    from saywhy.agent.instructions.rule import LLMInstruction
    from saywhy.agent.tools import define_tool
    from saywhy.models.scripted import ScriptedModel
    from saywhy.runtime.agents.agent import Agent

    why = follow(
        "read_rule",
        lambda ctx: {"rule": ctx.content.rule},
        "Read how the fee was found",
        "User asks why there is a fee",
        strict=True,
    )
    text = {"type": "string"}
    find = define_tool(
        "find_payment",
        "Finds a payment by its receipt.",
        {"type": "object", "properties": {"receipt": text}, "required": ["receipt"]},
        find_payment,
        effect="reads",
        instructions=[LLMInstruction("fee", follow_up=why)],
    )
    read = define_tool(
        "read_rule",
        "Reads the rule of a fee.",
        {"type": "object", "properties": {"rule": text}, "required": ["rule"]},
        read_rule,
        effect="reads",
    )
    model = ScriptedModel(SCRIPT)
    return Agent(model, name="clerk", system="You answer for a bank.", tools=[find, read])
