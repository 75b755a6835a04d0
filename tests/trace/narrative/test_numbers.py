"""A step keeps its number: as the conversation grows, folded, cut to a budget, told alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.chart.commit import Answered, Asked, Commit, Op
from saywhy.messages import Message
from saywhy.trace.narrative.item import Item
from saywhy.trace.narrative.nesting import Branches, Nesting
from saywhy.trace.narrative.story import estimate, narrative, stream
from saywhy.trace.phrases import ENGLISH
from saywhy.trace.trace import Trace
from tests.agent.recorders.conftest import all_runs

Make = Callable[..., Any]


def numbered(trace: Trace) -> dict[int, str]:
    """The number of every told step, by the commit that took it; nothing is folded."""
    found: dict[int, str] = {}

    def collect(items: Iterable[Item]) -> None:
        for item in items:
            assert item.number not in found.values()
            found[item.began] = item.number
            collect(item.steps)

    branches = Branches(trace)
    for turn in trace.turns:
        collect(Nesting(trace, turn, ENGLISH, branches).take(trace.turn(turn).commits))
    return found


def all_numbers(text: str) -> set[str]:
    return set(re.findall(r"^ +(\d+(?:\.\d+)+)  ", text, re.MULTILINE))


def prefix(trace: Trace, length: int) -> Trace:
    return Trace(list(trace)[:length], trace.charts, trace.messages())


async def test_growth_of_agents() -> None:
    """After each commit, every step told so far has the number it has in the end."""
    for record in await all_runs([]):
        whole = numbered(record)
        for length in range(1, len(record)):
            assert numbered(prefix(record, length)).items() <= whole.items()


def test_growth_of_flows(payment: Any) -> None:
    """The same for flows and what they call."""
    whole = numbered(payment.trace)
    assert len(whole) > 10
    for length in range(1, len(payment.trace)):
        assert numbered(prefix(payment.trace, length)).items() <= whole.items()


COMMITS = st.lists(
    st.tuples(
        st.sampled_from(["say", "ask", "answer", "call", "back", "fork", "branch", "turn"]),
        st.integers(0, 3),
    ),
    max_size=60,
)


def recorded(script: list[tuple[str, int]]) -> list[Commit]:
    """A record in which frames open, fork, call tools that answer now, later or never."""
    commits: list[Commit] = []
    turn = 1
    frames: list[tuple[int, int, int]] = [(1, 0, 0)]  # frame, depth, caller
    forks: list[tuple[int, int]] = []
    newest = 1

    def add(at: int, node: str, kind: str, **more: Any) -> int:
        frame, depth, caller = frames[at % len(frames)]
        seq = len(commits) + 1
        commits.append(
            Commit(seq, turn, frame, "c", "F", node, kind, depth=depth, caller=caller, **more)
        )
        return seq

    for what, at in script:
        here = frames[at % len(frames)]
        match what:
            case "say":
                add(at, "s", "SET", ops=(Op("set", ("v", "x"), at),))
            case "ask":
                add(at, f"t{here[0]}", "CALL-TOOL", asked=Asked("tool", "t", {"a": at}))
            case "answer":
                add(at, f"t{here[0]}", "CALL-TOOL", answered=Answered("tool", "t", at))
            case "call":
                newest += 1
                opener = add(at, "f", "FLOW", to="call G", facts={"target": "G"})
                frames.append((newest, here[1] + 1, opener))
            case "back" if len(frames) > 1:
                frames.pop()
            case "fork":
                forks.append((add(at, "k", "fork", to="fork"), here[1] + 1))
            case "branch" if forks:
                newest += 1
                opener, depth = forks[at % len(forks)]
                frames.append((newest, depth, opener))
            case "turn":
                turn += 1
            case _:
                pass
    return commits


@given(COMMITS, st.integers(0, 60))
def test_growth_of_anything(script: list[tuple[str, int]], length: int) -> None:
    """Whatever is recorded later, in this turn or the next, moves no number."""
    commits = recorded(script)
    assert numbered(Trace(commits[:length])).items() <= numbered(Trace(commits)).items()


@given(COMMITS, st.integers(50, 900), st.sampled_from(["text", "markdown"]))
def test_a_budget_is_kept(script: list[tuple[str, int]], budget: int, form: Any) -> None:
    """A story never has more tokens than it may; what it shows has its number, and is there."""
    trace = Trace(recorded(script))
    told = narrative(trace, budget=budget, format=form)
    assert estimate(told) <= budget
    whole = narrative(trace, most=None, format=form)
    assert all_numbers(told) <= all_numbers(whole)
    if estimate(whole) + 40 <= budget // 2:
        assert "left out" not in told or "step" in told


@given(COMMITS, st.integers(80, 900))
def test_a_budget_of_json(script: list[tuple[str, int]], budget: int) -> None:
    """JSON that was cut is still JSON, and says what is not there."""
    trace = Trace(recorded(script))
    told = narrative(trace, budget=budget, format="json")
    assert estimate(told) <= budget
    turns = [one["turn"] for one in json.loads(told) if "turn" in one]
    assert turns == list(trace.turns)[len(trace.turns) - len(turns) :]
    if turns and len(turns) < len(trace.turns):
        assert json.loads(told)[0] == {"turnsLeftOut": [trace.turns[0], turns[0] - 1]}


@given(COMMITS)
def test_alone_and_streamed(script: list[tuple[str, int]]) -> None:
    """A turn alone reads as it does among the others; a stream is the same, in pieces."""
    trace = Trace(recorded(script))
    whole = narrative(trace, most=None)
    assert "".join(stream(trace)) == whole
    for turn in trace.turns:
        assert narrative(trace, turn) in whole
    assert json.loads("".join(stream(trace, format="json"))) == json.loads(
        narrative(trace, format="json", most=None)
    )


def test_branches_are_told_one_after_the_other() -> None:
    """However their steps are mixed; the first of a branch has its number."""
    script = [("fork", 0), ("branch", 0), ("branch", 0)]
    mixed = [("say", 1), ("say", 2), ("say", 1), ("say", 2)]
    told = narrative(Trace(recorded(script + mixed))).splitlines()
    assert [line.split()[0] for line in told[1:]] == ["1.1", "1.1.1", "1.1.1.1", "1.1.2", "1.1.2.1"]
    assert ["x = 1" in line for line in told[2:]] == [True, True, False, False]


def test_a_call_that_is_answered_in_a_later_turn() -> None:
    """Its own turn says so; the number stays, and the answer is told where it came."""
    script = [("ask", 0), ("say", 0), ("turn", 0), ("answer", 0)]
    out = narrative(Trace(recorded(script[:2])))
    assert "  1.1  Called t(a = 0); no answer is recorded." in out
    told = narrative(Trace(recorded(script)))
    assert "  1.1  Called t(a = 0); its answer came in turn 2." in told
    assert "  1.2  Set x = 0." in told
    assert "  2.1  Called t(a = 0): 0." in told


def test_the_most_useful_stays() -> None:
    """The newest turn first; in it words, replies, calls and decisions before other steps."""
    commits = recorded([*[("say", 1)] * 3, ("ask", 0), ("answer", 0), ("call", 0), ("turn", 0)] * 9)
    said = [
        Message(2 * turn, "assistant", f"reply {turn} " * 8, turn=turn) for turn in range(1, 10)
    ]
    trace = Trace(commits, (), said)
    told = narrative(trace, budget=250)
    assert told.startswith("(Turns 1 to ")
    assert "reply 9" in told
    assert "  (5 steps left out)" in told
    assert "  9.1  Set x = 1." in told
    assert told.index("Turn 8") < told.index("Turn 9")
    assert narrative(trace, budget=100_000) == narrative(trace, most=None)


def test_another_counter_of_tokens(payment: Any) -> None:
    """The counter of a model decides, if one is handed in."""
    asked: list[str] = []

    def words(text: str) -> int:
        asked.append(text)
        return len(text.split())

    told = narrative(payment.trace, budget=60, tokens=words)
    assert asked
    assert len(told.split()) <= 60


@pytest.mark.parametrize("language", ["en", "es", "de"])
def test_every_language_counts_alike(payment: Any, language: str) -> None:
    """Numbers do not depend on the language, and no sentence is left in another one."""
    told = narrative(payment.trace, language=language)
    assert all_numbers(told) == all_numbers(narrative(payment.trace))
    assert ("The user said" in told) == (language == "en")
