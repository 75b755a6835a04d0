"""Promise: a record of a model holds nothing that the running turn knows to be sensitive."""

from __future__ import annotations

from typing import Any

from saywhy import masked_record
from saywhy.trace.masking.current import CURRENT
from saywhy.trace.masking.declared import Declared
from saywhy.trace.masking.redact import MARK, Policy, Redactor

RECORD: dict[str, Any] = {
    "number": 1,
    "ask": {"messages": [{"role": "user", "content": f"card K-4711 {'x' * 200}"}]},
    "pieces": [{"text": "K-4711 is blocked"}],
    "took_ms": 4711.5,
}


def test_outside_a_turn_nothing_is_known() -> None:
    """The record is as it was."""
    assert masked_record(RECORD) == RECORD


def test_what_is_known_is_masked_and_nothing_is_cut() -> None:
    """However long a text is: a record that is cut could not be replayed."""
    token = CURRENT.set(Redactor(Policy(max_value_bytes=50), secrets=["K-4711"]))
    try:
        seen = masked_record(RECORD)
    finally:
        CURRENT.reset(token)
    assert seen["ask"]["messages"][0]["content"] == f"card {MARK} {'x' * 200}"
    assert seen["pieces"] == [{"text": f"{MARK} is blocked"}]
    assert (seen["number"], seen["took_ms"]) == (1, 4711.5)
    assert RECORD["pieces"] == [{"text": "K-4711 is blocked"}]


def seen_in(redactor: Redactor, pieces: list[dict[str, Any]], ask: str = "hello") -> dict[str, Any]:
    """A record of an answer in pieces, as it is kept."""
    content = {"messages": [{"role": "user", "content": ask}]}
    error = {"type": "E", "message": "about K-4711", "code": "network"}
    token = CURRENT.set(redactor)
    try:
        return masked_record({"ask": content, "pieces": pieces, "error": error})
    finally:
        CURRENT.reset(token)


def spoken(*texts: str) -> list[dict[str, Any]]:
    """An answer in pieces."""
    return [{"type": "text", "text": text, "after_ms": at} for at, text in enumerate(texts)]


def test_pieces_are_looked_at_together() -> None:
    """A text that is cut in two is put together where it is masked; others stay in pieces."""
    redactor = Redactor(secrets=["K-4711"])
    kept = seen_in(redactor, [*spoken("It is K-", "47", "11."), {"type": "stop"}])["pieces"]
    assert kept == [{"type": "text", "text": f"It is {MARK}.", "after_ms": 0}, {"type": "stop"}]
    assert seen_in(redactor, spoken("It ", "is."))["pieces"] == spoken("It ", "is.")
    assert seen_in(redactor, spoken("K-4711", " is"))["pieces"] == spoken(MARK, " is")


def test_nothing_is_kept_of_an_answer_to_something_sensitive() -> None:
    """Whatever a model makes of it: texts, arguments, what it says of its error."""
    declared = Declared(arguments={"pay": (("pin",),)})
    redactor = Redactor(Policy(declared=declared), secrets=["K-4711"])
    call = {"type": "tool_call", "id": "c", "name": "pay", "arguments": {"pin": "12", "of": "me"}}
    handed = seen_in(redactor, [*spoken("1174-K", " it is"), call], "about K-4711")
    assert [one.get("text") for one in handed["pieces"]] == [MARK, None]
    assert handed["pieces"][1]["arguments"] == {"pin": MARK, "of": MARK}
    assert handed["error"] == {"type": "E", "message": MARK, "code": "network"}
    asked = seen_in(redactor, [*spoken("so ", "be it"), call])
    assert asked["pieces"][:2] == spoken("so ", "be it")
    assert asked["pieces"][2]["arguments"] == {"pin": MARK, "of": "me"}
    assert asked["error"]["message"] == f"about {MARK}"
