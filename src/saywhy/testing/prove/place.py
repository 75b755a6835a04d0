"""Where one part of a proof takes place: a store's file, the ledger beside it, and the processes.

The processes are forked from one that has loaded everything already, so that hundreds of them may
die within a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from saywhy.errors import CallerError, OutsideError
from saywhy.testing.ledger import Ledger
from saywhy.testing.prove.child import Ended, Job, Race


class Place:
    """The files of one part of a proof."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.ledger = Ledger(store.with_suffix(".ledger"))
        self.sessions: list[str] = []
        """The conversations that were begun here."""

    def clear(self) -> Self:
        """Remove what an earlier proof left here."""
        for suffix in ("", "-wal", "-shm"):
            self.store.with_name(self.store.name + suffix).unlink(missing_ok=True)
        self.ledger.path.unlink(missing_ok=True)
        return self

    def new(self, scene: str) -> str:
        """The id of another conversation that plays a scene."""
        self.sessions.append(f"{scene}-{len(self.sessions) + 1}")
        return self.sessions[-1]

    def job(self, sessions: Iterable[str]) -> Job:
        """The job to go on with some conversations here, undisturbed."""
        return Job(store=str(self.store), ledger=str(self.ledger.path), sessions=list(sessions))

    def over(self) -> set[str]:
        """The conversations that came to their end."""
        return {entry.facts["session"] for entry in self.ledger.entries("over")}


@contextmanager
def kept_at(store: Path | None) -> Generator[Path]:
    """Where the files of a proof lie: beside a store that was named, or in a passing folder."""
    if not hasattr(os, "fork"):
        raise CallerError("this proof needs a system with fork", hint="run it on Linux or macOS")
    if store is not None:
        if not store.absolute().parent.is_dir():
            raise CallerError(f"there is no folder {store.absolute().parent}", hint="make it first")
        yield store.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="saywhy-prove-") as folder:
        yield Path(folder) / "prove.db"


class Processes:
    """Runs jobs, each in a process of its own. Close it in the end."""

    def __init__(self) -> None:
        program = [sys.executable, "-P", "-m", "saywhy.testing.prove.child"]
        self._server = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def start(self, job: Job | Race) -> None:
        """Begin with a job; `wait` must follow."""
        assert self._server.stdin is not None
        self._server.stdin.write(msgspec.json.encode(job) + b"\n")
        self._server.stdin.flush()

    def wait(self) -> Ended:
        """How the job that was started ended."""
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            raise OutsideError(f"the process of the proof ended ({self._server.wait()})")
        return msgspec.json.decode(line, type=Ended)

    def run(self, job: Job | Race) -> Ended:
        """Do a job and wait for its end."""
        self.start(job)
        return self.wait()

    def close(self) -> None:
        """End the process that forks."""
        self._server.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


__all__ = ["Place", "Processes", "kept_at"]
