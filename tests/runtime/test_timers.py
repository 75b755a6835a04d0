"""Promise: what falls due in a stored conversation becomes one turn, whoever finds it and when."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, OutsideError
from saywhy.runtime.engine import Engine
from saywhy.runtime.timers import Timing
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.timers import StoredTimer
from saywhy.testing import FakeClock
from saywhy.values import loads_raw
from tests.flows.conftest import NOW, Lines, ask, engine_of, flow, local_tool, put, say, use
from tests.runtime import timed_worker
from tests.runtime.test_journal import Crash, Dying

ASK = {"after": 30_000, "max": 1, "ask": "Still there?", "value": "M"}
MAIN = flow(ask("size", "Size?", timeout=ASK), ask("more", "{{size}}. More?"), say("{{more}}"))


def engine_on(store: Any, clock: FakeClock, *flows: dict[str, Any], **options: Any) -> Engine:
    return engine_of(*(flows or (MAIN,)), store=store, clock=clock, **options)


async def begun(*flows: dict[str, Any], **options: Any) -> tuple[Engine, FakeClock]:
    """An engine on a new store, with a conversation that was asked its first question."""
    clock = FakeClock(auto=False)
    engine = engine_on(MemoryStore(clock), clock, *flows, **options)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    return engine, clock


async def sent(engine: Engine) -> list[str]:
    """What waits in the outbox."""
    assert engine.store is not None
    return [loads_raw(output.payload)["text"] for output in await engine.store.unsent()]


async def stacks(engine: Engine) -> list[list[str]]:
    session = await engine.session("c1")
    assert session is not None
    return session.flow_stacks


# ------------------------------------------------------------------ one after the other


async def test_what_is_due_is_taken_once() -> None:
    """Nothing happens before the time; then it does once, and the words wait to be sent."""
    engine, clock = await begun()
    clock.advance(29.9)
    assert await engine.run_due() == 0
    clock.advance(0.1)
    assert [await engine.run_due() for _ in range(3)] == [1, 0, 0]
    assert await sent(engine) == ["Still there?"]
    clock.advance(30)
    assert await engine.run_due() == 1
    assert await sent(engine) == ["Still there?", "M. More?"]
    clock.advance(10_000)
    assert await engine.run_due() == 0
    reply = await engine.take_turn("c1", "no", message_id="m2", user_id="ann")
    assert (reply.response, reply.turn_no) == ("no", 4)


async def test_an_answer_withdraws_what_was_due() -> None:
    """After an answer in time nothing falls due, and no turn is there for it."""
    engine, clock = await begun()
    await engine.take_turn("c1", "L", message_id="m2", user_id="ann")
    clock.advance(10_000)
    assert await engine.run_due() == 0
    assert engine.store is not None
    assert len(await engine.store.turns("c1")) == 2


async def test_time_can_be_handed_in() -> None:
    """`now` says what time it is, for a host that has another clock."""
    engine, clock = await begun()
    assert await engine.run_due(clock.now() + 29_999) == 0
    assert await engine.run_due(clock.now() + 30_000) == 1
    assert await sent(engine) == ["Still there?"]


async def test_one_conversation_can_be_looked_at() -> None:
    """With an id only that conversation is looked at."""
    engine, clock = await begun()
    await engine.take_turn("c2", "Main", message_id="m1", user_id="bob")
    clock.advance(30)
    assert await engine.run_due(session_id="c2") == 1
    assert await engine.run_due(session_id="c2") == 0
    assert await engine.run_due() == 1


async def test_many_conversations_at_once() -> None:
    """All that is due is taken, however much it is."""
    engine, clock = await begun()
    for number in range(50):
        await engine.take_turn(f"d{number}", "Main", message_id="m1", user_id="ann")
    clock.advance(30)
    assert await engine.run_due() == 51
    assert await sent(engine) == ["Still there?"] * 51


async def test_other_modes_are_left_alone() -> None:
    """An engine takes what is due in conversations of its own mode."""
    engine, clock = await begun()
    assert engine.store is not None
    other = engine_on(engine.store, clock, action_persistence="session-only")
    clock.advance(30)
    assert await other.run_due() == 0
    assert await engine.run_due() == 1
    await other.take_turn("c2", "Main", message_id="m1", user_id="ann")
    clock.advance(30)
    assert await other.run_due() == 1


async def test_a_step_for_silence_that_fails_is_not_tried_for_ever() -> None:
    """A turn that silence began and that failed is on record like any other, once."""
    broken = {"after": 1000, "then": put("x", "false", requireTrue=True)}
    engine, clock = await begun(flow(ask("size", "Size?", timeout=broken), ask("more", "More?")))
    clock.advance(1)
    assert [await engine.run_due(), await engine.run_due()] == [1, 0]
    assert engine.store is not None
    assert [turn.status for turn in await engine.store.turns("c1")] == ["done", "error"]
    assert "turn 2 of c1 failed: JSFERequiredSetFailed" in engine.logger.lines[-1]


async def test_without_a_store_there_is_nothing_to_run() -> None:
    """An engine without a store says so."""
    engine = engine_of(MAIN)
    with pytest.raises(CallerError, match="this engine has no store"):
        await engine.run_due()


# ------------------------------------------------------------------ at the same moment


class Late(MemoryStore):
    """A store that once lists as due what was due some time ago, as a slow reader would see it."""

    seen: Sequence[StoredTimer] = ()

    async def due(self, *more: Any, **options: Any) -> tuple[StoredTimer, ...]:
        seen, self.seen = tuple(self.seen), ()
        return seen or await super().due(*more, **options)


async def test_a_message_that_was_first_wins() -> None:
    """A moment that comes after the answer was taken in does nothing, and that is on record."""
    clock = FakeClock(auto=False)
    store = Late(clock)
    twice = flow(ask("size", "Size?", timeout=ASK), ask("more", "{{size}}. More?", timeout=ASK))
    engine = engine_on(store, clock, twice)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    clock.advance(30)
    seen = await store.due()
    reply = await engine.take_turn("c1", "L", message_id="m2", user_id="ann")
    store.seen = seen
    assert await engine.run_due() == 1
    assert reply.response == "L. More?"
    assert await sent(engine) == []
    story = (await engine.trace("c1")).narrative()
    assert "A moment came that nothing waited for any more; nothing was done." in story
    clock.advance(30)  # and the question that is open now loses its patience in its own time
    assert await engine.run_due() == 1
    assert await sent(engine) == ["Still there?"]


async def test_a_moment_that_was_first_wins() -> None:
    """A message that comes while the turn of silence runs answers what is asked after it."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    waiting, goes_on = asyncio.Event(), asyncio.Event()

    async def note(_args: Any) -> str:
        waiting.set()
        await goes_on.wait()
        return "noted"

    silent = {"after": 1000, "value": "M", "then": use("note", variable="n")}
    main = flow(
        ask("size", "Size?", timeout=silent), ask("more", "{{size}} {{n}}?"), say("{{more}}")
    )
    engine = engine_on(store, clock, main, tools=[local_tool("note")], functions={"note": note})
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    clock.advance(1)
    moment = asyncio.create_task(engine.run_due())
    await waiting.wait()
    message = asyncio.create_task(engine.take_turn("c1", "L", message_id="m2", user_id="ann"))
    await asyncio.sleep(0.01)
    goes_on.set()
    assert await moment == 1
    assert (await message).response == "L"
    assert await sent(engine) == ["M noted?"]


async def test_of_many_workers_one_takes_it(tmp_path: Path) -> None:
    """However many workers of a file look at the same moment, there is one turn."""
    clock = FakeClock(auto=False)
    stores = [SqliteStore(tmp_path / "s.db", synchronous="NORMAL") for _ in range(4)]
    engines = [engine_on(store, clock) for store in stores]
    for engine in engines:
        await engine.__aenter__()
    try:
        for number in range(8):
            await engines[0].take_turn(f"c{number}", "Main", message_id="m1", user_id="ann")
        clock.advance(30)
        counts = await asyncio.gather(*(engine.run_due() for engine in engines * 2))
        assert sum(counts) == 8
        assert await sent(engines[0]) == ["Still there?"] * 8
        assert [len(await stores[1].turns(f"c{number}")) for number in range(8)] == [2] * 8
    finally:
        for engine in engines:
            await engine.close()


# ------------------------------------------------------------------ crashes


async def places_of_a_moment() -> list[str]:
    """Where a process could die that takes what is due."""
    clock = FakeClock(auto=False)
    dying = Dying(MemoryStore(clock))
    engine = engine_on(dying, clock)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    clock.advance(30)
    await engine.run_due()
    return dying.points[4:]


async def test_the_places() -> None:
    """It is accepted with its claim, and it ends."""
    taken = ["before accept_and_claim", "after accept_and_claim", "before finish", "after finish"]
    assert await places_of_a_moment() == taken


@pytest.mark.parametrize("place", range(4, 8))
async def test_a_crash_leaves_one_turn(place: int) -> None:
    """Wherever the process died, the words are said once."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = engine_on(Dying(store, place), clock)
    await dying.take_turn("c1", "Main", message_id="m1", user_id="ann")
    clock.advance(30)
    with pytest.raises(Crash):
        await dying.run_due()
    clock.advance(31)
    engine = engine_on(store, clock)
    await engine.recover()
    await engine.run_due()
    turns = await store.turns("c1")
    assert [turn.status for turn in turns] == ["done"] * len(turns)
    # After a crash behind the end, the next moment was due as well by the time of the restart.
    assert (await sent(engine))[:1] == ["Still there?"]
    assert (await sent(engine)).count("Still there?") == 1


def child(path: Path, *options: str) -> subprocess.Popen[str]:
    module = [sys.executable, "-m", timed_worker.__name__, str(path), *options]
    return subprocess.Popen(module, stdout=subprocess.PIPE, text=True)


def killed_after(process: subprocess.Popen[str], word: str) -> str:
    """The line with that word, after which the process was killed."""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith(word):
                return line.strip()
        raise AssertionError(f"the process ended without {word}")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


async def test_what_is_due_is_due_after_a_kill(tmp_path: Path) -> None:
    """A process that is killed while a question waits leaves what falls due to the next one."""
    killed_after(child(tmp_path / "s.db"), "asked")
    await asyncio.sleep(0.06)
    keys: list[str] = []

    def note(_args: Any, *, context: Any) -> str:
        keys.append(context.key)
        return "noted"

    async with timed_worker.engine_on(str(tmp_path / "s.db"), note) as engine:
        assert await engine.run_due() == 1
        assert await sent(engine) == ["M, noted. More?"]
        assert len(keys) == 1


async def test_a_turn_of_silence_goes_on_after_a_kill(tmp_path: Path) -> None:
    """A kill in the midst of a turn that silence began: its call is made again under its key."""
    line = killed_after(child(tmp_path / "s.db", "--run"), "called")
    keys: list[str] = []

    def note(_args: Any, *, context: Any) -> str:
        keys.append(context.key)
        return "noted"

    async with timed_worker.engine_on(str(tmp_path / "s.db"), note) as engine:
        await asyncio.sleep(0.25)  # the lease of the process that was killed
        assert await engine.recover() == 1
        assert await engine.run_due() == 0
        assert [f"called {key}" for key in keys] == [line]
        assert await sent(engine) == ["M, noted. More?"]


# ------------------------------------------------------------------ in the background


class Failing(MemoryStore):
    """A store that cannot be read the first time it is asked what is due."""

    failures = 1

    async def due(self, *more: Any, **options: Any) -> tuple[StoredTimer, ...]:
        if self.failures:
            self.failures -= 1
            raise OutsideError("the disk is gone")
        return await super().due(*more, **options)


async def until_it_says(engine: Engine, words: list[str]) -> None:
    """Let `run_timers` go on until the outbox holds these words."""
    task = asyncio.create_task(engine.run_timers(every_seconds=5))
    try:
        for _ in range(200):
            if await sent(engine) == words:
                return
            await engine._machinery.clock.sleep(1)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert await sent(engine) == words


async def test_a_loop_takes_what_falls_due() -> None:
    """`run_timers` says what falls due in its time, until it is cancelled."""
    clock = FakeClock()
    engine = engine_on(MemoryStore(clock), clock)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    began = clock.now()
    await until_it_says(engine, ["Still there?", "M. More?"])
    assert 60_000 <= clock.now() - began <= 75_000


async def test_a_loop_outlives_a_store_that_fails() -> None:
    """A store that fails once is asked again, and the log says so."""
    clock = FakeClock()
    engine = engine_on(Failing(clock), clock)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    await until_it_says(engine, ["Still there?"])
    assert engine.logger.lines == ["E what is due stays for later: the disk is gone"]


async def test_a_loop_takes_up_what_a_crash_left() -> None:
    """A turn of silence that a killed worker left is taken up by the loop of another one."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = engine_on(Dying(store, 5), clock)
    await dying.take_turn("c1", "Main", message_id="m1", user_id="ann")
    clock.advance(30)
    with pytest.raises(Crash):
        await dying.run_due()
    engine = engine_on(store, FakeClock(clock.now()))
    clock.advance(31)
    await until_it_says(engine, ["Still there?"])


async def test_a_loop_does_not_wait_for_a_slow_turn() -> None:
    """While one conversation's turn of silence takes long, others are looked after."""
    clock = FakeClock()
    goes_on = asyncio.Event()

    async def note(_args: Any) -> str:
        await goes_on.wait()
        return "noted"

    slow = {"after": 1000, "then": use("note", variable="n")}
    main = flow(ask("size", "Size?", timeout=slow), ask("more", "{{n}}?"))
    tool = {**local_tool("note"), "effect": "repeatable"}
    options = {"tools": [tool], "functions": {"note": note}}
    other = flow(ask("x", "X?", timeout={"after": 8_000, "max": 1}), name="Other")
    engine = engine_on(MemoryStore(clock), clock, main, other, **options)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    await engine.take_turn("c2", "Other", message_id="m1", user_id="bob")
    await until_it_says(engine, ["X?"])
    assert engine.store is not None
    assert (await engine.store.turns("c1"))[1].status == "running"
    goes_on.set()
    clock.advance(31)
    await engine.recover()
    assert await sent(engine) == ["X?", "noted?"]


async def test_a_loop_wants_a_pause() -> None:
    """A loop that never rests is refused."""
    engine, _ = await begun()
    for wrong in (0, -1, float("nan")):
        with pytest.raises(CallerError, match="every_seconds is"):
            await engine.run_timers(every_seconds=wrong)


def test_the_engine_has_it() -> None:
    """The engine is what looks at the clock."""
    assert issubclass(Engine, Timing)
    assert isinstance(engine_of(MAIN).logger, Lines)
    assert NOW > 0
