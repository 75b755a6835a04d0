"""The call of the model, and what its answer is taken for.

The request stands in the state; what is asked says only where. A receipt of it is committed with
the question. An answer that makes no sense has a defined meaning: calls without an id get one, what
is no JSON object is told to the model as wrong arguments, and no answer at all is an empty one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, Final, cast

from saywhy.agent.loop.assembling import assemble_messages, may_mark
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.loop.request import ask_from
from saywhy.agent.loop.state import EMPTY, append, glance, key_of, listener, look, write
from saywhy.agent.receipts.log import KEY
from saywhy.agent.receipts.minters import Minters
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.view import sight_of
from saywhy.errors import ModelError
from saywhy.models.chat import text_of
from saywhy.models.provider import CHAT
from saywhy.values import UNDEFINED, FrozenDict, dumps, raw

REQUEST = ("assembledSystem", "assembledMessages", "messages", "toolDescriptions", "settings")
"""What a request is made of."""

NAMELESS: Final = "unnamed"
"""What a call of nothing is called: no vendor takes a conversation with one that has no name."""


class Calling:
    """The two halves of the stage; the second takes the answer."""

    def __init__(self, config: AgentLoopConfig, minters: Minters, *, parses: bool) -> None:
        self.parses = parses
        """Whether the answer is read here, and not in a stage of its own."""
        self.minters = minters
        self.bares = not parses and may_mark(config)

    def first(self, s: Any) -> Need:
        """Ask the model."""
        sight = sight_of(s)
        scope, owner = sight.scope, sight.owner
        if self.bares:
            assemble_messages(s, marked=True)
        number = int(glance(s, "calls", 0)) + 1
        done = int(look(s, "loopCount", 0))
        held = self._held(s)
        write(s, "calls", number)
        if scope.state.bases:
            for name in REQUEST:
                if name in held:
                    scope.touch((owner, name))
        else:
            scope.reads += [key for name, key in _request_keys(owner) if name in held]
        run_id = held.get("runId")
        if run_id:
            step = f"{scope.node.id}#{number}"
            self._mint(s, held, run_id, number, done, step)
        if sight.emit is not None:
            sight.emit("llm_start", {"iteration": done + 1})
        return Need(
            "model",
            CHAT,
            FrozenDict({"call": number, "iteration": done, "scope": owner}),
            "reads",
        )

    def _held(self, s: Any) -> Mapping[str, Any]:
        """The variables that the request is made of."""
        sight = sight_of(s)
        scope, owner = sight.scope, sight.owner
        variables = scope.state.scopes.get(owner)
        if variables is not None and not scope.state.bases and not self.bares:
            return variables
        names = (*REQUEST, "streaming", "runId", KEY)
        found = {name: glance(s, name, UNDEFINED) for name in names}
        return {name: value for name, value in found.items() if value is not UNDEFINED}

    def _mint(
        self, s: Any, held: Mapping[str, Any], run_id: str, number: int, done: int, step: str
    ) -> None:
        entry = self.minters.entry(
            ask_from(held),
            run_id,
            held.get(KEY, EMPTY).raw,
            call=number,
            iteration=done,
            step_id=step,
        )
        if entry is not None:
            append(s, KEY, FrozenDict(entry))  # made for this place alone: no copy

    def second(self, s: Any, answer: Answer) -> None:
        """Take the answer. Raises `ModelError` where there is none."""
        if answer.error is not None:
            raise _failure(s, answer)
        value: Any = raw(answer.value)
        told: dict[str, Any] = value if isinstance(value, dict) else {"content": value}
        done, number = int(look(s, "loopCount", 0)), int(glance(s, "calls", 0))
        call: dict[str, Any] = {"iteration": done + 1}
        for name in ("model", "usage", "finish_reason"):
            if told.get(name):
                call[name] = told[name]
        call["latencyMs"] = latency = answer.facts.get("latencyMs")
        write(s, "llmCall", FrozenDict(call))
        calls = calls_of(told.get("tool_calls"), number)
        show = listener(s)
        if show is not None:
            ended = {"iteration": done + 1, "tool_call_count": len(calls)}
            said = {"content": _content(told), "model": told.get("model")}
            show("llm_end", {**ended, **said, "latency_ms": latency})
        if self.parses:
            take(s, told, calls)
        else:
            write(s, "adapterRawResponse", FrozenDict(told))


@lru_cache(maxsize=64)
def _request_keys(owner: str) -> tuple[tuple[str, tuple[str, str]], ...]:
    """Where in this scope the parts of a request stand, by name."""
    return tuple((name, key_of(owner, name)) for name in REQUEST)


def parse(s: Any) -> None:
    """Read the answer that was kept: the message it is, and the calls it wants made."""
    told: Any = raw(look(s, "adapterRawResponse"))
    take(s, told, calls_of(told.get("tool_calls"), int(glance(s, "calls", 0))))


def take(s: Any, told: Mapping[str, Any], calls: list[Any]) -> None:
    """Put the model's message behind the others."""
    content = _content(told)
    parsed = {"hasToolCalls": bool(calls), "toolCalls": calls, "content": content}
    write(s, "parsedResponse", FrozenDict(parsed))
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    append(s, "messages", FrozenDict(message))


def _content(told: Mapping[str, Any]) -> str:
    return text_of(told.get("content"))


def calls_of(given: Any, number: int) -> list[Any]:
    """The calls in an answer, each with an id of its own, a name, and an object of arguments.

    `number` is that of the model call, for the ids of calls that have none.
    """
    listed: Any = raw(given)
    if not isinstance(listed, list | tuple):
        return []
    taken: set[str] = set()
    calls: list[Any] = []
    for at, one in enumerate(cast("Sequence[Any]", listed), 1):
        call: Any = raw(one)
        made = call if _is_sound(call, taken) else _mended(call, taken, f"call-{number}-{at}")
        taken.add(made["id"])
        calls.append(made)
    # Where nothing had to be mended, it is the very list of the answer, as all that is frozen.
    return given if type(given) is list and all(map(is_, calls, given)) else calls


def _is_sound(call: Any, taken: set[str]) -> bool:
    if type(call) is not dict:
        return False
    own, name, arguments = call.get("id"), call.get("name"), call.get("arguments")
    sound = type(own) is str and own and own not in taken
    return bool(sound and type(name) is str and name and type(arguments) is dict)


def _mended(call: Any, taken: set[str], free: str) -> dict[str, Any]:
    fields: dict[str, Any] = dict(call) if isinstance(call, Mapping) else {}
    own, name, arguments = fields.get("id"), fields.get("name"), fields.get("arguments")
    if not isinstance(own, str) or not own or own in taken:
        own = free
        while own in taken:
            own += "+"
    if not isinstance(name, str) or not name:
        name = NAMELESS
    made: dict[str, Any] = {**fields, "id": own, "name": name}
    made["arguments"] = arguments if isinstance(arguments, dict) else {}
    if arguments is not None and not isinstance(arguments, dict):
        text = arguments if isinstance(arguments, str) else dumps(arguments).decode()
        made["raw"] = made.get("raw") or text or '""'
    return made


def _failure(s: Any, answer: Answer) -> ModelError:
    """The error of the run whose model gave no answer."""
    text, told = str(answer.error), answer.facts
    code = str(told.get("code") or "unknown")
    message = text if code == "unknown" else f"LLM call failed: [{code}] {text}"
    s.emit("error", {"phase": "llm", "message": message})
    return ModelError(
        message,
        code=cast("Any", code),
        provider=str(told.get("provider") or ""),
        status_code=told.get("status"),
        retry_after=told.get("retryAfter"),
    )
