"""The promises of a provider, one function each; the docstring is the promise.

See `check_provider`.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias, cast

from msgspec.structs import replace

from saywhy.errors import CallerError, ModelError
from saywhy.models.chat import assistant_message, tool_message
from saywhy.models.provider import (
    Ask,
    Piece,
    Provider,
    StopPiece,
    TextPiece,
    ToolCallPiece,
    UsagePiece,
    pieces_of,
    reply_of,
)
from saywhy.values import freeze

ROUNDS: Final = 12
"""In so many of the first rounds of the loop an ask is cancelled, each time in one more."""
MOMENTS: Final = 5
"""And at so many moments of the time that an answer takes."""
GRACE_SECONDS: Final = 1.0
"""So long may what was cancelled take to close its connections."""
REST_SECONDS: Final = 0.1
"""A probe that sees the same for so long sees a server that has noticed that an ask is over."""


@dataclass(frozen=True, slots=True)
class ProviderBench:
    """A way to make the provider, with what is needed to try it."""

    make: Callable[[], Any]
    asks: tuple[tuple[Ask, str], ...]
    tools: Ask | None
    failing: Callable[[], Any] | None
    usage: bool
    repeatable: bool
    probe: Callable[[], Any] | None
    seconds: float

    @asynccontextmanager
    async def provider(self, make: Callable[[], Any] | None = None) -> AsyncGenerator[Provider]:
        """A new one, closed afterwards."""
        made = (make or self.make)()
        provider: Any = await made if inspect.isawaitable(made) else made
        if isinstance(provider, type) or not isinstance(provider, Provider):
            raise CallerError(
                f"check_provider: make gave {type(provider).__name__}, which cannot be asked",
                hint="check_provider(lambda: MyProvider(…))",
            )
        try:
            yield provider
        finally:
            close: Any = getattr(provider, "close", None)
            closed = close() if close is not None else None
            if inspect.isawaitable(closed):
                await closed

    async def look(self) -> Any:
        """What the probe sees; None where there is no probe."""
        seen = self.probe() if self.probe else None
        return copy.deepcopy(await seen if inspect.isawaitable(seen) else seen)

    async def at_rest(self) -> Any:
        """What the probe sees once that no longer changes, or after a while of changing."""
        began = since = time.monotonic()
        seen = await self.look()
        while self.probe and time.monotonic() < min(since + REST_SECONDS, began + GRACE_SECONDS):
            await asyncio.sleep(0.005)
            now = await self.look()
            if now != seen:
                seen, since = now, time.monotonic()
        return seen


ProviderCheck: TypeAlias = Callable[[ProviderBench], Awaitable[None]]


async def _pieces(provider: Provider, ask: Ask) -> list[Piece]:
    """All pieces of an answer. An answer that is none breaks a promise."""
    try:
        async with aclosing(pieces_of(provider, ask)) as pieces:
            return [piece async for piece in pieces]
    except CallerError as error:
        raise AssertionError(f"asked {ask.user!r}: {error}") from error


def _text(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def _has(text: str, word: str) -> bool:
    return word.lower() in text.lower()


# ------------------------------------------------------------------ answers


async def answers_with_text(bench: ProviderBench) -> None:
    """An answer is made of pieces that are known, has text, and ends with its one StopPiece."""
    async with bench.provider() as provider:
        for ask, word in bench.asks:
            for asked in (ask, replace(ask, stream=True)):
                _check_answer(await _pieces(provider, asked), asked, word)


def _check_answer(pieces: list[Piece], ask: Ask, word: str) -> None:
    how = "streamed" if ask.stream else "asked for at once"
    where = f"asked {ask.user!r}, {how}, it"
    stops = [at for at, piece in enumerate(pieces) if isinstance(piece, StopPiece)]
    if not stops:
        raise AssertionError(f"{where} gave no StopPiece: who reads it takes it for half an answer")
    if len(stops) > 1:
        raise AssertionError(f"{where} gave {len(stops)} StopPieces")
    if stops[0] != len(pieces) - 1:
        raise AssertionError(f"{where} gave {type(pieces[-1]).__name__} after its StopPiece")
    text, stop = _text(pieces), pieces[-1]
    if not text.strip():
        raise AssertionError(f"{where} gave no text")
    if not _has(text, word):
        raise AssertionError(f"{where} gave {text[:200]!r}, in which there is no {word!r}")
    if isinstance(stop, StopPiece) and stop.reason != "stop":
        raise AssertionError(f"{where} stopped with the reason {stop.reason!r}, not 'stop'")


async def streams_the_same_text(bench: ProviderBench) -> None:
    """The pieces of a stream join to the text that is given at once."""
    if not bench.repeatable:
        return
    async with bench.provider() as provider:
        for ask, _ in bench.asks:
            whole = (await reply_of(provider, ask)).text
            streamed = _text(await _pieces(provider, replace(ask, stream=True)))
            if whole != streamed:
                raise AssertionError(
                    f"asked {ask.user!r} it gave {whole[:200]!r} at once and "
                    f"{streamed[:200]!r} in a stream"
                )


async def tells_its_usage(bench: ProviderBench) -> None:
    """Every answer comes with its tokens, those of the call so far and never fewer than before."""
    if not bench.usage:
        return
    async with bench.provider() as provider:
        ask = bench.asks[0][0]
        for asked in (ask, replace(ask, stream=True)):
            pieces = await _pieces(provider, asked)
            told = [piece for piece in pieces if isinstance(piece, UsagePiece)]
            if not told:
                raise AssertionError(
                    "it gave no UsagePiece; usage=False where its vendor does not tell"
                )
            for one, later in pairwise(told):
                if later.tokens_in < one.tokens_in or later.tokens_out < one.tokens_out:
                    raise AssertionError(f"it gave {one} and then {later}")
            if told[-1].tokens_in <= 0 or told[-1].tokens_out <= 0:
                raise AssertionError(f"it gave {told[-1]} for an answer with text")


async def calls_tools(bench: ProviderBench) -> None:
    """A call names a tool that was offered, has an id of its own, and takes a result back."""
    if bench.tools is None:
        return
    async with bench.provider() as provider:
        for ask in (bench.tools, replace(bench.tools, stream=True)):
            pieces = await _pieces(provider, ask)
            calls = [piece for piece in pieces if isinstance(piece, ToolCallPiece)]
            _check_calls(ask, calls, pieces)
            history = [
                *ask.messages,
                assistant_message(_text(pieces), [call.as_call() for call in calls]),
                *(tool_message("It costs 80.", call.id) for call in calls),
            ]
            after = await _pieces(provider, replace(ask, messages=history))
            if not any(isinstance(piece, TextPiece | ToolCallPiece) for piece in after):
                raise AssertionError("given the results of its calls, it said nothing")


def _check_calls(ask: Ask, calls: list[ToolCallPiece], pieces: list[Piece]) -> None:
    if not calls:
        raise AssertionError(f"asked {ask.user!r} it called no tool; tools=None where it cannot")
    offered = [str(tool["name"]) for tool in ask.tools or ()]
    ids = [call.id for call in calls]
    if not all(ids) or len(set(ids)) < len(ids):
        raise AssertionError(f"the ids of its calls are {ids}")
    for call in calls:
        if call.name not in offered:
            raise AssertionError(f"it called {call.name!r}; offered were {', '.join(offered)}")
        arguments: Any = call.arguments
        if not isinstance(arguments, Mapping):
            raise AssertionError(
                f"the arguments of its call are {arguments!r}; what is no object belongs in `raw`"
            )
    stop = pieces[-1]
    if not isinstance(stop, StopPiece) or stop.reason != "tool_calls":
        raise AssertionError(f"it calls a tool and ends with {stop}, not the reason 'tool_calls'")


async def leaves_the_ask_alone(bench: ProviderBench) -> None:
    """What is asked belongs to others: it may be frozen, and is not changed where it is not."""
    async with bench.provider() as provider:
        for ask in [bench.asks[0][0], *([bench.tools] if bench.tools else [])]:
            plain = replace(
                ask,
                messages=copy.deepcopy(list(ask.messages)),
                settings=dict(ask.settings),
                tools=None if ask.tools is None else copy.deepcopy(list(ask.tools)),
            )
            before = copy.deepcopy(plain)
            await _pieces(provider, plain)
            if plain != before:
                raise AssertionError(f"it changed {before} to {plain}")
            frozen = replace(
                plain, **{name: freeze(getattr(plain, name)) for name in ("messages", "tools")}
            )
            try:
                await _pieces(provider, replace(frozen, settings=freeze(plain.settings)))
            except Exception as error:
                raise AssertionError(f"of frozen messages it said {error!r}") from error


# ------------------------------------------------------------------ many at once, and none


async def keeps_asks_apart(bench: ProviderBench) -> None:
    """Asks that are on their way at once each get their own answer."""
    async with bench.provider() as provider:
        many = [*bench.asks, *((replace(ask, stream=True), word) for ask, word in bench.asks)] * 2
        found = await asyncio.gather(*[_pieces(provider, ask) for ask, _ in many])
        words = {word for _, word in bench.asks}
        for (ask, word), pieces in zip(many, found, strict=True):
            text = _text(pieces)
            others = sorted(other for other in words - {word} if _has(text, other))
            if not _has(text, word) or others:
                raise AssertionError(f"among others, {ask.user!r} was answered {text[:200]!r}")


async def lets_go_when_cancelled(bench: ProviderBench) -> None:
    """A cancelled ask ends at once and leaves no task and no connection; the next is answered."""
    ask = replace(bench.asks[0][0], stream=True)
    async with bench.provider() as provider:
        began = time.monotonic()
        await _pieces(provider, ask)  # what it opens once and keeps is open from now on
        took = time.monotonic() - began
        seen = await bench.at_rest()
        tasks = asyncio.all_tasks()
        for rounds in range(ROUNDS):
            await _cancelled(provider, ask, f"after {rounds} rounds of the loop", rounds, 0.0)
            await _nothing_left(bench, seen, tasks, f"cancelled after {rounds} rounds of the loop")
        for moment in range(1, MOMENTS + 1):
            seconds = took * moment / (MOMENTS + 1)
            await _cancelled(provider, ask, f"after {seconds:.3g} seconds", 0, seconds)
            await _nothing_left(bench, seen, tasks, f"cancelled after {seconds:.3g} seconds")
        try:
            await asyncio.wait_for(_pieces(provider, ask), bench.seconds / 2)
        except Exception as error:
            raise AssertionError(f"after cancelled asks the next one ended in {error!r}") from error


async def _cancelled(provider: Provider, ask: Ask, when: str, rounds: int, seconds: float) -> None:
    task = asyncio.ensure_future(_pieces(provider, ask))
    await asyncio.sleep(seconds)
    for _ in range(rounds):
        await asyncio.sleep(0)
    if not task.cancel():
        task.result()  # it had ended by itself
        return
    done, _ = await asyncio.wait({task}, timeout=GRACE_SECONDS)
    if not done:
        task.cancel()
        raise AssertionError(f"cancelled {when} it went on for more than {GRACE_SECONDS:g} seconds")
    if not task.cancelled():
        what = f"raised {task.exception()!r}" if task.exception() else "gave its answer"
        raise AssertionError(f"cancelled {when} it {what} all the same")


async def _nothing_left(
    bench: ProviderBench, seen: Any, tasks: set[asyncio.Task[Any]], when: str
) -> None:
    until = time.monotonic() + GRACE_SECONDS
    while True:
        left, now = asyncio.all_tasks() - tasks, await bench.look()
        if not left and now == seen:
            return
        if time.monotonic() >= until:
            what = f"the task {next(iter(left)).get_coro()}" if left else ""
            raise AssertionError(
                f"{when} it leaves {what}"
                if left
                else f"{when} the probe saw {now!r}, and {seen!r} before"
            )
        await asyncio.sleep(0.005)


async def lets_go_of_a_stream_that_is_left(bench: ProviderBench) -> None:
    """A stream that is closed after its first piece leaves no task and no connection."""
    ask = replace(bench.asks[0][0], stream=True)
    async with bench.provider() as provider:
        await _pieces(provider, ask)
        seen, tasks = await bench.at_rest(), asyncio.all_tasks()
        async with aclosing(pieces_of(provider, ask)) as pieces:
            with suppress(StopAsyncIteration):
                await anext(pieces)
        await _nothing_left(bench, seen, tasks, "closed after the first piece")


async def raises_its_errors(bench: ProviderBench) -> None:
    """A failure is raised as a `ModelError` that says what it was; it is no answer."""
    if bench.failing is None:
        return
    ask = bench.asks[0][0]
    async with bench.provider(bench.failing) as provider:
        for asked in (ask, replace(ask, stream=True)):
            try:
                pieces = await _pieces(provider, asked)
            except ModelError as error:
                if not str(error).strip():
                    raise AssertionError("its error says nothing") from error
                continue
            except AssertionError:
                raise
            except Exception as error:
                raise AssertionError(
                    f"it raised {error!r}, of which nobody knows whether it may pass; "
                    "raise ModelError(…, code=…) from it"
                ) from error
            raise AssertionError(f"it was to fail and gave {pieces}")


PROVIDER_CHECKS: Final[tuple[ProviderCheck, ...]] = cast(
    "tuple[ProviderCheck, ...]",
    (
        answers_with_text,
        streams_the_same_text,
        tells_its_usage,
        calls_tools,
        leaves_the_ask_alone,
        keeps_asks_apart,
        lets_go_when_cancelled,
        lets_go_of_a_stream_that_is_left,
        raises_its_errors,
    ),
)
