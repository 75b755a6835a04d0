"""Promise: a conversation whose expressions are isolated is the same, and holds up no other."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from saywhy import CallerError, Engine, SqliteStore
from saywhy.runtime.expressions import Expressions
from saywhy.values import tagged

HANG = "Array(1e6).fill(Math.PI / 1e300).join().length"
"""Half a second within one operation of the engine, in which it never looks at its clock."""


def flow(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "name": name, "prompt": name, "description": name, "steps": list(steps)}


def say(text: str) -> dict[str, Any]:
    return {"id": "say", "type": "SAY", "value": text}


def flows() -> list[dict[str, Any]]:
    return [
        flow(
            "sum",
            {"id": "n", "type": "SAY-GET", "variable": "n", "value": "How many?"},
            {"id": "t", "type": "SET", "variable": "t", "value": "{{ Number(n) * 2 + twice(4) }}"},
            {
                "id": "c",
                "type": "CASE",
                "branches": {
                    "condition: t > 20 && name.startsWith('a')": say("{{ `${t}: many` }}"),
                    "default": say("{{ [t, 'few'].join(': ') }}"),
                },
            },
        ),
        flow("hang", say("{{ " + HANG + " }}done")),
        flow("quick", say("{{ 1 + 1 }} is two")),
    ]


def twice(number: int) -> int:
    return 2 * number


def engine_of(where: str, **options: Any) -> Engine:
    given: dict[str, Any] = {
        "flows": flows(),
        "functions": {"twice": twice},
        "globals": {"name": "ann"},
        "guidance": {"enabled": False},
        "validate_on_init": False,
        "expressions": where,
    }
    if where == "isolated":
        given |= {"expression_workers": 2, "expression_deadline_seconds": 0.4}
    return Engine(**{**given, **options})


async def test_a_stored_conversation_is_the_same_in_both_placements(tmp_path: Path) -> None:
    """Replies, variables and the record of what was read are the same, wherever it is evaluated."""
    told: list[Any] = []
    for where in ("in-process", "isolated"):
        async with engine_of(where, store=SqliteStore(tmp_path / f"{where}.db")) as engine:
            replies = [
                (await engine.take_turn("c", words, message_id=words, user_id="ann")).response
                for words in ("sum", "9", "sum ", "1")
            ]
            trace = await engine.trace("c")
        record = [(one.node, one.reads, one.exact, tagged(one.calls)) for one in trace]
        told.append((replies, record))
    assert told[0][0] == ["How many?", "26: many", "How many?", "10: few"]
    assert told[0] == told[1]
    assert any(calls for *_, calls in told[1][1]), "the function's call is on record"


async def test_a_hanging_expression_holds_up_no_other_conversation() -> None:
    """While one waits for its deadline, others take their turns as if it were not there."""
    async with engine_of("isolated") as engine:
        sessions = [engine.init_session("u", f"s{number}") for number in range(2)]
        await engine.update_activity("quick", sessions[1])
        slow = asyncio.create_task(engine.update_activity("hang", sessions[0]))
        await asyncio.sleep(0.05)
        waits: list[float] = []
        while not slow.done():
            started = time.monotonic()
            done = await engine.update_activity("quick", sessions[1])
            waits.append(time.monotonic() - started)
            assert done.response == "2 is two"
        assert len(waits) > 5
        assert max(waits) < 0.6, "a turn took as long as the hanging one"
        assert (await slow).response == "{{" + HANG + "}}done"


async def test_the_log_names_the_place_of_an_expression_that_was_killed() -> None:
    """Flow, step and the expression stand beside the limit, as for a limit in process."""
    lines: list[str] = []

    class Lines:
        def debug(self, text: str) -> None:
            """Nothing."""

        info = debug
        warn = error = lines.append

    async with engine_of("isolated", logger=Lines()) as engine:
        await engine.update_activity("hang", engine.init_session("u"))
    (line,) = [one for one in lines if "TimeLimit" in one]
    assert "in hang at " in line
    assert line.endswith("TimeLimit: the expression takes longer than it may")


async def test_a_cancelled_turn_ends_with_its_evaluation() -> None:
    """Nothing runs on behind the back of a cancelled turn, and the session is as before."""
    async with engine_of("isolated") as engine:
        session = engine.init_session("u")
        turn = asyncio.create_task(engine.update_activity("hang", session))
        await asyncio.sleep(0.05)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert session.version == 0
        assert session.messages == []
        after = await engine.update_activity("quick", session)
        assert after.response == "2 is two"


async def test_a_thousand_conversations_at_once() -> None:
    """Each gets its own answer, though they share two processes."""
    async with engine_of("isolated") as engine:

        async def converse(number: int) -> str | None:
            session = engine.init_session("u", f"s{number}")
            session = await engine.update_activity("sum", session)
            return (await engine.update_activity(str(number), session)).response

        replies = await asyncio.gather(*(converse(number) for number in range(1000)))
    for number, reply in enumerate(replies):
        total = 2 * number + 8
        assert reply == (f"{total}: many" if total > 20 else f"{total}: few")


async def test_closing_the_engine_ends_its_processes() -> None:
    """After `async with` no process is left."""
    async with engine_of("isolated") as engine:
        await engine.update_activity("quick", engine.init_session("u"))
        pool = engine._expressions.placement._pool  # type: ignore[attr-defined]
        processes = list(pool._processes)
        assert processes
    assert all(process.over for process in processes)
    assert not pool._processes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"expressions": "isolate"},
            "expressions is in-process or isolated, not 'isolate'",
        ),
        ({"expressions": None}, "expressions is in-process or isolated, not None"),
        (
            {"expression_workers": 2},
            "expression_workers is for isolated expressions",
        ),
        (
            {"expression_deadline_seconds": 1},
            "expression_deadline_seconds is for isolated expressions",
        ),
        (
            {"expressions": "isolated", "expression_workers": 0},
            "expressions need one process at least, not 0",
        ),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    """A wrong word, and options of the other placement, are refused when the engine is made."""
    with pytest.raises(CallerError, match=message):
        Engine(**options)


def test_in_process_needs_no_threads() -> None:
    """The usual placement runs flows where they are."""
    assert Expressions.of("in-process", None, None).apart is None
