"""What an engine tells of a conversation that is over or goes on: why, why not, what changed.

Each method loads the record and hands over to the module that answers; nothing of a conversation is
changed by being asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saywhy.errors import CallerError
from saywhy.trace.trace import Trace

if TYPE_CHECKING:
    from saywhy.runtime.audit.audit import Audit
    from saywhy.runtime.export import ExportFormat
    from saywhy.runtime.machinery import Machinery
    from saywhy.runtime.session import Session
    from saywhy.stores.store import Store
    from saywhy.trace.causes.chain import Chain
    from saywhy.trace.causes.changed import Changed
    from saywhy.trace.causes.why import Target
    from saywhy.trace.causes.why_not import WhyNot
    from saywhy.trace.narrative.budget import Tokens
    from saywhy.trace.narrative.formats import Format


class Asking:
    """The part of an engine that explains its conversations."""

    _machinery: Machinery

    @property
    def store(self) -> Store | None:
        """Where conversations are kept; see `Engine.store`."""
        raise NotImplementedError

    @property
    def audit(self) -> Audit:
        """The record of all conversations, to be handed out and checked.

        Raises `CallerError` for an engine without a store.
        """
        from saywhy.runtime.audit.audit import Audit

        if self.store is None:
            raise CallerError(
                "this engine has no store", hint="Engine(..., store=SqliteStore(path))"
            )
        return Audit(self.store)

    async def trace(self, of: str | Session) -> Trace:
        """What was recorded of a conversation; see `Engine.trace`."""
        raise NotImplementedError

    async def export(
        self,
        of: str | Session,
        format: ExportFormat = "trace",
        *,
        turn: int | None = None,
        content: bool = False,
    ) -> bytes:
        """The record of a conversation as a `trace` file, `otel` lines, `mermaid` or `json`.

        It shows what the record does, masked. With `turn` a picture or a document is of that turn
        alone; with `content` spans hold what was said.
        """
        from saywhy.runtime.export import exported

        name = of if isinstance(of, str) else of.session_id
        trace = await self.trace(of)
        pieces = exported(trace, format, conversation_id=name, turn=turn, content=content)
        return b"".join(pieces)

    async def why(
        self,
        of: str | Session,
        target: Target | None = None,
        *,
        turn: int | None = None,
        part: str | tuple[int, int] | None = None,
    ) -> Chain:
        """What caused the newest reply of a conversation, or another target of `why`.

        `turn` and `part` say which reply, or which words of it; with the name of a target, `turn`
        says when. Raises `UnknownSession`, and `CallerError` where the record holds nothing like
        the target.
        """
        from saywhy.trace.causes.targets import target_in

        return (await self.trace(of)).why(target_in(target, turn, part))

    async def why_not(self, of: str | Session, what: str, *, turn: int | None = None) -> WhyNot:
        """Why `flow:`, `branch:`, `rule:`, `tool:` or `instruction:` and a name did not happen.

        Raises `UnknownSession`, and `CallerError` for what the record has never heard of.
        """
        trace = await self.trace(of)
        flows = [chart.name for chart in self._machinery.charts if chart.kind == "flow"]
        return trace.why_not(what, turn, flows=flows)

    async def what_changed(
        self, of: str | Session, message: int | str | None = None, *, turn: int | None = None
    ) -> Changed:
        """All that depended on a message of the user's, by its number or its turn.

        `message:3`, as chains name it, is number 3. Raises `UnknownSession`, and
        `CallerError` where there is no such message.
        """
        return (await self.trace(of)).what_changed(message, turn)

    async def narrative(
        self,
        of: str | Session,
        turn: int | None = None,
        *,
        format: Format = "text",
        language: str | None = None,
        budget: int | None = None,
        tokens: Tokens | None = None,
    ) -> str:
        """What happened in a turn or in the newest turns, step by step; see `Trace.narrative`.

        Sentences of the `messages` of this engine stand in the place of ours. Raises
        `UnknownSession`, and `CallerError` for what cannot be told so.
        """
        trace = await self.trace(of)
        return trace.narrative(
            turn,
            format=format,
            language=language,
            budget=budget,
            tokens=tokens,
            messages=self._machinery.world.phrases.given,
        )
