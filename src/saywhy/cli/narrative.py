"""`saywhy narrative`: what happened in a conversation, step by step, in sentences."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import JsonFlag, SessionOption, StoreOption, store_to_read
from saywhy.cli.output import err, out
from saywhy.cli.why import FileOption
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.trace.trace import Trace


class Written(StrEnum):
    """The forms of a narrative."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def narrative(
    session: SessionOption = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", help="This turn alone; else the newest.")
    ] = None,
    form: Annotated[
        Written, typer.Option("--format", help="Plain text, markdown, or JSON with every place.")
    ] = Written.TEXT,
    language: Annotated[
        str | None,
        typer.Option("--language", metavar="XX", help="de, en or es; else English."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            help="How long it may be, in estimated tokens; what is left out is said.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Every turn, written as it is told; else about 1,000 lines."),
    ] = False,
    file: FileOption = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Tell what happened, step by step, in sentences.

    Steps keep their numbers, however much is left out and however the conversation goes on. Without
    --session it is the newest conversation. Nothing is run again; the record is read. --json is
    --format json.
    """
    import asyncio

    from saywhy.cli.asking import in_file, recorded

    if everything and (budget is not None or turn is not None):
        raise CallerError("--all leaves nothing out", hint="leave --budget and --turn out")
    wanted = Written.JSON if as_json else form
    if file is not None:
        trace = in_file(file, session, store)
    else:
        name, trace = asyncio.run(recorded(store_to_read(store), session))
        if session is None:
            err().line(f"conversation {name}", "dim")
    if everything:
        _write_all(trace, wanted, language)
        return
    text = trace.narrative(turn, format=wanted.value, language=language, budget=budget)
    out().line(text)


def _write_all(trace: Trace, form: Written, language: str | None) -> None:
    """Turn by turn, so that a long conversation takes no memory."""
    from saywhy.trace.narrative.story import stream

    for piece in stream(trace, format=form.value, language=language):
        out().piece(piece)
    out().line("")
