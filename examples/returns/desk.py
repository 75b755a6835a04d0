"""The agent at the desk: it looks up how many days are left, and is told what to make of that."""

from saywhy import Agent, LLMInstruction, define_tool


def days_left(arguments):
    return {"left": 14 - arguments["days"]}


DAYS_LEFT = define_tool(
    "days_left",
    "How many days are left to send something back that came so many days ago.",
    {"type": "object", "properties": {"days": {"type": "number"}}, "required": ["days"]},
    days_left,
    effect="reads",
    instructions=[
        LLMInstruction(
            "too-late", when=lambda ctx: ctx.content.left < 0, text="The time is over. Say no."
        ),
        LLMInstruction(
            "in-time", when=lambda ctx: ctx.content.left >= 0, text="There is time. Say how much."
        ),
    ],
)


def agents(model):
    return [Agent(model, name="desk", system="You answer for a shop.", tools=[DAYS_LEFT])]
