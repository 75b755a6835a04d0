"""`saywhy why-not`: why a flow, a branch, a rule, a tool or an instruction did not happen."""

from __future__ import annotations

from typing import Annotated

import typer

from saywhy.cli.options import JsonFlag, SessionOption, StoreOption, store_to_read


def why_not(
    what: Annotated[
        str,
        typer.Argument(
            metavar="KIND:NAME",
            help="flow:NAME, branch:FLOW/STEP/BRANCH, rule:ID, tool:NAME or instruction:ID.",
        ),
    ],
    session: SessionOption = None,
    turn: Annotated[
        int | None,
        typer.Option("--turn", metavar="N", help="In this turn; else in the newest ones."),
    ] = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say why something did not happen.

    The answer tells what was considered and what failed, with the values that were looked at.
    Without --session it is the newest conversation. Nothing is run again; the record is asked.
    """
    import asyncio

    from saywhy.cli.asking import answered, flows_of, recorded

    path = store_to_read(store)
    name, trace = asyncio.run(recorded(path, session))
    answer = trace.why_not(what, turn, flows=asyncio.run(flows_of(path, name)))
    answered(name, answer, answer.text, as_json=as_json, named=session is not None)
