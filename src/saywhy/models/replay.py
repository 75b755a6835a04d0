"""Answers from a recording what was asked when it was made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError, ModelError, RecordingMismatch
from saywhy.models.provider import Ask, Piece
from saywhy.models.recording import (
    MAX_BYTES,
    PARTS,
    Difference,
    Record,
    Redact,
    ask_tree,
    checked,
    error_of,
    fingerprint,
    first_difference,
    piece_of,
    records_in,
)
from saywhy.models.resilience.arguments import a_function, whole

_NAME: Final = "ReplayModel"

Match: TypeAlias = Literal["order", "fingerprint"]

_LOOKED_AT: Final = 200
"""So many records are compared with an ask that none fits, to find the nearest."""


class ReplayModel:
    """Gives the recorded pieces again, and the recorded error; keeps what it was asked in `asked`.

    With `match="order"` the asks must be those of the recording, in the order in which they began.
    With `match="fingerprint"` each takes the first record of the same ask that nobody took yet.
    Another ask raises `RecordingMismatch`, which names the first part that differs. `redact` is the
    function that was used in recording. With `timing` each piece comes as long after the ask as it
    did then.
    """

    def __init__(
        self,
        recording: str | Path | Sequence[Record],
        *,
        match: Match = "order",
        redact: Redact | None = None,
        timing: bool = False,
        max_bytes: int = MAX_BYTES,
        clock: Clock | None = None,
    ) -> None:
        """Raises `CallerError` for a recording that is none."""
        if match not in ("order", "fingerprint"):  # pyright: ignore[reportUnnecessaryContains] - callers
            raise CallerError(f'{_NAME}: match is "order" or "fingerprint", not {match!r}')
        a_function(_NAME, "redact", redact, "record: record")
        self._left: Final = _read(recording, whole(_NAME, "max_bytes", max_bytes, 1))
        self._prints: Final = [fingerprint(record["ask"]) for record in self._left]
        self._match: Final = match
        self._redact: Final = redact
        self._timing: Final = timing
        self._clock: Final = clock or SystemClock()
        self.asked: Final[list[Ask]] = []

    @property
    def left(self) -> int:
        """How many recorded answers nobody has asked for yet."""
        return len(self._left)

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The recorded answer."""
        record = self._take(ask)
        began = self._clock.now()
        for tree in record["pieces"]:
            if self._timing:
                due = float(tree.get("after_ms", 0)) - (self._clock.now() - began)
                if due > 0:
                    await self._clock.sleep(due / 1000)
            yield piece_of(tree)
        if "error" in record:
            raise error_of(record["error"])
        if record["ended"] == "cancelled":
            raise ModelError("the recorded call was cancelled at this point", code="aborted")

    def _take(self, ask: Ask) -> Record:
        """The record of an ask, for nobody else from now on."""
        self.asked.append(ask)
        tree = self._tree(ask)
        number = len(self.asked)
        if not self._left:
            raise RecordingMismatch(
                f"ask {number} ({ask.task}) has no answer: the recording is used up",
                hint="record again, or ask for less",
            )
        found, difference = self._first(tree) if self._match == "order" else self._any(tree)
        if difference is not None:
            raise self._mismatch(number, difference)
        del self._prints[found]
        return self._left.pop(found)

    def _first(self, tree: dict[str, Any]) -> tuple[int, Difference | None]:
        return 0, first_difference(self._left[0]["ask"], tree)

    def _any(self, tree: dict[str, Any]) -> tuple[int, Difference | None]:
        """The first record of an ask; or how it differs from the one it has most in common with."""
        mark = fingerprint(tree)
        if mark in self._prints:
            return self._prints.index(mark), None
        found = [first_difference(record["ask"], tree) for record in self._left[:_LOOKED_AT]]
        if None in found:  # 1 and 1.0 are the same to everybody but a fingerprint
            return found.index(None), None
        return 0, max((one for one in found if one is not None), key=_agreement)

    def _tree(self, ask: Ask) -> dict[str, Any]:
        tree = ask_tree(ask)
        if self._redact is None:
            return tree
        record = {"number": 0, "stream": ask.stream, "ask": tree, "pieces": [], "ended": "stop"}
        return self._redact({**record, "took_ms": 0.0})["ask"]

    def _mismatch(self, number: int, difference: Difference) -> RecordingMismatch:
        which = "the recording" if self._match == "order" else "any left in the recording"
        return RecordingMismatch(
            f"ask {number} is not the same as {which}, first at {difference.part}: "
            f"{difference.text()}",
            part=difference.part,
            hint="record again if that is right now",
        )


def _read(recording: Any, max_bytes: int) -> list[Record]:
    if isinstance(recording, str | Path):
        return records_in(Path(recording), max_bytes)
    if isinstance(recording, Sequence):
        return checked(recording)
    raise CallerError(
        f"{_NAME}: recording is a path or a list, not {type(recording).__name__}",
        hint='ReplayModel("talk.jsonl")',
    )


def _agreement(difference: Difference) -> tuple[int, ...]:
    """The later two asks differ, the more they have in common."""
    top, _, rest = difference.part.replace("[", ".", 1).partition(".")
    at = rest.split("]", 1)[0]
    return PARTS.index(top), int(at) if at.isdigit() else 0


__all__ = ["ReplayModel"]
