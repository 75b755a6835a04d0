"""Promise: who signed in by a code, and with which, stands in no record of the conversation."""

from __future__ import annotations

import logging

import pytest

from saywhy import Engine, MemoryStore
from saywhy.clock import SystemClock
from saywhy.helpers import STANDARD_FUNCTIONS
from saywhy.testing.scenario_functions import function_from_data
from saywhy.trace.export.file import lines_of

SENDS = function_from_data("send", {"kind": "one_time_code", "code": "271828"}, SystemClock())
FUNCTIONS = {
    **STANDARD_FUNCTIONS,
    **dict.fromkeys(("sendCodeBySMS", "sendCodeByEmail", "switchToSMS"), SENDS),
}


@pytest.mark.parametrize(
    ("contact", "canaries"),
    [
        ("512 555 0142", ("512 555 0142", "5125550142")),
        ("ann dot canary at example dot com", ("ann dot canary", "ann.canary@example.com")),
    ],
)
async def test_nothing_of_it_is_kept(
    contact: str, canaries: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither as it was said nor as it was read, nor any code, in the trace and in the log."""
    caplog.set_level(logging.DEBUG)
    engine = Engine(
        flows=["library:system"],
        tools=["library:system"],
        functions=FUNCTIONS,
        store=MemoryStore(),
    )
    async with engine:
        for words in ("AuthenticateUser", contact, "99 99 99", "27 18 28"):
            reply = await engine.take_turn("c-1", words, user_id="ann")
        record = b"\n".join(lines_of(await engine.trace("c-1"))).decode()
    assert reply.response == "Flow completed."
    assert "Send a code" in record
    for canary in (*canaries, "27 18 28", "271828", "99 99 99", "999999"):
        assert canary not in record
        assert canary not in caplog.text
