"""What the leaves for vendors have in common: reading calls, naming them, and letting go in time.

How each vendor writes a request or an answer stands in the leaf's own `…_wire` module.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from saywhy.errors import SHOWN_REPLY, ModelError, SaywhyError
from saywhy.models.chat import text_of
from saywhy.models.failures import cut_off, failure_of, told_by
from saywhy.models.provider import Ask, ToolCallPiece

T = TypeVar("T")

EARLIER: Final = "(What was said earlier is left out.)"
"""Stands in for the user where a conversation that was cut begins with an answer."""
ANY_INPUT: Final = {"type": "object", "properties": {}}
"""The schema of a tool that has none: vendors want an object."""


class CallIds:
    """The ids of the calls in one answer: the vendor's own, or new ones where those are no use.

    Each is given once in the conversation, so that a result is the answer to one call only.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._given: set[str] = set()
        self._known: set[str] | None = None

    def take(self, offered: object) -> str:
        """The id that was offered, or a new one where it is missing or stands for another call."""
        name = offered if isinstance(offered, str) else ""
        if not name or name in self._given or name in self._before():
            number = len(self._given) + len(self._before()) + 1
            while (name := f"call-{number}") in self._given or name in self._before():
                number += 1
        self._given.add(name)
        return name

    def _before(self) -> set[str]:
        if self._known is None:
            self._known = {
                str(call.get("id"))
                for message in self._ask.messages
                for call in message.get("tool_calls") or ()
            }
        return self._known


class ToolNames:
    """Names of tools as vendors take them, and back: letters, digits, `_` and `-`, 64 at most.

    A tool may be called `shop.find` or what its author likes, and a model may call one that does
    not exist by any name; a server would refuse the whole conversation for it.
    """

    def __init__(self, tools: Iterable[Mapping[str, Any]] | None = None) -> None:
        self._safe: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for tool in tools or ():
            own = str(tool["name"])
            safe = base = _clean(own)
            number = 2
            while safe in self._own:
                ending = f"_{number}"
                safe, number = base[: _LONGEST_NAME - len(ending)] + ending, number + 1
            self._safe[own], self._own[safe] = safe, own

    def out(self, name: object) -> str:
        """The name as it is sent."""
        own = str(name)
        return self._safe.get(own) or _clean(own)

    def back(self, name: object) -> str:
        """The name that the tool has here."""
        given = name if isinstance(name, str) else ""
        return self._own.get(given, given)


_LONGEST_NAME: Final = 64


def _clean(name: str) -> str:
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST_NAME] or "unnamed"
    return safe if safe[0].isalpha() or safe[0] == "_" else f"_{safe}"[:_LONGEST_NAME]


def system_of(ask: Ask) -> str | None:
    """The system text, with those that stand in the conversation below it."""
    inner = [text_of(one.get("content")) for one in ask.messages if one["role"] == "system"]
    if not any(inner):
        return ask.system
    return "\n\n".join(text for text in (ask.system, *inner) if text)


def result_text(content: Any) -> str:
    """What came of a call, for a server that takes it as text alone: images are mentioned."""
    if isinstance(content, str):
        return content
    return "".join(
        text_of([block]) if block.get("type") == "text" else f"[{block.get('type')}]"
        for block in content
    )


def call_from_text(
    call_id: str, name: object, arguments: object, vendor: Mapping[str, Any] | None = None
) -> ToolCallPiece:
    """A call whose arguments came as text. What is no JSON object is kept as it was written."""
    text = arguments if isinstance(arguments, str) else ""
    found: Any = {}
    raw = ""
    if isinstance(arguments, Mapping):
        found = dict(arguments)
    elif text.strip():
        found = _read(text)
        if not isinstance(found, dict):
            found, raw = {}, text
    return ToolCallPiece(call_id, name if isinstance(name, str) else "", found, raw, vendor)


def text_in(found: object) -> str:
    """Text that a server gave; empty for null. Raises `TypeError` for what is no text."""
    if found is None or isinstance(found, str):
        return found or ""
    raise TypeError(f"{type(found).__name__} in place of text")


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


async def pumped(opening: Callable[[], Awaitable[AsyncIterator[T]]]) -> AsyncGenerator[T, None]:
    """The items of a vendor's stream. Closed early, it leaves no connection and no task behind.

    The stream is read in a task of its own that only ever waits for the network, so that stopping
    it always reaches the package there, and the package lets go of its connection. A generator of
    the package that rests between two items would be left to the garbage collector.
    """
    queue: asyncio.Queue[Any] = asyncio.Queue()

    async def pump() -> None:
        async for item in await opening():
            queue.put_nowait(item)

    task = asyncio.ensure_future(pump())
    task.add_done_callback(lambda _: queue.put_nowait(_END))
    try:
        while (item := await queue.get()) is not _END:
            yield item
        task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


_END: Final = object()


@contextmanager
def as_model_errors(
    who: str, provider: str, translate: Callable[[Exception], ModelError | None]
) -> Generator[None, None, None]:
    """Raise what a vendor's package raises as `ModelError`; `translate` knows its own errors."""
    try:
        yield
    except SaywhyError:
        raise
    except Exception as error:
        raise translate(error) or _other(error, who, provider) from error


_UNREADABLE: Final = (ValueError, TypeError, AttributeError, LookupError)
"""JSON and UTF-8 that are none, and JSON of another shape than the vendor's."""


def _other(error: Exception, who: str, provider: str) -> ModelError:
    """An error that is not of the vendor's package, but perhaps of the one below it."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in kinds:
        return timed_out(who, provider)
    if kinds & {"TransportError", "StreamError"}:
        return cut_off(who, provider, error)
    if isinstance(error, _UNREADABLE):
        return nonsense(who, provider, told_by(error))
    known = failure_of(error, provider)
    return ModelError(f"{who}: {known}", code=known.code, provider=provider)


def timed_out(who: str, provider: str) -> ModelError:
    """The error where nothing came for too long."""
    return ModelError(f"{who} did not answer in time", code="timeout", provider=provider)


def unreachable(who: str, provider: str, error: BaseException) -> ModelError:
    """The error where no connection came about, or it was lost before the answer began."""
    why = told_by(error.__cause__ or error)
    return ModelError(f"{who} cannot be reached: {why}", code="network", provider=provider)


def nonsense(who: str, provider: str, why: str) -> ModelError:
    """The error for an answer that cannot be read."""
    shown = " ".join(why.split())
    shown = shown if len(shown) <= SHOWN_REPLY else shown[:SHOWN_REPLY] + " …"
    return ModelError(
        f"{who} gave an answer that cannot be read: {shown}", code="server", provider=provider
    )


def no_answer(who: str, provider: str, why: str = "") -> ModelError:
    """The error for an answer with nothing in it."""
    return ModelError(
        f"{who} gave no answer" + (f": {why}" if why else ""), code="server", provider=provider
    )


def refused(who: str, provider: str, why: str = "") -> ModelError:
    """The error where the model will not answer; asking again changes nothing."""
    return ModelError(
        f"{who} refused to answer" + (f": {why}" if why else ""), code="unknown", provider=provider
    )


def too_short(who: str, provider: str, size: int | None) -> ModelError:
    """The error for a question whose answer was cut off: half a JSON text is none."""
    tokens = f" at {size} tokens" if size else ""
    return ModelError(
        f"the answer of {who} was cut off{tokens}",
        code="unknown",
        provider=provider,
        hint="a larger reserved_reply_size",
    )
