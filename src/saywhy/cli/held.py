"""`saywhy held`: turns that stand still until what they ran on is back, or a person decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from saywhy.cli.options import JsonFlag, SessionOption, StoreOption, existing_store, store_to_read
from saywhy.cli.output import STYLES, out

if TYPE_CHECKING:
    from saywhy.runtime.held import HeldTurn
    from saywhy.stores.store import Store

T = TypeVar("T")

ByOption = Annotated[
    str, typer.Option("--by", metavar="NAME", help="Who decides; is put on record.")
]
Conversation = Annotated[
    str, typer.Argument(metavar="ID", help="The conversation whose turn is held.")
]

held = typer.Typer(
    help="See and decide about turns that stand still.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@held.callback()
def about() -> None:
    """See and decide about turns that stand still.

    A turn that was cut off in a call is held when the flows, tools or format it ran on are missing
    or different. It goes on by itself when a program that has them takes it up.
    """


@held.command(name="list")
def list_held(
    session: SessionOption = None, store: StoreOption = None, as_json: JsonFlag = False
) -> None:
    """List held turns, and why each is held."""
    from saywhy.runtime.held import held_turns
    from saywhy.values import dumps

    path = store_to_read(store, demo=False)
    found = _on_store(path, lambda opened: held_turns(opened, session), read_only=True)
    if as_json:
        out().line(dumps(found).decode())
        return
    for turn in found:
        out().line(_described(turn))
    if not found:
        out().line("no turn is held")


@held.command()
def release(session: Conversation, by: ByOption = "", store: StoreOption = None) -> None:
    """Let a held turn go on in spite of what differs.

    It runs when a program takes it up: its next recover(), or the next message. What is missing
    altogether, a flow or a tool, has to be there all the same.
    """
    import time

    from saywhy.runtime.held import release as release_turn

    now = time.time() * 1000
    path = existing_store(store)
    turn = _on_store(path, lambda opened: release_turn(opened, session, by=by, at_ms=now))
    out().line(f"turn {turn.turn_no} of {session} may go on")


@held.command()
def abandon(
    session: Conversation,
    by: ByOption = "",
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Is put on record.")] = "",
    store: StoreOption = None,
) -> None:
    """End a held turn without a reply.

    Its calls stay on record, and the messages behind it are processed.
    """
    from saywhy.runtime.held import abandon as abandon_turn

    path = existing_store(store)
    turn = _on_store(path, lambda opened: abandon_turn(opened, session, by=by, why=why))
    out().line(f"turn {turn.turn_no} of {session} was given up")
    if turn.call is not None and not turn.call.is_answered:
        out().line(f"nobody knows whether {_call(turn)} took effect", STYLES["warning"])


def _on_store(path: Path, work: Callable[[Store], Awaitable[T]], *, read_only: bool = False) -> T:
    import asyncio

    from saywhy.stores.sqlite import SqliteStore

    async def run() -> T:
        async with SqliteStore(path, read_only=read_only) as opened:
            return await work(opened)

    return asyncio.run(run())


def _described(turn: HeldTurn) -> str:
    from datetime import datetime

    since = datetime.fromtimestamp(turn.since / 1000).astimezone().isoformat(timespec="seconds")
    whose = f" of {turn.user_id}" if turn.user_id else ""
    lines = [f"{turn.session_id}{whose}: turn {turn.turn_no}, held since {since}"]
    lines += [f"    {reason}" for reason in turn.reasons]
    if turn.call is not None:
        state = "is on record" if turn.call.is_answered else "is not known"
        lines.append(f"    what became of {_call(turn)} {state}")
    return "\n".join(lines)


def _call(turn: HeldTurn) -> str:
    assert turn.call is not None, "asked for turns with a call only"
    return f"the call of {turn.call.tool} ({turn.call.effect}, key {turn.call.key})"
