"""`saywhy store`: what is done to a store as a whole. So far: old turns are pruned."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from saywhy.cli.options import StoreOption, store_path
from saywhy.cli.output import out
from saywhy.errors import CallerError

_SECONDS: Final = {"d": 86400.0, "h": 3600.0}
_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)([dh])")

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

    path = store_path(store)
    if not path.exists():
        raise CallerError(f"there is no store {path}", hint="--store names another file")
    pruned = asyncio.run(_prune(str(path), seconds_of(older_than)))
    out().line(f"{count(pruned, 'turn')} pruned in {path}")


def seconds_of(age: str) -> float:
    """`90d` or `36h` in seconds. Raises `CallerError`."""
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise CallerError(f"an age is days or hours, not {age!r}", hint="write 90d or 36h")
    return float(found[1]) * _SECONDS[found[2]]


async def _prune(path: str, seconds: float) -> int:
    from saywhy.stores.sqlite import SqliteStore

    total = 0
    async with SqliteStore(path) as opened:
        while pruned := await opened.prune(seconds):
            total += pruned
    return total
