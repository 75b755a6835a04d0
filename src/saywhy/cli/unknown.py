"""`saywhy unknown`: calls of which nobody knows whether they acted, and who says what became."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saywhy.cli.deciding import (
    ByOption,
    FlowFiles,
    GoingOn,
    SessionArgument,
    call_text,
    decide,
    listed,
    moment,
    noted_lines,
    whose,
    write_list,
)
from saywhy.cli.options import (
    AgentsOption,
    ExpressionsOption,
    FunctionsOption,
    GlobalsOption,
    JsonFlag,
    PrivateOption,
    SessionOption,
    StoreOption,
    Where,
)
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.runtime.conversations import TurnReply
    from saywhy.runtime.engine import Engine

unknown = typer.Typer(
    help="See and settle calls nobody knows the end of.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@unknown.callback()
def about() -> None:
    """See and settle calls nobody knows the end of.

    The program was killed in the midst of a call, or the call took too long, and its tool must not
    be called twice. The conversation waits until somebody says what became of it.
    """


@unknown.command(name="list")
def list_unknown(
    session: SessionOption = None, store: StoreOption = None, as_json: JsonFlag = False
) -> None:
    """List the calls nobody knows the end of, oldest first."""
    found = listed(store, lambda engine: engine.unknown(session))
    write_list(found, _described, nothing="every call is known", as_json=as_json)


@unknown.command()
def settle(
    session: SessionArgument,
    files: FlowFiles = None,
    call: Annotated[
        str | None,
        typer.Option("--call", metavar="SEQ|KEY", help="Which call, where there are several."),
    ] = None,
    done: Annotated[
        str | None,
        typer.Option("--done", metavar="JSON", help="It was done, and this is what it gave."),
    ] = None,
    failed: Annotated[
        str | None, typer.Option("--failed", metavar="TEXT", help="It failed, for this reason.")
    ] = None,
    not_done: Annotated[
        bool, typer.Option("--not-done", help="It was not done: call again, under the same key.")
    ] = False,
    by: ByOption = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Is put on record.")] = "",
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    agents: AgentsOption = None,
    expressions: ExpressionsOption = Where.IN_PROCESS,
    private: PrivateOption = None,
    store: StoreOption = None,
) -> None:
    """Say what became of a call: the conversation goes on with it.

    With FILES it goes on at once, and its words are shown; they also stand in the store, to be
    sent. Without, it goes on with its next turn. A call is settled once.
    """
    options: dict[str, Any] = {"by": by, "note": note}
    if done is not None:
        options["done"] = _json(done)
    if failed is not None:
        options["failed"] = failed
    if not_done:
        options["not_done"] = True
    if sum(how in options for how in ("done", "failed", "not_done")) != 1:
        hint = "give one of --done JSON, --failed TEXT, --not-done"
        raise CallerError("a call is settled in one way", hint=hint)

    async def work(engine: Engine, run: bool) -> TurnReply | None:
        return await engine.settle(session, call, run=run, **options)

    decide(store, GoingOn(files, functions, globals, expressions, private, agents), work)


def _json(text: str) -> Any:
    from saywhy.values import loads

    try:
        return loads(text.encode())
    except RecursionError as error:
        raise CallerError(f"--done is nested too deep: {error}", hint="give less of it") from error
    except ValueError as error:
        hint = """a text has quotes of its own: --done '"receipt 7"'"""
        raise CallerError(f"--done {text} is no JSON: {error}", hint=hint) from error


def _described(one: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            f"{whose(one)}: {call_text(one)}, unknown since {moment(one['since'])}",
            f"    call {one['seq']}, key {one['id']}",
            f"    {one['error']}",
            *noted_lines(one),
        ]
    )
