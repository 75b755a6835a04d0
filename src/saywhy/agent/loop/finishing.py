"""The end of a run: its answer, why it ended there, and the history kept in the store."""

from __future__ import annotations

from inspect import isawaitable
from typing import Any, Final

from saywhy.agent.loop.answers import beside
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.loop.history import conversation_of
from saywhy.agent.loop.slots import conversation_id
from saywhy.agent.loop.state import EMPTY, facts, glance, look
from saywhy.agent.slots.context import is_async
from saywhy.models.chat import text_of
from saywhy.values import raw, thaw

MAX_ITERATIONS: Final = "max_iterations"
DONE: Final = "final"


def final_stage(config: AgentLoopConfig) -> Any:
    """The stage `final`: the text of the model's last message is the answer."""

    def final(s: Any) -> Any:
        """Say what the answer is, and why the run ends."""
        result = _last_text(look(s, "messages", EMPTY))
        parsed: Any = raw(glance(s, "parsedResponse")) or {}
        done, most = int(look(s, "loopCount", 0)), int(look(s, "maxIterations", 0))
        cut = bool(parsed.get("hasToolCalls")) and done >= most
        s.result = result
        s.stopReason = MAX_ITERATIONS if cut else DONE
        if config.store is not None:
            s.memory_shouldCommit = True
        else:
            ended(s)
        return result

    return final


def answer_stage(s: Any) -> Any:
    """The end of a single call: what the model said is the answer."""
    result = _last_text(look(s, "messages", EMPTY))
    s.answer = result
    s.result = result
    s.stopReason = DONE
    ended(s)
    return result


def ended(s: Any) -> None:
    """Tell that the run is over."""
    done = int(glance(s, "loopCount", 0))
    s.emit("turn_end", {"content": glance(s, "result", ""), "iterations": done})


def _last_text(messages: Any) -> str:
    for message in reversed(messages.raw):
        if message.get("role") == "assistant":
            return text_of(message.get("content"))
    return ""


def commit_stage(config: AgentLoopConfig) -> Any:
    """The stage `commit-memory`: keeps the whole history, once the run has its answer."""
    store = config.store
    background = config.durability == "background"

    def given(s: Any) -> tuple[str, list[Any]] | None:
        if look(s, "memory_shouldCommit") is not True:
            return None
        return conversation_id(config, s), saved_history(s)

    def plain(s: Any) -> Any:
        due = given(s)
        if due is None:
            return None
        saved = store.save(*due)
        if isawaitable(saved):
            beside(saved, config.on_save_error)
        return _over(s, len(due[1]))

    async def awaited(s: Any) -> Any:
        due = given(s)
        if due is None:
            return None
        saved = store.save(*due)
        if isawaitable(saved):
            await saved
        return _over(s, len(due[1]))

    return plain if background or not is_async(store.save) else awaited


def _over(s: Any, messages: int) -> Any:
    facts(s)["saved"] = messages
    ended(s)
    s.stop("saved")
    return glance(s, "result", "")


KEPT = ("messages", "assembledSystem", "memory_storedHistory", "memory_preparedMessages")


def saved_history(s: Any) -> list[Any]:
    """What is kept: everything that was stored and said, the system message first."""
    return thaw(conversation_of({name: look(s, name) for name in KEPT}))
