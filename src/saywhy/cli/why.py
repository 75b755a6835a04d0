"""`saywhy why`: why something was said, or why a variable has its value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import (
    AgentsOption,
    GlobalsOption,
    JsonFlag,
    SessionOption,
    StoreOption,
    store_to_read,
)
from saywhy.cli.output import err, out
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.trace.causes.chain import Chain
    from saywhy.trace.trace import Trace

AskedOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="With --without: whom to ask where a request is another one, as `chat` takes it.",
    ),
]


def why(
    session: SessionOption = None,
    turn: Annotated[
        int | None,
        typer.Option("--turn", metavar="N", help="The reply of this turn; else of the last one."),
    ] = None,
    variable: Annotated[
        str | None,
        typer.Option("--variable", metavar="NAME", help="Not a reply but a variable, `fee.total`."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="TRACE", help="A trace file, as `export` writes it, and no store."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without",
            metavar="REF",
            help="Run the turn again without this, as a chain names it: instruction:ID, "
            "tool_result:N, message:N, memory:ID and others.",
        ),
    ] = None,
    model: AskedOption = None,
    agents: AgentsOption = None,
    globals: GlobalsOption = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say why a reply was given.

    The answer names the steps, conditions, tool results and words that led to it. Without --session
    it is the newest conversation. Nothing is run again, unless --without asks what the reply would
    have been; even then no tool is called.
    """
    import asyncio
    import json

    if without is not None:
        from saywhy.cli.without import Asked, show_without

        asked = Asked(model=model, agents=agents, globals=globals)
        show_without(store_to_read(store), session, turn, without, as_json=as_json, **asked)
        return
    if file is not None:
        name, chain = str(file), _in_file(file, session, store, turn, variable)
        session = name
    else:
        name, chain = asyncio.run(_chain(store_to_read(store), session, turn, variable))
    if as_json:
        out().line(json.dumps({"conversation": name, **chain.to_json()}, ensure_ascii=False))
        return
    if session is None:
        err().line(f"conversation {name}", "dim")
    out().line(chain.text(out().width))


def explain(store: Path, session: str, width: int = 100) -> str:
    """Why the last reply of a conversation was given, as text."""
    import asyncio

    _, chain = asyncio.run(_chain(store, session))
    return chain.text(width)


def _in_file(
    file: Path, session: str | None, store: Path | None, turn: int | None, variable: str | None
) -> Chain:
    from saywhy.trace.export.file import read_trace

    if session is not None or store is not None:
        raise CallerError(
            "a trace file holds one conversation, and no store is looked into",
            hint="leave --session and --store out",
        )
    return _asked(read_trace(file), turn, variable)


def _asked(trace: Trace, turn: int | None, variable: str | None) -> Chain:
    from saywhy.trace.causes.why import Reply, Variable
    from saywhy.trace.causes.why import why as chain_of

    return chain_of(trace, Variable(variable, turn) if variable else Reply(turn))


async def _chain(
    path: Path, session_id: str | None, turn: int | None = None, variable: str | None = None
) -> tuple[str, Chain]:
    from saywhy.cli.conversation import find_session, store_of
    from saywhy.runtime.engine import Engine
    from saywhy.stores.sqlite import SqliteStore

    async with Engine(validate_on_init=False, store=SqliteStore(path, read_only=True)) as engine:
        found = await find_session(store_of(engine), session_id)
        trace = await engine.trace(found.session_id)
    return found.session_id, _asked(trace, turn, variable)
