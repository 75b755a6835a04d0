"""Who looks on while a turn of a conversation runs: what its agents do, as events, as it happens.

It is for the screen and is not kept; a listener that raises is logged, and the turn goes on. Where
nobody looks on there is no screen, and nothing is made for one.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from saywhy.agent.events import AgentEvent, ErrorEvent, LLMStart, TurnEnd, TurnStart, event_of
from saywhy.chart.language import Language
from saywhy.runtime.agents.dispatch import Backlog
from saywhy.runtime.machinery import Machinery

T = TypeVar("T")

OnEvent = Callable[[AgentEvent], Any]


class _Listener:
    """A function as a recorder with one hook, for the same care to be taken of it."""

    def __init__(self, on_event: OnEvent) -> None:
        self.on_event = on_event


class Screen:
    """What one turn shows to one listener."""

    def __init__(self, on_event: OnEvent) -> None:
        self._backlog = Backlog(_Listener(on_event), live=True)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._asked = 0

    def over(self, machinery: Machinery) -> Machinery:
        """The machinery of an engine, for a turn that is looked at."""
        if machinery.agents is None:
            return machinery
        stages = copy.copy(machinery.agents)
        stages.emit = self.signal
        own, known = stages.language(), machinery.language
        language = Language({**known.steps, **own.steps}, {**known.close, **own.close})
        return replace(machinery, agents=stages, language=language, emit=self.signal)

    def signal(self, kind: str, data: Any = None) -> None:
        """Something that an agent's chart sends. The turn's own beginning and end are told here."""
        event = event_of(kind, data)
        if event is None or isinstance(event, TurnStart | TurnEnd):
            return
        if isinstance(event, LLMStart):
            self._asked += 1
        self.show(event)

    def show(self, event: AgentEvent) -> None:
        """Tell the listener, on the event loop also where flows run in a thread."""
        if threading.get_ident() == self._thread:
            self._backlog.tell("on_event", event)
        else:
            self._loop.call_soon_threadsafe(self._backlog.tell, "on_event", event)

    def end(self, response: str | None) -> None:
        """The turn is over."""
        self.show(TurnEnd(response or "", self._asked))

    async def settled(self) -> None:
        """Come back once the listener has dealt with everything."""
        await asyncio.sleep(0)  # what threads told is on its way
        await self._backlog.settled()


async def shown(
    on_event: OnEvent | None,
    words: str,
    run: Callable[[Screen | None], Awaitable[T]],
    response: Callable[[T], str | None],
) -> T:
    """What `run` gives, shown to `on_event` from its beginning to its end, whatever that is."""
    if on_event is None:
        return await run(None)
    screen = Screen(on_event)
    screen.show(TurnStart(words))
    try:
        given = await run(screen)
    except BaseException as error:
        screen.show(ErrorEvent("turn", str(error)))
        raise
    else:
        screen.end(response(given))
        return given
    finally:
        await screen.settled()


__all__ = ["OnEvent", "Screen", "shown"]
