"""Taking a person out of files that a host keeps: recordings of models, exported conversations.

A recording has one JSON text a line. A line that holds anything of the person is taken out whole; a
recording with a line less still replays the rest. The file is written anew beside the old one and
put in its place, so that nobody ever reads half of it. An export names its conversation: one of the
person's goes as a file, however short the words in it are. Another `.json` is one document, which
nothing can be taken out of: that is left to whoever reads the proof.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from saywhy.errors import CallerError
from saywhy.stores.searching import spellings
from saywhy.values import dumps

_ENDINGS: Final = (".jsonl", ".json")
_EXPORT: Final = re.compile(
    rb'\{"saywhy":"(?:trace|record)","format":\d+,"conversation":("(?:[^"\\]|\\.)*")[,}]'
)
_TRACE: Final = b'{"saywhy":"trace"'
"""How a trace file and a document begin, see `saywhy.runtime.export`."""
_SPAN: Final = b'{"key":"gen_ai.conversation.id","value":{"stringValue":%b}}'
"""How spans name their conversation, see `saywhy.trace.export.otlp`."""
_BUNDLE: Final = b'{"saywhy":"audit"'
_CHAIN: Final = re.compile(
    rb'\{"chain":\{"id":"\w*","first":\d+,"turns":\d+,"session":("(?:[^"\\]|\\.)*")'
)
_OF_CHAIN: Final = (b'{"turn":', b'{"message":', b'{"commit":')
"""How an audit bundle and a conversation in it begin, see `saywhy.runtime.audit.export`."""


def files_in(paths: Sequence[str | Path]) -> list[Path]:
    """The files meant; a folder stands for all that ends in `.jsonl` or `.json` in it.

    Raises `CallerError` for a path where there is nothing.
    """
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found.extend(sorted(one for one in path.rglob("*.json*") if one.suffix in _ENDINGS))
        elif path.exists():
            found.append(path)
        else:
            raise CallerError(f"there is no recording {path}", hint="check the path")
    return found


def take_out(
    path: Path,
    texts: Sequence[str],
    conversations: Collection[str] = (),
    begins: Collection[bytes] = (),
) -> int:
    """Remove every line that holds one of the texts; gives how many there were.

    The export of one of the conversations is deleted, with all its lines, and so is an audit bundle
    of nothing else. A trace file without a name is known by its first message, one of `begins`.
    """
    names = [dumps(name) for name in conversations]
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    export = _EXPORT.match(data)
    is_export = export is not None and export[1] in names
    if data.startswith(_TRACE):
        is_export = is_export or any(line.rstrip() in begins for line in lines)
    theirs = _in_chains(lines, names) if data.startswith(_BUNDLE) else set[int]()
    others = sum(line.startswith(b'{"chain":') for at, line in enumerate(lines) if at not in theirs)
    if is_export or (theirs and not others):
        path.unlink()
        return len(lines)
    if path.suffix == ".json":
        return 0
    wanted = [spelling for text in texts for spelling in spellings(text)]
    wanted += [_SPAN % name for name in names]
    kept = [
        line
        for at, line in enumerate(lines)
        if at not in theirs and not any(one in line for one in wanted)
    ]
    if len(kept) == len(lines):
        return 0
    beside = path.with_name(f".{path.name}.forgetting")
    with beside.open("wb") as file:
        file.writelines(kept)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return len(lines) - len(kept)


def _in_chains(lines: Sequence[bytes], names: Collection[bytes]) -> set[int]:
    """Of an audit bundle the lines that are about the conversations with these names."""
    found: set[int] = set()
    is_theirs = False
    for at, line in enumerate(lines):
        if not line.startswith(_OF_CHAIN):
            chain = _CHAIN.match(line)
            is_theirs = chain is not None and chain[1] in names
        if is_theirs:
            found.add(at)
    return found
