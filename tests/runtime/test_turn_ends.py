"""Every accepted message is processed to an end, or is reported."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from saywhy import DamagedSession, Engine, SaywhyError, SqliteStore
from tests.runtime.conftest import PAY


def engine_on(path: Path, **options: Any) -> Engine:
    settings = {"flows": [PAY], "guidance": {"enabled": False}, "validate_on_init": False}
    return Engine(**{**settings, **options}, store=SqliteStore(path), lease_seconds=5)


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
