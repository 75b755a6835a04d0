"""A ledger outside the process under test: one line for each thing that really happened.

A line is on the disk before the call that wrote it comes back, so that no crash of the writer takes
it along; any number of processes may write to one file. What the lines mean is the business of
whoever writes them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from saywhy.values import dumps, loads_raw


class Entry(msgspec.Struct, frozen=True):
    """One line: what happened, under which key, in which process, and the rest by name."""

    kind: str
    key: str
    pid: int
    facts: dict[str, Any] = {}


class Ledger:
    """A file of lines that are only added, never changed.

    Without `sync` a line outlives its writer, but not the machine. `pid` is the process that lines
    are noted for, where it is not the one that writes them.
    """

    def __init__(self, path: str | Path, *, sync: bool = True, pid: int | None = None) -> None:
        self.path = Path(path)
        self._sync = sync
        self._pid = pid

    def note(self, kind: str, key: str = "", **facts: Any) -> None:
        """Add a line; it is kept when this comes back."""
        pid = os.getpid() if self._pid is None else self._pid
        # A writer that is killed may leave half a line: what it began is ended before ours.
        line = b"\n%s\n" % dumps({"kind": kind, "key": key, "pid": pid, "facts": facts})
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)  # in one piece: lines of several writers do not mix
            if self._sync:
                os.fsync(file)
        finally:
            os.close(file)

    def entries(self, *kinds: str, key: str | None = None) -> list[Entry]:
        """The lines in order: all, or those of some kinds, or of one key."""
        begins = tuple(b'{"kind":%s,' % dumps(kind) for kind in kinds)
        wanted = b"" if key is None else b'"key":%s,' % dumps(key)
        # Most lines are not worth reading in full: there may be many, and many who ask.
        found = (line for line in self._lines() if line.startswith(begins or b"{"))
        read = (_read(line) for line in found if wanted in line)
        return [entry for entry in read if entry is not None]

    def count(self, kind: str, key: str) -> int:
        """How often something happened under a key."""
        return len(self.entries(kind, key=key))

    def _lines(self) -> list[bytes]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        return [line for line in data.split(b"\n") if line]


def _read(line: bytes) -> Entry | None:
    """The entry; None for half of one, whose writer died while it wrote."""
    try:
        return msgspec.convert(loads_raw(line), Entry)
    except ValueError:
        return None


__all__ = ["Entry", "Ledger"]
