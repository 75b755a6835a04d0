"""`saywhy forget`: erase a person from a store, and prove that nothing of them is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from saywhy.cli.options import JsonFlag, StoreOption, existing_store
from saywhy.cli.output import out
from saywhy.errors import CallerError, did_you_mean

if TYPE_CHECKING:
    from saywhy.runtime.forget.erase import Forgotten


MOST_COMPARED: Final = 5_000
"""Ids of people that are compared with one that nobody has."""


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
            help="A recording of models or an exported conversation, or a folder of them, to take "
            "the person out of. May be given several times.",
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
    included. The exit code is 1 when something is still there, or when all of it is too short to be
    looked for, so that nothing is proven.
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
        raise asyncio.run(_unknown(path, user))
    if done.proof is not None and not done.proof.holds:
        raise typer.Exit(1)


async def _forget(
    path: Path, user: str, prove: bool, recordings: list[Path], wait: float
) -> Forgotten:
    from saywhy.runtime.forget.erase import forget as erase
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path) as opened:
        return await erase(opened, user, prove=prove, recordings=recordings, wait_seconds=wait)


async def _unknown(path: Path, user: str) -> CallerError:
    """What is wrong with the id of a person who has no conversation."""
    from saywhy.cli.conversation import all_sessions
    from saywhy.stores.sqlite import SqliteStore
    from saywhy.trace.words import quoted

    async with SqliteStore(path, read_only=True) as opened:
        stored = await all_sessions(opened)
    owner = next((one.user_id for one in stored if one.session_id == user), None)
    if owner is not None:
        hint = f'that is a conversation of "{owner}"'
    else:
        known = list(dict.fromkeys(one.user_id for one in stored))
        hint = did_you_mean(user, known[:MOST_COMPARED])
    if not hint:
        hint = "is the id right? Of somebody who was forgotten before, nothing is known any more"
    return CallerError(f"nobody called {quoted(user)} has a conversation in {path}", hint=hint)


def lines_of(done: Forgotten) -> list[str]:
    """What was done, for people."""
    from saywhy.trace.words import count

    lines = [f"erased {count(done.conversations, 'conversation')}"]
    for path, number in done.recordings.items():
        gone = "" if Path(path).exists() else ", with the file: it was a conversation of theirs"
        lines.append(f"{path}: {count(number, 'line')} taken out{gone}")
    return lines + (_proof(done) if done.proof is not None else [])


def _proof(done: Forgotten) -> list[str]:
    from saywhy.trace.words import count

    proof = done.proof
    assert proof is not None
    lines = [f"looked for {count(proof.texts, 'text')} of the person"]
    if proof.shared:
        lines.append(f"  {proof.shared} of them others have said too, or flows say")
    if proof.short or proof.dropped:
        left_out = f"{proof.short} too short, {proof.dropped} beyond the limit"
        lines.append(f"  not looked for: {left_out}")
    for place in proof.places:
        lines.append(f"  {place.where}: {place.bytes:,} bytes, {len(place.found)} found")
        lines += [f"    still there: {what}" for what in place.found]
    return [*lines, _verdict(done)]


def _verdict(done: Forgotten) -> str:
    if done.proof is not None and done.proof.is_left:
        return "SOMETHING IS STILL THERE"
    if done.is_proven:
        return "nothing is left"
    why = "nothing long enough to be looked for" if done.conversations else "nothing of theirs"
    return f"NOTHING IS PROVEN: {why} is known"
