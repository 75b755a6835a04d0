"""`saywhy store`: what is done to a store as a whole: old turns are pruned, documents converted."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from saywhy.cli.options import StoreOption, existing_store
from saywhy.cli.output import STYLES, err, out
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.stores.convert import Converted

_SECONDS: Final = {"d": 86400.0, "h": 3600.0}
_OLDEST: Final = 36_525 * 86400.0
"""A hundred years."""
_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)([dh])")


class Form(StrEnum):
    """The encodings of documents."""

    PLAIN = "plain"
    BR_V1 = "br-v1"


store = typer.Typer(
    help="Look after a store of conversations.", no_args_is_help=True, rich_markup_mode=None
)


@store.callback()
def about() -> None:
    """Look after a store of conversations."""


@store.command()
def prune(
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="Days or hours: 90d, 36h.")
    ],
    store: StoreOption = None,
) -> None:
    """Take away what only explains turns that ended longer ago.

    Their calls, records, messages and replies go. Conversations go on as before, and a message that
    comes again is still recognised.
    """
    import asyncio

    from saywhy.trace.words import count

    path = existing_store(store)
    pruned = asyncio.run(_prune(str(path), seconds_of(older_than)))
    out().line(f"{count(pruned, 'turn')} pruned in {path}")


@store.command()
def convert(
    to: Annotated[Form, typer.Option("--to", help="How documents are to lie there.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="STORE", help="The store; else that of --store.")
    ] = None,
    store: StoreOption = None,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", help="How long to wait for running turns."),
    ] = 30.0,
) -> None:
    """Write every document in one encoding, plain or compressed (br-v1).

    Nothing else changes, and each document is compared before it replaces the old one. It can be
    stopped and run again. Programs that use the store must write the same encoding, or be stopped.
    """
    import asyncio

    path = existing_store(file or store)
    done = asyncio.run(_convert(str(path), to, wait))
    _tell(done, to, path)
    if not done.is_complete:
        raise typer.Exit(1)


def _tell(done: Converted, to: Form, path: Path) -> None:
    from saywhy.trace.words import count

    sizes = f" ({done.before:,} bytes, now {done.after:,})" if done.documents else ""
    written = count(done.documents, "document")
    out().line(
        f"{count(done.conversations, 'conversation')} in {path}: {written} written as {to}{sizes}"
    )
    if done.busy_count:
        names = ", ".join(done.busy)
        text = f"{count(done.busy_count, 'conversation')} stayed as before, a turn is running: "
        err().line(f"{text}{names}", STYLES["warning"])
    for session_id, problem in done.damaged:
        err().line(f"{session_id} stayed as before: {problem}", STYLES["error"])


async def _convert(path: str, to: Form, wait_seconds: float) -> Converted:
    from saywhy.stores.convert import convert as convert_all
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path) as opened:
        return await convert_all(opened, to.value, wait_seconds=wait_seconds)


def seconds_of(age: str) -> float:
    """`90d` or `36h` in seconds. Raises `CallerError`."""
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise CallerError(f"an age is days or hours, not {age!r}", hint="write 90d or 36h")
    seconds = float(found[1]) * _SECONDS[found[2]]
    if seconds > _OLDEST:
        raise CallerError(f"{age.strip()} ago there were no conversations", hint="write 90d or 36h")
    return seconds


async def _prune(path: str, seconds: float) -> int:
    from saywhy.stores.sqlite import SqliteStore

    total = 0
    async with SqliteStore(path) as opened:
        while pruned := await opened.prune(seconds):
            total += pruned
    return total
