"""One conversation with an agent: its history, and the runs that make it grow, one at a time.

An agent is a value and serves any number of these at once. What a run does is `run`, what stands
between two runs is `kept`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

from saywhy.agent.events import AgentEvent
from saywhy.agent.instructions.follow_up import ResolvedFollowUp, resolved_runtime
from saywhy.chart.built import Result
from saywhy.chart.drive import stream
from saywhy.errors import CallerError, NothingPending, did_you_mean
from saywhy.models.chat import Content
from saywhy.runtime.agents.kept import Kept, from_json, to_json
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.run import (
    AgentRun,
    Begin,
    Given,
    RunSettings,
    StreamSettings,
    restored_trace,
)
from saywhy.trace.narrative.story import MOST_LINES, narrative
from saywhy.trace.trace import Trace
from saywhy.values import freeze, same, thaw

if TYPE_CHECKING:
    from saywhy.runtime.agents.runner import Runner
    from saywhy.runtime.replay.result import Replay
    from saywhy.runtime.replay.whatif import Counterfactual

NOT_PAUSED: Final = "Cannot resume: agent is not paused. Call run() first."


class Conversation:
    """What was said with one user. `agent.conversation()` makes one; one run at a time."""

    def __init__(self, agent: Runner[Any], kept: Kept) -> None:
        self.agent = agent
        self._kept = kept
        self._running = False
        self._last: AgentRun | None = None

    @property
    def id(self) -> str:
        """Its id, which is also that under which a memory keeps it."""
        return self._kept.id

    @property
    def paused(self) -> bool:
        """Whether a person has been asked something; `resume` takes the answer."""
        return self._kept.paused is not None

    @property
    def pause_data(self) -> Mapping[str, Any] | None:
        """`question` and `tool_call_id` while a person is asked, after `restore` as well."""
        return None if self._kept.paused is None else self._kept.paused.question

    @property
    def follow_ups(self) -> tuple[ResolvedFollowUp, ...]:
        """The actions that the last run offered, after `restore` as well."""
        return tuple(map(resolved_runtime, self._kept.offered))

    # ------------------------------------------------------------ running

    async def run(self, message: Content, **options: Unpack[RunSettings]) -> AgentResult:
        """Say something to the agent, and wait for its answer.

        `signal` cancels the run, and so do `timeout` seconds: the call of the model that is on its
        way is cancelled too. `on_event` is told what happens meanwhile. Raises what made the run
        fail: `ModelError` where the model did; then, and when it is cancelled, the conversation is
        what it was before, and the message forgotten. While a person is asked something, another
        message leaves the question open: the model reads that nobody has answered it.
        """
        return await self._go(self._said(message), Given(**options))

    def stream(
        self, message: Content, **options: Unpack[StreamSettings]
    ) -> AsyncGenerator[AgentEvent | AgentResult, None]:
        """Like `run`, giving events as they come and the `AgentResult` in the end.

        Leaving the loop early cancels the run.
        """
        return self._stream(self._said(message), Given(**options))

    async def follow_up(
        self,
        action: str | ResolvedFollowUp | Mapping[str, Any],
        *,
        message: str | None = None,
        **options: Unpack[RunSettings],
    ) -> AgentResult:
        """Go on from the last answer: with more words, or with an action that it offered.

        An action of `result.follow_ups` is carried out as it stands, with its exact arguments; the
        model only speaks about what it gave. It may come back as the JSON of its `to_value()`, and
        must then be one of those that the last run offered. `message` are the words that stand for
        the user's, the description of the action unless given. Raises `CallerError` for an action
        that was not offered, and where nothing was said before.
        """
        given = Given(**options)
        if isinstance(action, str):
            self._must_have_begun()
            return await self._go(self._said(action), given)
        follow_up = self._offered(action)
        words = follow_up.description if message is None else message
        return await self._go(Begin(words, follow_up=follow_up), given)

    async def resume(self, answer: Any, **options: Unpack[RunSettings]) -> AgentResult:
        """Give the answer of the person that the run waits for, and let it go on.

        Should that fail, it waits as before.
        """
        return await self._go(self._answered(answer), Given(**options))

    def resume_stream(
        self, answer: Any, **options: Unpack[StreamSettings]
    ) -> AsyncGenerator[AgentEvent | AgentResult, None]:
        """Like `resume`, giving events as they come and the `AgentResult` in the end."""
        return self._stream(self._answered(answer), Given(**options))

    # ------------------------------------------------------------ looking

    def get_messages(self) -> list[dict[str, Any]]:
        """The history, the system message included, as a copy."""
        paused = self._kept.paused
        return thaw(self._kept.history if paused is None else paused.messages)

    def get_snapshot(self) -> Result:
        """State and record of the last run, as `receipt_at` and `served_at` read it.

        Raises `CallerError` before the first run.
        """
        return self._ran().snapshot()

    @property
    def trace(self) -> Trace:
        """The record of the last run, masked. Raises `CallerError` before the first run."""
        if self._last is None and self.paused:  # restored: its record came along
            return restored_trace(self.agent, self._kept)
        return self._ran().trace()

    def get_narrative(self) -> str:
        """What the last run did, step by step, in words."""
        return narrative(self.trace, most=None if self.agent.verbose else MOST_LINES)

    async def replay(self) -> Replay:
        """Run the last run again from its record, and compare every step.

        Nothing is called: its model, its tools and what it looked up answer as on record. Raises
        `CallerError` before the first run.
        """
        from saywhy.runtime.replay.alone import replay_run

        return await replay_run(self._ran())

    async def counterfactual(self, without: str, *, model: Any = None) -> Counterfactual:
        """Run the last run again without a piece, and say whether and how its answer changes.

        `without` is a name that `why` gives: `instruction:ID`, `tool:NAME`, `tool_result:N`,
        `message:1` (the words of this run), `memory:ID`, `retrieval:ID`. Tools are never called.
        `model` is asked where a request is another one than on record; without one the answer on
        record stands in, and `assumed` says so.
        """
        from saywhy.runtime.replay.alone import run_without

        return await run_without(self._ran(), without, model)

    @property
    def run_id(self) -> str:
        """The id of the last run; empty before the first one."""
        return self._last.run_id if self._last is not None else self._kept.run_id

    # ------------------------------------------------------------ keeping

    def checkpoint(self) -> bytes:
        """The whole conversation as JSON, for `agent.restore` in this or another process.

        Raises `CallerError` in the midst of a run.
        """
        self._must_rest("checkpoint")
        return to_json(self._kept, self.agent.name)

    def restore(self, checkpoint: bytes | str) -> None:
        """Become the conversation of a checkpoint. Raises `DamagedSession` and changes nothing."""
        self._must_rest("restore")
        self._kept = from_json(checkpoint, self.agent.name, self.agent.chart.digest)
        self._last = None

    def reset(self) -> None:
        """Forget everything that was said. A memory keeps what it has."""
        self._must_rest("reset")
        self._kept = Kept(self._kept.id)
        self._last = None

    # ------------------------------------------------------------ inside

    async def _go(self, begin: Begin, given: Given) -> AgentResult:
        self._must_rest("run")
        self._running = True
        try:
            run = AgentRun(self.agent, self._kept, begin, given)
            self._last = run
            self._kept = self._kept.but(turn=run.turn)
            result, self._kept = await run.go()
            return result
        finally:
            self._running = False

    async def _stream(
        self, begin: Begin, given: Given
    ) -> AsyncGenerator[AgentEvent | AgentResult, None]:
        async def work(put: Callable[[Any], None]) -> AgentResult:
            return await self._go(begin, given._replace(on_event=put))

        pieces = stream(work)
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()  # type: ignore[attr-defined]

    def _said(self, message: Content) -> Begin:
        if not isinstance(message, str | list | tuple):
            kind = type(message).__name__
            raise CallerError(f"a message is text or a list of blocks, not {kind}")
        blocks: Any = () if isinstance(message, str) else message
        for number, block in enumerate(blocks):
            if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
                raise CallerError(
                    f"block {number} of the message is none: {str(block)[:80]}",
                    hint='{"type": "text", "text": "…"}',
                )
        return Begin(freeze(message, ("message",)))

    def _answered(self, answer: Any) -> Begin:
        if self._kept.paused is None:
            raise NothingPending(NOT_PAUSED)
        return Begin(self._kept.paused.message, answer=(freeze(answer, ("answer",)),))

    def _offered(self, action: Any) -> ResolvedFollowUp:
        """The action, with arguments that the conversation knows to be right."""
        self._must_have_begun()
        if isinstance(action, ResolvedFollowUp):
            follow_up = action
        else:  # from outside, where anything may be written into it
            follow_up = self._known(resolved_runtime(action))
        target, known = follow_up.tool_id, self.agent.follow_up_targets()
        if known is not None and target not in known:
            raise CallerError(
                f'the follow-up leads to the tool "{target}", which the agent does not have',
                hint=did_you_mean(target, known) or "hand in one of result.follow_ups",
            )
        return follow_up

    def _known(self, given: ResolvedFollowUp) -> ResolvedFollowUp:
        for one in self.follow_ups:
            if one.tool_id == given.tool_id and same(one.params, given.params):
                return one
        raise CallerError(
            f'no call of "{given.tool_id}" with these arguments was offered by the last run',
            hint="send back one of result.follow_ups as to_value() gave it",
        )

    def _must_have_begun(self) -> None:
        if not self._kept.turn:
            raise CallerError(
                "there is nothing to follow up: nothing was said in this conversation",
                hint="begin with run(message)",
            )

    def _must_rest(self, what: str) -> None:
        if self._running:
            raise CallerError(
                f"this conversation is in the midst of a run, so it cannot {what} now",
                hint="await that run first; agent.conversation() gives another one",
            )

    def _ran(self) -> AgentRun:
        if self._last is None:
            raise CallerError("there is no record: nothing has run here yet", hint="run(message)")
        return self._last
