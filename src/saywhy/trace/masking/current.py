"""Masking by what is known in the turn that runs, for those whom only a host knows.

A recorder of models is handed to an engine as its model and knows of no conversation. What it is
asked is asked inside a turn, and the turn knows what is sensitive in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final

from saywhy.trace.masking.redact import Redactor
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.values import raw

CURRENT: Final[ContextVar[Redactor | None]] = ContextVar("saywhy_redactor", default=None)
"""Of the turn that runs, where something in it may be sensitive."""


def masked_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of a model without what is known to be sensitive in the turn that asks it.

    `RecordingModel(…, redact=masked_record)` writes such records. What a model finds out itself,
    and is only known to be sensitive afterwards, is in them; outside a turn all is as it was.
    """
    redactor = CURRENT.get()
    if redactor is None:
        return dict(record)
    return dict(raw(_Masked(redactor).value(dict(record))))


class _Masked(Rewriter):
    """Whole texts, however long: a record that is cut could not be replayed."""

    __slots__ = ("redactor",)

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def text(self, text: str) -> str:
        return self.redactor.text(text)
