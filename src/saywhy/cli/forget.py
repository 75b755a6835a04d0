"""`saywhy forget`: erase a person from a store, and prove that nothing of them is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import JsonFlag, StoreOption, existing_store
from saywhy.cli.output import out

if TYPE_CHECKING:
    from saywhy.runtime.forget.erase import Forgotten, Proof


def forget(
    user: Annotated[str, typer.Argument(metavar="USER", help="The person's user id.")],
    prove: Annotated[
        bool,
        typer.Option("--prove", help="Search every byte afterwards for what was theirs."),
    ] = False,
    recordings: Annotated[
        list[Path] | None,
        typer.Option(
            "--recordings",
            metavar="PATH",
            help="A recording of models or an exported trace, or a folder of them, to take the "
            "person out of. May be given several times.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", help="How long to wait for a turn that runs."),
    ] = 10.0,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Erase a person, and prove it.

    Conversations, calls, records and what is to be sent or decided about go, everywhere at once.
    The digests of the audit chain stay, so the chain still verifies. With --prove, what the person
    said and had is looked for in the store's files afterwards, free pages and the write-ahead log
    included; the exit code is 1 when something is still there.
    """
    import asyncio

    from saywhy.values import dumps

    path = existing_store(store)
    done = asyncio.run(_forget(path, user, prove, recordings or [], wait))
    if as_json:
        out().line(dumps(done).decode())
    else:
        for line in lines_of(done):
            out().line(line)
        if not done.conversations:
            told = f'nobody called "{user}" had a conversation here: is the id right?'
            out().line(told, "yellow")
    if done.proof is not None and not done.proof.holds:
        raise typer.Exit(1)


async def _forget(
    path: Path, user: str, prove: bool, recordings: list[Path], wait: float
) -> Forgotten:
    from saywhy.runtime.forget.erase import forget as erase
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path) as opened:
        return await erase(opened, user, prove=prove, recordings=recordings, wait_seconds=wait)


def lines_of(done: Forgotten) -> list[str]:
    """What was done, for people."""
    lines = [f"erased {_count(done.conversations, 'conversation')}"]
    lines += [
        f"{path}: {_count(count, 'line')} taken out" for path, count in done.recordings.items()
    ]
    return lines + (_proof(done.proof) if done.proof is not None else [])


def _proof(proof: Proof) -> list[str]:
    lines = [f"looked for {_count(proof.texts, 'text')} of the person"]
    if proof.shared:
        lines.append(f"  {proof.shared} of them others have said too, or flows say")
    if proof.short or proof.dropped:
        left_out = f"{proof.short} too short, {proof.dropped} beyond the limit"
        lines.append(f"  not looked for: {left_out}")
    for place in proof.places:
        lines.append(f"  {place.where}: {place.bytes:,} bytes, {len(place.found)} found")
        lines += [f"    still there: {what}" for what in place.found]
    lines.append("nothing is left" if proof.holds else "SOMETHING IS STILL THERE")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
