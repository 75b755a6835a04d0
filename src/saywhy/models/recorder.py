"""Writes down what a provider is asked and what it answers, for `replay` and for people.

A recording holds whole conversations, so the file is made for its owner alone, and a function can
take out of each record what nobody is to keep.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from saywhy.clock import Clock
from saywhy.errors import CallerError
from saywhy.models.provider import Ask, Piece, Provider, StopPiece, pieces_of
from saywhy.models.recording import (
    MAX_BYTES,
    Record,
    Redact,
    ask_tree,
    error_tree,
    fingerprint,
    piece_tree,
)
from saywhy.models.resilience.arguments import a_function, a_provider, whole
from saywhy.models.resilience.steady import SteadyTime
from saywhy.models.resilience.wrapper import Wrapper

_NAME: Final = "RecordingModel"
_LOG: Final = logging.getLogger("saywhy.models")


class RecordingModel(Wrapper):
    """Asks `provider` and appends a record of each ask to a file, or to a list.

    `redact` gets each record, a plain object (see `saywhy.models.recording`), and gives what is to
    be kept of it. A record that cannot be made or written is dropped and logged, the ask goes on;
    so is one by which the file would grow beyond `max_bytes`. No file is held open in between.
    """

    def __init__(
        self,
        provider: str | Provider | Callable[..., Any],
        target: str | Path | list[Record],
        *,
        redact: Redact | None = None,
        max_bytes: int = MAX_BYTES,
        clock: Clock | None = None,
    ) -> None:
        """Raises `CallerError` where `target` cannot be written to."""
        self._provider: Final = a_provider(_NAME, provider)
        super().__init__([self._provider])
        a_function(_NAME, "redact", redact, "record: record")
        self._redact: Final = redact
        self._time: Final = SteadyTime(clock)
        most = whole(_NAME, "max_bytes", max_bytes, 1)
        self._target: Final = target if isinstance(target, list) else _File(target, most)
        self._number: Final = len(target) if isinstance(target, list) else self._lines()
        self._begun = 0
        self.recorded = 0
        """How many records were written."""
        self.dropped = 0
        """How many were not, because they or the file could not be."""

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer of the provider, as it comes."""
        record = self._begin(ask)
        began = self._time.now()
        try:
            async with aclosing(pieces_of(self._provider, ask)) as pieces:
                async for piece in pieces:
                    self._keep(record, piece, self._time.now() - began)
                    if isinstance(piece, StopPiece):
                        record["ended"] = "stop"  # whole, even where nobody reads on
                    yield piece
            record["ended"] = "stop"
        except Exception as error:
            record["ended"], record["error"] = "error", error_tree(error)
            raise
        finally:
            record["took_ms"] = self._time.now() - began
            self._write(record)

    def _lines(self) -> int:
        return self._target.lines() if isinstance(self._target, _File) else 0

    def _begin(self, ask: Ask) -> Record:
        number = self._number + self._begun
        self._begun += 1
        record: Record = {"number": number, "stream": ask.stream, "ended": "cancelled"}
        try:
            record["ask"] = ask_tree(ask)  # now: whoever asks may go on with the same lists
        except Exception as error:
            record["broken"] = error
        return {**record, "pieces": []}

    def _keep(self, record: Record, piece: Piece, after_ms: float) -> None:
        try:
            record["pieces"].append(piece_tree(piece, after_ms))
        except Exception as error:
            record["broken"] = error

    def _write(self, record: Record) -> None:
        try:
            if "broken" in record:
                raise record["broken"]
            kept = self._redact(record) if self._redact else record
            kept["fingerprint"] = fingerprint(kept["ask"])
            if isinstance(self._target, _File):
                self._target.append(kept)
            else:
                self._target.append(kept)
            self.recorded += 1
        except Exception:  # nobody's answer depends on a recording
            self.dropped += 1
            _LOG.exception("a call of a model was not recorded")


class _File:
    """A file of JSON lines that is open only while a line is written."""

    def __init__(self, path: Any, max_bytes: int) -> None:
        if not isinstance(path, str | os.PathLike):
            raise CallerError(
                f"{_NAME}: target is a path or a list, not {type(path).__name__}",
                hint='RecordingModel(model, "talk.jsonl")',
            )
        self._path: Final = Path(path)
        self._most: Final = max_bytes
        if not self._path.parent.is_dir():
            raise CallerError(f"{_NAME}: there is no folder {self._path.parent}")
        if self._path.is_dir():
            raise CallerError(f"{_NAME}: {self._path} is a folder", hint="name a file in it")

    def lines(self) -> int:
        """How many lines it has, one that was not finished included."""
        if not self._path.exists():
            return 0
        with self._path.open("rb") as file:
            return sum(1 for _ in file)

    def append(self, record: Record) -> None:
        """Add a line, in one piece. Raises `OSError`."""
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":  # somebody was stopped in a line
                line = b"\n" + line
            if size + len(line) > self._most:
                raise OSError(f"{self._path} would have more than {self._most} bytes")
            _write_all(file, line)
        finally:
            os.close(file)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


__all__ = ["RecordingModel"]
