"""What a tool found out decides what the agent may do next.

A rule of the tool writes the status of the order into the decision. As long as it says "denied", an
instruction of the agent is active: it adds to the prompt, offers a tool that is there at no other
time, and brings a rule for what tools answer.

    python examples/refund.py
    saywhy agent examples/refund.py:agent
"""

import asyncio

from saywhy import Agent, LLMInstruction, ScriptedModel, define_instruction, define_tool

ORDER = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


def check_order(arguments):
    """Whether an order was accepted."""
    denied = arguments["order"] == "o-9"
    return {"order": arguments["order"], "status": "denied" if denied else "paid", "amount": 1500}


def refund(arguments):
    """Pays back, which happens once."""
    return {"order": arguments["order"], "refunded": 1500}


def note_status(decision, ctx):
    """What the answer settles for the rest of the run. Answers of other tools settle nothing."""
    decision.status = ctx.content.status
    decision.risk = "high" if ctx.content.amount > 1000 else "low"


CHECK_ORDER = define_tool(
    "check_order",
    "Tells whether an order was accepted.",
    ORDER,
    check_order,
    effect="reads",
    instructions=[LLMInstruction("status", decide=note_status)],
)
REFUND = define_tool("refund", "Pays an order back.", ORDER, refund)

REFUNDS = define_instruction(
    "refunds",
    description="An order that was denied is paid back by rules.",
    active_when=lambda decision: decision.status == "denied",
    prompt="The order was denied. Be kind, and pay back what was paid.",
    tools=[REFUND],
    on_tool_result=[
        LLMInstruction(
            "paid-back",
            when=lambda ctx: "refunded" in ctx.content,
            text="Say how much was paid back, and that it takes five days.",
        )
    ],
)

model = ScriptedModel(
    [
        {"tool_calls": [{"name": "check_order", "arguments": {"order": "o-9"}}]},
        {"tool_calls": [{"name": "refund", "arguments": {"order": "o-9"}}]},
        {"reply": "I am sorry. 1,500 are on their way back to you; that takes five days."},
    ]
)

agent = Agent(
    model,
    name="refunds",
    system="You answer for a shop.",
    tools=[CHECK_ORDER],
    instructions=[REFUNDS],
    decision={"status": "unknown"},
    pattern="dynamic",  # prompt and tools are worked out anew in every round
)


async def main():
    """One turn, and what each call of the model was handed."""
    result = await agent.run("What happened to order o-9?")
    print(result.content)
    print("decision:", dict(result.decision))
    for asked in model.asked:
        print([tool["name"] for tool in asked.tools], "|", asked.system.replace("\n\n", " / "))


if __name__ == "__main__":
    asyncio.run(main())
