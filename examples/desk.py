"""Several agents at one desk: one who listens, one for money, and a board of two that is asked.

The first one hands the conversation over. The second asks a board, a tool behind which two models
work side by side. All of it is one run with one record, and whoever took over stays the one who
talks.

    python examples/desk.py
    saywhy agent examples/desk.py:agent
"""

import asyncio

from saywhy import Agent, LLMCall, Parallel, ScriptedModel, Specialist, Team, agent_as_tool

model = ScriptedModel(
    [
        {
            "tool_calls": [
                {"name": "transfer_to_money", "arguments": {"reason": "wants a discount"}}
            ]
        },
        {"tool_calls": [{"name": "board", "arguments": {"message": "10 % for 400 chairs?"}}]},
        {"reply": "You can have 10 % on 400 chairs, if you order this month."},
        {"reply": "This month means until the 31st."},
    ]
)
"""Stands for the model of the two who talk."""

board = Parallel(
    {
        "sales": LLMCall(ScriptedModel([{"reply": "Yes, it is a large order."}]), name="sales"),
        "costs": LLMCall(ScriptedModel([{"reply": "Yes, but only this month."}]), name="costs"),
    },
    merge=lambda branches: "\n".join(f"{one.id}: {one.content}" for one in branches),
    name="board",
)

listener = Agent(model, name="listener", system="Find out what it is about, and who can help.")
money = Agent(
    model,
    name="money",
    system="You speak about prices. Ask the board before you promise anything.",
    tools=[agent_as_tool(board, description="Decides about discounts.")],
)

agent = Team(
    [
        Specialist("listener", listener, "Listens."),
        Specialist("money", money, "Knows prices and may ask for discounts."),
    ],
    name="desk",
)


async def main():
    """Two turns: who answers, what the board said, and who goes on."""
    result = await agent.run("We want 400 chairs. Is there a discount?")
    print(result.active, "|", result.content)
    [said] = [one["content"] for one in model.asked[2].messages if one["content"][:6] == "sales:"]
    print(said)
    result = await agent.run("Until when exactly?")
    print(result.active, "|", result.content)


if __name__ == "__main__":
    asyncio.run(main())
