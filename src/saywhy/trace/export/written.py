"""How a file is written that somebody asked for: whole or not at all, and never over a store.

What is written is not known here. A store that is read while its file is written over would be
lost, with all its conversations, so that is refused before anything is opened for writing.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from saywhy.errors import CallerError

_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What a store's files end in."""


@contextmanager
def written(path: str | Path, *, store: str | Path | None = None) -> Generator[BinaryIO]:
    """A file to write to. It takes the place of an older one when all is written, not before.

    Raises `CallerError` for one of the files of `store`, and for what cannot be written.
    """
    target = Path(path)
    refuse_store(target, store)
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:  # a pipe or a terminal: there is nothing to replace
                yield device
            return
        with _replacing(target.resolve()) as file:
            yield file
    except OSError as error:
        reason = (error.strerror or "no reason is known").lower()
        raise CallerError(f"cannot write {target}: {reason}", hint=_hint(target)) from error


def refuse_store(target: Path, store: str | Path | None) -> None:
    """Raises `CallerError` where a file is one of a store's own."""
    if store is None:
        return
    for ending in _BESIDE:
        own = Path(f"{store}{ending}")
        same = target.resolve() == own.resolve()
        with suppress(OSError):
            same = same or target.samefile(own)
        if same:
            raise CallerError(
                f"{target} is the store that is read: writing there would destroy it",
                hint="name another file",
            )


@contextmanager
def _replacing(target: Path) -> Generator[BinaryIO]:
    if target.is_dir():
        raise IsADirectoryError(21, "this is a folder")
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with half.open("wb") as file:
            yield file
        if target.exists():
            half.chmod(target.stat().st_mode & 0o777)
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)


def _hint(target: Path) -> str:
    if target.is_dir():
        return f"name a file in it, like {target / 'record.jsonl'}"
    return "" if target.parent.is_dir() else f"there is no folder {target.parent}: make it first"
