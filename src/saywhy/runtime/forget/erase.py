"""Erasing a person: from the store, from recordings and memories, with a proof where it is wanted.

What is erased in the store is the store's own business; here it is made sure that no turn of the
person runs meanwhile, that what lies beside the store goes as well, and that a search afterwards
finds nothing. The digests of the audit chain stay, so the chain still verifies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final

import msgspec

from saywhy.errors import CallerError, SessionBusy
from saywhy.runtime.forget.distinctive import SHORTEST, Evidence, collect, sessions_of
from saywhy.runtime.forget.recordings import files_in, take_out
from saywhy.stores.searching import Searchable, Searched, search_files
from saywhy.stores.store import Store, StoredSession

WAIT_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.1


class Place(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One place that was searched."""

    where: str
    bytes: int
    found: tuple[str, ...] = ()
    """What is still there, by what it is; the texts themselves are told to nobody."""


class Proof(msgspec.Struct, frozen=True, rename="camel"):
    """What was looked for after everything was erased, where, and what was found."""

    texts: int
    """Texts that were looked for."""
    places: tuple[Place, ...]
    shared: int = 0
    """Texts that others have said as well, or that flows say: found, and no proof of anything."""
    short: int = 0
    """Texts too short to be looked for."""
    dropped: int = 0
    """Texts beyond the limit, not looked for."""

    @property
    def holds(self) -> bool:
        """Whether something was looked for and nothing found."""
        return self.texts > 0 and not self.is_left

    @property
    def is_left(self) -> bool:
        """Whether something was found."""
        return any(place.found for place in self.places)


class Forgotten(msgspec.Struct, frozen=True, rename="camel"):
    """What was erased of a person."""

    conversations: int
    recordings: dict[str, int]
    """File → lines taken out of it; the export of a conversation of theirs is deleted."""
    memories: int = 0
    """Memories of agents in which their conversations were erased."""
    proof: Proof | None = None

    @property
    def is_proven(self) -> bool:
        """Whether a search for what was theirs found nothing.

        False where no search was wanted, where nobody of that id had a conversation, so that
        nothing of theirs is known, and where all that is known is too short to be looked for.
        """
        return self.conversations > 0 and self.proof is not None and self.proof.holds


async def forget(
    store: Store,
    user_id: str,
    *,
    prove: bool = False,
    recordings: Sequence[str | Path] = (),
    memories: Iterable[Any] = (),
    wait_seconds: float = WAIT_SECONDS,
) -> Forgotten:
    """Erase everything of a person; with `prove`, look for it in every byte afterwards.

    Waits for a turn of theirs that runs. Raises `SessionBusy` when it still runs after
    `wait_seconds`; nothing is erased then.
    """
    if not user_id:
        raise CallerError("whom to forget is not said", hint="give the user_id")
    try:
        user_id.encode()
    except UnicodeEncodeError as error:  # nobody can be called that, see `take_turn`
        raise CallerError(f"user_id holds half a character: {user_id!r}") from error
    if prove and not isinstance(store, Searchable):
        message = f"{type(store).__name__} cannot be searched, so nothing can be proven"
        raise CallerError(message, hint="give it a method `search`, or forget without a proof")
    files = files_in(recordings)
    sessions = await _at_rest(store, user_id, wait_seconds)
    wanted = prove or bool(files)
    evidence = await collect(store, user_id, sessions) if wanted else Evidence(ids=[user_id])
    count = await store.forget(user_id)
    names = [one.session_id for one in sessions]
    texts, begins = list(evidence.texts), evidence.begins
    lines = {str(path): take_out(path, texts, names, begins) for path in files}
    reached = await _forget_in(memories, names)
    proof = await _prove(store, user_id, evidence, files) if prove else None
    return Forgotten(count, lines, reached, proof)


async def _at_rest(store: Store, user_id: str, wait_seconds: float) -> list[StoredSession]:
    """Every conversation of the person, none of them with a turn that runs."""
    left = wait_seconds
    while True:
        sessions = await sessions_of(store, user_id)
        busy = [one for one in sessions if one.running and not one.held]
        if not busy:
            return sessions
        if left <= 0:
            one = busy[0]
            raise SessionBusy(
                f"turn {one.turn_no} of the conversation {one.session_id} runs or waits to be run: "
                "nothing was erased",
                hint="try again when it is over, or wait longer; a turn that a crash left behind "
                "is ended by recover()",
            )
        await asyncio.sleep(_LOOK_SECONDS)
        left -= _LOOK_SECONDS


async def _forget_in(memories: Iterable[Any], session_ids: Sequence[str]) -> int:
    count = 0
    for memory in memories:
        drop = getattr(memory, "forget", None)
        for session_id in session_ids:
            done = drop(session_id) if drop is not None else memory.save(session_id, [])
            if isawaitable(done):
                await done
        count += 1
    return count


# ------------------------------------------------------------------ proving


async def _prove(store: Store, user_id: str, evidence: Evidence, files: Sequence[Path]) -> Proof:
    assert isinstance(store, Searchable), "checked before anything was erased"
    texts = list(evidence.texts)
    searched = (*await store.search(texts), *search_files(files, texts))
    kept = {text for one in searched for text in one.rows} - set(evidence.ids)
    places = [_place(one, evidence, kept) for one in searched]
    again = await store.sessions(user_id, 1)
    if again:
        found = (f"a conversation of the person, {len(again[0].session_id)} characters of id",)
        places.append(Place("the list of conversations", 0, found))
    return Proof(len(texts), tuple(places), len(kept), evidence.short, evidence.dropped)


def _place(searched: Searched, evidence: Evidence, kept: Collection[str]) -> Place:
    """A place with what is left there; what others said too, or flows say, is no sign of them."""
    left = [
        f"{evidence.texts[text]} ({len(text)} characters) at byte {at}"
        for text, at in searched.found
        if text not in kept
    ]
    return Place(searched.where, searched.size, tuple(left))


__all__ = ["SHORTEST", "Forgotten", "Place", "Proof", "forget"]
