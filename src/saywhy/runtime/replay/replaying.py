"""The part of an engine that runs recorded conversations again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saywhy.errors import CallerError, UnknownSession
from saywhy.runtime.conversations import Conversations
from saywhy.runtime.machinery import Machinery
from saywhy.runtime.session import Session
from saywhy.trace.masking.redact import Policy
from saywhy.trace.trace import Trace

if TYPE_CHECKING:
    from saywhy.runtime.replay.conversation import Begun
    from saywhy.runtime.replay.result import Replay


class Replaying:
    """The part of an engine that runs recorded conversations again."""

    language: str | None
    _machinery: Machinery
    _policy: Policy

    @property
    def _stored(self) -> Conversations:
        raise NotImplementedError

    async def trace(self, of: str | Session) -> Trace:
        """What was recorded of a conversation; see `Engine.trace`."""
        raise NotImplementedError

    async def replay(
        self, of: str | Session, *, flows: Any = None, turns: int | None = None
    ) -> Replay:
        """Run a recorded conversation again from its record, and compare every step.

        Nothing is called and nothing is stored: tools, models, functions, times and decisions of
        people are answered from the record. With `flows` it runs on these flows in place of those
        on record, and the first difference says what of them was changed. At most `turns` turns.
        """
        from saywhy.runtime.replay.conversation import replay

        if turns is not None and turns < 1:
            raise CallerError(f"turns is {turns}", hint="a whole number from 1 on, or None for all")
        begun = await self._begun(of, flows)
        return await replay(begun, turns=turns, changed=flows is not None)

    async def _begun(self, of: str | Session, flows: Any = None) -> Begun:
        from saywhy.flows.load import load_definitions
        from saywhy.runtime.replay.conversation import Begun

        trace = await self.trace(of)
        library = None if flows is None else load_definitions(flows, None)
        begun = Begun(self._machinery, self._policy, trace, await self._first(of, trace), library)
        begun.session.charts = begun.world.charts
        return begun

    async def _first(self, of: str | Session, trace: Trace) -> Session:
        """The conversation before its first turn."""
        if isinstance(of, Session):
            known, language = of, self.language
        else:
            stored = await self._stored.session(of)
            if stored is None:
                raise UnknownSession(of, "a conversation begins with its first take_turn")
            known, language = stored, None
        charts = self._machinery.charts
        return Session(known.session_id, known.user_id, language, charts, known.created_at)


__all__ = ["Replaying"]
