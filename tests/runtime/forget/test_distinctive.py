"""Promise: what tells of a person is collected before it is erased, and only what can prove."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Engine, MemoryStore
from saywhy.runtime.forget import distinctive
from saywhy.runtime.forget.distinctive import Evidence, collect, sessions_of

FLOW: dict[str, Any] = {
    "id": "f",
    "name": "Flow",
    "version": "1.0",
    "steps": [
        {"id": "a", "type": "SAY-GET", "variable": "street", "value": "A question for all?"},
        {"id": "b", "type": "SET", "variable": "made", "value": "({deep: [street + ' made']})"},
        {"id": "c", "type": "SAY-GET", "variable": "more", "value": "More?"},
    ],
}


async def test_words_values_and_ids_are_looked_for() -> None:
    """What the user said, what was made of it, their id; not what flows say to everybody."""
    store = MemoryStore()
    options: dict[str, Any] = {"validate_on_init": False}
    async with Engine(flows=[FLOW], store=store, **options) as engine:
        for name in ("talk-number-one", "talk-number-two"):
            await engine.take_turn(name, "Flow", user_id="a-person", cargo={"code": "code-4711"})
            await engine.take_turn(name, f"street of {name}", user_id="a-person")
        sessions = await sessions_of(store, "a-person")
        evidence = await collect(store, "a-person", sessions)
    assert {one.session_id for one in sessions} == {"talk-number-one", "talk-number-two"}
    assert evidence.ids == ["a-person", "talk-number-one", "talk-number-two"]
    assert set(evidence.texts) >= {
        "a-person",
        "talk-number-one",
        "street of talk-number-one",
        "street of talk-number-two made",
        "code-4711",
    }
    assert evidence.texts["street of talk-number-one"] == "message 3"
    assert not any("question for all" in text for text in evidence.texts)
    assert evidence.short > 0


def test_what_proves_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts, and those beyond the limit."""
    monkeypatch.setattr(distinctive, "MOST_TEXTS", 2)
    evidence = Evidence()
    evidence.add_all(["yes", {"a": "a long text", "b": ["another text", "one too many"]}, 5], "x")
    assert list(evidence.texts) == ["a long text", "another text"]
    assert (evidence.short, evidence.dropped) == (1, 1)
