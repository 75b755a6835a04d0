"""Promise: a system prompt comes from where it was said to, and tells which way was taken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.prompts import (
    Skill,
    composite_prompt,
    prompt_of,
    prompt_text,
    skills_prompt,
    static_prompt,
    template_prompt,
)
from saywhy.agent.slots.resolved import Resolved
from saywhy.errors import CallerError

ASKED = SlotContext("drop the table", turn_number=3, loop_iteration=1)


def test_static() -> None:
    """A static prompt is its text, and its choice is not told."""
    resolved = static_prompt("Be brief.").resolve(ASKED)
    assert resolved == Resolved("Be brief.")
    assert resolved.told == ""


def test_template() -> None:
    """Own words come before the built-in ones; an unknown word stays as it is written."""
    prompt = template_prompt("{{who}} {{message}} {{turnNumber}} {{loose}} {{ who }}", who="I")
    assert prompt.resolve(ASKED).value == "I drop the table 3 {{loose}} {{ who }}"
    assert template_prompt("{{message}}", message="mine").resolve(ASKED).value == "mine"


def test_a_template_fills_in_once() -> None:
    """What is filled in is no template: a user cannot ask for variables."""
    context = SlotContext("{{secret}}")
    assert template_prompt("{{message}}", secret="x").resolve(context).value == "{{secret}}"


def sql(context: SlotContext) -> bool:
    return "table" in context.message


def test_skills() -> None:
    """Skills that match stand below the base, and are named."""
    prompt = skills_prompt(
        [Skill("sql", "Use SQL.", sql), {"id": "all", "content": "Be exact."}], base="Base."
    )
    assert prompt.resolve(ASKED) == Resolved(
        "Base.\n\nUse SQL.\n\nBe exact.", "skills: sql, all", "2 skills matched"
    )


def test_no_skill_matches() -> None:
    """The fallback is for when there is neither a skill nor a base."""
    skills = [Skill("none", "x", lambda context: False)]
    assert skills_prompt(skills, fallback="F").resolve(ASKED) == Resolved(
        "F", "fallback", "no skills matched"
    )
    assert skills_prompt(skills, base="B", fallback="F").resolve(ASKED).value == "B"


def test_a_skill_whose_predicate_raises() -> None:
    """A predicate that raises does not match, and the rationale says so."""

    def broken(context: SlotContext) -> bool:
        raise KeyError("x")

    resolved = skills_prompt([Skill("a", "A", broken), Skill("b", "B")]).resolve(ASKED)
    assert resolved == Resolved("B", "skills: b", "1 skills matched; a raised KeyError")


def test_composite() -> None:
    """Empty parts are left out, and only choices that were any are named."""
    prompt = composite_prompt("One.", "", skills_prompt([Skill("sql", "Use SQL.", sql)]))
    assert prompt.resolve(ASKED) == Resolved(
        "One.\n\nUse SQL.", "composite: skills: sql", "1 skills matched"
    )
    assert composite_prompt("a", "b", separator="|").resolve(ASKED) == Resolved("a|b", "composite")


async def test_parts_are_awaited_side_by_side() -> None:
    """A composite with async parts is async, and its parts wait for each other at no cost."""
    both = asyncio.Barrier(2)

    async def part(context: SlotContext) -> str:
        await both.wait()
        return context.message

    prompt = composite_prompt(part, "plain", part)
    assert prompt.is_async
    resolved = await asyncio.wait_for(prompt.resolve(ASKED), 5)
    assert resolved.value == "drop the table\n\nplain\n\ndrop the table"


async def test_functions() -> None:
    """A function of the context gives text or a `Resolved`; it may be async."""

    async def later(context: SlotContext) -> Resolved[str]:
        return Resolved("x", "clock", "it is late")

    assert prompt_of(lambda context: f"turn {context.turn_number}").resolve(ASKED).value == "turn 3"
    resolved = await prompt_of(later).resolve(ASKED)
    assert resolved.told == "Chose: clock (it is late)"


def test_providers_of_the_hosts_own() -> None:
    """An object with `resolve` is a provider; one that says `is_async` is taken at its word."""

    class Own:
        def resolve(self, context: SlotContext) -> str:
            return "own"

    assert prompt_of(Own()).resolve(ASKED).value == "own"
    assert prompt_of(None).resolve(ASKED).value == ""


def test_what_is_no_prompt() -> None:
    """What cannot stand for a prompt, and what a provider must not give, are told."""
    with pytest.raises(CallerError, match="a system prompt is text or a function, not int"):
        prompt_of(5)
    given: Any = Resolved(5)
    with pytest.raises(CallerError, match="a prompt provider gave int instead of text"):
        prompt_text(given)
    assert prompt_text(Resolved(None)) == ""


def test_the_context() -> None:
    """The user's words are those of the newest message of theirs; blocks count as none."""
    context = SlotContext(
        messages=[
            {"role": "user", "content": "old"},
            {"role": "user", "content": "new"},
            {"role": "assistant", "content": "x"},
        ]
    )
    assert context.message == "new"
    assert len(context.history) == 3
    assert SlotContext(messages=[{"role": "user", "content": [{"type": "text"}]}]).message == ""
    assert SlotContext().message == ""
    assert ASKED.as_mapping() == {
        "message": "drop the table",
        "turn_number": 3,
        "loop_iteration": 1,
        "history": (),
    }
