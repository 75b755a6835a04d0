"""Promise: a record of a model holds nothing that the running turn knows to be sensitive."""

from __future__ import annotations

from typing import Any

from saywhy import masked_record
from saywhy.trace.masking.current import CURRENT
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
