"""The part of an engine that runs recorded conversations again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from saywhy.errors import CallerError, DefinitionError, UnknownSession
from saywhy.flows.model import Library
from saywhy.flows.world import World
from saywhy.runtime.agents.hosted import Hosted
from saywhy.runtime.conversations import Conversations
from saywhy.runtime.held import know_chart
from saywhy.runtime.machinery import Machinery
from saywhy.runtime.replay.setting import options_in, setting_of
from saywhy.runtime.session import Session
from saywhy.trace.masking.redact import Policy
from saywhy.trace.trace import Trace

if TYPE_CHECKING:
    from saywhy.runtime.replay.conversation import Begun
    from saywhy.runtime.replay.removal import Removal
    from saywhy.runtime.replay.result import Replay
    from saywhy.runtime.replay.whatif import Counterfactual


class Replaying:
    """The part of an engine that runs recorded conversations again."""

    language: str | None
    _machinery: Machinery
    _policy: Policy
    _hosted: Hosted
    library: Library
    model: Any
    _options: dict[str, Any]

    @property
    def _stored(self) -> Conversations:
        raise NotImplementedError

    async def trace(self, of: str | Session) -> Trace:
        """What was recorded of a conversation; see `Engine.trace`."""
        raise NotImplementedError

    async def replay(
        self,
        of: str | Session,
        *,
        flows: Any = None,
        turns: int | None = None,
        model: Any = None,
    ) -> Replay:
        """Run a recorded conversation again from its record, and compare every step.

        Nothing is called and nothing is stored: tools, models, functions, times and decisions of
        people are answered from the record. With `flows` it runs on these flows in place of those
        on record, and the first difference says what of them was changed. At most `turns` turns.
        Where a step then asks something else, the answer on record stands in, which `assumed`
        tells; `model` (a provider, a function or a name) is asked in place of that. Raises
        `DefinitionError` for flows that cannot be read.
        """
        from saywhy.models.asked import asked_model
        from saywhy.runtime.replay.conversation import replay

        if turns is not None and turns < 1:
            raise CallerError(f"turns is {turns}", hint="a whole number from 1 on, or None for all")
        if model is not None and flows is None:
            what = "model is asked where other flows ask something else, and there are no flows"
            raise CallerError(what, hint="hand over flows as well")
        provider = None if model is None else asked_model(model)
        begun = await self._begun(of, flows)
        was = None if flows is None else await self._begun(of)
        return await replay(begun, turns=turns, was=was, model=provider)

    async def counterfactual(
        self, of: str | Session, without: str, *, turn: int | None = None, model: Any = None
    ) -> Counterfactual:
        """Run a turn again without a piece, and say whether and how its reply changes.

        `without` is a name that `why` gives: `instruction:ID`, `tool_result:N`, `message:N`,
        `memory:ID`, and some more; see `runtime.replay.removal`. `turn` is the newest with a reply
        unless given. Nothing is called: tools and functions answer from the record, and a call
        that is not there is told and not made. `model` (a provider, a function or a name) is asked
        where a request is another one than on record; without one the answer on record stands in,
        which `assumed` tells. Raises `CallerError` for what cannot be taken away or is not there.
        """
        from saywhy.models.asked import asked_model
        from saywhy.runtime.replay.counterfactual import WhatIf
        from saywhy.runtime.replay.removal import Removal, must_be_recalled

        begun = await self._begun(of)
        removal = Removal(without, begun.trace, turn or newest_reply(begun.trace))
        must_be_recalled(removal, begun.trace)
        lesser = self._lesser(begun, removal)
        provider = None if model is None else asked_model(model)
        return await WhatIf(begun, lesser, removal, provider).answer()

    def _lesser(self, begun: Begun, removal: Removal) -> Begun:
        """The same conversation on an engine that has not the piece."""
        from saywhy.runtime.replay.conversation import Begun
        from saywhy.runtime.replay.removal import OF_AGENTS

        machinery, world = self._machinery, removal.world
        if removal.kind in OF_AGENTS and not removal.of_answers:
            hosted = without_piece(self._hosted, self.library, removal)
            machinery = replace(machinery, agents=hosted.stages)
            world = partial(with_agents, hosted)
        return Begun(machinery, self._policy, begun.trace, begun.session, lesser=world)

    def _setting(self) -> bytes:
        """All that conversations run with here, as a document."""
        has_model = self.model is not None
        return setting_of(self.library, self._options, self._policy, has_model=has_model)

    async def _begun(self, of: str | Session, flows: Any = None) -> Begun:
        from saywhy.flows.load import load_definitions
        from saywhy.runtime.replay.conversation import Begun

        trace = await self.trace(of)
        if isinstance(of, str):  # flows as they were are in the store alone
            for digest in {commit.chart for commit in trace}:
                await know_chart(self._machinery, self._stored.store, digest)
        library = None if flows is None else load_definitions(flows, None)
        if library is not None and library.problems:
            raise DefinitionError(library.problems)
        first = await self._first(of, trace)
        agents = frozenset(chart.digest for chart in self._hosted.charts)
        begun = Begun(self._machinery, self._policy, trace, first, library, agents=agents)
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


def newest_reply(trace: Trace) -> int:
    """The newest turn that answered something. Raises `CallerError` for none."""
    for number in reversed(trace.turns):
        if any(one.role == "assistant" for one in trace.messages(number)):
            return number
    raise CallerError("nothing was answered in this conversation")


def with_agents(hosted: Hosted, world: World) -> World:
    """The world with other agents in place of those of the same names."""
    charts = world.charts.copy()
    for chart in hosted.charts:
        charts.add(chart)
    return replace(world, charts=charts, agents=hosted.names)


def without_piece(hosted: Hosted, library: Library, removal: Removal) -> Hosted:
    """The agents of an engine without an instruction or a tool. Raises `CallerError`."""
    from saywhy.flows.agents.fallback import fallback_chart
    from saywhy.runtime.agents.hosting import hosted as made_of
    from saywhy.runtime.replay.lesser import Lesser

    lesser = Lesser(removal.kind, removal.name)
    agents = lesser.agents(hosted.agents)
    if not lesser.found:
        raise CallerError(f'no agent has {removal.kind} "{removal.name}"', hint=lesser.hint)
    removal.applied = True
    fallback = next((one for one in agents if fallback_chart(one).digest == hosted.fallback), None)
    return made_of(agents, fallback, library)


__all__ = ["Replaying", "options_in"]
