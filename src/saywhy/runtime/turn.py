"""One turn: a message goes through routing and the flows to the next rest.

The runner moves two cursors of one session, routing and flow, and answers what they need: tools,
approved functions that are async, pauses. It changes the session it was given, which is a copy; who
stores it, and who is told, is the engine's business.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any, Final, NoReturn, TypeVar

from saywhy.chart.cursor import Cursor
from saywhy.chart.fork import rest_of
from saywhy.chart.machine import (
    Ending,
    Language,
    Run,
    StepFailed,
    close_frames,
    open_frame,
)
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Need
from saywhy.errors import ActiveFlowEmptyResponse, FlowExecutionError, TooManySteps
from saywhy.flows import outside
from saywhy.flows.due import DUE, note_due
from saywhy.flows.frames import OUTCOME
from saywhy.flows.turn import routing_call
from saywhy.messages import Message
from saywhy.runtime.agents.needs import KINDS, answer_agent, first_open
from saywhy.runtime.calls import call_for, reconcile_for
from saywhy.runtime.entry import Entry
from saywhy.runtime.functions import answer_function
from saywhy.runtime.known import begin_known
from saywhy.runtime.late import mask_earlier
from saywhy.runtime.machinery import Journal, Machinery, NoJournal
from saywhy.runtime.remembered import end_turn, logging_of
from saywhy.runtime.retold import with_conversation
from saywhy.runtime.said import Said
from saywhy.runtime.session import KEPT_COMMITS, KEPT_IN_MEMORY, Session
from saywhy.runtime.told import newly_told
from saywhy.tools.invocation import CallContext
from saywhy.trace.record import Recorder
from saywhy.values import UNDEFINED, FrozenDict, freeze, raw, thaw

__all__ = ["Journal", "Machinery", "NoJournal", "TurnRun"]

T = TypeVar("T")

RESTING: Final = frozenset({"user", *outside.KINDS})
"""What a turn ends at: only people can give it."""


class TurnRun:
    """A turn being run."""

    def __init__(
        self, machinery: Machinery, session: Session, recorder: Recorder, journal: Journal
    ) -> None:
        self.machinery = machinery
        self.session = session
        self.recorder = recorder
        self.journal = journal
        self.flow: Cursor = session.cursor
        self.routing: Cursor = session.routing
        self.said = Said(session)
        facts = session.cursor.state.scopes["session"]
        self.waited = bool(facts.get(outside.OPEN[1]))
        """Whether people had something to decide before, as far as can be told."""
        self.moment = 0.0
        """What time it is for whoever says that it is time; our clock may be behind."""
        recorder.warn = logging_of(machinery, recorder.redactor)
        self.due = facts.get(DUE[1], UNDEFINED)
        """What was due before. It changes when a turn ends, so a crash leaves it as it is."""
        self.kept: dict[Any, Any] | None = None
        """What answerers of agents want to find again later in the turn."""
        self.run = Run(
            machinery.charts,
            machinery.language,
            recorder.keep,
            machinery.limits,
            machinery.clock.now(),
            (self.routing, self.flow),
        )

    # ------------------------------------------------------------ the turn

    async def take(self, entry: Entry) -> None:
        """Take a user's message to the next rest.

        Raises `FlowExecutionError` with the repaired session when a step raised.
        """
        session = self.session
        self._take_facts(entry)
        begin_known(self.machinery.world, session)
        changed, gone = session.cargo_changes()
        session._cargo = None  # pyright: ignore[reportPrivateUsage] - the changes go in as writes
        active = session.last_activity
        if entry.timer is not None:
            self.moment = entry.timer.get("at") or 0.0
            self.run.now = max(self.run.now, self.moment)
        self._begin()
        if entry.timer is not None:
            session.last_activity = active  # that of the user
        is_message = entry.decision is None and entry.timer is None
        message = self._note_message(entry).seq if is_message else 0
        received: dict[str, Any] = {
            "text": entry.text,
            "message": message,
            "cargo": FrozenDict({**changed, **entry.cargo} if entry.cargo else changed),
            "cargo_gone": gone,
            "start": entry.start,
            "chat": self._chat(),
        }
        if host := newly_told(self.machinery.world, self.flow.state):
            received["host"] = host
        if entry.decision:
            received["decision"] = entry.decision
        if entry.timer is not None:
            received["timer"] = entry.timer
        open_frame(self.routing, self.machinery.routing, routing_call(received))
        await self._finish(self._route(None))

    def note_assistant(self, entry: Entry) -> None:
        """Take in what the host itself said; no step runs. spec: flow-engine 1.2"""
        self._take_facts(entry)
        if entry.cargo:
            self.session.cargo.update(thaw(entry.cargo))
        self._begin()
        message = self.said.hear(entry, self.run.now)
        if not self.flow.frames:
            self.session.last_chat["assistant"] = message.seq

    async def resume(self, entry: Entry) -> None:
        """Go on with a turn that a crash interrupted at a call: nothing before it runs again."""
        self.said.take_up()
        self.waited = True
        await self._finish(self._route(self.routing.top.waiting))

    def _chat(self) -> list[dict[str, str]]:
        """What user and assistant said last, oldest first, as a model is told of it."""
        if self.machinery.models is None:
            return []
        turns = sorted(self.session.last_chat_turn.values(), key=lambda one: one["timestamp"])
        return [{"role": one["role"], "content": one["content"]} for one in turns]

    def _take_facts(self, entry: Entry) -> None:
        """What the host says of the session along with a message."""
        if entry.language:
            self.session.language = entry.language
        if entry.authenticated is not None:
            self.session.authenticated = entry.authenticated

    def _begin(self) -> None:
        """Reset what describes one turn only. spec: flow-engine 8.2"""
        state = self.flow.state
        state.turn += 1
        state.scopes["turn"] = {}
        self.session.last_activity = self.run.now
        if self.flow.frames:
            data = self.flow.frames[-1].data
            data["question"] = self.session.question_of(data)

    def _note_message(self, entry: Entry) -> Message:
        frames = self.flow.frames
        pii = bool(frames and frames[-1].data.get("pii"))
        return self.said.hear(entry, self.run.now, pii=pii)

    async def _finish(self, routing: Awaitable[None]) -> None:
        try:
            await routing
        except (StepFailed, TooManySteps) as error:
            self._repair()
            raised = self._as_execution_error(error)
            if self.masked(str(error)) != str(error):
                raise raised from None  # a log with the cause would tell what is sensitive
            raise raised from error
        response = self.session.response
        if self.flow.frames and not response and self._must_speak():
            self._fail_silent()
        self._close(response)

    # ------------------------------------------------------------ routing

    async def _route(self, need: Need | None) -> None:
        routing = self.machinery.routing_language
        if need is None:
            need = await self._advance(routing, self.routing, None)
            going_on = False
        else:
            going_on = True
        while need is not None:
            if need.kind == "model":
                answer = await self._answer_one(need)
                self.run.now = self.machinery.clock.now()
            else:
                answer = await self._flow_need(need, going_on=going_on)
                if answer is None:
                    self.routing.frames.clear()
                    return
            going_on = False
            need = await self._advance(routing, self.routing, answer)

    def _is_routed(self, need: Need) -> bool:
        """Whether routing has nothing left to say: the flows have the words, and keep them.

        It would only note that they rest, as their own last commit does.
        """
        if need.name not in ("answer", "start"):
            return False
        return "dispatched" not in self.flow.state.scopes["turn"]

    async def _flow_need(self, need: Need, *, going_on: bool) -> Answer | None:
        """Do to the flows what routing asks for; the answer says how they rest.

        None where routing need not go on.
        """
        args = need.args or {}
        answer: Answer | None = None
        waiting = rest_of(self.flow) if going_on else None
        if not going_on:
            match need.name:
                case "answer":
                    answer = self._words(args)
                case "start":
                    if args.get("end"):
                        self._end_all(Ending("dispatched", "dispatched by the host's start"))
                        self._drop(OUTCOME)  # a flow starts: how others ended is no news
                    self._open(args)
                case "end":
                    root = self.flow.frames[0].name
                    self._end_all(Ending(args["how"], args["reason"]))
                    return Answer(freeze({"root": root}))
                case "silence":
                    answer = Answer("", facts={"silence": True})
                case "decided":
                    answer = self._decided(args)
                    if answer is None:
                        return Answer(FrozenDict({"frames": len(self.flow.frames)}))
                case _:
                    raise FlowExecutionError(f"the flows can do nothing about {need.name}")
        await self._drive(answer, waiting)
        if self._is_routed(need):
            return None
        return Answer(FrozenDict({"frames": len(self.flow.frames)}))

    def _decided(self, args: Any) -> Answer | None:
        """The decision for the step that waits for it; None where that cannot go on with it now.

        An interruption is run to its end first, and what is over does not begin again.
        """
        frame = outside.frame_of(self.flow, args)
        if frame is None:
            return None
        if frame is not self.flow.top:
            frame.data["decided"] = thaw(args)
            return None
        return outside.answer_of(args)

    def _words(self, args: Any) -> Answer | None:
        """The user's words for the frame that waits; a frame that waits for nothing just runs."""
        message = self.flow.state.scopes["turn"].get("message", UNDEFINED)
        top = self.flow.frames[-1]
        if top.waiting is None:
            top.data["input"] = [args["text"].strip(), message]
            return None
        facts = {"message": message}
        if "correction" in args:
            facts["correction"] = args["correction"]
        return Answer(args["text"], facts=facts)

    def _open(self, args: Any) -> None:
        chart = self.machinery.charts[args["chart"]]
        boundary = bool(args["boundary"])
        call = Call(chart.digest, args["scope"], boundary=boundary, data=raw(args["data"]))
        if call.boundary:
            self.flow.top.data["question"] = None
        open_frame(self.flow, chart, call)

    def _end_all(self, ending: Ending) -> None:
        if self.flow.frames:
            self.run.language = self.machinery.language
            close_frames(self.run, self.flow, list(self.flow.frames), ending)

    # ------------------------------------------------------------ the flows

    async def _drive(self, answer: Answer | None, need: Need | None) -> None:
        """Run the flows until they wait for the user or none is left."""
        language = self.machinery.language
        resumed = need is not None  # from its intent: a turn is taken up nowhere else
        if need is None:
            need = await self._advance(language, self.flow, answer)
        while need is not None and need.kind not in RESTING:
            given = await self._answer(need, resumed=resumed)
            resumed = False
            self.run.now = self.machinery.clock.now()
            need = await self._advance(language, self.flow, given)

    async def _advance(
        self, language: Language, cursor: Cursor, answer: Answer | BranchAnswer | None
    ) -> Need | None:
        self.run.language = language
        if self.machinery.apart is None:
            return self.run.advance(cursor, answer)
        return await self.machinery.apart.run(partial(self.run.advance, cursor, answer))

    def masked(self, text: str) -> str:
        """`text` as it may be logged and kept."""
        return self.recorder.redactor.text(text)

    async def _answer(self, need: Need, *, resumed: bool = False) -> Answer | BranchAnswer:
        if need.kind == "fork":
            path, item = first_open(need)
            answer = await self._answer_one(item, resumed=resumed)
            return BranchAnswer(path[0], answer, path[1:])
        return await self._answer_one(need, resumed=resumed)

    async def _answer_one(self, need: Need, *, resumed: bool = False) -> Answer:
        if self.machinery.agents is not None and need.kind in KINDS:
            answer = await answer_agent(self, need)
            if answer is not None:
                return answer
        match need.kind:
            case "tool":
                return await call_for(self, need, resumed=resumed)
            case "reconcile":
                return await self.journal.waiting(partial(reconcile_for, self, need))
            case "function":
                return await self.journal.waiting(partial(self._function, need))
            case "model":
                return await self.journal.waiting(partial(self._model, need))
            case "timer":
                return await self.journal.waiting(partial(self._pause, need))
            case _:
                raise FlowExecutionError(f"nobody here can answer a need for {need.kind}")

    async def _pause(self, need: Need) -> Answer:
        await self.machinery.clock.sleep(need.args["ms"] / 1000)
        return Answer()

    async def _function(self, need: Need) -> Answer:
        """An async approved function, called from an expression."""
        context = CallContext(
            session_id=self.session.session_id,
            user_id=self.session.user_id,
            clock=self.machinery.clock,
            moment=self.run.now,
        )
        answer = await answer_function(self.machinery.world, self.machinery.clock, need, context)
        if answer.error is not None:
            text = f"approved function {need.name} raised {answer.error_name}: {answer.error}"
            self.machinery.warn(self.masked(text))
        return answer

    async def _model(self, need: Need) -> Answer:
        """What the language model says. A failure is a line for who debugs, and no more: whoever
        awaits the turn is told of it. spec: flow-engine 8.5"""
        models = self.machinery.models
        assert models is not None, "no step asks a model where there is none"
        told = with_conversation(need, self.session.messages, self.masked)
        answer = await models.answer(self.machinery.world, self.machinery.clock, told)
        if answer.error is not None:
            is_sensitive = bool(self.flow.frames) and self.flow.top.data.get("pii")
            # What failed may quote the words, which only become a secret once they are taken.
            why = "it failed on words that may be sensitive" if is_sensitive else answer.error
            self.machinery.debug(self.masked(f"model, {need.name}: {why}"))
        return answer

    # ------------------------------------------------------------ the end of a turn

    def _must_speak(self) -> bool:
        """Whether the user is asked something, in this turn."""
        need = self.flow.top.waiting
        waits_for_others = need is not None and need.kind in outside.KINDS
        is_ours = self.session.state.get("turn", "message") is UNDEFINED
        if self.session.state.get("turn", "dispatch") is not UNDEFINED:
            return False  # a form has yielded the words, and the host answers them
        return not waits_for_others and not (is_ours and self.flow.top.data.get("question"))

    def _fail_silent(self) -> NoReturn:
        """A flow that waits without having said anything is stuck. spec: flow-engine 1.6"""
        names = ", ".join(frame.name for frame in self.flow.frames)
        node = self.machinery.charts[self.flow.top.chart].nodes.get(self.flow.top.at or "")
        place = node.where if node else None
        error = ActiveFlowEmptyResponse(
            f"the flow {names} waits for an answer, but said nothing",
            session=self.session,
            flow=names,
            step=node.id if node else "",
            place=place,
            hint="give the SAY-GET a value that is not empty",
        )
        self._end_all(Ending("failed", "it waits for an answer, but asked nothing", error))
        self._repair()
        raise error

    def _drop(self, *keys: tuple[Any, ...]) -> None:
        for scope, name in keys:
            self.session.state.scopes.get(str(scope), {}).pop(str(name), None)

    def _repair(self) -> None:
        """After an error: routing is over, and what this turn had said so far is not a reply."""
        self.session.routing.frames.clear()
        self._drop(("turn", "reply"), ("turn", "dispatched"))
        if not self.flow.frames:
            self._drop(("session", "queue"), ("session", "tentative"))
        self._close(None)

    def _close(self, response: str | None) -> None:
        """Make a message of the reply; texts then stand there and nowhere else."""
        session = self.session
        session.reply_message = 0
        scopes = self.flow.state.scopes
        turn = scopes["turn"]
        if response:
            message = self.said.reply(turn["reply"], self.run.now, response)
            session.reply_message = message.seq
            if message.text == response:  # else the real words stay with the turn
                turn["reply"] = message.seq
            self._point_question(message)
        self.said.seal()
        self._note_last_chat(response)
        turn.pop("text", None)
        scopes.pop("routing", None)
        outside.withdraw(self.flow)
        usual_ms = self.machinery.world.options.inactivity_ms
        now = max(self.run.now, self.moment)
        note_due(self.machinery.charts, self.flow, now, usual_ms)
        session.commits = _newest([*session.commits, *self.recorder.kept], KEPT_COMMITS)
        session.messages = _newest(session.messages, KEPT_IN_MEMORY)
        if self.recorder.redactor.declared:
            mask_earlier(session, self.recorder.redactor)
        self.settle()

    def settle(self) -> None:
        """Let the session know of what is sensitive only what later turns may need."""
        if not self.flow.frames:
            self.said.forget()
        end_turn(self.recorder.redactor, self.session)

    def _note_last_chat(self, response: str | None) -> None:
        """What no flow handled is remembered for the next detection. spec: flow-engine 1.2"""
        session = self.session
        if response is not None or session.cursor.frames:
            session.last_chat = {}
            return
        message = self.flow.state.get("turn", "message")
        if message is not UNDEFINED:
            session.last_chat["user"] = message

    def _point_question(self, message: Message) -> None:
        """The open question points into the message that asked it."""
        frames = self.flow.frames
        if not frames:
            return
        data = frames[-1].data
        question = data.get("question")
        if isinstance(question, str) and question:
            start = message.text.rfind(question)
            if start >= 0:
                data["question"] = [message.seq, start, start + len(question)]

    def _as_execution_error(self, error: StepFailed | TooManySteps) -> FlowExecutionError:
        cause = error.error if isinstance(error, StepFailed) else error
        kind = type(cause) if isinstance(cause, FlowExecutionError) else FlowExecutionError
        hint = getattr(cause, "hint", "")
        step = error.node if isinstance(error, StepFailed) else error.step
        return kind(
            self.masked(str(cause) or type(cause).__name__),
            session=self.session,
            flow=error.flow,
            step=step,
            place=error.place,
            hint=hint,
        )


def _newest(items: list[T], limit: int) -> list[T]:
    return items if len(items) <= limit else items[-limit:]
