"""Promise: a provider that breaks a promise is caught, whichever it is; a good one passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from saywhy.errors import CallerError, ModelError
from saywhy.models.chat import text_of
from saywhy.models.provider import (
    Ask,
    ModelReply,
    Piece,
    StopPiece,
    TextPiece,
    ToolCallPiece,
    UsagePiece,
)
from saywhy.models.resilience.budgeted import with_budget
from saywhy.models.resilience.circuit_breaker import with_circuit_breaker
from saywhy.models.resilience.fallback import resilient, with_fallback
from saywhy.models.resilience.rate_limit import with_rate_limit
from saywhy.models.resilience.retries import with_retries
from saywhy.models.resilience.timeout import with_timeout
from saywhy.testing.check_provider import ASKS, check_provider

OPEN: set[int] = set()
"""Connections of all providers here."""
NUMBERS = count(1)


class Fine:
    """Keeps all promises: says again what it was told, and calls the tool that it is offered."""

    down = False

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        connection = self.connect()
        try:
            async for piece in self.pieces(ask):
                yield piece
        finally:
            self.let_go(connection)

    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        await asyncio.sleep(0)
        if self.down:
            raise self.error()
        if ask.tools and ask.messages[-1]["role"] == "user":
            for call in self.calls(ask):
                yield call
            yield UsagePiece(9, 3)
            yield StopPiece("tool_calls", "fine-1")
            return
        for text in self.texts(ask):
            await asyncio.sleep(0)
            yield TextPiece(text)
        for piece in self.end():
            yield piece

    def connect(self) -> int:
        number = next(NUMBERS)
        OPEN.add(number)
        return number

    def let_go(self, connection: int) -> None:
        OPEN.discard(connection)

    def error(self) -> Exception:
        return ModelError("no such key", code="auth")

    def texts(self, ask: Ask) -> list[str]:
        said = text_of(ask.messages[-1]["content"])
        return [said[at : at + 7] for at in range(0, len(said), 7)]

    def calls(self, ask: Ask) -> list[ToolCallPiece]:
        return [ToolCallPiece(f"c{next(NUMBERS)}", "look_up", {"article": "A7"})]

    def end(self) -> list[Piece]:
        return [UsagePiece(9, 0), UsagePiece(9, 3), StopPiece("stop", "fine-1")]


def broken(kind: type[Fine]) -> Fine:
    """One that cannot answer."""
    made = kind()
    made.down = True
    return made


def check(make: Callable[[], Any], **options: Any) -> None:
    OPEN.clear()
    given: dict[str, Any] = {
        "repeatable": True,
        "probe": lambda: len(OPEN),
        "seconds": 20,
        **options,
    }
    asyncio.run(check_provider(make, **given))


def caught(make: Callable[[], Any], **options: Any) -> tuple[str, str]:
    """The promise that was broken, and how."""
    with pytest.raises(AssertionError) as error:
        check(make, **options)
    first, _, rest = str(error.value).partition("\n    ")
    return first.partition(":")[0], rest


def test_one_that_keeps_all() -> None:
    """Every promise is tried, and nothing is left open."""
    check(Fine, failing=lambda: broken(Fine))
    assert not OPEN


def test_a_plain_coroutine_keeps_them_too() -> None:
    """A simple provider gives a whole reply."""

    class Plain:
        async def ask(self, ask: Ask) -> ModelReply:
            await asyncio.sleep(0)
            return ModelReply(ask.user, "plain", 5, 5)

    check(Plain, tools=None)


@pytest.mark.parametrize(
    "wrap",
    [
        with_retries,
        lambda one: with_fallback([one, Fine()]),
        lambda one: resilient([one]),
        lambda one: with_circuit_breaker(one, 50),
        lambda one: with_timeout(one, 20),
        lambda one: with_rate_limit(one, requests=10_000, per_seconds=1),
        lambda one: with_budget(one, calls=10_000, seconds=100),
    ],
)
def test_wrappers_keep_what_is_promised(wrap: Callable[[Any], Any]) -> None:
    """Around a provider that keeps all promises there is one that keeps all."""
    check(lambda: wrap(Fine()))


# ------------------------------------------------------------------ planted faults


class Mute(Fine):
    def texts(self, ask: Ask) -> list[str]:
        return [" "]


class Deaf(Fine):
    def texts(self, ask: Ask) -> list[str]:
        return ["something else"]


class Endless(Fine):
    def end(self) -> list[Piece]:
        return super().end()[:-1]


class Twice(Fine):
    def end(self) -> list[Piece]:
        return [*super().end(), StopPiece()]


class After(Fine):
    def end(self) -> list[Piece]:
        return [StopPiece(), UsagePiece(1, 1)]


class Strange(Fine):
    def end(self) -> Any:
        return ["the end"]


class CutOff(Fine):
    def end(self) -> list[Piece]:
        return [UsagePiece(1, 1), StopPiece("length")]


class Shortened(Fine):
    def texts(self, ask: Ask) -> list[str]:
        return super().texts(ask)[:-1] if ask.stream else super().texts(ask)


class Unpaid(Fine):
    def end(self) -> list[Piece]:
        return [StopPiece()]


class Additive(Fine):
    def end(self) -> list[Piece]:
        return [UsagePiece(9, 0), UsagePiece(0, 3), StopPiece()]


class Zero(Fine):
    def end(self) -> list[Piece]:
        return [UsagePiece(9, 0), StopPiece()]


class NoTools(Fine):
    def calls(self, ask: Ask) -> list[ToolCallPiece]:
        return []


class SameIds(Fine):
    def calls(self, ask: Ask) -> list[ToolCallPiece]:
        return [ToolCallPiece("c", "look_up", {})] * 2


class OtherTool(Fine):
    def calls(self, ask: Ask) -> list[ToolCallPiece]:
        return [ToolCallPiece("c", "search", {})]


class TextArguments(Fine):
    def calls(self, ask: Ask) -> list[ToolCallPiece]:
        return [ToolCallPiece("c", "look_up", "{}")]  # pyright: ignore[reportArgumentType]


class NoResults(Fine):
    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        if ask.messages[-1]["role"] == "tool":
            raise ModelError("what is a tool message?", code="invalid_request")
        async for piece in super().pieces(ask):
            yield piece


class Appends(Fine):
    def texts(self, ask: Ask) -> list[str]:
        found = super().texts(ask)
        if isinstance(ask.messages, list):
            ask.messages.append({"role": "assistant", "content": "".join(found)})
        return found


class OnlyLists(Fine):
    def texts(self, ask: Ask) -> list[str]:
        if not isinstance(ask.messages, list):
            raise IndexError("where are they?")
        return super().texts(ask)


class Mixes(Fine):
    newest: Ask

    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        self.newest = ask
        await asyncio.sleep(0)
        async for piece in super().pieces(ask):
            yield piece

    def texts(self, ask: Ask) -> list[str]:
        return super().texts(self.newest)


class Stubborn(Fine):
    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
        async for piece in super().pieces(ask):
            yield piece


class Waits(Fine):
    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            await asyncio.sleep(30)
        async for piece in super().pieces(ask):
            yield piece


class LeavesTasks(Fine):
    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        beside = asyncio.ensure_future(asyncio.sleep(30))
        async for piece in super().pieces(ask):
            yield piece
        beside.cancel()


class LeavesOpen(Fine):
    def let_go(self, connection: int) -> None:
        task = asyncio.current_task()
        if task is not None and not task.cancelling():
            super().let_go(connection)


class Locked(Fine):
    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        await self.lock.acquire()
        async for piece in super().pieces(ask):
            yield piece
        self.lock.release()


class Forgets:
    """Gives a stream that has no way to be closed."""

    async def ask(self, ask: Ask) -> Any:
        inner = Fine().ask(ask)

        class Stream:
            def __aiter__(self) -> Any:
                return self

            async def __anext__(self) -> Piece:
                try:
                    return await anext(inner)
                except asyncio.CancelledError:
                    await inner.aclose()
                    raise

        return Stream()


FAULTS: list[tuple[Callable[[], Any], str, str]] = [
    (Mute, "answers_with_text", "asked for at once, it gave no text"),
    (Deaf, "answers_with_text", "it gave 'something else', in which there is no 'pear'"),
    (Endless, "answers_with_text", "gave no StopPiece: who reads it takes it for half an answer"),
    (Twice, "answers_with_text", "gave 2 StopPieces"),
    (After, "answers_with_text", "gave UsagePiece after its StopPiece"),
    (Strange, "answers_with_text", "Strange.ask gave str, which is no answer"),
    (CutOff, "answers_with_text", "stopped with the reason 'length', not 'stop'"),
    (Shortened, "streams_the_same_text", "nothing else.' at once and "),
    (
        Unpaid,
        "tells_its_usage",
        "it gave no UsagePiece; usage=False where its vendor does not tell",
    ),
    (Additive, "tells_its_usage", "it gave UsagePiece(tokens_in=9, tokens_out=0) and then Usage"),
    (Zero, "tells_its_usage", "it gave UsagePiece(tokens_in=9, tokens_out=0) for an answer with"),
    (NoTools, "calls_tools", "it called no tool; tools=None where it cannot"),
    (SameIds, "calls_tools", "the ids of its calls are ['c', 'c']"),
    (OtherTool, "calls_tools", "it called 'search'; offered were look_up"),
    (TextArguments, "calls_tools", "are '{}'; what is no object belongs in `raw`"),
    (NoResults, "calls_tools", "it ended in ModelError('what is a tool message?')"),
    (Appends, "leaves_the_ask_alone", "it changed Ask("),
    (OnlyLists, "leaves_the_ask_alone", "of frozen messages it said IndexError("),
    (Mixes, "keeps_asks_apart", "among others, 'Answer with the word "),
    (Stubborn, "lets_go_when_cancelled", "of the loop it gave its answer all the same"),
    (Waits, "lets_go_when_cancelled", "of the loop it went on for more than 1 seconds"),
    (
        LeavesTasks,
        "lets_go_when_cancelled",
        "of the loop it leaves the task <coroutine object sleep",
    ),
    (LeavesOpen, "lets_go_when_cancelled", "of the loop the probe saw 1, and 0 before"),
    (Locked, "lets_go_when_cancelled", "after cancelled asks the next one ended in TimeoutError()"),
    (Forgets, "lets_go_of_a_stream_that_is_left", "closed after the first piece the probe saw 1"),
]


@pytest.mark.parametrize(("make", "promise", "how"), FAULTS, ids=[str(one[0]) for one in FAULTS])
def test_a_planted_fault(make: Callable[[], Any], promise: str, how: str) -> None:
    """Each is found by the promise that it breaks, and by none before."""
    options: dict[str, Any] = {"seconds": 2} if make is Locked else {}
    found, text = caught(make, **options)
    assert found == promise
    assert how in text


class Polite(Fine):
    """Says in its answer that there is none."""

    async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        self.down = False
        async for piece in super().pieces(ask):
            yield piece


class Raw(Fine):
    def error(self) -> Exception:
        return ConnectionError("refused")


class Silent(Fine):
    def error(self) -> Exception:
        return ModelError("", code="server")


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        (Polite, "it was to fail and gave [TextPiece("),
        (Raw, "it raised ConnectionError('refused'), of which nobody knows whether it may pass"),
        (Silent, "its error says nothing"),
    ],
)
def test_a_failure_that_is_hidden(kind: type[Fine], how: str) -> None:
    """What is to fail must raise, and say what it was."""
    promise, text = caught(kind, failing=lambda: broken(kind))
    assert promise == "raises_its_errors"
    assert text.startswith(how)


def test_the_promise_is_in_the_message() -> None:
    """So that nobody has to look it up."""
    with pytest.raises(AssertionError) as error:
        check(Mute)
    assert str(error.value) == (
        "answers_with_text: An answer is made of pieces that are known, has text, and ends with "
        "its one StopPiece.\n    asked 'Answer with the word pear and nothing else.', asked for at "
        "once, it gave no text"
    )


def test_one_that_never_answers() -> None:
    """It is given up after its time."""

    class Never(Fine):
        async def pieces(self, ask: Ask) -> AsyncGenerator[Piece, None]:
            await asyncio.sleep(99)
            yield StopPiece()

    assert caught(Never, seconds=0.1) == ("answers_with_text", "it took more than 0.1 seconds")


def test_what_does_not_apply_is_not_tried() -> None:
    """A provider without tools, without usage, of which nothing is repeatable."""

    class Little(Unpaid, NoTools):
        pass

    check(Little, tools=None, usage=False, repeatable=False)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: check_provider(Fine()), "make is a function, not Fine"),  # pyright: ignore[reportArgumentType]
        (
            lambda: check_provider(Fine, failing=7),  # pyright: ignore[reportArgumentType]
            "failing is a function, not int",
        ),
        (lambda: check_provider(lambda: 7), "make gave int, which cannot be asked"),
        (lambda: check_provider(lambda: Fine), "make gave type, which cannot be asked"),
        (
            lambda: check_provider(Fine, asks=ASKS[:1]),
            "asks has less than two, so nobody would see whether answers mix",
        ),
    ],
)
def test_arguments_that_make_no_sense(call: Callable[[], Any], problem: str) -> None:
    """Each is named."""
    with pytest.raises(CallerError) as error:
        asyncio.run(call())
    assert str(error.value) == f"check_provider: {problem}"


def test_an_async_factory_and_closing() -> None:
    """A provider may be made by a coroutine, and each is closed."""
    made: list[Any] = []

    class Closing(Fine):
        closed = False

        async def close(self) -> None:
            self.closed = True

    async def make() -> Closing:
        made.append(Closing())
        return made[-1]

    check(make)
    assert made
    assert all(one.closed for one in made)
