"""Promise: a correction leads where the answer would have led that was right from the start.

Flows are made up of every kind of step that corrections go back over, with called flows of both
kinds, tools that read and effects that can be undone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.chart.commit import Commit
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.values import dumps
from tests.amount import examples
from tests.flows.conftest import ask, engine_of, flow, local_tool, put, run, say, talk, use

NAMES = ("alpha", "beta", "gamma", "delta")
MADE = ("one", "two", "three")
VALUES = ("a", "b", "c")
MOST_TURNS = 60

Step = dict[str, Any]

_names = st.sampled_from(NAMES)
_read = st.sampled_from((*NAMES, *MADE))
_undo = {"tool": "cancel", "args": {"what": "{{paid.what}}"}}


@st.composite
def _plain(draw: st.DrawFn) -> Step:
    """A step that can stand anywhere, in a branch as well."""
    read = draw(_read)
    match draw(st.integers(0, 6)):
        case 0:
            return ask(draw(_names), "Well?")
        case 1:
            return ask(draw(_names), f"And, with {{{{{read}}}}}?")
        case 2:
            return put(draw(st.sampled_from(MADE)), f"String({read}) + '/' + String({draw(_read)})")
        case 3:
            return put(draw(st.sampled_from(MADE)), f"{read} === 'a' ? 1 : 2")
        case 4:
            return say(f"It is {{{{{read}}}}}.")
        case 5:
            return use(
                "look", variable=draw(st.sampled_from(MADE)), args={"what": f"{{{{{read}}}}}"}
            )
        case _:
            args = {"what": f"{{{{{read}}}}}", "label": draw(st.sampled_from("xy"))}
            return use("pay", variable="paid", args=args, undo=_undo)


@st.composite
def _step(draw: st.DrawFn) -> Step:
    inner = st.one_of(_plain(), st.sampled_from([run("Shared"), run("Own")]))
    match draw(st.integers(0, 5)):
        case 0:
            condition = f"condition: {draw(_read)} === '{draw(st.sampled_from(VALUES))}'"
            return {"type": "CASE", "branches": {condition: draw(inner), "default": draw(inner)}}
        case 1:
            branches = {"a": draw(inner), "b": draw(inner), "default": draw(inner)}
            return {"type": "SWITCH", "variable": draw(_names), "branches": branches}
        case 2:
            return draw(
                st.sampled_from([run("Shared"), run("Own", parameters={"one": "{{alpha}}"})])
            )
        case _:
            return draw(_plain())


@st.composite
def _flows(draw: st.DrawFn) -> list[dict[str, Any]]:
    declared = {name: {"type": "string", "value": ""} for name in (*NAMES, *MADE, "paid")}
    inner = st.lists(_plain(), min_size=1, max_size=3)
    main = [ask("alpha", "First?"), *draw(st.lists(_step(), min_size=1, max_size=6))]
    return [
        flow(*main, ask("last", "Last?"), say("Over."), variables=declared, corrections=True),
        flow(*draw(inner), name="Shared"),
        flow(*draw(inner), name="Own", scope="isolated", variables=declared),
    ]


class World:
    """An engine with the effects that its tools had."""

    def __init__(self, flows: list[dict[str, Any]]) -> None:
        self.effects: Counter[str] = Counter()
        tools = [
            local_tool("look", effect="reads"),
            local_tool("pay", effect="once"),
            local_tool("cancel", effect="once"),
        ]
        functions = {"look": self.look, "pay": self.pay, "cancel": self.cancel}
        self.engine: Engine = engine_of(*flows, tools=tools, functions=functions)

    def look(self, given: dict[str, Any]) -> str:
        return f"seen {given['what']}"

    def pay(self, given: dict[str, Any]) -> dict[str, Any]:
        act = dumps(given).decode()
        self.effects[act] += 1
        return {"what": act}

    def cancel(self, given: dict[str, Any]) -> str:
        self.effects[given["what"]] -= 1
        return "ok"

    async def answer(self, session: Session, answers: dict[str, str], most: int) -> Session:
        """Answer up to `most` questions, but not the last one."""
        for _ in range(most):
            assert session.frame is not None
            asked = session.frame.pending_variable or ""
            if asked == "last":
                break
            words = "yes" if session.frame.flow_name == "(correction)" else answers[asked]
            session = await talk(self.engine, words, session=session)
        return session


def held(session: Session) -> dict[str, Any]:
    """The variables of the flow at rest, by value."""
    assert session.frame is not None
    return session.frame.variables


def times_answered(session: Session, name: str) -> int:
    """How often the user has answered a question for a variable."""
    return sum(
        one.kind == "SAY-GET" and one.phase == "answered" and _wrote(one, name)
        for one in session.commits
    )


def _wrote(commit: Commit, name: str) -> bool:
    return any(op.key[1] == name for op in commit.ops if op.key[0] != "session")


async def _compare(
    flows: list[dict[str, Any]], answers: dict[str, str], name: str, value: str, when: int
) -> None:
    corrected, straight = World(flows), World(flows)
    session = await corrected.answer(await talk(corrected.engine, "Main"), answers, when)
    if times_answered(session, name) != 1:
        return  # not asked for, or more than once: then only the newest answer would be corrected
    right = {**answers, name: value}
    session = await talk(corrected.engine, f"no, the {name} is {value}", session=session)
    session = await corrected.answer(session, right, MOST_TURNS)
    other = await straight.answer(await talk(straight.engine, "Main"), right, MOST_TURNS)
    assert held(session) == held(other)
    assert +corrected.effects == +straight.effects
    assert all(count >= 0 for count in corrected.effects.values())
    ended = await talk(corrected.engine, "x", session=session)
    assert "corrections" not in ended.state.scopes or not ended.state.scopes["corrections"]


@settings(max_examples=examples(60, 1500))
@given(
    _flows(),
    st.fixed_dictionaries({name: st.sampled_from(VALUES) for name in NAMES}),
    _names,
    st.sampled_from(VALUES),
    st.integers(1, 6),
)
def test_a_correction_leads_where_the_right_answer_would_have_led(
    flows: list[dict[str, Any]], answers: dict[str, str], name: str, value: str, when: int
) -> None:
    """The variables are those of a run with the right answer, and so are the effects, net."""
    asyncio.run(_compare(flows, answers, name, value, when))
