"""Conditions, paths and recall of the planted faults: what files write as data, as functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saywhy import Chunk
from saywhy.agent.slots.injection import Piece


def path_in(value: Any, path: str) -> Any:
    """What stands at a path of names with dots; raises where there is nothing."""
    for name in path.split("."):
        value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    return value


def condition(spec: Mapping[str, Any]) -> Callable[[Any], bool]:
    """All of it must hold: `{"content.status": "denied", "input.amount": {"over": 100}}`."""

    def holds(context: Any) -> bool:
        return all(_fits(path_in(context, path), wanted) for path, wanted in spec.items())

    return holds


def _fits(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    [(how, bound)] = wanted.items()
    if how == "not":
        return bool(value != bound)
    if how == "over":
        return bool(value > bound)
    if how == "under":
        return bool(value < bound)
    if how == "is_true":
        return bool(value) is bound
    return bool(bound in value)  # holds


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def recalled(notes: Sequence[Mapping[str, Any]]) -> Callable[[Any], Any]:
    """Recalls the note that shares most words with what the user says."""

    def recall(context: Any) -> Any:
        said = _words(context.message)
        best = max(notes, key=lambda note: len(said & _words(note["text"])))
        if not said & _words(best["text"]):
            return None
        return Piece(best["text"], {"upstream_ref": best["id"]})

    return recall


class _Shelf:
    """A retriever that counts the words a text shares with the query."""

    def __init__(self, texts: Sequence[Mapping[str, Any]]) -> None:
        self._texts = texts

    def retrieve(self, query: str, /, *, top_k: int = 1, min_score: float = 0) -> list[Chunk]:
        """The texts with most words in common."""
        wanted = _words(query)
        found = [
            Chunk(one["text"], len(wanted & _words(one["text"])) / len(wanted), one["id"])
            for one in self._texts
        ]
        found.sort(key=lambda chunk: -(chunk.score or 0))
        return [chunk for chunk in found if (chunk.score or 0) > min_score][:top_k]


def retriever(texts: Sequence[Mapping[str, Any]]) -> Any:
    """What finds texts of a case."""
    return _Shelf(texts)
