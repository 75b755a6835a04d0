"""Promise: whatever small flow it is, a sensitive value leaves no trace of itself in the record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saywhy import CallerError, Engine, FlowExecutionError, MemoryStore
from saywhy.trace.causes.why import Reply
from saywhy.trace.export.file import lines_of

CANARY = "Kn0t-ä/77 19"
PLAIN = "quite harmless"
AGAIN = "8801-9934"
SAID = (
    PLAIN,
    f"no, the secret is {AGAIN}",
    f"Actually the secret: {AGAIN}",
    f"the secret? {AGAIN}!",
    f"change the secret to {AGAIN}",
    f"no, {AGAIN}",
    CANARY,
    f"I said {CANARY}, or {CANARY.upper()}.",
)
"""What is said after the secret: harmless words, those that give another one, and it again."""
EARLY: tuple[tuple[str, ...], ...] = (
    (),
    (f"the secret is {AGAIN}",),
    (f"my secret: {AGAIN}", PLAIN),
)
"""What is said before the flow runs."""
VARIABLES = ("a", "b", "c", "secret")
MAKE = (
    "{0}",
    "{0} + {1}",
    "String({0}).toUpperCase()",
    "String({0}).split('').reverse().join('')",
    "[{0}, {{x: {1}}}]",
    "({{deep: {{er: {0}}}}})",
    "String({0}).length",
    "turned(String({0}))",
    "cargo.kept = {0}",
    "JSON.stringify([{0}, {1}, cargo.kept])",
    "{0} ? 'yes' : 'no'",
)
TEXTS = ("It is {{{{{0}}}}}.", "{{{{{0}}}}} and {{{{{1}}}}}", "{{{{String({0}).toUpperCase()}}}}")

Step = dict[str, Any]
name = st.sampled_from(VARIABLES)
target = st.sampled_from(VARIABLES[:3])


def made_of(*templates: str) -> st.SearchStrategy[str]:
    """A text about two variables."""

    def filled(text: str, one: str, other: str) -> str:
        return text.format(one, other)

    return st.builds(filled, st.sampled_from(templates), name, name)


def setting(variable: str, value: str) -> Step:
    return {"type": "SET", "variable": variable, "value": value}


def saying(value: str) -> Step:
    return {"type": "SAY", "value": value}


def call(variable: str, given: str, tool: str) -> Step:
    args = {"text": f"{{{{{given}}}}}"}
    return {"type": "CALL-TOOL", "tool": tool, "args": args, "variable": variable}


def inner(flow: str, given: str) -> Step:
    return {"type": "FLOW", "value": flow, "parameters": {"given": f"{{{{{given}}}}}"}}


def branch(about: str, then: Step) -> Step:
    end = {"type": "END"}
    branches = {f"condition: String({about}).length > 4": then, "default": end}
    return {"type": "CASE", "branches": branches}


def asking(variable: str, value: str) -> Step:
    return {"type": "SAY-GET", "variable": variable, "value": value}


said = st.builds(saying, made_of(*TEXTS))
steps = st.lists(
    st.one_of(
        st.builds(setting, target, made_of(*MAKE)),
        said,
        st.builds(call, target, name, st.sampled_from(["echo", "fail"])),
        st.builds(inner, st.sampled_from(["inner", "apart"]), name),
        st.builds(branch, name, said),
        st.builds(asking, target, made_of(*TEXTS)),
    ),
    min_size=1,
    max_size=7,
)


def echo(args: dict[str, Any]) -> dict[str, Any]:
    """Give back what was given, in two ways."""
    return {"same": args.get("text"), "back": str(args.get("text"))[::-1]}


def fail(args: dict[str, Any]) -> dict[str, Any]:
    """Fail, and tell what about."""
    raise ValueError(f"not {args.get('text')} nor {str(args.get('text'))[::-1]}")


def tell(args: dict[str, Any]) -> dict[str, Any]:
    """Something sensitive among words."""
    return {"text": f"that would be {AGAIN}, sir"}


def turned(text: str) -> str:
    """The text turned round."""
    return text[::-1]


def tool(kind: str) -> dict[str, Any]:
    """A local tool."""
    implementation = {"type": "local", "function": kind}
    properties = {"text": {}}
    parameters = {"type": "object", "properties": properties}
    keys = {"id": kind, "name": kind, "description": kind, "effect": "reads"}
    return {**keys, "parameters": parameters, "implementation": implementation}


def numbered(given: list[Step], prefix: str = "s") -> list[Step]:
    """The steps, each with an id, also those in branches."""
    found: list[Step] = []
    for number, one in enumerate(given):
        step: Step = {"id": f"{prefix}{number}", **one}
        if "branches" in step:
            step["branches"] = {
                key: {"id": f"{prefix}{number}{key[:2]}", **then}
                for key, then in step["branches"].items()
            }
        if step["type"] == "CALL-TOOL":
            step["maxRetries"] = 0
            step["onFail"] = {"id": f"{prefix}{number}f", "type": "SAY", "value": "No: {{a}}"}
        found.append(step)
    return found


def engine_for(given: list[dict[str, Any]], seen: list[str], pii: bool) -> Engine:
    """An engine whose main flow asks for a secret first and then does as it is told."""

    class Lines:
        def debug(self, *texts: object) -> None:
            seen.append(" ".join(map(str, texts)))

        info = warn = error = debug

    ask = {"type": "SAY-GET", "variable": "secret", "value": "Secret?"}
    own = [{"type": "SET", "variable": "made", "value": "turned(String(given))"}]
    own += [{"type": "SAY", "value": "Inner {{given}} {{made}} {{a}}"}]
    variables = {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}
    main = {"variables": {**variables, "secret": {"type": "string", "pii": pii}}}
    flows: list[dict[str, Any]] = [
        {"id": "main", "name": "Main", "steps": numbered([ask, *given]), **main},
        {"id": "inner", "name": "inner", "steps": numbered(own, "i")},
        {"id": "apart", "name": "apart", "steps": numbered(own, "x"), "scope": "isolated"},
    ]
    return Engine(
        flows=flows,
        tools=[tool("echo"), tool("fail"), tool("tell")],
        functions={"echo": echo, "fail": fail, "tell": tell, "turned": turned},
        guidance={"enabled": False},
        validate_on_init=False,
        logger=Lines(),
        store=MemoryStore(),
    )


async def record_of(
    given: list[dict[str, Any]],
    *,
    pii: bool = True,
    early: Sequence[str] = (),
    said: Sequence[str] = (),
) -> str:
    """All that is written of a conversation about a secret."""
    seen: list[str] = []
    async with engine_for(given, seen, pii) as engine:
        for words in (*early, "Main", CANARY, *(said or [PLAIN] * 3)):
            try:
                await engine.take_turn("c", words)
            except FlowExecutionError as error:
                seen.append(f"{error} {error.hint} {error.__cause__!r}")
        trace = await engine.trace("c")
        seen += [line.decode() for line in lines_of(trace)]
        seen.append(trace.narrative())
        for turn in trace.turns:
            try:
                seen.append(trace.why(Reply(turn)).text())
            except CallerError:
                continue
        store = engine.store
        assert store is not None
        seen += [row.doc.decode() for row in await store.messages("c")]
        for row in await store.turns("c"):
            seen.append(b"".join((row.input or b"", row.reply or b"")).decode() + str(row.error))
    return "\n".join(seen)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_a_secret_leaves_no_trace(given_steps: list[dict[str, Any]]) -> None:
    """Neither as it was said, nor in capitals, nor turned round, nor in any part of the record."""
    _nothing_of(asyncio.run(record_of(given_steps)), CANARY)


later = st.lists(st.sampled_from(SAID), min_size=3, max_size=4)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.sampled_from(EARLY), later)
def test_nor_does_another_one(
    given_steps: list[Step], early: tuple[str, ...], said: list[str]
) -> None:
    """Given to correct the first, in words, or before it was asked for."""
    record = asyncio.run(record_of(given_steps, early=early, said=said))
    _nothing_of(record, CANARY, AGAIN)


def _nothing_of(record: str, *secrets: str) -> None:
    for text in (each for one in secrets for each in (one, one.upper(), one[::-1])):
        for spelling in (text, text.encode("unicode_escape").decode()):
            at = record.find(spelling)
            assert at < 0, record[max(0, at - 400) : at + 100]


CONTEXT: dict[str, Any] = {
    "type": "SET", "variable": "a", "value": "JSON.stringify(currentContext)"
}  # fmt: skip


@pytest.mark.parametrize(
    "given_steps",
    [
        [CONTEXT, setting("b", "turned(a)"), saying("{{b}}")],
        [setting("a", "currentContext.secret"), setting("b", "turned(a)"), saying("{{b}}")],
        [call("a", "userInput", "echo"), saying("{{a.back}}")],
        [call("a", "lastUserInput", "echo"), saying("{{a.back}}")],
        [call("a", "currentContext", "echo"), saying("{{a.back}}")],
        [asking("a", "{{secret.toUpperCase()}}"), saying("{{a}}")],
    ],
)
def test_ways_that_a_secret_goes(given_steps: list[Step]) -> None:
    """By all variables at once, by the user's words, in a question that help repeats."""
    _nothing_of(asyncio.run(record_of(given_steps, said=["help", PLAIN, "help"])), CANARY)


def test_a_secret_that_is_said_again_to_a_form() -> None:
    """The form does not ask for it, but what is made of it is made of the secret."""
    form = {
        "type": "FORM",
        "variable": "a",
        "inputs": [{"name": "p", "kind": "text", "prompt": "?"}],
    }
    steps = [
        form,
        saying("{{turned(JSON.stringify(a))}} {{a.p.toUpperCase()}}"),
        asking("b", "And?"),
    ]
    _nothing_of(asyncio.run(record_of(steps, said=[CANARY, PLAIN])), CANARY)
    _nothing_of(asyncio.run(record_of(steps, said=[f"it is {CANARY}", PLAIN])), CANARY)


def test_what_an_agent_says_among_words_is_known_by_itself() -> None:
    """Its answer is sensitive, and so is the value in it when the user says that alone."""
    steps = [
        {"type": "CALL-TOOL", "tool": "tell", "args": {}, "variable": "a", "pii": True},
        asking("b", "And?"),
        saying("{{b}}"),
    ]
    record = asyncio.run(record_of(steps, said=[f"so {AGAIN} it is"] * 2))
    _nothing_of(record, AGAIN)


def test_without_the_declaration_it_is_found() -> None:
    """The search would find it, in each of its forms; what is harmless is in the record anyway."""
    steps: list[dict[str, Any]] = [
        {"type": "SET", "variable": "a", "value": "turned(secret)"},
        {"type": "SAY", "value": "{{a}} {{secret.toUpperCase()}}"},
        {"type": "SAY-GET", "variable": "b", "value": "More?"},
    ]
    open_record = asyncio.run(record_of(steps, pii=False))
    for text in (CANARY, CANARY.upper(), CANARY[::-1]):
        assert text in open_record
    assert PLAIN in asyncio.run(record_of(steps))
