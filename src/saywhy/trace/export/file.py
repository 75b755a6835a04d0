"""A trace as a file, so that it can be asked why on another machine.

JSON lines: first what the file is, then charts, then messages and commits by turn. A file that was
cut off in the middle of a line, as a crash leaves it, is read up to there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit, Condition
from saywhy.chart.model import Chart, Charts
from saywhy.errors import CallerError, Place
from saywhy.messages import Message
from saywhy.trace.export.written import written
from saywhy.trace.record import from_tree
from saywhy.trace.shorten import shorten
from saywhy.trace.trace import Trace
from saywhy.values import dumps, loads_raw

FORMAT: Final = 1
_NUMBER: Final = re.compile(r"[0-9]{1,15}")
"""Of a message, as `input` has it."""
_SHOWN: Final = 40
"""Characters of a key that is none."""


def write_trace(trace: Trace, path: str | Path, *, conversation_id: str = "") -> None:
    """Write a trace to a file. Sensitive messages go in masked; commits are masked already.

    A file that names its conversation is found when the person is forgotten. Raises `CallerError`
    for a file that cannot be written.
    """
    with written(path) as file:
        file.writelines(lines_of(trace, conversation_id))


def lines_of(trace: Trace, conversation_id: str = "") -> Iterator[bytes]:
    """The lines of a trace file."""
    named = {"conversation": conversation_id} if conversation_id else {}
    yield _line({"saywhy": "trace", "format": FORMAT, **named})
    used = {commit.chart for commit in trace}
    for chart in trace.charts:
        if chart.digest in used:
            yield _line({"chart": chart})
    for turn in trace.turns:
        told = trace.turn(turn)
        for message in told.messages:
            yield _line({"message": message})
        for commit in shorten(told.commits, told.messages):
            yield _line({"commit": commit})


def _line(value: dict[str, Any]) -> bytes:
    return dumps(value) + b"\n"


def read_trace(path: str | Path) -> Trace:
    """The trace in a file. Raises `CallerError` with the line for what is no trace."""
    try:
        with Path(path).open("rb") as file:
            return trace_of(file, str(path))
    except OSError as error:
        raise CallerError(f"{path} cannot be read: {error.strerror or error}") from error


def trace_of(lines: Iterable[bytes], name: str = "") -> Trace:
    """The trace in the lines of a file called `name`."""
    charts: list[Chart] = []
    messages: list[Message] = []
    commits: list[Commit] = []
    whole = False
    for number, line in enumerate(lines, start=1):
        whole = line.endswith(b"\n")
        if not line.strip():
            continue
        try:
            entry = loads_raw(line)
            if number == 1:
                _check_heading(entry)
                continue
            _take(entry, charts, messages, commits)
        except (ValueError, RecursionError) as error:
            if not whole:  # the end of a file whose writer was stopped
                break
            place = Place(name, number)
            raise CallerError(
                f"this is no line of a trace: {error}", place=place, hint=_hint(line)
            ) from error
    if not whole and not commits:
        raise CallerError(f"{name or 'the file'} holds no trace", hint="write it with write_trace")
    return Trace(sorted(commits, key=lambda commit: commit.seq), Charts(charts), messages)


def _hint(line: bytes) -> str:
    is_bundle = line.startswith(b'{"saywhy":"audit')
    return "this is an audit bundle: saywhy audit verify FILE" if is_bundle else ""


def _check_heading(entry: Any) -> None:
    if not isinstance(entry, dict) or entry.get("saywhy") != "trace":
        raise ValueError('a trace begins with {"saywhy": "trace"}')
    if entry.get("format") != FORMAT:
        raise ValueError(f"format {entry.get('format')} is not known here, only {FORMAT} is")


def _take(entry: Any, charts: list[Chart], messages: list[Message], commits: list[Commit]) -> None:
    kind, content = next(iter(entry.items())) if isinstance(entry, dict) and entry else ("", None)
    if kind == "chart":
        charts.append(msgspec.convert(content, Chart))
    elif kind == "message":
        messages.append(msgspec.convert(content, Message))
    elif kind == "commit":
        commits.append(_checked(from_tree(content)))
    else:
        raise ValueError(f"it is a {kind or 'nothing'}, not a chart, message or commit")


def _checked(commit: Commit) -> Commit:
    """The commit, whose keys lead somewhere: what explains a record relies on that."""
    conditions = commit.decision.conditions if commit.decision is not None else ()
    read = [key for one in _inner(conditions) for key, _ in one.read]
    for key in (*commit.reads, *(op.key for op in commit.ops), *read):
        if not key or (key[0] == "input" and not (key[1:] and _NUMBER.fullmatch(str(key[1])))):
            told = ".".join(map(str, key))[:_SHOWN] or "nothing"
            raise ValueError(f"commit {commit.seq} speaks of {told}, which is no variable")
    return commit


def _inner(conditions: Iterable[Condition]) -> Iterator[Condition]:
    for condition in conditions:
        yield condition
        yield from _inner(condition.parts)
