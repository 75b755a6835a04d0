"""An agent that shows what its model was handed, and proves it.

Each call of the model leaves a receipt: salted hashes, no content. From the record of the run the
request is rebuilt, and the receipt says whether that is what was sent. A record that somebody
changed afterwards does not agree with it.

    python examples/evidence.py
    saywhy agent examples/evidence.py:agent      and then /receipt
"""

import asyncio

from saywhy import (
    Agent,
    ScriptedModel,
    define_tool,
    fact,
    injections_of,
    receipt_at,
    served_all,
    served_at,
)
from saywhy.trace.record import decode, encode

OPENING = define_tool(
    "opening_hours",
    "Tells when the shop is open.",
    {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    lambda arguments: {"day": arguments["day"], "from": 9, "to": 17},
    effect="reads",
)

model = ScriptedModel(
    [
        {"tool_calls": [{"name": "opening_hours", "arguments": {"day": "Friday"}}]},
        {"reply": "On Friday we are open from nine to five, and on 1 May we are closed."},
    ]
)

agent = Agent(
    model,
    name="hours",
    system="You answer for a shop.",
    tools=[OPENING],
    injections=[fact("The shop is closed on 1 May.", id="holiday")],
)


def forged(commits):
    """The record as somebody would like it: the shop closes at eight, so the tool had said."""
    for commit in commits:
        text = encode(commit).decode()
        yield decode(text.replace('\\"to\\":17', '\\"to\\":20'))


async def main():
    """A turn; then the question what the model knew when it answered."""
    result = await agent.run("When are you open on Friday?")
    print(result.content)

    record = agent.get_snapshot()
    for number, served in enumerate(served_all(record), start=1):
        print(f"call {number}: {served.verdict}, {len(served.view.messages)} messages")
    second = served_at(record, 2)
    print(second.view.system.replace("\n\n", " / "))
    print(second.view.messages[-1]["content"])
    for one in injections_of(agent.trace, source="fact"):
        print("in the prompt because:", one.record.reason)
    receipt = receipt_at(record, 2)
    print("receipt of call", receipt.basis.call, "says", len(receipt.messages), "messages")

    changed = served_at(list(forged(record.commits)), 2)
    print(changed.view.messages[-1]["content"], changed.verdict, changed.mismatches[0])


if __name__ == "__main__":
    asyncio.run(main())
