"""Taking a person out of files that a host keeps: recordings of models, exported traces.

Such a file has one JSON text a line. A line that holds anything of the person is taken out whole; a
recording with a line less still replays the rest. The file is written anew beside the old one and
put in its place, so that nobody ever reads half of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from saywhy.errors import CallerError
from saywhy.stores.searching import spellings


def files_in(paths: Sequence[str | Path]) -> list[Path]:
    """The files meant; a folder stands for all that ends in `.jsonl` in it.

    Raises `CallerError` for a path where there is nothing.
    """
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found.extend(sorted(path.rglob("*.jsonl")))
        elif path.exists():
            found.append(path)
        else:
            raise CallerError(f"there is no recording {path}", hint="check the path")
    return found


def take_out(path: Path, texts: Sequence[str]) -> int:
    """Remove every line that holds one of the texts; gives how many there were."""
    wanted = [spelling for text in texts for spelling in spellings(text)]
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not any(one in line for one in wanted)]
    if len(kept) == len(lines):
        return 0
    beside = path.with_name(f".{path.name}.forgetting")
    with beside.open("wb") as file:
        file.writelines(kept)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return len(lines) - len(kept)
