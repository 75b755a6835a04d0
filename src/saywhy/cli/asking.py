"""The record of a conversation as the commands that explain find it: in a store, or in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from saywhy.cli.output import err, out
from saywhy.errors import CallerError, DamagedSession

if TYPE_CHECKING:
    from saywhy.trace.trace import Trace


class Answer(Protocol):
    """What a record answers."""

    def to_json(self) -> dict[str, Any]: ...


def answered(
    name: str, answer: Answer, text: Callable[[], str], *, as_json: bool, named: bool
) -> None:
    """Write an answer out; first which conversation it is about, where nobody named it."""
    if as_json:
        out().line(json.dumps({"conversation": name, **answer.to_json()}, ensure_ascii=False))
        return
    if not named:
        err().line(f"conversation {name}", "dim")
    out().line(text())


async def recorded(path: Path, session_id: str | None) -> tuple[str, Trace]:
    """The name and the record of a conversation in a store; of the newest one without a name."""
    from saywhy.cli.conversation import find_session, store_of
    from saywhy.runtime.engine import Engine
    from saywhy.stores.sqlite import SqliteStore

    async with Engine(validate_on_init=False, store=SqliteStore(path, read_only=True)) as engine:
        found = await find_session(store_of(engine), session_id)
        return found.session_id, await engine.trace(found.session_id)


async def flows_of(path: Path, session_id: str) -> list[str]:
    """The flows that a stored conversation ran with, as far as the store says."""
    from saywhy.cli.replay import setting_in
    from saywhy.runtime.replay.setting import read_setting
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path, read_only=True) as store:
        found = await store.session(session_id)
        digest = ""
        with suppress(DamagedSession):  # the record tells what happened all the same
            digest = setting_in(found.doc) if found is not None else ""
        document = await store.chart(digest) if digest else None
    told = read_setting(document)["flows"] if document is not None else []
    return [str(flow["name"]) for flow in told if flow.get("name")]


def must_hold(trace: Trace, turn: int | None) -> None:
    """Raise `CallerError` for a turn that was never recorded: nothing is told of it as of one in
    which nothing happened."""
    known = trace.turns
    if turn is not None and turn not in known:
        hint = f"it holds turns {known[0]} to {known[-1]}" if known else "it is empty"
        raise CallerError(f"turn {turn} is not in this record", hint=hint)


def in_file(file: Path, session: str | None, store: Path | None) -> Trace:
    """The record in a trace file. Raises `CallerError` where a store is named as well."""
    from saywhy.trace.export.file import read_trace

    if session is not None or store is not None:
        raise CallerError(
            "a trace file holds one conversation, and no store is looked into",
            hint="leave --session and --store out",
        )
    return read_trace(file)
