"""What finds texts for words: the protocol, and what is found.

How a search works is each retriever's own; `fts` is the one that comes along. Anything with a
method `retrieve` will do, `async def` or not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, Protocol, TypeAlias

import msgspec

MAX_TOP_K = 100
"""So many are found at most, whatever is asked for."""


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text to be found, under an id of its own."""

    id: str
    content: str
    metadata: Any = None
    """The host's own JSON data, given back with what is found."""


class Chunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something found."""

    content: str
    score: float | None = None
    """The higher the better; what a number means is the retriever's to say."""
    id: str = ""
    metadata: Mapping[str, Any] | None = None
    matched: tuple[str, ...] = ()
    """The words of the query that stand in it, where the retriever can tell."""


Found: TypeAlias = Sequence[Chunk]


class Retriever(Protocol):
    """Finds texts. Limits that are not given are the retriever's own."""

    def retrieve(
        self, query: str, /, *, top_k: int = ..., min_score: float = ...
    ) -> Found | Awaitable[Found]:
        """The best first; at most `top_k`, none below `min_score`."""
        ...


def is_async_retriever(retriever: Any) -> bool:
    """Whether what it finds has to be awaited."""
    own = getattr(retriever, "is_async", None)
    return own if isinstance(own, bool) else iscoroutinefunction(retriever.retrieve)
