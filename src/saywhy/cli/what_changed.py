"""`saywhy what-changed`: everything that depended on one message of the user's."""

from __future__ import annotations

from typing import Annotated

import typer

from saywhy.cli.options import JsonFlag, SessionOption, StoreOption, store_to_read
from saywhy.errors import CallerError


def what_changed(
    session: SessionOption = None,
    message: Annotated[
        str | None,
        typer.Option(
            "--message", metavar="N", help="The message with this number; `message:N` as well."
        ),
    ] = None,
    turn: Annotated[
        int | None,
        typer.Option("--turn", metavar="N", help="The user's message of this turn."),
    ] = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what depended on a message.

    That is values, decisions, calls and replies. Without --message and --turn it is the user's last
    one, without --session that of the newest conversation. Nothing is run again; the record is
    asked.
    """
    import asyncio

    from saywhy.cli.asking import answered, recorded

    if message is not None and turn is not None:
        raise CallerError("--message and --turn each name a message", hint="leave one out")
    name, trace = asyncio.run(recorded(store_to_read(store), session))
    answer = trace.what_changed(message, turn)
    answered(name, answer, answer.text, as_json=as_json, named=session is not None)
