"""Every accepted message is processed to an end, or is reported."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from saywhy import CallerError, DamagedSession, Engine, SaywhyError, SqliteStore, quick
from saywhy.errors import OutsideError
from saywhy.runtime.entry import Entry
from saywhy.stores.memory import MemoryStore
from saywhy.stores.store import LEASE_SECONDS, Claim
from tests.runtime.conftest import PAY


def engine_on(path: Path, **options: Any) -> Engine:
    settings: dict[str, Any] = {
        "flows": [PAY],
        "guidance": {"enabled": False},
        "validate_on_init": False,
        "store": SqliteStore(path),
        "lease_seconds": 5,
    }
    return Engine(**{**settings, **options})


async def test_a_damaged_conversation_is_reported_and_left_untouched(tmp_path: Path) -> None:
    """The error names frame and flow, the turn ends with it, and the document stays as it was."""
    path = tmp_path / "store.sqlite3"
    async with engine_on(path) as engine:
        await engine.take_turn("c1", "pay", user_id="ann")
        stored = await engine.store.session("c1")  # type: ignore[union-attr]
        assert stored is not None
        assert stored.doc is not None
        tree = json.loads(stored.doc)
        tree["cursor"]["frames"][0]["at"] = "/steps/99"
        damaged = json.dumps(tree).encode()
        await engine.store.save("c1", "ann", damaged, stored.version)  # type: ignore[union-attr]
        for _ in range(2):
            with pytest.raises(SaywhyError, match=r"frame 0 \(flow Pay\)") as caught:
                await engine.take_turn("c1", "Bob", message_id="m2", user_id="ann")
            assert caught.value.name == DamagedSession.name
        after = await engine.store.session("c1")  # type: ignore[union-attr]
        assert after is not None
        assert (after.doc, after.running) == (damaged, False)


async def test_a_cancelled_turn_is_taken_up_at_once(tmp_path: Path) -> None:
    """Its lease is given back; what its call gave is kept, and the call is not made again."""
    calls: list[str] = []
    reached = asyncio.Event()

    async def charge(args: dict[str, Any]) -> dict[str, Any]:
        calls.append("charge")
        return args

    async def wait_for_ever(text: str) -> str:
        reached.set()
        if len(calls) == 1 and not done:
            await asyncio.sleep(60)
        return text

    done: list[bool] = []
    tool = {
        "id": "charge",
        "name": "Charge",
        "implementation": {"type": "local", "function": "charge"},
    }
    flow = {
        "id": "f",
        "name": "F",
        "steps": [
            {"id": "a", "type": "CALL-TOOL", "tool": "charge", "args": {"n": 1}, "variable": "r"},
            {"id": "b", "type": "SAY", "value": "{{wait('ok')}}"},
        ],
    }
    functions = {"charge": charge, "wait": wait_for_ever}
    path = tmp_path / "store.sqlite3"
    async with engine_on(path, flows=[flow], tools=[tool], functions=functions) as engine:
        turn = asyncio.create_task(engine.take_turn("c1", "F", message_id="m1"))
        await reached.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        done.append(True)
        async with asyncio.timeout(4):  # the lease of five seconds is not waited for
            reply = await engine.take_turn("c1", "F", message_id="m1")
        assert reply.response == "ok"
        assert calls == ["charge"]


async def test_a_bug_of_ours_ends_the_turn_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that fails in a way nobody foresaw does not come back for ever."""
    from saywhy.runtime.turn import TurnRun

    async def broken(self: TurnRun, entry: Any) -> None:
        raise RuntimeError("a bug")

    async with engine_on(tmp_path / "store.sqlite3") as engine:
        with monkeypatch.context() as patch:
            patch.setattr(TurnRun, "take", broken)
            with pytest.raises(RuntimeError):
                await engine.take_turn("c1", "pay", message_id="m1")
        assert await engine.recover() == 0
        with pytest.raises(SaywhyError, match="a bug"):
            await engine.take_turn("c1", "pay", message_id="m1")
        assert (await engine.take_turn("c1", "pay")).response == "To whom?"


def calls_of(names: list[str], **first: Any) -> dict[str, Any]:
    """A flow that calls tools one after the other and says what they gave."""
    steps: list[dict[str, Any]] = [
        {"id": name, "type": "CALL-TOOL", "tool": name, "args": {"n": 1}, "variable": f"got_{name}"}
        for name in names
    ]
    said = " ".join(f"{{{{got_{name}}}}}" for name in names)
    steps.append({"id": "say", "type": "SAY", "value": f"gave {said}"})
    tools = [
        {"id": name, "name": name, "implementation": {"type": "local", "function": name}}
        for name in names
    ]
    return {"flows": [{"id": "f", "name": "F", "steps": steps}], "tools": tools, **first}


class NeverRenewed(SqliteStore):
    """As a worker that is frozen leaves it: its lease runs out while it works."""

    async def renew(self, claim: Claim, ttl_seconds: float = LEASE_SECONDS) -> bool:
        return True


async def test_a_turn_keeps_its_lease_over_many_short_calls(tmp_path: Path) -> None:
    """No call is as long as a third of the lease; together they are longer than all of it."""
    path = tmp_path / "store.sqlite3"
    names = [f"t{number}" for number in range(6)]
    made: list[str] = []

    async def work(name: str) -> str:
        made.append(name)
        await asyncio.sleep(0.15)
        return name

    functions = {name: (lambda args, name=name: work(name)) for name in names}
    options = calls_of(names, functions=functions, lease_seconds=0.6)
    async with engine_on(path, **options) as engine:
        turn = asyncio.create_task(engine.take_turn("c1", "F", message_id="m1"))
        async with engine_on(path, **options) as other:
            while not turn.done():
                assert await other.recover() == 0
                await asyncio.sleep(0.05)
        assert (await turn).response == "gave t0 t1 t2 t3 t4 t5"
    assert made == names


async def test_a_turn_keeps_its_lease_over_calls_that_never_wait(tmp_path: Path) -> None:
    """Calls that are over before the event loop moves on renew the lease as well."""
    path = tmp_path / "store.sqlite3"
    names = [f"t{number}" for number in range(6)]

    @quick
    def work(args: dict[str, Any]) -> str:
        time.sleep(0.15)
        return "done"

    options = calls_of(names, functions=dict.fromkeys(names, work), lease_seconds=0.6)
    async with engine_on(path, **options) as engine:
        turn = asyncio.create_task(engine.take_turn("c1", "F", message_id="m1"))
        async with engine_on(path, **options) as other:
            while not turn.done():
                assert await other.recover() == 0
        assert (await turn).response == "gave done done done done done done"


async def test_a_turn_keeps_its_lease_while_a_function_takes_its_time(tmp_path: Path) -> None:
    """What an approved function waits for may take longer than the lease, as a tool may."""
    path = tmp_path / "store.sqlite3"
    steps = [{"id": "a", "type": "SAY", "value": "{{slow('ok')}}"}]

    async def slow(text: str) -> str:
        await asyncio.sleep(0.7)
        return text

    flows = [{"id": "f", "name": "F", "steps": steps}]
    options = {"flows": flows, "functions": {"slow": slow}, "lease_seconds": 0.4}
    async with engine_on(path, **options) as engine:
        turn = asyncio.create_task(engine.take_turn("c1", "F", message_id="m1"))
        async with engine_on(path, **options) as other:
            while not turn.done():
                assert await other.recover() == 0
                await asyncio.sleep(0.05)
        assert (await turn).response == "ok"


async def test_whoever_lost_a_turn_gives_the_reply_of_the_one_who_has_it(tmp_path: Path) -> None:
    """The late result is kept, the call is not made again, and both give the same reply."""
    path = tmp_path / "store.sqlite3"
    made: list[str] = []

    async def pay(args: dict[str, Any]) -> str:
        made.append("pay")
        await asyncio.sleep(0.5)
        return "receipt"

    options = calls_of(["pay"], functions={"pay": pay})
    frozen_options = {**options, "store": NeverRenewed(path), "lease_seconds": 0.2}
    async with engine_on(path, **options) as other:
        async with engine_on(path, **frozen_options) as frozen:
            turn = asyncio.create_task(frozen.take_turn("c1", "F", message_id="m1"))
            await asyncio.sleep(0.35)
            assert await other.recover() == 1
            reply = await turn
        assert reply.repeated is False
        again = await other.take_turn("c1", "F", message_id="m1")
        assert again.repeated is True
        assert reply.response == again.response
        assert "it is not known yet whether it happened" in (reply.response or "")
        journal = await other.store.journal("c1", 1)  # type: ignore[union-attr]
        assert [(one.name, one.status) for one in journal] == [("pay", "answered")]
    assert made == ["pay"]


@pytest.mark.parametrize("tool", ["pay", "send"])
async def test_a_full_disk_stops_a_turn_and_room_lets_it_go_on(tmp_path: Path, tool: str) -> None:
    """The error says what to try; the message sent again goes on behind the calls that were made.

    The disk fills up in the midst of the first or the second call. No lease is waited for.
    """
    made: list[str] = []
    full = [tool]

    async def limited(pages: int) -> None:
        statement = f"PRAGMA max_page_count = {pages}"
        await store._writer.do(lambda db: db.execute(statement))

    async def work(name: str) -> str:
        made.append(name)
        if name in full:
            await limited(1)
        return "x" * 20_000

    functions = {name: (lambda args, name=name: work(name)) for name in ("pay", "send")}
    store = SqliteStore(tmp_path / "store.sqlite3")
    options = calls_of(["pay", "send"], functions=functions, store=store)
    async with engine_on(store.path, **options) as engine:
        for _ in range(2):
            with pytest.raises(OutsideError, match="there is no room left for it") as caught:
                await engine.take_turn("c1", "F", message_id="m1")
            assert "free disk space" in caught.value.hint
        await limited(1_000_000)
        full.clear()
        async with asyncio.timeout(5):
            reply = await engine.take_turn("c1", "F", message_id="m1")
        assert reply.response == f"gave {'x' * 20_000} {'x' * 20_000}"
        assert made == ["pay", "send"]
        assert await engine.recover() == 0


async def test_a_store_closed_in_a_turn_goes_on_when_it_is_open_again(tmp_path: Path) -> None:
    """The turn stops with a named error; nothing that was done is done again."""
    made: list[str] = []
    store = SqliteStore(tmp_path / "store.sqlite3")

    async def pay(args: dict[str, Any]) -> str:
        made.append("pay")
        await store.close()
        return "receipt"

    options = calls_of(["pay"], functions={"pay": pay}, store=store)
    async with engine_on(store.path, **options) as engine:
        with pytest.raises(CallerError, match="is not open"):
            await engine.take_turn("c1", "F", message_id="m1")
        await store.open()
        async with asyncio.timeout(5):
            assert (await engine.take_turn("c1", "F", message_id="m1")).response == "gave receipt"
    assert made == ["pay"]


async def test_a_call_that_ends_after_its_turn_was_cancelled_is_kept(tmp_path: Path) -> None:
    """A tool that sees its work through although it was cancelled is not called again."""
    made: list[str] = []
    reached = asyncio.Event()

    async def pay(args: dict[str, Any]) -> str:
        made.append("pay")
        reached.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
        return "receipt"

    options = calls_of(["pay"], functions={"pay": pay})
    async with engine_on(tmp_path / "store.sqlite3", **options) as engine:
        turn = asyncio.create_task(engine.take_turn("c1", "F", message_id="m1"))
        await reached.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await engine.take_turn("c1", "F", message_id="m1")).response == "gave receipt"
    assert made == ["pay"]


class Mute(Exception):
    """An error that raises when it is asked what it says."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Odd(BaseException):
    """What no sensible function raises."""


ODD = [
    asyncio.CancelledError("own"),
    SystemExit(3),
    StopIteration(1),
    Mute(),
    RecursionError("deep"),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("kind", ["plain", "async", "tool", "quick", "async tool"])
async def test_a_function_cannot_stop_a_conversation(
    tmp_path: Path, kind: str, odd: BaseException
) -> None:
    """Whatever it raises is an error of the function; the turn ends, and nothing is left open."""

    def plain(*args: Any) -> None:
        raise odd

    async def later(*args: Any) -> None:
        raise odd

    implementation: dict[str, Any] = {"type": "local", "function": "f", "thread": kind != "quick"}
    steps: list[dict[str, Any]] = [
        {"id": "a", "type": "CALL-TOOL", "tool": "t", "args": {}, "variable": "x"},
        {"id": "b", "type": "SAY", "value": "after"},
    ]
    if kind in ("plain", "async"):
        steps[0] = {"id": "a", "type": "SET", "variable": "x", "value": "f(1)"}
    options = {
        "flows": [{"id": "main", "name": "Main", "steps": steps}],
        "tools": [{"id": "t", "name": "T", "effect": "reads", "implementation": implementation}],
        "functions": {"f": later if "async" in kind else plain},
        "logger": Nowhere(),
    }
    async with engine_on(tmp_path / "store.sqlite3", **options) as engine:
        reply = await engine.take_turn("c1", "Main")
        expected = "after" if kind in ("plain", "async") else "T did not work: "
        assert (reply.response or "").startswith(expected)
        assert await engine.recover() == 0


async def test_what_is_no_error_at_all_is_raised_and_the_turn_is_over(tmp_path: Path) -> None:
    """It comes out to the caller, once: the next message does not meet it again."""

    def odd(value: Any) -> None:
        raise Odd

    flow = {"id": "f", "name": "F", "steps": [{"type": "SAY", "value": "{{odd(1)}}"}]}
    other = {"id": "g", "name": "G", "steps": [{"type": "SAY", "value": "well"}]}
    options = {"flows": [flow, other], "functions": {"odd": odd}}
    async with engine_on(tmp_path / "store.sqlite3", **options) as engine:
        with pytest.raises(Odd):
            await engine.take_turn("c1", "F", message_id="m1")
        with pytest.raises(SaywhyError, match="Odd"):
            await engine.take_turn("c1", "F", message_id="m1")
        assert (await engine.take_turn("c1", "G")).response == "well"


class Nowhere:
    """A logger for what is broken on purpose."""

    def debug(self, text: str) -> None:
        """Nothing."""

    info = warn = error = debug


async def test_turns_left_behind_do_not_wait_for_one_another(tmp_path: Path) -> None:
    """Those of several conversations are taken up at the same time, those of one in their order."""
    met = asyncio.Barrier(3)

    async def pay(args: dict[str, Any]) -> str:
        async with asyncio.timeout(4):
            await met.wait()
        return "receipt"

    async with engine_on(tmp_path / "store.sqlite3") as engine:
        store = engine.store
        assert store is not None
        for name in ("c1", "c2", "c3"):
            await store.accept(name, "m1", Entry.of("F").to_json(), user_id="")
        await store.accept("c1", "m2", Entry.of("again").to_json(), user_id="")
    options = calls_of(["pay"], functions={"pay": pay})
    async with engine_on(tmp_path / "store.sqlite3", **options) as engine:
        assert await engine.recover() == 4
        for name in ("c1", "c2", "c3"):
            reply = await engine.take_turn(name, "F", message_id="m1")
            assert (reply.response, reply.repeated) == ("gave receipt", True)
        assert (await engine.take_turn("c1", "again", message_id="m2")).response is None


async def test_recovering_stops_where_the_store_does(tmp_path: Path) -> None:
    """A full disk is told, instead of being met over and over; nothing is left running."""
    store = SqliteStore(tmp_path / "store.sqlite3")

    async def pay(args: dict[str, Any]) -> str:
        await store._writer.do(lambda db: db.execute("PRAGMA max_page_count = 1"))
        return "x" * 100_000

    options = calls_of(["pay"], functions={"pay": pay}, store=store)
    async with engine_on(store.path, **options) as engine:
        for name in ("c1", "c2"):
            await store.accept(name, "m1", Entry.of("F").to_json(), user_id="")
        with pytest.raises(OutsideError, match="there is no room left for it"):
            await engine.recover()
        await asyncio.sleep(0.05)  # a write that was under way comes to its own end
        assert len(asyncio.all_tasks()) == 1


class Leisurely(MemoryStore):
    """Whoever writes here can be cancelled before the write and after it."""

    async def write(self, name: str, *args: Any, **options: Any) -> Any:
        await asyncio.sleep(0)
        written = await getattr(super(), name)(*args, **options)
        await asyncio.sleep(0)
        return written

    accept_and_claim = partialmethod(write, "accept_and_claim")
    intent = partialmethod(write, "intent")
    result = partialmethod(write, "result")
    finish = partialmethod(write, "finish")
    renew = partialmethod(write, "renew")


async def test_cancelled_at_any_moment_a_turn_goes_on(recwarn: pytest.WarningsRecorder) -> None:
    """At each step of the event loop, once: the same words come, and nothing acts twice."""
    made: list[str] = []

    async def call(name: str) -> str:
        made.append(name)
        await asyncio.sleep(0)
        return name

    names = ("look", "pay")
    functions: dict[str, Any] = {name: (lambda args, name=name: call(name)) for name in names}
    options = calls_of([*names], functions={**functions, "later": call})
    options["flows"][0]["steps"].insert(1, {"type": "SAY", "value": "{{later('so')}}"})
    options["tools"][0]["effect"] = "reads"
    replies: list[str] = []
    for steps in range(1000):
        made.clear()
        async with engine_on(Path(), **options, store=Leisurely()) as engine:
            turn = asyncio.create_task(engine.take_turn("c1", "F", message_id="m1"))
            for _ in range(steps):
                await asyncio.sleep(0)
            turn.cancel()
            await asyncio.wait({turn})
            reply = await engine.take_turn("c1", "F", message_id="m1")
            replies.append(reply.response or "")
            assert made.count("pay") <= 1
            assert len(await engine.store.messages("c1")) == 2  # type: ignore[union-attr]
            if not turn.cancelled():
                break
    assert 10 < len(replies) < 100, "the turn was cancelled at each of its steps, not for ever"
    told = (
        "I asked for pay, but it is not known yet whether it happened. "
        "Somebody is looking at it; please do not ask for it again meanwhile."
    )
    assert {*replies} == {"so\n\ngave look pay", f"so\n\n{told}"}
    assert not recwarn.list
