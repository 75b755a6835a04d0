"""A tool that several agents share, with rules that each of them may change.

The author of the tool says what its answers mean. The agent for premium customers leaves one rule
out, says another in its own words and adds one; the tool stays as it is. A rule of safety stays
too: an agent that takes it away is not built.

    python examples/inventory.py
    saywhy agent examples/inventory.py:agent
"""

import asyncio

from saywhy import (
    Agent,
    DefinitionError,
    InstructionOverride,
    LLMInstruction,
    ScriptedModel,
    define_tool,
)

STOCK = {"lamp": 0, "chair": 3}


def check_stock(arguments):
    """How many there are."""
    return {"item": arguments["item"], "quantity": STOCK.get(arguments["item"], 0), "premium": True}


CHECK_STOCK = define_tool(
    "check_stock",
    "Tells how many of an item there are.",
    {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
    check_stock,
    effect="reads",
    instructions=[
        LLMInstruction(
            "few-left",
            when=lambda ctx: ctx.content.quantity < 5,
            text="Few are left. Say so, so that the customer hurries.",
        ),
        LLMInstruction(
            "sold-out",
            when=lambda ctx: ctx.content.quantity == 0,
            text="Sold out. Suggest something alike.",
        ),
        LLMInstruction(
            "no-dates",
            when=lambda ctx: ctx.content.quantity == 0,
            text="Never promise a date of delivery.",
            safety=True,
        ),
    ],
)

PREMIUM = InstructionOverride(
    suppress=["few-left"],
    replace={"sold-out": {"text": "Sold out. Suggest the showroom, where one may be left."}},
    add=[
        LLMInstruction(
            "tell-me",
            when=lambda ctx: ctx.content.quantity == 0 and ctx.content.premium,
            text="Offer to write as soon as it is back.",
        )
    ],
)

model = ScriptedModel(
    [
        {"tool_calls": [{"name": "check_stock", "arguments": {"item": "lamp"}}]},
        {"reply": "The lamp is sold out. I can write to you as soon as it is back."},
    ]
)

agent = Agent(
    model,
    name="premium",
    system="You advise premium customers of a shop.",
    tools=[CHECK_STOCK],
    instruction_overrides={"check_stock": PREMIUM},
)


def careless():
    """An agent that would drop the rule of safety. Raises `DefinitionError`."""
    override = InstructionOverride(suppress=["no-dates"])
    return Agent(model, tools=[CHECK_STOCK], instruction_overrides={"check_stock": override})


async def main():
    """One turn, what the model was told about the answer, and the agent that is not built."""
    print((await agent.run("Is the lamp in stock?")).content)
    print(model.asked[1].messages[-1]["content"])
    try:
        careless()
    except DefinitionError as error:
        print(error)


if __name__ == "__main__":
    asyncio.run(main())
