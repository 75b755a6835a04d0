"""Promise: the same asks get the same answers again; another ask is told what is different."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, ModelError, RecordingMismatch
from saywhy.models.chat import assistant_message, user_message
from saywhy.models.provider import Ask, TextPiece, ToolCallPiece, reply_of
from saywhy.models.recorder import RecordingModel
from saywhy.models.replay import ReplayModel
from saywhy.models.resilience.fallback import with_fallback
from saywhy.testing.clock import FakeClock
from tests.models.resilience.steps import (
    GOOD,
    STOP,
    Steps,
    cancelled_everywhere,
    taken,
    taken_until_error,
    text_of,
)


def said(text: str, **parts: Any) -> Ask:
    return Ask("chat", messages=[user_message(text)], **parts)


def recorded(*scripts: Any, asks: list[Ask], target: Any = None, **options: Any) -> list[Any]:
    """A recording of asks, one after the other."""
    kept: Any = [] if target is None else target
    clock = FakeClock()
    model = RecordingModel(Steps(*scripts, clock=clock), kept, clock=clock, **options)
    for ask in asks:
        asyncio.run(taken_until_error(model, ask))
    return kept


def test_pieces_and_errors_come_again(tmp_path: Path) -> None:
    """From a file, in another program: streams, calls of tools, failures in the middle."""
    call = ToolCallPiece("1", "look", {"a": [1, {"b": None}]})
    down = ModelError("down", code="server", retry_after=3.0)
    scripts = [GOOD, [TextPiece("hm"), call, STOP], [TextPiece("he"), down]]
    asks = [said("a", stream=True), said("b"), said("c", stream=True)]
    path = tmp_path / "talk.jsonl"
    recorded(*scripts, asks=asks, target=path)
    model = ReplayModel(path)
    assert asyncio.run(taken(model, asks[0])) == list(GOOD)
    assert asyncio.run(taken(model, asks[1])) == [TextPiece("hm"), call, STOP]
    with pytest.raises(ModelError) as error:
        asyncio.run(taken(model, asks[2]))
    assert (str(error.value), error.value.code, error.value.retry_after) == ("down", "server", 3.0)
    assert (model.left, len(model.asked)) == (0, 3)


def test_whether_a_stream_is_wanted_makes_no_difference() -> None:
    """An answer that was recorded at once can be streamed, and the other way round."""
    kept = recorded(GOOD, asks=[said("a"), said("a", stream=True)])
    model = ReplayModel(kept)
    assert asyncio.run(taken(model, said("a", stream=True))) == list(GOOD)
    assert asyncio.run(reply_of(model, said("a"))).text == "hello"


def test_another_ask_is_told_what_is_different() -> None:
    """And the recorded one still waits for the right ask."""
    history = [user_message("hi"), assistant_message("yes"), user_message("the old one")]
    kept = recorded(GOOD, asks=[said("first"), Ask("chat", messages=history)])
    model = ReplayModel(kept)
    asyncio.run(taken(model, said("first")))
    history[2] = user_message("the new one")
    with pytest.raises(RecordingMismatch) as error:
        asyncio.run(taken(model, Ask("chat", messages=history)))
    assert error.value.part == "messages[2].content"
    assert str(error.value) == (
        "ask 2 is not the same as the recording, first at messages[2].content: "
        'recorded was "the old one", asked is "the new one"'
    )
    history[2] = user_message("the old one")
    assert text_of(asyncio.run(taken(model, Ask("chat", messages=history)))) == "hello"


def test_one_ask_too_many() -> None:
    """There is nothing to answer it with."""
    model = ReplayModel(recorded(GOOD, asks=[said("a")]))
    asyncio.run(taken(model, said("a")))
    with pytest.raises(RecordingMismatch) as error:
        asyncio.run(taken(model, said("a")))
    assert str(error.value) == "ask 2 (chat) has no answer: the recording is used up"
    assert error.value.part == ""


def test_a_difference_is_no_failure_of_a_model() -> None:
    """Nobody else is asked because a test is not what it was."""
    model = with_fallback([ReplayModel(recorded(GOOD, asks=[said("a")])), Steps(GOOD)])
    with pytest.raises(RecordingMismatch):
        asyncio.run(taken(model, said("b")))


def test_by_fingerprint_in_any_order() -> None:
    """Each record answers once, the same ask twice by the first and then the second record."""
    scripts = [[TextPiece(text), STOP] for text in ("one", "two", "three")]
    kept = recorded(*scripts, asks=[said("a"), said("b"), said("a")])
    model = ReplayModel(kept, match="fingerprint")
    given = [text_of(asyncio.run(taken(model, said(text)))) for text in ("b", "a", "a")]
    assert given == ["two", "one", "three"]


def test_by_fingerprint_the_nearest_is_named() -> None:
    """The one that has most in common with what is asked."""
    near = [user_message("hi"), assistant_message("yes"), user_message("80")]
    asks = [said("x"), Ask("chat", messages=near), said("y")]
    model = ReplayModel(recorded(GOOD, asks=asks), match="fingerprint")
    with pytest.raises(RecordingMismatch) as error:
        asyncio.run(taken(model, Ask("chat", messages=[*near[:2], user_message("81")])))
    assert str(error.value) == (
        "ask 1 is not the same as any left in the recording, first at messages[2].content: "
        'recorded was "80", asked is "81"'
    )
    assert model.left == 3


def test_by_fingerprint_a_number_is_a_number() -> None:
    """0 in place of 0.0 is the same ask."""
    kept = recorded(GOOD, asks=[said("a", settings={"temperature": 0.0})])
    model = ReplayModel(kept, match="fingerprint")
    assert text_of(asyncio.run(taken(model, said("a", settings={"temperature": 0})))) == "hello"


def test_a_recording_may_be_edited() -> None:
    """The fingerprint in it is for people; it is worked out anew."""
    kept = recorded(GOOD, asks=[said("a")])
    kept[0]["ask"]["messages"][0]["content"] = "b"
    for match in ("order", "fingerprint"):
        model = ReplayModel(kept, match=match)
        assert text_of(asyncio.run(taken(model, said("b")))) == "hello"


def test_what_was_redacted_is_compared_as_redacted() -> None:
    """By the same function."""

    def redact(record: dict[str, Any]) -> dict[str, Any]:
        return json.loads(json.dumps(record).replace("4111", "••••"))

    kept = recorded(GOOD, asks=[said("card 4111")], redact=redact)
    model = ReplayModel(kept, redact=redact)
    assert text_of(asyncio.run(taken(model, said("card 4111")))) == "hello"
    with pytest.raises(RecordingMismatch, match=r"messages\[0\]\.content"):
        asyncio.run(taken(ReplayModel(kept), said("card 4111")))


def test_asks_at_the_same_time() -> None:
    """Each has its own answer, in the order in which they begin."""
    asks = [said(str(at)) for at in range(6)]
    kept = recorded(*([TextPiece(str(at)), STOP] for at in range(6)), asks=asks)
    model = ReplayModel(kept)

    async def run() -> list[str]:
        return [
            text_of(pieces) for pieces in await asyncio.gather(*[taken(model, ask) for ask in asks])
        ]

    assert asyncio.run(run()) == ["0", "1", "2", "3", "4", "5"]


def test_with_its_timing() -> None:
    """Pieces come as long after the ask as they did; without it at once."""
    kept = recorded([2, TextPiece("a"), 3, STOP], asks=[said("a")])
    for timing, expected in ((True, [2, 5]), (False, [0, 0])):
        clock = FakeClock()
        model, began = ReplayModel(kept, timing=timing, clock=clock), clock.now()

        async def times(model: ReplayModel = model, clock: FakeClock = clock) -> list[float]:
            return [clock.now() async for _ in model.ask(said("a"))]

        assert [(at - began) / 1000 for at in asyncio.run(times())] == expected


def test_a_call_that_was_cancelled_ends_where_it_did() -> None:
    """Nobody knows what would have come; it neither hangs nor looks whole."""
    kept = recorded(GOOD, asks=[said("a")])
    kept[0].update(ended="cancelled", pieces=kept[0]["pieces"][:1])
    with pytest.raises(ModelError, match="the recorded call was cancelled at this point") as error:
        asyncio.run(taken(ReplayModel(kept), said("a")))
    assert error.value.code == "aborted"


def test_cancelled_at_any_moment_it_lets_go() -> None:
    """Also while it waits for the time of a piece."""
    kept = recorded([0.1, TextPiece("a"), 0.1, STOP], asks=[said("a")])
    clock = FakeClock(auto=False)

    async def ask() -> None:
        await taken(ReplayModel(kept, timing=True, clock=clock), said("a"))

    def after() -> None:
        assert clock.sleeping == 0

    assert asyncio.run(cancelled_everywhere(ask, after, clock)) > 5


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: ReplayModel(7), "recording is a path or a list, not int"),
        (lambda: ReplayModel([], match="best"), 'match is "order" or "fingerprint", not \'best\''),
        (lambda: ReplayModel([], redact=7), "redact is a function, not int"),
        (lambda: ReplayModel([], max_bytes=0), "max_bytes is a whole number from 1, not 0"),
    ],
)
def test_arguments_that_make_no_sense(make: Any, problem: str) -> None:
    """Each is named."""
    with pytest.raises(CallerError) as error:
        make()
    assert str(error.value) == f"ReplayModel: {problem}"
