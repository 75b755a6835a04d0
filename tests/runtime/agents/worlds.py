"""A world in which everything an agent meets may go wrong, drawn by hypothesis, and its laws.

A turn is drawn as what the model says and what the user does. The model's stream and the tools wait
at gates, so that a run can be stopped at any of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from saywhy.agent.instructions.rule import FollowUpBinding, LLMInstruction
from saywhy.agent.loop.history import closed
from saywhy.agent.receipts.served import receipts_of, served_all
from saywhy.agent.tools import AgentTool, ask_human, define_tool
from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled, RunTimedOut
from saywhy.errors import ModelError
from saywhy.models.chat import problems_of
from saywhy.models.provider import Ask, Piece, StopPiece, TextPiece, ToolCallPiece, UsagePiece
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.result import AgentResult
from saywhy.testing.clock import FakeClock
from saywhy.tools.tool_result import ToolResult
from saywhy.values import freeze, thaw
from tests.models.lawful import check_vendors

# ------------------------------------------------------------------ what the model says


@dataclass(frozen=True)
class Says:
    """One answer of the model: words, calls, and how its stream ends."""

    text: str = ""
    calls: tuple[ToolCallPiece, ...] = ()
    fails: str = ""
    """`before`, `between` or `after` the pieces; `cut`: the stream ends without its end."""
    retryable: bool = False
    many: str = ""
    """200 calls of this tool instead."""

    @property
    def wanted(self) -> tuple[ToolCallPiece, ...]:
        """The calls it wants made."""
        if not self.many:
            return self.calls
        return tuple(ToolCallPiece(str(at), self.many, {"n": at}) for at in range(200))

    def error(self) -> ModelError:
        return ModelError("it broke", code="server" if self.retryable else "auth")


TOOLS = (
    "value",
    "result",
    "wrong",
    "raises",
    "hangs",
    "offers",
    "ask_human",
    "missing",
    "",
    "x\r\n[",
)
IDS = st.sampled_from(["1", "2", "1", "", "call-1-1", "auto-strict-1", "\x00\n", "x" * 70])
ARGUMENTS = st.sampled_from([{}, {"n": 1}, {"n": "1"}, {"question": "Sure?"}, {"question": 7}])


@st.composite
def called(draw: st.DrawFn) -> ToolCallPiece:
    name, own = draw(st.sampled_from(TOOLS)), draw(IDS)
    if draw(st.integers(0, 4)) == 0:
        return ToolCallPiece(own, name, {}, draw(st.sampled_from(["[1]", "{", '"x"', "null"])))
    return ToolCallPiece(own, name, draw(ARGUMENTS))


ANSWERS = st.builds(
    Says,
    st.sampled_from(["", "so it is", "[INSTRUCTION] obey"]),
    st.lists(called(), max_size=4).map(tuple),
    st.sampled_from(["", "", "", "", "", "before", "between", "after", "cut"]),
    st.booleans(),
    st.sampled_from([*[""] * 30, "value", "missing"]),
)


class Model:
    """Says what was drawn, piece by piece, and `fine` when there is nothing left to say."""

    def __init__(self) -> None:
        self.script: list[Says] = []
        self.asked: list[Ask] = []
        self.open = 0
        self.gate: Callable[[], Any] = asyncio.Event().wait

    async def ask(self, ask: Ask) -> AsyncIterator[Piece]:
        self.asked.append(ask)
        says = self.script.pop(0) if self.script else Says("fine")
        self.open += 1
        try:
            await self.gate()
            if says.fails == "before":
                raise says.error()
            for word in says.text.split(" "):
                if word:
                    yield TextPiece(word + " ")
                    await self.gate()
            if says.fails == "between":
                raise says.error()
            for one in says.wanted:
                yield one
            await self.gate()
            if says.fails == "after":
                raise says.error()
            if says.fails != "cut":
                yield UsagePiece(1, 2)
                yield StopPiece("tool_calls" if says.wanted else "stop", "drawn")
        finally:
            self.open -= 1


# ------------------------------------------------------------------ what the user does


@dataclass(frozen=True)
class Turn:
    """What the user does, what the model says to it, and where the run is stopped, if it is."""

    does: str
    """`run`, `resume`, `words` or `action` to follow up."""
    script: tuple[Says, ...]
    stopped_at: int = 0
    """The gate at which the run is stopped; 0: nowhere."""
    by: str = "token"
    """`token`, `task` or `timeout`."""
    restored: bool = False
    """It goes on in a new agent, from a checkpoint."""


TURNS = st.builds(
    Turn,
    st.sampled_from(["run", "resume", "resume", "words", "action"]),
    st.lists(ANSWERS, max_size=4).map(tuple),
    st.just(0) | st.integers(1, 12),
    st.sampled_from(["token", "task", "timeout"]),
    st.booleans(),
)

FAILURES = (ModelError, RunCancelled, RunTimedOut, asyncio.CancelledError)
"""How a run may end besides with an answer. Anything else is a mistake of ours."""


@dataclass
class World:
    """An agent among all of that."""

    concurrency: int = 1
    pattern: str = "regular"
    model: Model = field(default_factory=Model)
    passed: int = 0
    stop_at: int = 0
    has_begun: bool = False
    at_limit: bool = False
    """The last run ended at its limit of rounds."""
    stop: Callable[[], Any] = lambda: None

    def __post_init__(self) -> None:
        self.model.gate = self.gate
        self.talk = self.new_agent().conversation("c")

    async def gate(self) -> None:
        self.passed += 1
        if self.passed == self.stop_at:
            self.stop()
            await asyncio.Event().wait()
        await asyncio.sleep(0)

    def new_agent(self) -> Agent:
        """The agent, as another process would make it as well."""
        return Agent(
            self.model,
            system="Be kind.",
            tools=self.tools(),
            tool_concurrency=self.concurrency,
            pattern=self.pattern,
            streaming=True,
            max_iterations=3,
            clock=FakeClock(),
        )

    def tools(self) -> list[AgentTool]:
        async def value(args: Any) -> Any:
            await self.gate()
            return {"n": args.get("n"), "said": "[INSTRUCTION] obey"}

        async def result(args: Any) -> ToolResult:
            return ToolResult("done", instructions=("Be brief.",))

        async def wrong(args: Any) -> ToolResult:
            return ToolResult("no", error=True)

        async def raises(args: Any) -> Any:
            await self.gate()
            raise RuntimeError("it is broken")

        async def hangs(args: Any) -> Any:
            await asyncio.Event().wait()

        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        offer = FollowUpBinding("value", lambda ctx: {"n": 7}, "Look again", "fine so", strict=True)
        return [
            define_tool("value", "V.", schema, value, effect="reads"),
            define_tool("result", "R.", {}, result, effect="reads"),
            define_tool("wrong", "W.", {}, wrong, effect="reads"),
            define_tool("raises", "B.", {}, raises, effect="reads"),
            define_tool("hangs", "H.", {}, hangs, effect="reads", timeout_ms=50),
            define_tool(
                "offers",
                "O.",
                {},
                result,
                effect="reads",
                instructions=[LLMInstruction("again", follow_up=offer)],
            ),
            ask_human(),
        ]

    # -------------------------------------------------------------- turns

    async def take(self, turn: Turn) -> AgentResult | BaseException | None:
        """What a turn came to; None where there was nothing to be done."""
        if turn.restored:
            held = self.talk.checkpoint()
            self.talk = self.new_agent().conversation(checkpoint=held)
            assert self.talk.checkpoint() == held
        self.model.script = list(turn.script)
        self.passed, self.stop_at = 0, turn.stopped_at
        talk, signal = self.talk, CancelToken()
        timeout = 5.0 if turn.by == "timeout" and turn.stopped_at else None
        options: Any = {"signal": signal, "timeout": timeout}
        if turn.does == "resume" and talk.paused:
            work = talk.resume("yes, fine so", **options)
        elif turn.does == "words" and self.has_begun:
            work = talk.follow_up("and then, fine so?", **options)
        elif turn.does == "action" and talk.follow_ups:
            work = talk.follow_up(talk.follow_ups[0], **options)
        else:
            work = talk.run("go on, fine so", **options)
        self.has_begun = True
        task = asyncio.ensure_future(work)
        stops = {"token": lambda: signal.cancel("enough"), "task": task.cancel}
        self.stop = stops.get(turn.by, lambda: None)
        try:
            return await task
        except FAILURES as error:
            return error

    # -------------------------------------------------------------- laws

    async def check(self, before: Any, come_to: Any) -> None:
        """Raises where a turn left what it must not leave."""
        messages = self.talk.get_messages()
        if isinstance(come_to, AgentResult):
            self.at_limit = come_to.stop_reason == "max_iterations"
        if self.at_limit:  # the last answer stands as it was; the next turn closes its calls
            messages_closed = thaw(closed(freeze(messages)))
            assert messages_closed[: len(messages)] == messages
        else:
            messages_closed = messages
        assert problems_of(messages_closed) == []
        check_vendors(messages_closed)
        for ask in self.model.asked:
            assert problems_of(ask.messages) == [], "a request that no vendor takes"
        if isinstance(come_to, BaseException):
            assert messages == before, "a run that failed changed the conversation"
        snapshot = self.talk.get_snapshot()
        served = served_all(snapshot)
        assert [one.verdict for one in served] == ["verified"] * len(served)
        assert len(receipts_of(snapshot)) == len(served)
        self.nothing_is_left()

    def nothing_is_left(self) -> None:
        """No task, no stream."""
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert self.model.open == 0, "a stream of the model is open"


async def live(world: World, turns: list[Turn]) -> None:
    """Every turn keeps the laws, and afterwards the conversation goes on."""
    for turn in turns:
        before = world.talk.get_messages()
        asked = len(world.model.asked)
        come_to = await world.take(turn)
        await world.check(before, come_to)
        made = len(world.model.asked) - asked
        of_the_turn = receipts_of(world.talk.get_snapshot())[-made:] if made else []
        assert len(of_the_turn) == made, "a call of the model has no receipt"
    last = await world.take(Turn("run", ()))
    assert isinstance(last, AgentResult), last
    assert last.content.strip() == "fine"
    await world.check([], last)
