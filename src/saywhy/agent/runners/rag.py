"""A model that is asked once, with what a retriever found for the user's words before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.agent.loop.state import look, write
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import CONVERSATION, OF_THE_RUN, Part, begin
from saywhy.agent.slots.injection import check_chunks, context_text
from saywhy.agent.slots.record import INJECTED
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.errors import Problem
from saywhy.models.chat import system_message
from saywhy.stores.retriever import Chunk, is_async_retriever
from saywhy.values import UNDEFINED, FrozenDict, raw

MARK: Final = "rag:rag"
"""Who put the message there."""


def rag_problems(retriever: Any, top_k: Any, min_score: Any) -> Iterator[Problem]:
    """What is wrong with a retrieval like this."""
    if not callable(getattr(retriever, "retrieve", None)):
        kind = type(retriever).__name__
        hint = "it has a method retrieve(query, *, top_k, min_score)"
        yield Problem(f"{kind} is no retriever", hint=hint)
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
        yield Problem(f"top_k is {top_k!r}", hint="write a whole number from 1")
    if min_score is not None and (
        isinstance(min_score, bool) or not isinstance(min_score, int | float)
    ):
        yield Problem(f"min_score is {min_score!r}", hint="write a number")


def rag_chart(
    retriever: Any, limits: Mapping[str, Any], call: Part, *, name: str, id: str
) -> Built:
    """The chart of a retrieval and the call that follows it."""
    chart = Builder(name, id=id, describe="Looks something up, then asks the model", own=OWN)
    chart.stage(id="seed", name="Seed")(begin())
    describe = "Find what fits the user's words"
    chart.stage(id="retrieve", name="Retrieve", describe=describe)(_retrieve(retriever, limits))
    describe = "Put what was found before the user's words"
    chart.stage(id="augment-prompt", name="AugmentPrompt", describe=describe)(augment)
    chart.mount(call.built(id), id=call.id, inputs=_given, outputs=_outputs)
    return chart.build()


def _retrieve(retriever: Any, limits: Mapping[str, Any]) -> Callable[[Any], Any]:
    if is_async_retriever(retriever):

        async def awaited(s: Any) -> None:
            query = str(look(s, "userMessage", ""))
            _keep(s, query, await retriever.retrieve(query, **limits))

        return awaited

    def plain(s: Any) -> None:
        query = str(look(s, "userMessage", ""))
        _keep(s, query, retriever.retrieve(query, **limits))

    return plain


def _keep(s: Any, query: str, found: Sequence[Chunk]) -> None:
    check_chunks(found or ())
    s.query = query
    s.chunks = [msgspec.to_builtins(one) for one in found or ()]


def augment(s: Any) -> None:
    """Nothing found, no message."""
    chunks = chunks_in({"chunks": look(s, "chunks")})
    if chunks:
        message = {**system_message(context_text(chunks)), INJECTED: MARK}
        write(s, "context", FrozenDict(message))


def chunks_in(state: Mapping[str, Any]) -> tuple[Chunk, ...]:
    """What was found, from the state of a run."""
    found: Any = raw(state.get("chunks")) or ()
    return tuple(msgspec.convert(raw(one), Chunk) for one in found)


def _given(s: Any) -> Mapping[str, Any]:
    context = look(s, "context")
    args: dict[str, Any] = {
        "message": look(s, "input", ""),
        "turnNumber": look(s, "turnNumber", 1),
        "history": [] if context is None else [context],
    }
    for name in OF_THE_RUN:
        value = look(s, name)
        if value:
            args[name] = value
    return args


def _outputs(s: Any) -> Mapping[str, Any]:
    names = ("result", "stopReason", "loopCount", *CONVERSATION)
    found = {name: look(s, name, UNDEFINED) for name in names}
    return {name: value for name, value in found.items() if value is not UNDEFINED}
