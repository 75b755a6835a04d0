"""Masking by what is known in the turn that runs, for those whom only a host knows.

A recorder of models is handed to an engine as its model and knows of no conversation. What it is
asked is asked inside a turn, and the turn knows what is sensitive in it. An answer comes in pieces,
and what none of them holds they may hold together: so they are looked at as one text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from itertools import groupby
from typing import Any, Final

from saywhy.trace.masking.redact import MARK, Redactor
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.trace.masking.veil import veil, veil_at
from saywhy.values import raw

CURRENT: Final[ContextVar[Redactor | None]] = ContextVar("saywhy_redactor", default=None)
"""Of the turn that runs, where something in it may be sensitive."""

_SPOKEN: Final = frozenset(["text", "thinking"])
"""Kinds of pieces that are parts of a text."""


def masked_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of a model without what is known to be sensitive in the turn that asks it.

    `RecordingModel(…, redact=masked_record)` writes such records. Of an answer nothing is kept but
    its form where something sensitive stood in what was asked, and no arguments that their tool
    declares sensitive. Else, what a model finds out itself, and is only known to be sensitive
    afterwards, is in them; outside a turn all is as it was.
    """
    redactor = CURRENT.get()
    if redactor is None:
        return dict(record)
    masked = _Masked(redactor)
    told: dict[str, Any] = {}
    for name, part in record.items():
        told[name] = masked.field(name, part) if name != "pieces" else part
    handed = redactor.taint is not None and told.get("ask") is not record.get("ask")
    if "pieces" in record:
        told["pieces"] = list(masked.pieces(raw(record["pieces"]), whole=handed))
    if handed and isinstance(told.get("error"), Mapping):
        error: Mapping[str, Any] = told["error"]
        told["error"] = {
            name: veil(one, MARK) if name in ("message", "hint") else one
            for name, one in error.items()
        }
    return {name: raw(one) for name, one in told.items()}


class _Masked(Rewriter):
    """Whole texts, however long: a record that is cut could not be replayed."""

    __slots__ = ("redactor",)

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def text(self, text: str) -> str:
        return self.redactor.text(text)

    def pieces(self, pieces: Sequence[Any], *, whole: bool) -> Iterator[Any]:
        """The pieces of an answer; `whole`: all that it says is sensitive."""
        for kind, group in groupby(pieces, lambda piece: piece.get("type")):
            if kind in _SPOKEN:
                yield from self._spoken(list(group), whole=whole)
                continue
            for piece in group:
                yield self._wanted(piece, whole=whole) if kind == "tool_call" else self.value(piece)

    def _spoken(self, group: list[Any], *, whole: bool) -> list[Any]:
        text = "".join(str(piece.get("text") or "") for piece in group)
        shown = veil(text, MARK) if whole else self.text(text)
        if shown == text:
            return group
        apart = [self.text(str(piece.get("text") or "")) for piece in group]
        if not whole and "".join(apart) == shown:
            return [{**piece, "text": one} for piece, one in zip(group, apart, strict=True)]
        return [{**group[0], "text": shown}]

    def _wanted(self, piece: Mapping[str, Any], *, whole: bool) -> Any:
        """A call that the model wants; its name and what its vendor wants back stay."""
        tool, policy = str(piece.get("name")), self.redactor.policy
        told = dict(piece)
        if whole or tool in policy.tools:
            names: Any = raw(piece.get("arguments")) or {}
            told["arguments"] = {name: veil(one, MARK) for name, one in names.items()}
            told["raw"] = veil(piece.get("raw"), MARK)
        else:
            spots = policy.declared.arguments.get(tool, ())
            told["arguments"] = raw(self.value(veil_at(piece.get("arguments"), spots, MARK)))
            told["raw"] = veil(piece.get("raw"), MARK) if spots else self.value(piece.get("raw"))
        return {name: one for name, one in told.items() if one is not None}


__all__ = ["CURRENT", "masked_record"]
