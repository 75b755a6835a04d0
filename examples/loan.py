"""A loan is denied, and "why?" is answered from the record of the decision itself.

The tool's answer holds the id of that record. Nobody retypes it: the follow-up takes it out of the
answer, and as it is strict, the next "why" makes the call without the model.

    python examples/loan.py
    saywhy agent examples/loan.py:agent
"""

import asyncio

from saywhy import Agent, LLMInstruction, ScriptedModel, define_tool, follow

RECORDS = {"tr_8f3a91c0d2": ["income 1,900 a month", "instalment 1,100 a month", "limit 40 %"]}


def judge_loan(arguments):
    """The decision, with the id of the record of how it was reached."""
    if arguments["amount"] <= 20_000:
        return {"status": "granted"}
    return {"status": "denied", "trace_id": "tr_8f3a91c0d2"}


def read_record(arguments):
    """The steps of a decision. Fails for an id that does not exist, however alike it looks."""
    return {"steps": RECORDS[arguments["trace_id"]]}


def was_denied(ctx):
    """A condition only looks at the answer of the tool."""
    return ctx.content.status == "denied"


JUDGE_LOAN = define_tool(
    "judge_loan",
    "Judges an application for a loan.",
    {
        "type": "object",
        "properties": {"applicant": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["applicant", "amount"],
    },
    judge_loan,
    instructions=[
        LLMInstruction(
            "gentle",
            when=was_denied,
            text="Say it gently. Do not promise that the decision will change.",
        ),
        LLMInstruction(
            "reasons",
            when=was_denied,
            follow_up=follow(
                "read_record",
                lambda ctx: {"trace_id": ctx.content.trace_id},
                "Read how the decision was reached",
                "User asks why the loan was denied",
                strict=True,
            ),
        ),
    ],
)

READ_RECORD = define_tool(
    "read_record",
    "Reads how a decision about a loan was reached.",
    {"type": "object", "properties": {"trace_id": {"type": "string"}}, "required": ["trace_id"]},
    read_record,
    effect="reads",
)

model = ScriptedModel(
    [
        {
            "tool_calls": [
                {"name": "judge_loan", "arguments": {"applicant": "Ann", "amount": 60000}}
            ]
        },
        {"reply": "I am sorry, Ann: the loan was not granted."},
        {"reply": "The instalment would be 1,100 of your 1,900 a month, and 40 % is the limit."},
    ]
)

agent = Agent(
    model,
    name="loans",
    system="You work at the loan desk of a bank.",
    tools=[JUDGE_LOAN, READ_RECORD],
)


async def main():
    """Two turns, and what the model was handed in the second."""
    talk = agent.conversation()
    denied = await talk.run("I am Ann. Can I borrow 60000?")
    print(denied.content)
    print("offered:", denied.follow_ups[0].description)

    told = await talk.run("Why was it denied?")
    print(told.content)
    call, answer = model.asked[-1].messages[-2:]
    print("called without the model:", dict(call["tool_calls"][0]["arguments"]))
    print("it read:", answer["content"])


if __name__ == "__main__":
    asyncio.run(main())
