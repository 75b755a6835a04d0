"""What a record tells of a correction: the replaced answer, what was kept, undone and run again."""

from __future__ import annotations

from typing import Any

from saywhy.runtime.session import Session
from tests.flows.conftest import Lines, ask, engine_of, flow, local_tool, put, say, talk, use

PAY = use(
    "pay",
    args={"sum": "{{amount}}"},
    variable="paid",
    undo={"tool": "refund", "args": {"id": "{{paid.id}}"}},
)
MAIN = flow(
    ask("amount", "How much?"),
    put("fee", "Number(amount) > 100 ? 5 : 0"),
    ask("payee", "To whom?"),
    put("note", "'for ' + payee"),
    PAY,
    ask("sure", "Send {{amount}} to {{payee}} ({{note}}, {{fee}})?"),
    say("Done."),
    corrections=True,
)


def paid(given: Any) -> dict[str, str]:
    return {"id": "p1"}


def fine(given: Any) -> str:
    return "ok"


async def conversation(*words: str, **functions: Any) -> Session:
    known = {"pay": paid, "refund": fine, **functions}
    tools = [local_tool("pay", effect="once"), local_tool("refund", effect="once")]
    return await talk(engine_of(MAIN, tools=tools, functions=known), "Main", "50", "Ana", *words)


def story(session: Session) -> list[str]:
    return session.trace.narrative(turn=session.state.turn).splitlines()[1:-1]


async def test_the_story_tells_what_was_undone_kept_and_run_again() -> None:
    """Each step once, in order: consent, undo, the way back, what was kept, what ran."""
    session = await conversation("no, the amount is 200", "yes")
    text = "\n".join(story(session))
    for sentence in (
        "The user agreed.",
        "Called refund to undo what step s4 had done.",
        'Went back to the question for amount: "200" in place of "50".',
        "Set fee = 5",
        "Kept payee as it was.",
        "Kept note as it was.",
        'Called pay(sum = "200")',
    ):
        assert sentence in text
    assert "correction:" not in text


async def test_why_names_the_correction() -> None:
    """The answer, the words it comes from, and the one in whose place it came."""
    session = await conversation("no, the amount is 200", "yes")
    causes = session.trace.why().causes
    (amount,) = [one for one in causes if one.name == "amount"]
    assert amount.sentence == (
        'amount = "200" comes from what the user said in turn 4: "no, the amount is 200"'
    )
    assert amount.details == ('a correction: it took the place of "50"',)


async def test_why_finds_who_made_what_was_kept() -> None:
    """What was kept is explained by the step that made it, not by the one that kept it."""
    session = await conversation("no, the amount is 200", "yes")
    sentences = [one.sentence for one in session.trace.why().causes]
    assert 'payee is what the user said in turn 3: "Ana"' in sentences
    assert 'note = "for Ana" was set by SET "s3" of Main: `\'for \' + payee`' in sentences


async def test_a_refusal_says_why() -> None:
    """The record has the reason, and a warning; the flow goes on unchanged."""
    plain = flow(ask("a"), use("pay", args={"a": "{{a}}"}), ask("b"), corrections=True)
    tools = [local_tool("pay", effect="once")]
    lines = Lines()
    engine = engine_of(plain, tools=tools, functions={"pay": fine}, logger=lines)
    session = await talk(engine, "Main", "1", "no, the a is 2")
    why = "pay was called with it, and its step declares no undo"
    assert any(f"These words correct a. It was not made: {why}." in line for line in story(session))
    assert f"W a correction was not made: {why}" in lines.lines


async def test_an_undo_that_fails_is_told() -> None:
    """And nothing is gone back to."""

    def late(given: Any) -> None:
        raise ValueError("too late")

    session = await conversation("no, the amount is 200", "yes", refund=late)
    text = "\n".join(story(session))
    assert "Called refund to undo what was done, which failed" in text
    assert "Went back" not in text


async def test_a_decline_is_told() -> None:
    """The user did not agree."""
    session = await conversation("no, the amount is 200", "no")
    assert "The user did not agree: everything stays." in "\n".join(story(session))


async def test_transactions_are_those_of_flows() -> None:
    """The frame that carries a correction out is no transaction of anybody's."""
    session = await conversation("no, the amount is 200", "yes")
    assert [one.flow_name for one in session.trace.transactions()] == ["Main"]
