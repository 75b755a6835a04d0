"""What a check of the record came to: how much holds, or the first thing that does not."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, Final

import msgspec

from saywhy.errors import CallerError
from saywhy.runtime.audit.lines import Counts

_DIGITS: Final = 64


def given_away(digest: str | bytes) -> str:
    """A digest that somebody was given, as it is compared.

    Raises `CallerError` for what is none.
    """
    text = digest.hex() if isinstance(digest, bytes) else str(digest).strip().lower()
    if len(text) != _DIGITS or not set(text) <= set("0123456789abcdef"):
        raise CallerError(
            f"{text!r} is no digest of the record",
            hint=f"a digest has {_DIGITS} hexadecimal digits; `saywhy audit anchor` gives one. "
            "(The bundle in a file is checked by `saywhy audit verify FILE`)",
        )
    return text


def all_given_away(known: Iterable[str | bytes] | str | bytes) -> list[str]:
    """The digests that somebody was given; one alone may stand without a list."""
    several = [known] if isinstance(known, str | bytes | PathLike) else known
    return [given_away(one) for one in several]


class Report(Counts, kw_only=True):
    """What was verified up to the end, or up to `line`, where `wrong` says what does not hold.

    `receipts` agree with themselves; `parts` of requests are what their receipts say.
    `receipts_not_comparable` follow something erased or masked, or are salted by the host.
    """

    charts: int = 0
    receipts: int = 0
    receipts_not_comparable: int = 0
    parts: int = 0
    anchors: int = 0
    seal: str = ""
    line: int = 0
    """Of a bundle: which line does not hold. 0 where no line can be named."""
    wrong: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.wrong

    def to_json(self) -> dict[str, Any]:
        """The report for other programs."""
        return {"ok": self.ok, **msgspec.structs.asdict(self)}

    def text(self) -> str:
        """The report in words."""
        if not self.ok:
            place = f"line {self.line}: " if self.line else ""
            return f"NOT VERIFIED: {place}{self.wrong}"
        lines = [
            f"verified: {_count(self.turns, 'turn')} in {_count(self.chains, 'chain')}, "
            f"{_count(self.commits, 'commit')}, {_count(self.messages, 'message')}, "
            f"{_count(self.erased, 'turn')} erased"
        ]
        if self.receipts or self.receipts_not_comparable:
            lines.append(
                f"receipts that agree: {self.receipts}, that cannot be compared: "
                f"{self.receipts_not_comparable}; parts of requests that are there: {self.parts}"
            )
        if self.anchors:
            lines.append(f"anchors that hold: {self.anchors}")
        if self.seal:
            lines.append(f"seal {self.seal}")
        return "\n".join(lines)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


class Wrong(Exception):
    """Something does not hold."""


def check(holds: object, otherwise: str) -> None:
    """Raise `Wrong` where something does not hold."""
    if not holds:
        raise Wrong(otherwise)
