"""Promise: a SAY-GET that nobody answers asks again, goes on or ends, as its `timeout` says.

What comes of it in conversations is in `cases/conversations/silence.json`.
"""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.flows.patience import Patience, milliseconds, patience_of
from saywhy.flows.silence import duration, reason
from saywhy.testing import FakeClock
from saywhy.trace.causes.explain import explain
from saywhy.trace.causes.why import Reply, Variable, why
from tests.flows.conftest import NOW, ask, engine_of, flow, say

TIMER = {"role": "timer"}


@pytest.mark.parametrize(
    ("timeout", "found"),
    [
        (30_000, (30_000.0, 0)),
        ({"after": 5}, (5.0, 0)),
        ({"after": 5, "max": 2}, (5.0, 2)),
        ({"after": 5, "ask": "?"}, (5.0, 1)),
        ({"after": 5, "ask_es": "?"}, (5.0, 1)),
        ({"after": 5, "ask": "?", "max": True}, (5.0, 1)),
        ({"after": 5, "ask": "?", "max": -2}, (5.0, 1)),
        ({"after": 5, "ask": "?", "max": 0}, (5.0, 0)),
        ({"max": 2}, None),
        ({"after": "soon"}, None),
        (True, None),
        (0, None),
        (-5, None),
        (float("inf"), None),
        (float("nan"), None),
        ("30 s", None),
        (None, None),
    ],
)
def test_patience_is_read_as_far_as_it_goes(timeout: Any, found: tuple[float, int] | None) -> None:
    """What cannot be a time is none: the question waits as long as it takes."""
    read = patience_of({"timeout": timeout})
    assert (read and (read.after_ms, read.again)) == found
    assert read is None or isinstance(read, Patience)


def test_only_numbers_are_milliseconds() -> None:
    """A switch is no number of milliseconds, and nothing lasts for ever."""
    assert [milliseconds(value) for value in (1, 2.5, True, "5", None)] == [
        1.0,
        2.5,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (1, "1 ms"), (999, "999 ms"), (1000, "1 s"), (1500, "1.5 s"), (59_999, "60 s"),
        (90_000, "1.5 min"), (3_600_000, "1 h"), (86_400_000, "24 h"),
    ],
)  # fmt: skip
def test_times_are_told_shortly(ms: float, text: str) -> None:
    """In the largest unit that gives a number from 1."""
    assert duration(ms) == text
    assert reason(ms) == f"nobody answered for {text}"
    assert reason(ms, 3) == f"nobody answered for {text}, asked 3 times"


async def played(*entries: Any) -> Any:
    """A session after these turns, five seconds apart."""
    timeout = {
        "after": 5000, "max": 1, "ask": "Still there?", "value": "M",
        "then": say("I take {{size}}.", id="told"),
    }  # fmt: skip
    main = flow(ask("size", "Size?", timeout=timeout), ask("more", "More of {{size}}?"))
    clock = FakeClock(NOW, auto=False)
    engine = engine_of(main, clock=clock)
    session = engine.init_session("u", "c1")
    for entry in entries:
        session = await engine.update_activity(entry, session)
        clock.advance(5)
    return session


async def test_why_leads_to_the_timeout() -> None:
    """Words that come of silence have it as a root, with the step that lost its patience."""
    session = await played("Main", TIMER, TIMER)
    asked = why(session.trace, Reply(2))
    (timer,) = [cause for cause in asked.causes if cause.root == "timer"]
    assert timer.sentence == 'nobody answered for 5 s: the timeout of SAY-GET "s0" of Main'
    assert (timer.step, timer.flow, timer.place.pointer) == ("s0", "Main", "/0/steps/0")
    assert explain(asked).splitlines()[1:3] == [
        '  asked again by SAY-GET "s0" of Main',
        '  because nobody answered for 5 s: the timeout of SAY-GET "s0" of Main',
    ]
    told = explain(why(session.trace, Reply(3)))
    assert '"I take M." was said by SAY "told" of Main' in told
    assert told.count("because nobody answered for 5 s, asked 2 times: the timeout of") == 1


async def test_why_of_a_value_leads_to_the_timeout() -> None:
    """A variable that silence filled is not what the user said."""
    session = await played("Main", TIMER, TIMER)
    chain = why(session.trace, Variable("size"))
    assert chain.causes[0].sentence == (
        'size = "M" is what SAY-GET "s0" of Main goes on with when nobody answers'
    )
    assert "timer" in {cause.root for cause in chain.causes}
    said = why((await played("Main", TIMER, "L")).trace, Variable("size"))
    assert "timer" not in {cause.root for cause in said.causes}


async def test_the_story_tells_of_silence() -> None:
    """The story of a conversation says what was done because nobody answered."""
    story = (await played("Main", TIMER, TIMER)).trace.narrative()
    assert 'Nobody answered for 5 s, so it asked again. Asked "Still there?".' in story
    assert "Nobody answered for 5 s, asked 2 times, so it went on with the steps for" in story
    assert 'The answer is taken to be size = "M".' in story


async def test_the_input_stays_what_the_user_said() -> None:
    """Silence is no input: `userInput` is what was said before."""
    main = flow(
        ask("size", "Size?"), ask("more", "More?", timeout=1000 * 5), say("never"),
    )  # fmt: skip
    main["steps"][1]["timeout"] = {"after": 5000, "value": "no"}
    main["steps"][2]["value"] = "{{userInput}} {{more}}"
    clock = FakeClock(NOW, auto=False)
    engine = engine_of(main, clock=clock)
    session = engine.init_session("u", "c1")
    for entry in ("Main", "L", TIMER):
        session = await engine.update_activity(entry, session)
        clock.advance(5)
    assert session.response == "L no"
