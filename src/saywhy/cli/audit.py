"""`saywhy audit`: the record as a bundle, whether a bundle or a store holds, anchors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import (
    JsonFlag,
    OutOption,
    SessionOption,
    StoreOption,
    existing_store,
    store_to_read,
)
from saywhy.cli.output import STYLES, err, out, write_bytes
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.runtime.audit.report import Report
    from saywhy.stores.audit import StoredAnchor

KnownOption = Annotated[
    list[str] | None,
    typer.Option(
        "--known",
        metavar="DIGEST",
        help="A digest that was given away before: it must be there. May be repeated.",
    ),
]

audit = typer.Typer(
    help="Hand out the record of conversations, and check it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@audit.callback()
def about() -> None:
    """Hand out the record of conversations, and check it."""


@audit.command()
def export(
    session: SessionOption = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="All conversations of a person.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All conversations, with the anchors over them.")
    ] = False,
    target: OutOption = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a bundle: the chain of digests with what it covers, as it was recorded.

    Say which conversations: --session, --user or --all. The seal of the bundle is told at the end;
    give it to whoever must be able to tell this bundle from any other.
    """
    import asyncio
    import json

    if [session is not None, user is not None, everything].count(True) != 1:
        raise CallerError(
            "say which conversations: --session ID, --user ID or --all", hint="one of the three"
        )
    if as_json and target is None:
        raise CallerError("--json tells of a file", hint="--out FILE writes the bundle there")
    seal = asyncio.run(_export(store_to_read(store, demo=False), session, user, target))
    if as_json:
        out().line(json.dumps({"file": str(target), "seal": seal}))
    else:
        err().line(f"seal {seal}")


async def _export(
    path: Path, session_id: str | None, user_id: str | None, target: Path | None
) -> str:
    from saywhy.runtime.audit.export import bundle, seal_of, write_bundle
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path, read_only=True) as opened:
        if target is not None:
            return await write_bundle(opened, target, session_id=session_id, user_id=user_id)
        line = b""
        async for line in bundle(opened, session_id=session_id, user_id=user_id):
            write_bytes([line])  # as it is: digests are over it
        return seal_of(line)


@audit.command()
def verify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="BUNDLE", help="A bundle; without one the store is checked."),
    ] = None,
    store: StoreOption = None,
    known: KnownOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say whether a bundle, or the record in a store, is as it was written.

    It tells how much was verified, or the first thing that does not hold, and ends with exit
    code 1.
    """
    import asyncio
    import json

    from saywhy.runtime.audit.verify import verify_bundle

    if file is not None and store is not None:
        raise CallerError("a bundle or a store is checked, not both", hint="leave one out")
    if file is not None:
        report = verify_bundle(file, known or ())
    else:
        report = asyncio.run(_verify(store_to_read(store, demo=False), known or []))
    if as_json:
        out().line(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        out().line(report.text(), "" if report.ok else STYLES["error"])
    raise typer.Exit(0 if report.ok else 1)


async def _verify(path: Path, known: list[str]) -> Report:
    from saywhy.runtime.audit.check import verify_store
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path, read_only=True) as opened:
        return await verify_store(opened, known)


@audit.command()
def anchor(store: StoreOption = None, as_json: JsonFlag = False) -> None:
    """Make an anchor: one digest over all conversations as they are now, to be given away.

    Whoever has it can have it looked for later, `saywhy audit verify --known DIGEST`: then nothing
    of what was there by now was changed or left out since.
    """
    import asyncio
    import json

    made = asyncio.run(_anchor(existing_store(store)))
    if as_json:
        entry = {"number": made.number, "at": made.at_ms, "digest": made.digest.hex()}
        out().line(json.dumps(entry))
    else:
        out().line(f"anchor {made.number} {made.digest.hex()}")


async def _anchor(path: Path) -> StoredAnchor:
    from saywhy.stores.sqlite import SqliteStore

    async with SqliteStore(path) as opened:
        return await opened.anchor()


@audit.command()
def verifier() -> None:
    """Write the program that checks bundles: one file of Python that needs nothing installed.

    `saywhy audit verifier > verify.py`, then `python -I verify.py BUNDLE`.
    """
    from importlib.resources import files

    out().piece(files("saywhy.runtime.audit").joinpath("verifier.py").read_text(encoding="utf-8"))
