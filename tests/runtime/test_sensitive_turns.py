"""A sensitive answer is used by its flows and kept by nobody."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, Reply, SqliteStore, why
from saywhy.models.provider import Ask, ModelReply
from saywhy.stores.memory import MemoryStore
from saywhy.stores.store import Store
from saywhy.trace.export.file import lines_of

CODE = "Zq9-4111"
FLOWS: list[dict[str, Any]] = [
    {
        "id": "check",
        "name": "Check",
        "steps": [
            {"id": "ask", "type": "SAY-GET", "variable": "code", "value": "Code?", "pii": True},
            {"id": "keep", "type": "SET", "variable": "kept", "value": "cargo.code = code"},
            {
                "id": "end",
                "type": "RETURN",
                "value": "'Thanks for ' + code",
                "outcome": "unresolved",
                "reason": "{{code}} is unknown",
            },
        ],
    },
    {"id": "tell", "name": "Tell", "steps": [{"type": "SAY", "value": "It was {{cargo.code}}."}]},
]


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """An engine on each kind of store."""
    memory = request.param == "memory"
    store: Store = MemoryStore() if memory else SqliteStore(tmp_path / "s.sqlite3")
    guidance = {"enabled": False}
    return Engine(flows=FLOWS, guidance=guidance, validate_on_init=False, store=store)


async def kept_of(engine: Engine) -> str:
    """Everything that stays of a conversation, apart from its live state."""
    store = engine.store
    assert store is not None
    trace = await engine.trace("c")
    parts = [b"\n".join(lines_of(trace))]
    parts += [row.doc for row in await store.messages("c")]
    for turn in await store.turns("c"):
        parts += [turn.input or b"", turn.reply or b"", (turn.error or "").encode()]
    parts += [why(trace, Reply(turn)).text().encode() for turn in trace.turns]
    return b"\n".join(parts).decode()


async def test_the_newest_reply_is_given_again_as_it_was_said(engine: Engine) -> None:
    """A reply lost on its way is repeated whole; once the next is said, without secrets."""
    async with engine:
        await engine.take_turn("c", "Check", message_id="m1")
        first = await engine.take_turn("c", CODE, message_id="m2")
        again = await engine.take_turn("c", CODE, message_id="m2")
        assert first.response == again.response == f"Thanks for {CODE}"
        assert first.last_flow_outcome == again.last_flow_outcome
        assert (again.last_flow_outcome or {})["reason"] == f"{CODE} is unknown"
        assert CODE not in await kept_of(engine)
        await engine.take_turn("c", "nothing", message_id="m3")
        late = await engine.take_turn("c", CODE, message_id="m2")
        assert late.response == "[REDACTED]"  # what an expression makes of it is masked whole
        assert (late.last_flow_outcome or {})["reason"] == "[REDACTED] is unknown"


async def test_what_went_into_cargo_stays_sensitive(engine: Engine) -> None:
    """A flow that starts later may say it to the user; what is kept does not hold it."""
    async with engine:
        await engine.take_turn("c", "Check")
        await engine.take_turn("c", CODE)
        told = await engine.take_turn("c", "Tell")
        assert told.response == f"It was {CODE}."
        assert CODE not in await kept_of(engine)
        await engine.take_turn("c", "x", cargo={"code": "gone"})
        session = await engine.session("c")
        assert session is not None
        assert session.secrets == ()


SPOKEN = "es 73 19 48"
PIN: list[dict[str, Any]] = [
    {
        "id": "pin",
        "name": "Pin",
        "interruptable": True,
        "steps": [
            {
                "id": "ask",
                "type": "SAY-GET",
                "variable": "pin",
                "value": "Code?",
                "pii": True,
                "digits": {"min": 6, "max": 6},
            },
            {"id": "more", "type": "SAY-GET", "variable": "more", "value": "Next?"},
        ],
    }
]


async def test_a_number_said_to_a_sensitive_question_is_never_kept() -> None:
    """Not even where the words are a command, or lead to another flow."""
    options: dict[str, Any] = {"guidance": {"enabled": False}, "validate_on_init": False}
    async with Engine(flows=PIN, store=MemoryStore(), **options) as engine:
        await engine.take_turn("c", "Pin")
        left = await engine.take_turn("c", "cancel flow 4929 0012 3456")
        assert (left.response or "").startswith("Successfully exited Pin.")
        assert "4929" not in await kept_of(engine)


class Quoting:
    """A model that fails, and says what it was asked."""

    async def ask(self, ask: Ask) -> ModelReply:
        raise ValueError(f"cannot answer {ask.user}")


async def test_spoken_keys_are_sensitive_in_both_forms(caplog: pytest.LogCaptureFixture) -> None:
    """The digits that are stored and the words they were made of; no model is asked."""
    caplog.set_level(logging.DEBUG, "saywhy")
    options: dict[str, Any] = {"guidance": {"enabled": False}, "validate_on_init": False}
    async with Engine(flows=PIN, model=Quoting(), store=MemoryStore(), **options) as engine:
        await engine.take_turn("c", "Pin", cargo={"voice": True})
        assert (await engine.take_turn("c", SPOKEN)).response == "Next?"
        session = await engine.session("c")
        assert session is not None
        assert session.frame is not None
        assert session.frame.variables["pin"] == "731948"
        kept = await kept_of(engine)
    assert "731948" not in kept
    assert SPOKEN not in kept
    assert "model" not in caplog.text


async def test_a_failing_model_quotes_no_sensitive_words(caplog: pytest.LogCaptureFixture) -> None:
    """It was asked to clean them; the log says that it failed, and the words are kept as said."""
    caplog.set_level(logging.DEBUG, "saywhy")
    options: dict[str, Any] = {"guidance": {"enabled": False}, "validate_on_init": False}
    async with Engine(flows=PIN, model=Quoting(), store=MemoryStore(), **options) as engine:
        await engine.take_turn("c", "Pin", cargo={"voice": True})
        await engine.take_turn("c", "seven three one")
        session = await engine.session("c")
        assert session is not None
        assert session.frame is not None
        assert session.frame.variables["pin"] == "seven three one"
        assert "seven three" not in await kept_of(engine)
    assert "seven three" not in caplog.text
    assert "model, voice: it failed on words that may be sensitive" in caplog.text
