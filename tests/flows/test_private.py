"""Promise: what a tool of restricted data was given or gave is masked wherever it turns up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy import Engine, Session
from saywhy.flows import private
from saywhy.flows.private import MAX_LEARNT
from saywhy.values import dumps

FLOW = {
    "id": "go",
    "name": "Go",
    "version": "1.0",
    "prompt": "go",
    "description": "Goes",
    "steps": [
        {"id": "call", "type": "CALL-TOOL", "tool": "find", "args": {"pin": "4711"},
         "variable": "r"},
        {"id": "ask", "type": "SAY-GET", "variable": "x", "value": "{{r.a}} {{r.b}} {{r.c}}?"},
        {"id": "again", "type": "SET", "variable": "copy", "value": "r.a + '/' + r.c"},
        {"id": "more", "type": "SAY-GET", "variable": "y", "value": "{{copy}}"},
    ],
}  # fmt: skip


def talk(answer: Any, *words: str, data_class: str = "restricted") -> Session:
    def find(arguments: dict[str, Any]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def turns() -> Session:
        tool = {
            "id": "find",
            "parameters": {"type": "object"},
            "implementation": {"type": "local", "function": "find"},
            "security": {"dataClassification": data_class},
        }
        engine = Engine(flows=[FLOW], tools=[tool], functions={"find": find})
        session = engine.init_session("ann")
        for text in ("go", *words):
            session = await engine.update_activity(text, session)
        return session

    return asyncio.run(turns())


ANSWER = {"a": "Jane Miller", "b": "ok", "c": 417_250}


def test_in_every_record_also_of_later_turns() -> None:
    """As words, inside other words, and as a number; the user still reads them."""
    session = talk(ANSWER, "yes")
    assert str(session.response).endswith("Jane Miller/417250")
    record = dumps(list(session.trace)).decode()
    for word in ("Jane Miller", "417250", "4711"):
        assert word not in record
    assert "[REDACTED]/[REDACTED]" in record


def test_short_words_are_left_alone() -> None:
    """Masking `ok` everywhere, or `orders`, would make the record unreadable, and hide nothing."""
    assert "[REDACTED] ok [REDACTED]?" in talk(ANSWER).trace.narrative(1)
    answer = {"a": "orders", "b": "öffnen", "c": "x 12345"}
    assert "orders öffnen [REDACTED]?" in talk(answer).trace.narrative(1)


def test_other_classes_mask_the_call_only() -> None:
    """What later steps say of confidential data is theirs."""
    record = dumps(list(talk(ANSWER, "yes", data_class="confidential").trace)).decode()
    assert "Jane Miller/417250" in record


def test_a_catalogue_is_learnt_in_part() -> None:
    """A thousand texts would make every later record slow; the call itself is masked whole."""
    answer = {"a": "first one", "b": "ok", "c": 1, "all": [f"number {n:04}" for n in range(1000)]}
    session = talk(answer)
    assert len(session.secrets) <= MAX_LEARNT + 1
    assert "number 0999" not in dumps(list(session.trace)).decode()


def test_what_is_known_already_is_not_kept_twice() -> None:
    """A flow that asks the same tool again and again does not grow."""
    session = talk(ANSWER)
    assert sorted(session.secrets) == ["417250", "4711", "Jane Miller"]


@pytest.mark.parametrize("data_class", ["confidential", "restricted"])
def test_numbers_in_an_error_are_masked_wherever_they_turn_up(data_class: str) -> None:
    """In the failure, in why the flow ended, in what was said; short numbers stay."""
    session = talk(ValueError("account 41725099 is closed: E404"), data_class=data_class)
    assert session.response == "find did not work: account 41725099 is closed: E404"
    record = dumps(list(session.trace)).decode()
    assert "41725099" not in record
    assert "account [REDACTED] is closed: E404" in record


def test_a_time_limit_is_no_secret() -> None:
    """The number in the engine's own sentence is not taken for one."""
    session = talk(TimeoutError("Tool execution timeout after 5000ms - find"))
    assert "5000" in dumps(list(session.trace)).decode()


def test_what_a_conversation_keeps_in_mind_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest texts stay masked."""
    monkeypatch.setattr(private, "MAX_HELD", 2)
    assert sorted(talk(ANSWER).secrets) == ["417250", "Jane Miller"]
