"""Anything that is put into a slot on purpose: a fact, steering, a skill, memory, something found.

These are one concept. Each says which slot it enters, when (`when`, a predicate of the context) and
with what content; they differ in nothing but these three and the name of their source. What an
agent-level instruction adds arrives through the state instead (`promptInjections`), and is recorded
beside them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine
from typing import Any, Final, Literal, TypeAlias

import msgspec

from saywhy.agent.instructions.fence import fence
from saywhy.agent.slots.awaiting import all_of
from saywhy.agent.slots.context import SlotContext, is_async
from saywhy.agent.slots.record import SlotName
from saywhy.errors import CallerError, OutsideError, SaywhyError
from saywhy.stores.retriever import Chunk, Retriever, is_async_retriever

Lifetime: TypeAlias = Literal["iteration", "run"]

THREW: Final = "predicate-threw"
NOT_NOW: Final = "predicate-false"
EMPTY: Final = "nothing-to-say"

FOREIGN: Final = ("rag", "memory")
"""Sources whose texts others may have written: they must not speak in the name of instructions."""

CONTEXT_HEAD: Final = "Use the following context to answer the user's question:"
"""Stands above what was retrieved; pinned by the case `rag-basic`."""


class Piece(msgspec.Struct, frozen=True):
    """What an injection comes to: a text, and what else its record is to say."""

    text: str
    evidence: dict[str, Any] = {}
    """Fields of an `InjectionRecord`: `retrieval_score`, `threshold`, `upstream_ref`, …"""


Content: TypeAlias = str | Callable[[SlotContext], Any]
"""A text, or a function of the context that gives text, a `Piece` or None; it may be async."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A piece for a slot: which, when, and what.

    In the slot `messages` it is a message of the given `role`, after the system messages in front.
    """

    id: str
    slot: SlotName
    content: Content
    source: str = "custom"
    reason: str = ""
    when: Callable[[Any], Any] | None = None
    role: Literal["system", "user"] = "system"
    expires_after: Lifetime = "iteration"
    """How long its content holds: with `run` it is not asked for again in later rounds."""
    section_tag: str | None = None

    @property
    def is_async(self) -> bool:
        """Whether its content has to be awaited."""
        return callable(self.content) and is_async(self.content)

    @property
    def mark(self) -> str:
        """What a message of the history is marked with that came from it."""
        return f"{self.source}:{self.id}"


def fact(text: Content, *, id: str = "fact", **more: Any) -> Injection:
    """Something the model is to know, in the system prompt."""
    return Injection(id, "system-prompt", text, **_told("fact", "a fact for the model", more))


def steering(text: Content, *, id: str = "steering", **more: Any) -> Injection:
    """How the model is to behave, in the system prompt."""
    return Injection(id, "system-prompt", text, **_told("steering", "how to behave", more))


def skill(
    id: str, text: Content, when: Callable[[Any], Any] | None = None, **more: Any
) -> Injection:
    """Know-how for the cases in which `when` holds, in the system prompt."""
    told = _told("skill", f"skill {id} applies", {"when": when, **more})
    return Injection(id, "system-prompt", text, **told)


def memory(recall: Content, *, id: str = "memory", **more: Any) -> Injection:
    """What is remembered of before, as a system message before the conversation."""
    told = _told("memory", "remembered from before", {"expires_after": "run", **more})
    return Injection(id, "messages", recall, **told)


def rag(
    retriever: Retriever,
    *,
    id: str = "rag",
    top_k: int | None = None,
    min_score: float | None = None,
    **more: Any,
) -> Injection:
    """What a retriever finds for the user's words, as a system message before the conversation.

    Nothing found, no message. It is asked once a run.
    """
    content = _Retrieval(retriever, top_k, min_score)
    told = _told("rag", "found for the user's words", {"expires_after": "run", **more})
    return Injection(id, "messages", content, **told)


def _told(source: str, reason: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"source": source, "reason": reason, **more}


class _Retrieval:
    """The content of a retrieval: asks the retriever for the user's words."""

    def __init__(self, retriever: Retriever, top_k: int | None, min_score: float | None) -> None:
        self._retriever = retriever
        limits = {"top_k": top_k, "min_score": min_score}
        self._limits: dict[str, Any] = {
            name: limit for name, limit in limits.items() if limit is not None
        }
        self.is_async = is_async_retriever(retriever)

    def __call__(self, context: SlotContext) -> Any:
        found: Any = self._retriever.retrieve(context.message, **self._limits)
        return self._later(found) if self.is_async else self._told(found)

    async def _later(self, found: Any) -> Piece | None:
        return self._told(await found)

    def _told(self, chunks: Sequence[Chunk]) -> Piece | None:
        if not chunks:
            return None
        check_chunks(chunks)
        refs = [one.id for one in chunks if one.id]
        evidence = {
            "retrieval_score": chunks[0].score,
            "threshold": self._limits.get("min_score"),
            "rank_position": 1,
            "upstream_ref": ", ".join(refs) or None,
        }
        return Piece(context_text(chunks), evidence)


def check_chunks(found: Iterable[Any]) -> None:
    """Raise `CallerError` where a retriever found something else than chunks."""
    for one in found:
        if not isinstance(one, Chunk):
            raise CallerError(
                f"the retriever found {type(one).__name__} instead of Chunk",
                hint="make each a Chunk(content, score=…), from saywhy",
            )


def context_text(chunks: Sequence[Chunk]) -> str:
    """What was found, numbered, as a text for the model. Marks of instructions in it are fenced."""
    listed = [f"[{number}] {fence(one.content)}" for number, one in enumerate(chunks, 1)]
    return "\n\n".join([CONTEXT_HEAD, *listed])


# ------------------------------------------------------------------ evaluating


class Active(msgspec.Struct, frozen=True):
    """An injection that applies, and what it comes to."""

    injection: Injection
    piece: Piece


class Evaluated(msgspec.Struct, frozen=True):
    """Which injections apply now, and why the others do not."""

    active: tuple[Active, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """Id and reason."""


NOTHING: Final = Evaluated()


def evaluate_injections(injections: Iterable[Injection], context: SlotContext) -> Evaluated:
    """What applies at this moment, where no content has to be awaited."""
    asked, skipped = _asked(injections, context)
    return _settled(asked, [_content(one, context) for one in asked], skipped)


async def evaluate_injections_later(
    injections: Iterable[Injection], context: SlotContext
) -> Evaluated:
    """What applies at this moment; contents are awaited side by side."""
    asked, skipped = _asked(injections, context)
    given = await all_of([_awaited(one, _content(one, context)) for one in asked])
    return _settled(asked, given, skipped)


def _asked(
    injections: Iterable[Injection], context: SlotContext
) -> tuple[list[Injection], list[tuple[str, str]]]:
    """Those whose predicate holds; one that raises does not apply, whatever else it says."""
    asked: list[Injection] = []
    skipped: list[tuple[str, str]] = []
    for one in injections:
        try:
            holds = one.when is None or bool(one.when(context))
        except Exception as error:
            skipped.append((one.id, f"{THREW}: {type(error).__name__}"))
            continue
        if holds:
            asked.append(one)
        else:
            skipped.append((one.id, NOT_NOW))
    return asked, skipped


def _content(one: Injection, context: SlotContext) -> Any | Awaitable[Any]:
    if not callable(one.content):
        return one.content
    try:
        return one.content(context)
    except Exception as error:
        raise _failed(one, error) from error


def _awaited(one: Injection, content: Any) -> Any:
    """Content that is to be awaited, with the name of what it is for in its error."""

    async def later() -> Any:
        try:
            return await content
        except Exception as error:
            raise _failed(one, error) from error

    return later() if isawaitable(content) else content


def _failed(one: Injection, error: Exception) -> SaywhyError:
    if isinstance(error, SaywhyError):
        return error
    return OutsideError(f'injection "{one.id}" failed: {type(error).__name__}: {error}')


def _settled(
    asked: Sequence[Injection], given: Sequence[Any], skipped: list[tuple[str, str]]
) -> Evaluated:
    active: list[Active] = []
    for one, content in zip(asked, given, strict=True):
        piece = _piece_of(one, content)
        if piece is not None and one.source in FOREIGN:
            piece = Piece(fence(piece.text), piece.evidence)
        if piece is None or not piece.text:
            skipped.append((one.id, EMPTY))
        else:
            active.append(Active(one, piece))
    return Evaluated(tuple(active), tuple(skipped))


def _piece_of(one: Injection, content: Any) -> Piece | None:
    if content is None or isinstance(content, Piece):
        return content
    if isinstance(content, str):
        return Piece(content)
    if isawaitable(content):
        if iscoroutine(content):
            content.close()
        hint = "write its content with `async def`"
    else:
        hint = "return text, a Piece, or None"
    raise CallerError(
        f"the content of injection {one.id} gave {type(content).__name__} instead of text",
        hint=hint,
    )
