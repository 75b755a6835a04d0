"""`saywhy why … --without REF`: what the reply would have been without a piece."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from saywhy.cli.output import out
from saywhy.cli.replay import say_what_to_hand_over
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.runtime.replay.whatif import Counterfactual


OF_AGENTS: Final = ("instruction:", "tool:", "memory:", "retrieval:")
"""Names of what agents have, of which the record has only what came of it."""


class Asked(TypedDict, total=False):
    """What the store does not have."""

    model: str | None
    agents: str | None
    globals: Path | None


def show_without(
    store: Path,
    session: str | None,
    turn: int | None,
    without: str,
    *,
    as_json: bool = False,
    **asked: Unpack[Asked],
) -> None:
    """Run a turn of a stored conversation again without a piece, and show what comes of it."""
    import json

    found = asyncio.run(counterfactual(store, session, turn, without, **asked))
    if as_json:
        out().line(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        out().line(found.text())
    say_what_to_hand_over(found.not_replayable, asked.get("agents"))


async def counterfactual(
    store: Path,
    session: str | None,
    turn: int | None,
    without: str,
    **given: Unpack[Asked],
) -> Counterfactual:
    """What comes of it. Raises `CallerError`."""
    from saywhy.cli.conversation import find_session
    from saywhy.cli.given import load_asked
    from saywhy.cli.replay import Engines
    from saywhy.stores.sqlite import SqliteStore

    model = given.get("model")
    asked = load_asked(model) if model else None
    others = given.get("agents"), given.get("globals")
    engines = Engines(SqliteStore(store, read_only=True), *others)
    try:
        await engines.store.open()
        found = await find_session(engines.store, session)
        engine = await engines.of(found.session_id)
        return await engine.counterfactual(found.session_id, without, turn=turn, model=asked)
    except CallerError as error:
        if given.get("agents") is None and without.startswith(OF_AGENTS) and not error.hint:
            hint = "a store does not keep agents: hand them over with --agents FILE.py:NAME"
            raise CallerError(str(error), hint=hint) from error
        raise
    finally:
        await engines.close()


__all__ = ["Asked", "counterfactual", "show_without"]
