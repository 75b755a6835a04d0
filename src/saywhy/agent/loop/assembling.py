"""The request, put together where it can be seen: system prompt and messages.

Both are shared with the state they come from. What a request is made of is read by `request`.
"""

from __future__ import annotations

from typing import Any

from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.loop.history import without_prompts
from saywhy.agent.loop.state import EMPTY, glance, look, write
from saywhy.agent.slots.history import bare_message
from saywhy.chart.merge import put
from saywhy.chart.view import sight_of
from saywhy.values import FrozenList


def may_mark(config: AgentLoopConfig) -> bool:
    """Whether messages of this loop may bear a mark of who put them in."""
    return bool(config.injections) or config.message_strategy is not None


def assemble(s: Any) -> FrozenList:
    """Say which system prompt counts; those of before go, what a slot put in stays.

    Without a system prompt the messages are left alone.
    """
    system = look(s, "systemPrompt", "")
    messages: FrozenList = look(s, "messages", EMPTY)
    if system and glance(s, "looseSystem"):
        kept = without_prompts(messages)
        if kept is not messages:
            write(s, "messages", kept)
            messages = kept
        s.looseSystem = False
    s.assembledSystem = system
    return messages


def assemble_messages(s: Any, *, marked: bool = False) -> None:
    """The same, with the messages beside it as they are handed over: without marks."""
    messages = assemble(s)
    if marked:
        items = messages.raw
        bare = [bare_message(one) for one in items]
        if any(one is not other for one, other in zip(bare, items, strict=True)):
            messages = FrozenList(bare, owned=True)
    sight = sight_of(s)
    scope, key = sight.scope, (sight.owner, "assembledMessages")
    before = scope.peek(key)
    if before is not messages:
        put(scope, key, before, messages)  # noted as what was added, where it has only grown
