"""Orders: what the model is told depends on what the tool answered.

A cancelled order asks for kindness, a shipped one offers its tracking, and whatever holds personal
data comes with a rule of safety, which stands last and which no budget drops.

    python examples/orders.py
    saywhy agent examples/orders.py:agent
"""

import asyncio

from saywhy import Agent, LLMInstruction, ScriptedModel, define_tool, quick_bind

ORDERS = {
    "o-1": {"status": "cancelled", "reason": "the card was declined", "email": "ann@example.org"},
    "o-2": {"status": "shipped", "parcel": "PX-5583-0091-77"},
}


def find_order(arguments):
    """The order as the shop knows it; an unknown one is an error that the model is told about."""
    return ORDERS[arguments["order"]]


def track_parcel(arguments):
    """Where a parcel is."""
    return {"parcel": arguments["parcel"], "where": "on the van"}


FIND_ORDER = define_tool(
    "find_order",
    "Finds an order by its id.",
    {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    find_order,
    effect="reads",
    instructions=[
        LLMInstruction(
            "private",
            when=lambda ctx: "email" in ctx.content,
            text="The answer holds personal data. Never repeat it.",
            safety=True,
        ),
        LLMInstruction(
            "kind",
            when=lambda ctx: ctx.content.get("status") == "cancelled",
            text="The order was cancelled. Be kind, and offer to order anew.",
        ),
        LLMInstruction(
            "tracking",
            when=lambda ctx: ctx.content.get("status") == "shipped",
            follow_up=quick_bind("track_parcel", "parcel", "Track the parcel", "User asks where"),
        ),
        LLMInstruction(
            "not-found",
            when=lambda ctx: ctx.error is not None,
            text="The order was not found. Ask for its id again.",
        ),
    ],
)

TRACK_PARCEL = define_tool(
    "track_parcel",
    "Tells where a parcel is.",
    {"type": "object", "properties": {"parcel": {"type": "string"}}, "required": ["parcel"]},
    track_parcel,
    effect="reads",
)

model = ScriptedModel(
    [
        {"tool_calls": [{"name": "find_order", "arguments": {"order": "o-1"}}]},
        {"reply": "I am sorry: the order was cancelled. Shall I order it again?"},
        {"tool_calls": [{"name": "find_order", "arguments": {"order": "o-2"}}]},
        {"reply": "That one is on its way. Shall I look where it is?"},
        {"reply": "It is on the van and should be with you today."},
    ]
)

agent = Agent(
    model,
    name="orders",
    system="You answer for a shop.",
    tools=[FIND_ORDER, TRACK_PARCEL],
)


async def main():
    """A cancelled order, a shipped one, and its parcel: an action taken by the host."""
    talk = agent.conversation()
    print((await talk.run("What about order o-1?")).content)
    print(model.asked[1].messages[-1]["content"])

    shipped = await talk.run("And o-2?")
    print(shipped.content)
    print((await talk.follow_up(shipped.follow_ups[0])).content)


if __name__ == "__main__":
    asyncio.run(main())
