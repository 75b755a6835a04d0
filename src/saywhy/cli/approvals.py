"""`saywhy approvals`: calls that wait until somebody approves them."""

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

if TYPE_CHECKING:
    from saywhy.runtime.conversations import TurnReply
    from saywhy.runtime.engine import Engine

approvals = typer.Typer(
    help="See, approve and deny calls that wait for it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Approval = Annotated[str, typer.Argument(metavar="APPROVAL", help="Its id, as listed.")]


@approvals.callback()
def about() -> None:
    """See, approve and deny calls that wait for it.

    An approval is for one call with exactly the arguments listed, and holds once.
    """


@approvals.command(name="list")
def list_approvals(
    session: SessionOption = None, store: StoreOption = None, as_json: JsonFlag = False
) -> None:
    """List the calls that wait to be approved, oldest first."""
    found = listed(store, lambda engine: engine.approvals(session))
    write_list(found, _described, nothing="nothing waits to be approved", as_json=as_json)


@approvals.command()
def approve(
    session: SessionArgument,
    approval: Approval,
    files: FlowFiles = None,
    digest: Annotated[
        str | None,
        typer.Option("--digest", metavar="HEX", help="As listed: refused if it is another one."),
    ] = None,
    by: ByOption = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Is put on record.")] = "",
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    agents: AgentsOption = None,
    expressions: ExpressionsOption = Where.IN_PROCESS,
    private: PrivateOption = None,
    store: StoreOption = None,
) -> None:
    """Let a call be made, once, as it was listed.

    With FILES it is made at once, without with the next turn of the conversation.
    """

    async def work(engine: Engine, run: bool) -> TurnReply | None:
        return await engine.approve(session, approval, by=by, digest=digest, note=note, run=run)

    decide(store, GoingOn(files, functions, globals, expressions, private, agents), work)


@approvals.command()
def deny(
    session: SessionArgument,
    approval: Approval,
    files: FlowFiles = None,
    by: ByOption = "",
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="What the flow is told.")
    ] = "",
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    agents: AgentsOption = None,
    expressions: ExpressionsOption = Where.IN_PROCESS,
    private: PrivateOption = None,
    store: StoreOption = None,
) -> None:
    """Refuse a call: its step fails, and the flow handles that as its author wrote."""

    async def work(engine: Engine, run: bool) -> TurnReply | None:
        return await engine.deny(session, approval, by=by, reason=reason, run=run)

    decide(store, GoingOn(files, functions, globals, expressions, private, agents), work)


def _described(one: Mapping[str, Any]) -> str:
    asked = f", to be approved by {one['by']}" if one.get("by") else ""
    return "\n".join(
        [
            f"{whose(one)}: {call_text(one)}{asked}",
            f"    approval {one['id']}, digest {one['digest']}",
            f"    asked {moment(one['since'])}, until {moment(one['expires'])}",
            *noted_lines(one),
        ]
    )
