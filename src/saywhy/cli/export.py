"""`saywhy export`: the record of a conversation for other programs, in several formats."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.asking import must_hold
from saywhy.cli.options import JsonFlag, OutOption, SessionOption, StoreOption, store_to_read
from saywhy.cli.output import err, out, write_bytes
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.trace.trace import Trace


class Form(StrEnum):
    """The formats of a record."""

    TRACE = "trace"
    OTEL = "otel"
    MERMAID = "mermaid"
    JSON = "json"


def export(
    session: SessionOption = None,
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="A trace file, OpenTelemetry spans (OTLP as JSON lines), a mermaid picture of the "
            "path taken, or one JSON document.",
        ),
    ] = Form.TRACE,
    turn: Annotated[
        int | None,
        typer.Option("--turn", metavar="N", help="A picture or document of this turn alone."),
    ] = None,
    content: Annotated[
        bool, typer.Option("--content", help="Spans hold what was said, as it was recorded.")
    ] = False,
    send: Annotated[
        bool,
        typer.Option(
            "--send", help="Hand the spans to the OpenTelemetry that is set up in the program."
        ),
    ] = False,
    target: OutOption = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write the record of a conversation, for other programs.

    It is masked as it was recorded. Without --session it is the newest conversation. A trace file
    can be asked on another machine: saywhy why --file FILE. --json is --format json.
    """
    import asyncio

    from saywhy.runtime.export import exported

    wanted = _wanted(form, as_json, turn, content or send)
    path = store_to_read(store)
    name, trace = asyncio.run(_trace(path, session))
    must_hold(trace, turn)
    if send:
        _send(trace, name, content)
        return
    pieces = exported(trace, wanted.value, conversation_id=name, turn=turn, content=content)
    _write(pieces, target, name, path)


def _wanted(form: Form, as_json: bool, turn: int | None, about_spans: bool) -> Form:
    """The format that is meant. Raises `CallerError` for options that do not fit together."""
    wanted = Form.JSON if as_json else form
    if as_json and form not in (Form.TRACE, Form.JSON):
        raise CallerError(f"--json and --format {form} are two formats", hint="leave one out")
    if turn is not None and wanted not in (Form.MERMAID, Form.JSON):
        raise CallerError(
            f"--turn is for a picture or a document: the format {wanted} holds all turns",
            hint="--format mermaid or --format json",
        )
    if about_spans and wanted is not Form.OTEL:
        raise CallerError("--content and --send are about spans", hint="--format otel")
    return wanted


def _write(pieces: Iterable[bytes], target: Path | None, name: str, store: Path) -> None:
    from saywhy.trace.export.written import written

    if target is not None:
        with written(target, store=store) as file:
            file.writelines(pieces)
        err().line(f"conversation {name} written to {target}", "dim")
        return
    write_bytes(pieces)


def _send(trace: Trace, name: str, content: bool) -> None:
    from saywhy.trace.export.otel import OpenTelemetry, is_set_up

    if not is_set_up():
        raise CallerError(
            "spans cannot be sent: no OpenTelemetry is set up in this program",
            hint="run it under opentelemetry-instrument, or leave --send out and hand the lines "
            "to a collector",
        )
    OpenTelemetry(content=content).send(trace, conversation_id=name)
    out().line(f"the spans of conversation {name} were handed to OpenTelemetry")


def trace_in(store: Path, session_id: str | None) -> Trace:
    """The record of a conversation in a store; of the newest one where none is named."""
    import asyncio

    return asyncio.run(_trace(store, session_id))[1]


async def _trace(path: Path, session_id: str | None) -> tuple[str, Trace]:
    from saywhy.cli.conversation import find_session, store_of
    from saywhy.runtime.engine import Engine
    from saywhy.stores.sqlite import SqliteStore

    async with Engine(validate_on_init=False, store=SqliteStore(path, read_only=True)) as engine:
        found = await find_session(store_of(engine), session_id)
        return found.session_id, await engine.trace(found.session_id)
