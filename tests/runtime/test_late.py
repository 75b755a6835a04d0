"""Promise: what is found to be sensitive later is masked where it was said before, too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from saywhy import CallerError, Engine, FlowExecutionError, MemoryStore, Reply, SqliteStore
from saywhy.runtime import late
from saywhy.runtime.audit.export import bundle
from saywhy.runtime.audit.verify import verify_lines
from saywhy.stores.store import Store
from saywhy.trace.export.file import lines_of
from saywhy.trace.trace import Trace

CARD = "8801993"
BACK = CARD[::-1]
LONG = "and a text that is long enough for the record to point at it, not to write it again"


def ask(variable: str, text: str, **more: Any) -> dict[str, Any]:
    """A step that asks."""
    return {"id": f"ask-{variable}", "type": "SAY-GET", "variable": variable, "value": text, **more}


STEPS: tuple[dict[str, Any], ...] = (
    ask("note", "A note?"),
    {"id": "t", "type": "SET", "variable": "back", "value": "note.split('').reverse().join('')"},
    {"id": "say", "type": "SAY", "value": "Noted {{note}}: {{back}}."},
    ask("card", "The card for {{note}}?", pii=True),
    ask("more", "Only {{back}}?"),
    {"id": "end", "type": "SAY", "value": "{{more}} {{back.toUpperCase()}}"},
    ask("last", "Any more?"),
)


def engine_of(store: Store | None = None, *steps: dict[str, Any], **options: Any) -> Engine:
    """An engine that asks for a note, and later for a card."""
    flow = {"id": "pay", "name": "Pay", "steps": list(steps or STEPS)}
    given: dict[str, Any] = {"validate_on_init": False, "guidance": {"enabled": False}}
    return Engine(flows=[flow], store=store, **{**given, **options})


def told(trace: Trace) -> str:
    """All that a record tells."""
    lines = b"\n".join(lines_of(trace)).decode()
    whys: list[str] = []
    for turn in trace.turns:
        with suppress(CallerError):  # nothing was said in it
            whys.append(trace.why(Reply(turn)).text())
    return "\n".join([lines, trace.narrative(), *whys])


NOTES = (CARD, f"put {CARD} on it", f"{LONG}, {CARD}", "put 88 01-993 on it")


@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("kind", ["memory", "sqlite", "session-only"])
async def test_a_value_said_before_it_is_known(note: str, kind: str, tmp_path: Path) -> None:
    """No byte of it is left, nor of what was made of it then and is later; the chain holds."""
    path = tmp_path / "talk.db"
    store = MemoryStore() if kind == "memory" else SqliteStore(path)
    options = {"action_persistence": "session-only"} if kind == "session-only" else {}
    async with engine_of(store, **options) as engine:
        said = ("Pay", note, CARD, "yes", "no")
        replies = [(await engine.take_turn("s", text)).response for text in said]
        assert replies[2] == f"Only {note[::-1]}?"  # a conversation goes on with real values
        assert note[::-1].upper() in (replies[3] or "")
        everything = told(await engine.trace("s"))
        found = await store.search([CARD, BACK])
        assert not [one.found for one in found if one.found]
        lines = [line async for line in bundle(store, session_id="s")]
        report = verify_lines(lines)
        assert (report.ok, report.erased) == (True, 1)
        assert (await engine.audit.verify()).ok
    for text in (CARD, BACK, note, note[::-1]):
        assert text not in everything
    assert "yes" in everything
    if kind != "memory":
        data = b"".join(one.read_bytes() for one in tmp_path.iterdir())
        assert CARD.encode() not in data
        assert BACK.encode() not in data


async def test_a_session_that_is_its_own_record() -> None:
    """What it keeps of earlier turns is masked, and a reply reaches the host as it is."""
    engine = engine_of()
    session = engine.init_session("ann", "s")
    for text in ("Pay", f"put {CARD} on it", CARD):
        session = await engine.update_activity(text, session)
    assert session.response == f"Only {f'put {CARD} on it'[::-1]}?"
    assert CARD not in told(session.trace)
    assert BACK not in told(session.trace)
    session = await engine.update_activity("help", session)
    assert f"put {CARD}"[::-1] in (session.response or "")
    assert BACK not in told(session.trace)


async def test_it_is_known_once_the_flow_is_over() -> None:
    """What was made of it is not said in a later conversation either."""
    ends = (*STEPS[:4], {"id": "end", "type": "SAY", "value": "Done"})
    store = MemoryStore()
    async with engine_of(store, *ends) as engine:
        for text in ("Pay", f"put {CARD} on it", CARD, f"I said {CARD}", f"and {BACK}"):
            await engine.take_turn("s", text)
        assert CARD not in told(await engine.trace("s"))
        assert not (await store.search([CARD]))[0].found


async def test_what_was_said_of_it_in_other_words() -> None:
    """Of a reply that was made of it the whole text is masked: nobody noted what was filled in."""
    say = {"id": "say", "type": "SAY", "value": "Noted {{note.toUpperCase().slice(4, 40)}}, so."}
    store = MemoryStore()
    async with engine_of(store, STEPS[0], say, STEPS[3], ask("x", "?")) as engine:
        for text in ("Pay", f"put it like abc {CARD}", CARD):
            await engine.take_turn("s", text)
        trace = await engine.trace("s")
        assert "LIKE ABC" not in told(trace)
        assert trace.messages()[3].text.startswith("[REDACTED]")
        assert (await engine.audit.verify()).ok


@pytest.mark.parametrize("note", [f"put {CARD} on it", f"put {CARD} on it, {LONG}"])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_what_a_turn_wrote_before_it_knew(kind: str, note: str, tmp_path: Path) -> None:
    """Rows that came with the intent of a call say nothing of what its answer declares."""
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "talk.db")
    person = {
        "id": "person", "name": "person", "description": "Somebody", "effect": "reads",
        "parameters": {"type": "object", "properties": {}},
        "returns": {"type": "object", "properties": {"ssn": {"type": "string", "pii": True}}},
        "implementation": {"type": "local", "function": "person"},
    }  # fmt: skip
    look = {"id": "look", "type": "CALL-TOOL", "tool": "person", "args": {}, "variable": "found"}

    def found(given: dict[str, Any]) -> dict[str, Any]:
        return {"ssn": CARD}

    options = {"tools": [person], "functions": {"person": found}}
    async with engine_of(store, STEPS[0], look, ask("x", "So?"), **options) as engine:
        for text in ("Pay", note, "ok"):
            await engine.take_turn("s", text)
        assert not [one.found for one in await store.search([CARD]) if one.found]
        assert note.replace(CARD, "[REDACTED]") in told(await engine.trace("s"))
        assert (await engine.audit.verify()).ok


async def test_what_others_said_stays() -> None:
    """Turns before it, words beside it, and what flows say to everybody."""
    steps = (
        ask("city", "Bern or Zurich?"),
        ask("own", "Where do you live?", pii=True),
        ask("x", "?"),
    )
    store = MemoryStore()
    async with engine_of(store, *steps) as engine:
        for text in ("Pay", "to Geneva", "Zurich", "ok"):
            await engine.take_turn("s", text)
        messages = [one.text for one in (await engine.trace("s")).messages()]
        assert "to Geneva" in messages
        assert "Bern or Zurich?" in messages
        (chain,) = await store.chains(session_id="s")
        assert [link.erased for link in await store.links(chain.chain_id)] == [""] * 4


async def test_a_turn_that_fails_masks_as_well() -> None:
    """The answer was taken, so it is known."""
    fails = {"id": "f", "type": "SET"}
    store = MemoryStore()
    async with engine_of(store, ask("note", "A note?"), STEPS[3], fails) as engine:
        for text in ("Pay", f"put {CARD} on it"):
            await engine.take_turn("s", text)
        with pytest.raises(FlowExecutionError):
            await engine.take_turn("s", CARD)
        assert not (await store.search([CARD]))[0].found


async def test_how_far_back_is_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many turns, and the newest messages; what lies before stays."""
    monkeypatch.setattr(late, "MAX_TURNS", 2)
    asks = [ask(f"n{number}", "And?") for number in range(3)]
    store = MemoryStore()
    async with engine_of(store, *asks, STEPS[3], ask("x", "?")) as engine:
        for text in ("Pay", f"far {CARD}", "one", f"near {CARD}", CARD):
            await engine.take_turn("s", text)
        messages = [one.text for one in (await engine.trace("s")).messages()]
        assert f"far {CARD}" in messages
        assert "near [REDACTED]" in messages


async def test_a_store_that_cannot_keeps_what_it_has() -> None:
    """A store of a host's own may lack the method: nothing is masked there, and nothing fails."""

    class Other(MemoryStore):
        mask_turns = None  # type: ignore[assignment]

    store = Other()
    async with engine_of(store) as engine:
        for text in ("Pay", f"put {CARD} on it", CARD):
            reply = await engine.take_turn("s", text)
        assert reply.response
        assert f"put {CARD} on it" in told(await engine.trace("s"))
