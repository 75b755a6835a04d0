"""What every runner can do: have conversations, run, stream, rest and go on, say what it did.

An agent is one, and so is a single call of a model, and whatever is made of several of these. Each
is a chart, so they nest in one another with one record; how they do stands in `agent.runners`.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, Unpack, cast

from saywhy.agent.events import AgentEvent
from saywhy.agent.loop.build import spec_of
from saywhy.agent.runners.part import Part
from saywhy.chart.built import Built, Result
from saywhy.chart.model import Chart
from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError
from saywhy.models.asked import asked_model
from saywhy.models.chat import Content
from saywhy.runtime.agents.conversation import Conversation
from saywhy.runtime.agents.dispatch import Dispatch
from saywhy.runtime.agents.kept import Kept, from_json
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.run import RunSettings, StreamSettings
from saywhy.runtime.agents.script import run_to_end
from saywhy.trace.masking.redact import USUAL, Policy
from saywhy.values import thaw

if TYPE_CHECKING:
    from saywhy.agent.instructions.follow_up import ResolvedFollowUp
    from saywhy.runtime.replay.result import Replay
    from saywhy.runtime.replay.whatif import Counterfactual
    from saywhy.trace.trace import Trace

R = TypeVar("R", bound=AgentResult)


UNFIT: Final = re.compile(r"[\s/#~]+")
"""What may not stand in the id of a chart."""


def random_id() -> str:
    """An id that no other run has."""
    return str(uuid.uuid4())


class Runner(Generic[R]):
    """Something that answers a message. `built_as` gives its chart, to be part of another one."""

    keeps_history: bool = False
    """Whether a run goes on with what was said in those before."""

    def __init__(
        self,
        name: str,
        *,
        id: str = "",
        recorders: Iterable[Any] = (),
        redact: Policy = USUAL,
        verbose: bool = False,
        clock: Clock | None = None,
        new_id: Callable[[], str] | None = random_id,
        conversation_id: str | None = None,
    ) -> None:
        self.name: Final = name
        """What it is called in records and checkpoints."""
        self.clock: Clock = clock or SystemClock()
        self.redact, self.verbose = redact, verbose
        self.dispatch = Dispatch(recorders)
        self._new_id = new_id
        self.built: Built = self.built_as(id or UNFIT.sub("-", name))
        self._default = self.conversation(conversation_id)

    # ------------------------------------------------------------ what kinds of runners say

    def built_as(self, id: str) -> Built:
        """Its chart under this id, those of the runners inside under ids that begin with it."""
        raise NotImplementedError

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> AgentResult:
        """What a run has come to, from its state and the fields that all results have."""
        return AgentResult(**given)

    def follow_up_targets(self) -> Sequence[str] | None:
        """The tools that a follow-up may lead to; None where nobody knows them beforehand."""
        return ()

    def part(self, id: str, description: str = "") -> Part:
        """This as a part of another runner, called `id` there."""
        return Part(id, self.built_as, description, self.keeps_history, self)

    def inside(self) -> Iterable[Any]:
        """The runners that this one is made of."""
        return ()

    # ------------------------------------------------------------ what all have

    def asking(self, model: Any = None, *, streaming: bool | None = None) -> Self:
        """The same with another model, with `streaming` asked for pieces or not.

        This one and its conversations stay as they are. Raises `CallerError` where it is made of
        several runners, which have models of their own.
        """
        definition: Any = getattr(self, "definition", None)
        if definition is None:
            raise CallerError(
                f'"{self.name}" has no model of its own: it is made of other runners',
                hint="give those their models where they are made",
            )
        made: Any = copy.copy(self)
        if model is not None:
            made.model = asked_model(model)
        if streaming is not None:
            made.definition = dataclasses.replace(definition, streaming=streaming)
        made.built = made.built_as(self.chart.id)
        made._default = made.conversation(self._default.id)
        return made

    @property
    def chart(self) -> Chart:
        """What it runs as."""
        return self.built.chart

    def new_id(self) -> str:
        """The id of a new run; empty where there are to be none."""
        return str(self._new_id() or "") if self._new_id is not None else ""

    # ------------------------------------------------------------ conversations

    def conversation(
        self, id: str | None = None, *, checkpoint: bytes | str | None = None
    ) -> Conversation:
        """A conversation of its own, new or from a checkpoint. Any number run at once.

        A memory keeps it under `id`, which is a random one unless given. Raises `DamagedSession`
        for a checkpoint that cannot be read.
        """
        if checkpoint is not None:
            kept = from_json(checkpoint, self.name, self.chart.digest)
            return Conversation(self, kept if id is None else kept.but(id=id))
        return Conversation(self, Kept(str(uuid.uuid4()) if id is None else id))

    async def run(self, message: Content, **options: Unpack[RunSettings]) -> R:
        """Say something, and wait for the answer. See `Conversation.run`."""
        return cast("R", await self._default.run(message, **options))

    def stream(
        self, message: Content, **options: Unpack[StreamSettings]
    ) -> AsyncGenerator[AgentEvent | R, None]:
        """Like `run`, giving events as they come and the result in the end."""
        return cast(
            "AsyncGenerator[AgentEvent | R, None]", self._default.stream(message, **options)
        )

    async def follow_up(
        self,
        action: str | ResolvedFollowUp | Mapping[str, Any],
        *,
        message: str | None = None,
        **options: Unpack[RunSettings],
    ) -> R:
        """Go on with more words, or with an offered action. See `Conversation.follow_up`."""
        return cast("R", await self._default.follow_up(action, message=message, **options))

    async def resume(self, answer: Any, **options: Unpack[RunSettings]) -> R:
        """Give the answer of the person who was asked. See `Conversation.resume`."""
        return cast("R", await self._default.resume(answer, **options))

    def run_sync(self, message: Content, **options: Unpack[RunSettings]) -> R:
        """`run` for a script that knows nothing of asyncio. Raises `CallerError` inside a loop."""
        return cast("R", run_to_end(self, lambda: self.run(message, **options)))

    def resume_sync(self, answer: Any, **options: Unpack[RunSettings]) -> R:
        """`resume` for a script that knows nothing of asyncio."""
        return cast("R", run_to_end(self, lambda: self.resume(answer, **options)))

    async def settled(self) -> None:
        """Come back once every `async def` hook of the recorders is done."""
        await self.dispatch.settled()

    async def replay(self) -> Replay:
        """Run the last run again from its record. See `Conversation.replay`."""
        return await self._default.replay()

    async def counterfactual(self, without: str, *, model: Any = None) -> Counterfactual:
        """Run the last run again without a piece. See `Conversation.counterfactual`."""
        return await self._default.counterfactual(without, model=model)

    # ------------------------------------------------------------ the default conversation

    def checkpoint(self) -> bytes:
        """The conversation as JSON, for `restore` in this or another process."""
        return self._default.checkpoint()

    def restore(self, checkpoint: bytes | str) -> None:
        """Go on with the conversation of a checkpoint. Raises `DamagedSession`."""
        self._default.restore(checkpoint)

    def reset_conversation(self) -> None:
        """Forget what was said. A memory keeps what it has."""
        self._default.reset()

    def get_messages(self) -> list[dict[str, Any]]:
        """The history, the system message included, as a copy."""
        return self._default.get_messages()

    def get_snapshot(self) -> Result:
        """State and record of the last run, as `receipt_at` and `served_at` read it."""
        return self._default.get_snapshot()

    def get_narrative(self) -> str:
        """What the last run did, step by step, in words."""
        return self._default.get_narrative()

    @property
    def trace(self) -> Trace:
        """The record of the last run, masked."""
        return self._default.trace

    # ------------------------------------------------------------ its chart

    def to_flow_chart(self) -> Built:
        """Its chart, to be mounted in another one that hands over `message`."""
        return self.built

    def get_spec(self) -> dict[str, Any]:
        """Its chart as data, to be drawn or compared."""
        return thaw(spec_of(self.chart))
