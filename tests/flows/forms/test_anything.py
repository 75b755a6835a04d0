"""Promise: no answer makes a form raise, and its draft survives JSON wherever it rests."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.flows.forms.matching import MAX_READ, Slot, read
from saywhy.flows.forms.model import KINDS, read_form
from saywhy.flows.forms.record import Completion, Recovery
from saywhy.flows.forms.values import typed
from saywhy.values import UNDEFINED, freeze
from tests.flows.conftest import NOW, engine_of, flow, local_tool, say, talk

INPUTS: list[dict[str, Any]] = [
    {
        "name": kind.replace("-", "_"),
        "kind": kind,
        "prompt": f"{kind}?",
        **({"choices": ["cash", "card", 3]} if kind == "choice" else {}),
        **({"cues": ["to", "a"]} if kind in ("name", "text") else {}),
        **({"pii": True} if kind == "digits" else {}),
        **({"money": {"currency": "USD", "cardinals": True}} if kind == "amount" else {}),
    }
    for kind in KINDS
]
WORDS = [
    *("80", "dollars", "$", "€", "-5", "1.234,50", "eighty", "and", "or", "no", "yes", "sí"),
    *("tomorrow", "July 4", "2031-02-30", "31/12", "friday", "mañana", "in 3 days", "cash"),
    *("2025550143", "+1 202 555 0143", "a@b.co", "ann at example dot com", "AB-123", "12 34"),
    *("Ann", "to", "the", "amount", "is", "change", "why", "?", "{{x}}", "1", "2", "\x00", "é"),
    *("phone", "digits", "name", "text:", "sorry,", "cancel that", "٣", "½", "\ud800"),
]
answers = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.text(max_size=40)
)
languages = st.sampled_from(["en", "es", "es-MX", "de"])
COMPLETIONS = set(Completion.__args__)
RECOVERIES = set(Recovery.__args__)


@settings(max_examples=400, deadline=None)
@given(answers, languages, st.sets(st.sampled_from([one["name"] for one in INPUTS])), st.booleans())
def test_any_answer_can_be_read(text: str, language: str, filled: set[str], review: bool) -> None:
    """Each input gets at most one value, from words of the answer, and no two share words."""
    slots = [Slot(entry, entry.name in filled) for entry in read_form({"inputs": INPUTS}).inputs]
    for asked in ("", *(slot.entry.name for slot in slots if not slot.filled)):
        found = read(
            slots, text, asked=asked, language=language, now_ms=NOW, reviewing=review and not asked
        )
        names = [fill.name for fill in (*found.fills, *found.refused)]
        assert len(names) == len(set(names))
        for fill in found.fills:
            assert fill.words.lower() in text.lower() or fill.name == "name"
            freeze(fill.value)
        assert all(len(tie.values) > 1 for tie in found.ties)


@settings(max_examples=300, deadline=None)
@given(st.one_of(answers, st.integers(), st.floats(), st.booleans(), st.none(), st.just([1])))
def test_a_value_that_was_read_is_read_again(value: Any) -> None:
    """What an input keeps of a value, it keeps of that again."""
    for entry in read_form({"inputs": INPUTS}).inputs:
        kept = typed(entry, value, "en", NOW)
        if kept is UNDEFINED or entry.kind in ("text", "name", "amount", "number"):
            continue
        assert typed(entry, kept, "en", NOW) == kept


def test_a_long_answer_takes_no_time() -> None:
    """What is looked at is bounded, whatever the answer is made of."""
    slots = [Slot(entry) for entry in read_form({"inputs": INPUTS}).inputs]
    for text in ("1 " * 50_000, "a." * 50_000, "one " * 50_000, "1," * 50_000 + "x", "@" * 100_000):
        found = read(slots, text, asked="amount", language="en", now_ms=NOW)
        assert all(len(fill.words) <= MAX_READ for fill in found.fills)


@settings(max_examples=60, deadline=None)
@given(st.lists(answers, min_size=1, max_size=7), st.sampled_from(["en", "es"]), st.booleans())
def test_no_answer_makes_a_form_raise(said: list[str], language: str, keeps: bool) -> None:
    """The session goes through JSON before each turn, and what is filled stays filled."""

    async def play() -> None:
        form = {
            "type": "FORM",
            "variable": "form",
            "inputs": INPUTS,
            "review": "{{form.amount}}",
            "confirm": "ok?",
            "onYield": "keep" if keeps else "drop",
            "submit": {"tool": "Pay", "args": {"form": "{{form}}"}},
        }
        engine = engine_of(
            flow(form, say("done"), interruptable=True),
            flow(say("hi"), name="Other"),
            tools=[local_tool("Pay", effect="once")],
            functions={"Pay": lambda args: {"ok": True}},
            language=language,
        )
        session = await talk(engine, "Main")
        for text in said:
            session = await talk(engine, text, session=session)
            if session.frame is None:
                outcome = session.last_flow_outcome
                assert outcome is None or outcome["form"]["completion"] in COMPLETIONS
                return
            view = session.frame.form
            assert view is not None
            assert (view["completion"], view["recovery"]) == ("open", "resumption")
            assert view.get("filled", []) == list(session.frame.variables["form"])
            assert view["recovery"] in RECOVERIES

    asyncio.run(play())
