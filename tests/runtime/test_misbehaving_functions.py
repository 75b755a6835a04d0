"""Every accepted message ends or is reported, whatever a host's functions and tools do.

What is raised that no sensible function raises stands in `test_turn_ends`; here are functions that
stop the program, that never end, that give what is no data and that call themselves for ever.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, SqliteStore
from tests.runtime.test_turn_ends import Nowhere

KINDS = ["plain", "async", "tool", "quick", "async tool"]
"""How a function is reached: by an expression or by a CALL-TOOL step, `async` or not."""

Act = Callable[[], Any]


def engine_with(path: Path, kind: str, act: Act, **options: Any) -> Engine:
    """A flow that calls `act`, then says a word."""

    def plain(*args: Any) -> Any:
        return act()

    async def later(*args: Any) -> Any:
        found = act()
        return await found if inspect.iscoroutine(found) else found

    implementation: dict[str, Any] = {"type": "local", "function": "f", "thread": kind != "quick"}
    tool = {"id": "t", "name": "T", "effect": "reads", "implementation": implementation}
    steps: list[dict[str, Any]] = [
        {"id": "a", "type": "CALL-TOOL", "tool": "t", "args": {}, "variable": "x"},
        {"id": "b", "type": "SAY", "value": "after"},
    ]
    if kind in ("plain", "async"):
        steps[0] = {"id": "a", "type": "SET", "variable": "x", "value": "f(1)"}
    return Engine(
        flows=[{"id": "main", "name": "Main", "steps": steps}],
        tools=[{**tool, **options.pop("tool", {})}],
        functions={"f": later if "async" in kind else plain},
        guidance={"enabled": False},
        validate_on_init=False,
        store=SqliteStore(path / "store.sqlite3"),
        lease_seconds=5,
        logger=Nowhere(),
        **options,
    )


async def ended(engine: Engine, kind: str) -> str:
    """The error that the record has of the call, after the turn came to its end."""
    async with engine:
        reply = await engine.take_turn("c1", "Main", message_id="m1")
        expected = "after" if kind in ("plain", "async") else "T did not work: "
        assert (reply.response or "").startswith(expected)
        again = await engine.take_turn("c1", "Main", message_id="m1")
        assert (again.response, again.repeated) == (reply.response, True)
        assert await engine.recover() == 0
        trace = await engine.trace("c1")
    told = [text for commit in trace for text in (*commit.warnings, commit.error) if text]
    told += [each.answered.error for each in trace if each.answered and each.answered.error]
    told += [call.error for each in trace for call in each.calls if call.error]
    return " | ".join(told)


def deeper() -> Any:
    return deeper()


def raises(error: BaseException) -> Act:
    def act() -> Any:
        raise error

    return act


def contains_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


MISDEEDS: list[tuple[str, Act, str]] = [
    ("GeneratorExit", raises(GeneratorExit("gone")), "gone"),
    ("recursion", deeper, "maximum recursion depth exceeded"),
    ("no data", object, "a conversation cannot hold"),
    ("no data inside", lambda: {"deep": [object()]}, "a conversation cannot hold"),
    ("contains itself", contains_itself, "is nested deeper than 200 levels"),
    ("a generator", lambda: (n for n in (1, 2)), "a conversation cannot hold"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "act", "told"), MISDEEDS, ids=[each[0] for each in MISDEEDS])
async def test_a_misdeed_is_an_error_of_the_function(
    tmp_path: Path, kind: str, name: str, act: Act, told: str
) -> None:
    """The turn ends, its reply is stored, nothing is left open, and the record says what it was."""
    assert told in await ended(engine_with(tmp_path, kind, act), kind)


@pytest.mark.parametrize("kind", ["plain", "async", "tool", "async tool"])
async def test_a_function_that_never_returns(tmp_path: Path, kind: str) -> None:
    """Its time is limited; the turn ends without it, and so does the next."""
    never = threading.Event()
    for_ever = asyncio.Event().wait if "async" in kind else never.wait
    engine = engine_with(tmp_path, kind, for_ever, tool={"timeout": 50}, function_timeout=50)
    try:
        told = await ended(engine, kind)
    finally:
        never.set()
    assert "50" in told


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_that_is_interrupted(tmp_path: Path, kind: str) -> None:
    """Ctrl-C in a function ends the program, not the message: it is taken up when it runs again."""
    wanted: list[BaseException] = [KeyboardInterrupt()]

    def act() -> Any:
        if wanted:
            raise wanted.pop()
        return 1

    async def first() -> None:
        async with engine_with(tmp_path, kind, act) as engine:
            await engine.take_turn("c1", "Main", message_id="m1")

    async def second() -> None:
        async with engine_with(tmp_path, kind, act) as engine:
            assert await engine.recover() == 1
            reply = await engine.take_turn("c1", "Main", message_id="m1")
            assert (reply.response, reply.repeated) == ("after", True)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(first())
    asyncio.run(second())


async def test_a_call_that_is_closed_is_no_error_of_the_function() -> None:
    """Closing what waits for an async function ends it, as Python wants it to end."""

    async def wait_for_ever(value: Any) -> None:
        await asyncio.Event().wait()

    engine = Engine(
        flows=[{"id": "m", "name": "M", "steps": [{"type": "SAY", "value": "{{f(1)}}"}]}],
        functions={"f": wait_for_ever},
        function_timeout=0,
        validate_on_init=False,
    )
    turn = engine.update_activity("M", engine.init_session("ann"))
    turn.send(None)
    turn.close()  # a coroutine that went on would raise RuntimeError here
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        turn.send(None)
