"""Promise: what is asked and answered is written down as it was; no answer depends on that."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, ModelError
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, Piece, TextPiece, ToolCallPiece
from saywhy.models.recorder import RecordingModel
from saywhy.testing.clock import FakeClock
from saywhy.values import freeze
from tests.models.resilience.steps import (
    GOOD,
    HI,
    STOP,
    STREAMED,
    Steps,
    cancelled_everywhere,
    taken,
    taken_until_error,
)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_line_for_each_ask(tmp_path: Path) -> None:
    """The whole ask, each piece with its time, and how it ended; for the owner's eyes alone."""
    clock = FakeClock()
    call = ToolCallPiece("1", "look", freeze({"a": [1]}))
    steps = Steps([1, TextPiece("hé"), 0.5, call, STOP], clock=clock)
    path = tmp_path / "talk.jsonl"
    model = RecordingModel(steps, path, clock=clock)
    ask = Ask(
        "chat", "be brief", freeze([user_message("hi")]), settings={"model": "m"}, stream=True
    )
    given = asyncio.run(taken(model, ask))
    assert given == [TextPiece("hé"), call, STOP]
    (line,) = lines(path)
    assert len(line.pop("fingerprint")) == 64
    assert line == {
        "number": 0,
        "stream": True,
        "ended": "stop",
        "ask": {
            "task": "chat",
            "system": "be brief",
            "messages": [{"role": "user", "content": "hi"}],
            "settings": {"model": "m"},
        },
        "pieces": [
            {"type": "text", "text": "hé", "after_ms": 1000},
            {
                "type": "tool_call",
                "id": "1",
                "name": "look",
                "arguments": {"a": [1]},
                "after_ms": 1500,
            },
            {"type": "stop", "model": "small-2026", "after_ms": 1500},
        ],
        "took_ms": 1500,
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (model.recorded, model.dropped) == (1, 0)


def test_an_error_is_written_down() -> None:
    """With all that a caller can see of it."""
    kept: list[Any] = []
    error = ModelError("busy", code="rate_limit", status_code=429, retry_after=0.0, hint="wait")
    model = RecordingModel(
        Steps([TextPiece("he"), error], [ValueError("odd")], [CallerError("you")]), kept
    )
    for _ in range(3):
        assert asyncio.run(taken_until_error(model, STREAMED))[1]
    assert [record["ended"] for record in kept] == ["error"] * 3
    assert [record["error"] for record in kept] == [
        {
            "type": "ModelError",
            "message": "busy",
            "hint": "wait",
            "kind": "model",
            "code": "rate_limit",
            "status_code": 429,
            "retry_after": 0.0,
        },
        {"type": "ValueError", "message": "odd", "kind": "model", "code": "unknown"},
        {"type": "CallerError", "message": "you", "kind": "caller"},
    ]
    assert len(kept[0]["pieces"]) == 1


def test_asks_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    """Each line is one ask; its number tells when it began, though the last one ended first."""
    clock = FakeClock()
    path = tmp_path / "talk.jsonl"
    steps = Steps(*([9 - at, TextPiece(str(at)), STOP] for at in range(9)), clock=clock)
    model = RecordingModel(steps, path, clock=clock)

    async def run() -> None:
        asks = [Ask("chat", messages=[user_message(str(at))]) for at in range(9)]
        await asyncio.gather(*[taken(model, ask) for ask in asks])

    asyncio.run(run())
    assert [line["number"] for line in lines(path)] == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    for line in lines(path):
        number = str(line["number"])
        assert line["ask"]["messages"][0]["content"] == line["pieces"][0]["text"] == number


def test_an_ask_is_kept_as_it_was_when_it_began() -> None:
    """Whoever asked may go on with the same list of messages."""
    kept: list[Any] = []
    messages = [user_message("hi")]

    class Growing(Steps):
        async def ask(self, ask: Ask) -> Any:
            messages.append(user_message("more"))
            async for piece in super().ask(ask):
                yield piece

    asyncio.run(taken(RecordingModel(Growing(GOOD), kept), Ask("chat", messages=messages)))
    assert len(kept[0]["ask"]["messages"]) == 1


def test_nothing_is_kept_that_redact_takes_out(tmp_path: Path) -> None:
    """It sees the whole record, before it is written and before the fingerprint is made."""

    def redact(record: dict[str, Any]) -> dict[str, Any]:
        return json.loads(json.dumps(record).replace("secret", "•"))

    path = tmp_path / "talk.jsonl"
    ask = Ask("chat", "the secret word", [user_message("secret")])
    model = RecordingModel(Steps([TextPiece("a secret"), STOP]), path, redact=redact)
    assert asyncio.run(taken(model, ask))[0] == TextPiece("a secret")
    assert "secret" not in path.read_text()
    assert lines(path)[0]["ask"]["system"] == "the • word"


def test_what_cannot_be_recorded_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is given all the same, and nothing is written that was not redacted."""

    def broken(record: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("no rule")

    path = tmp_path / "talk.jsonl"
    models = [
        RecordingModel(Steps(GOOD), path, redact=broken),
        RecordingModel(Steps(GOOD), path, max_bytes=100),
        RecordingModel(Steps(GOOD), path, redact=lambda record: None),  # pyright: ignore[reportArgumentType]
    ]
    for model in models:
        assert asyncio.run(taken(model)) == list(GOOD)
        assert (model.recorded, model.dropped) == (0, 1)
    odd = RecordingModel(Steps(GOOD), path)
    assert asyncio.run(taken(odd, Ask("chat", settings={"stop": object()}))) == list(GOOD)
    assert odd.dropped == 1
    assert not path.exists() or path.read_text() == ""
    assert {record.message for record in caplog.records} == {"a call of a model was not recorded"}
    assert any("would have more than 100 bytes" in str(one.exc_info) for one in caplog.records)


def test_a_recording_goes_on(tmp_path: Path) -> None:
    """Numbers too, also after a line that was not finished."""
    path = tmp_path / "talk.jsonl"
    for _ in range(2):
        asyncio.run(taken(RecordingModel(Steps(GOOD), path)))
    with path.open("a") as file:
        file.write('{"half')
    asyncio.run(taken(RecordingModel(Steps(GOOD), path)))
    text = path.read_text().splitlines()
    assert [json.loads(line)["number"] for line in (text[0], text[1], text[3])] == [0, 1, 3]
    assert text[2] == '{"half'


def test_who_has_read_the_end_may_stop_reading() -> None:
    """The answer was whole; one that was left before it was cancelled."""
    kept: list[Any] = []
    model = RecordingModel(Steps(GOOD), kept)

    async def read(until: Piece) -> None:
        stream = model.ask(STREAMED)
        async for piece in stream:
            if piece == until:
                break
        await stream.aclose()

    asyncio.run(read(STOP))
    asyncio.run(read(GOOD[0]))
    assert [(one["ended"], len(one["pieces"])) for one in kept] == [("stop", 4), ("cancelled", 1)]


def test_cancelled_at_any_moment_it_is_recorded() -> None:
    """As far as it came, and nothing is left open."""
    clock = FakeClock(auto=False)
    steps = Steps([0.1, TextPiece("he"), 0.1, STOP], clock=clock)
    kept: list[Any] = []
    model = RecordingModel(steps, kept, clock=clock)

    async def ask() -> None:
        await taken(model, STREAMED)

    def after() -> None:
        assert steps.open == 0

    rounds = asyncio.run(cancelled_everywhere(ask, after, clock))
    assert len(kept) >= rounds - 1
    assert {(one["ended"], len(one["pieces"])) for one in kept} == {
        ("cancelled", 0),
        ("cancelled", 1),
        ("stop", 2),
    }


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda folder: RecordingModel(7, []), "provider is int, which cannot be asked anything"),
        (lambda folder: RecordingModel(Steps(), 7), "target is a path or a list, not int"),
        (lambda folder: RecordingModel(Steps(), folder / "no" / "x"), "there is no folder {0}/no"),
        (lambda folder: RecordingModel(Steps(), folder), "{0} is a folder"),
        (
            lambda folder: RecordingModel(Steps(), [], redact=7),
            "redact is a function, not int",
        ),
        (
            lambda folder: RecordingModel(Steps(), [], max_bytes=0),
            "max_bytes is a whole number from 1, not 0",
        ),
    ],
)
def test_arguments_that_make_no_sense(tmp_path: Path, make: Any, problem: str) -> None:
    """Refused when it is made, not when the first answer is lost."""
    with pytest.raises(CallerError) as error:
        make(tmp_path)
    assert str(error.value) == "RecordingModel: " + problem.format(tmp_path)


def test_closing_closes_the_provider() -> None:
    """There is nothing of its own to close."""
    steps = Steps(GOOD)
    asyncio.run(RecordingModel(steps, []).close())
    assert steps.closed
    assert asyncio.run(taken(RecordingModel(steps, []), HI)) == list(GOOD)
