"""Runs and turns as spans: what began when, inside of what, and how it ended.

The names and attributes are those of OpenTelemetry's conventions for generative AI: a span for each
run of an agent (`invoke_agent`), each flow (`invoke_workflow`), each call of a model (`chat`) and
of a tool (`execute_tool`); steps and decisions are events. It needs no part of OpenTelemetry: how
spans are sent on is answered by `otel`.

Spans end with the turn. What goes on in the next turn has another span there, so that nobody waits
hours for the end of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from saywhy.chart.commit import Commit
from saywhy.models.provider import CHAT
from saywhy.trace.export.span_content import called_content, model_content, tool_content
from saywhy.trace.loops import Loops, LoopState
from saywhy.trace.words import OWN
from saywhy.values import raw, same

SpanKind = Literal["internal", "client"]

Attributes = dict[str, Any]

WAITS: Final = frozenset({"user", "approval", "settle"})
"""What only people can answer: the turn is over."""

MOST_EVENTS: Final = 500
"""Events of one span; the steps after that are not told."""


class SpanEvent(msgspec.Struct, frozen=True):
    """Something that happened in a span, at a time in milliseconds since 1970."""

    name: str
    at: float
    attributes: Attributes


class Span(msgspec.Struct):
    """A span. Times are milliseconds since 1970, by the clock of the run."""

    id: int
    name: str
    kind: SpanKind
    start: float
    attributes: Attributes
    parent: int = 0
    """0 for none."""
    end: float | None = None
    """None while it is open."""
    error: str = ""
    """The kind of failure; empty for none."""
    events: list[SpanEvent] = []


class Watcher:
    """Is told of spans while they begin and end. This one keeps them."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def begun(self, span: Span) -> None:
        """A span began; it is not complete yet."""
        self.spans.append(span)

    def happened(self, span: Span, event: SpanEvent) -> None:
        """Something happened in a span."""

    def ended(self, span: Span) -> None:
        """A span is complete."""


def spans_of(
    record: Iterable[Commit], *, content: bool = False, conversation_id: str = ""
) -> list[Span]:
    """The spans of a record, parents before their children.

    With `content` they hold what was said and what tools were called with, as far as the record
    does not mask it.
    """
    kept = Watcher()
    spans = Spans(kept, content=content, conversation_id=conversation_id)
    for commit in record:
        spans.take(commit)
    spans.close()
    return kept.spans


class _Call:
    """An open or unclaimed call of a tool."""

    def __init__(self, span: Span, frame: int, name: str, args: Any) -> None:
        self.span = span
        self.frame = frame
        self.name = name
        self.args = args
        self.over: float | None = None
        self.error = ""
        self.answer: Commit | None = None


class Spans:
    """Makes spans of commits, one after the other; those of one conversation."""

    def __init__(
        self,
        watcher: Watcher,
        *,
        content: bool = False,
        conversation_id: str = "",
        provider: str = "",
        loops: Loops | None = None,
    ) -> None:
        """`loops` are those that earlier turns have left open."""
        self.watcher = watcher
        self.content = content
        self.about: Attributes = {}
        if conversation_id:
            self.about["gen_ai.conversation.id"] = conversation_id
        self.provider = {"gen_ai.provider.name": provider} if provider else {}
        self._loops = Loops() if loops is None else loops
        self._count = 0
        self._turn: tuple[int, Span] | None = None
        """The turn of an engine."""
        self._frames: dict[int, Span] = {}
        self._models: dict[int, Span] = {}
        self._tools: list[_Call] = []
        self._errors: dict[int, str] = {}
        """By frame: the kind of its newest failure."""
        self._at = 0.0

    # ------------------------------------------------------------ in the order of the commits

    def take(self, commit: Commit) -> None:
        """Take in the next step."""
        if self._turn is not None and self._turn[0] != commit.turn:
            self.close()
        self._at = commit.at
        loop = self._loops.take(commit)
        self._place(commit)
        self._answer(commit, loop)
        if commit.error:
            self._errors.setdefault(commit.frame, commit.error_name or "error")
        self._step(commit, loop)
        self._ask(commit, loop)
        if commit.phase == "closed":
            self._over(commit)
        asked = commit.asked
        if asked is not None and asked.kind in WAITS:
            self.close()

    def close(self) -> None:
        """End everything: the turn is over."""
        for call in self._tools:
            self._end_call(call)
        self._tools.clear()
        for open_ones in (self._models, self._frames):
            for span in reversed(list(open_ones.values())):
                self._end(span)
            open_ones.clear()
        if self._turn is not None:
            self._end(self._turn[1])
            self._turn = None
        self._errors.clear()

    # ------------------------------------------------------------ frames

    def _place(self, commit: Commit) -> None:
        """Know the frame of a step, and begin its span where it has one."""
        frame = commit.frame
        if commit.flow in OWN:
            self._begin_turn(commit)
        elif frame not in self._frames and commit.phase != "closed":
            made = self._frame_span(commit)
            if made is not None:
                self._frames[frame] = made

    def _frame_span(self, commit: Commit) -> Span | None:
        """The span of a frame: an agent's loop, a flow, a chart; slots and rounds have none."""
        loop = self._loops.of(commit.frame)
        if loop is not None and loop.frame == commit.frame:
            agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": loop.name}
            attributes = {**agent, **self.provider, **self.about, "saywhy.turn": commit.turn}
            run_id = loop.text("runId")
            if run_id:
                attributes["saywhy.run.id"] = run_id
            return self._begin(f"invoke_agent {loop.name}", commit, attributes)
        if loop is not None and not commit.kind.isupper():
            return None
        # The conventions have renamed the second to the third; both are looked for.
        flow = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": commit.flow,
            "gen_ai.agent.name": commit.flow,
        }
        attributes = {**flow, **self.about, "saywhy.turn": commit.turn}
        return self._begin(f"invoke_workflow {commit.flow}", commit, attributes)

    def _begin_turn(self, commit: Commit) -> None:
        if self._turn is None:
            span = self._begin("turn", commit, {**self.about, "saywhy.turn": commit.turn})
            self._turn = (commit.turn, span)

    def _around(self, frame: int) -> Span | None:
        """The innermost span that a frame stands in."""
        while frame and frame not in self._frames:
            frame = self._loops.above(frame)
        if frame:
            return self._frames[frame]
        return self._turn[1] if self._turn is not None else None

    def _over(self, commit: Commit) -> None:
        """The frame of a step is over."""
        frame = commit.frame
        loop_over = frame in self._frames and self._frames[frame].name.startswith("invoke_agent")
        how = commit.facts.get("how")
        failure = self._errors.pop(frame, "")
        error = (failure if how == "failed" else "") or str(how)
        error = error if how in ("failed", "cancelled") else ""
        for call in [one for one in self._tools if one.frame == frame or loop_over]:
            call.error = call.error or (error if call.over is None else "")
            self._end_call(call)
            self._tools.remove(call)
        model = self._models.pop(frame, None)
        if model is not None:
            self._end(model, error or "cancelled")
        span = self._frames.pop(frame, None)
        if span is not None:
            self._end(span, error)

    # ------------------------------------------------------------ steps

    def _step(self, commit: Commit, loop: LoopState | None) -> None:
        """Steps of flows, and decisions of everything, as events."""
        decides = commit.decision is not None
        if commit.phase in ("asked", "closed") or (loop is not None and not decides):
            self._rules(commit)
            return
        told: Attributes = {"saywhy.step": commit.node, "saywhy.step.kind": commit.kind}
        if commit.decision is not None:
            told["saywhy.branch"] = commit.decision.chosen
        if commit.error:
            told["error.type"] = commit.error_name or "error"
        self._happened(commit, "saywhy.step", told)

    def _rules(self, commit: Commit) -> None:
        """What became of the rules about results."""
        for one in map(raw, raw(commit.facts.get("instructions")) or ()):
            verdicts = raw(one.get("log")) or () if "log" in one else (one,)
            for verdict in map(raw, verdicts):
                told = {"saywhy.instruction.id": str(verdict["id"])}
                told["saywhy.instruction.outcome"] = str(verdict["outcome"])
                if "tool" in one:
                    told["gen_ai.tool.name"] = str(one["tool"])
                self._happened(commit, "saywhy.instruction", told)

    def _happened(self, commit: Commit, name: str, told: Attributes) -> None:
        span = self._around(commit.frame)
        if span is None or len(span.events) >= MOST_EVENTS:
            return
        event = SpanEvent(name, commit.at, told)
        span.events.append(event)
        self.watcher.happened(span, event)

    # ------------------------------------------------------------ calls

    def _ask(self, commit: Commit, loop: LoopState | None) -> None:
        asked = commit.asked
        if asked is None or asked.kind not in ("model", "tool"):
            return
        if asked.kind == "tool":
            self._begin_call(commit, asked.name, asked.args)
            return
        attributes: Attributes = {"gen_ai.operation.name": "chat", **self.provider, **self.about}
        settings: Any = raw(loop.state.get("settings")) if loop is not None else None
        wanted = settings if isinstance(settings, dict) and asked.name == CHAT else {}
        for name in ("model", "temperature", "max_tokens", "top_p"):
            if wanted.get(name) is not None:
                attributes[f"gen_ai.request.{name}"] = wanted[name]
        if asked.name != CHAT:
            attributes["saywhy.task"] = asked.name
        if self.content and loop is not None:
            attributes |= model_content(loop)
        name = f"chat {wanted['model']}" if wanted.get("model") else "chat"
        self._models[commit.frame] = self._begin(name, commit, attributes, kind="client")

    def _answer(self, commit: Commit, loop: LoopState | None) -> None:
        answered = commit.answered
        if answered is not None and answered.kind == "model":
            span = self._models.pop(commit.frame, None)
            if span is not None:
                self._model_answered(span, commit)
        elif answered is not None and answered.kind == "tool":
            self._tool_answered(commit, inside=loop is not None)
        for made in map(raw, raw(commit.facts.get("calls")) or ()):
            self._claim(commit, made, loop)

    def _model_answered(self, span: Span, commit: Commit) -> None:
        answered = commit.answered
        assert answered is not None, "asked only for a commit with an answer"
        told: Any = raw(answered.value)
        fields: Mapping[str, Any] = told if isinstance(told, dict) else {}
        usage: Any = raw(fields.get("usage"))
        for name in ("input_tokens", "output_tokens"):
            if isinstance(usage, dict) and usage.get(name) is not None:
                span.attributes[f"gen_ai.usage.{name}"] = int(usage[name])
        if fields.get("model"):
            span.attributes["gen_ai.response.model"] = str(fields["model"])
        if fields.get("finish_reason"):
            span.attributes["gen_ai.response.finish_reasons"] = [str(fields["finish_reason"])]
        if self.content and not answered.error:
            span.attributes |= called_content(answered.value)
        error = str(answered.facts.get("code") or "error") if answered.error else ""
        if error:
            self._errors[commit.frame] = error
        self._end(span, error)

    def _begin_call(
        self, commit: Commit, name: str, args: Any, start: float | None = None
    ) -> _Call:
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            **self.about,
        }
        if self.content:
            attributes |= tool_content(args=args)
        span = self._begin(f"execute_tool {name}", commit, attributes, start=start)
        call = _Call(span, commit.frame, name, args)
        self._tools.append(call)
        return call

    def _tool_answered(self, commit: Commit, *, inside: bool) -> None:
        """In an agent's loop the call is settled by a later step, or later in this one."""
        answered = commit.answered
        assert answered is not None, "asked only for a commit with an answer"
        for call in self._tools:
            if call.frame == commit.frame and call.over is None:
                call.over = commit.at
                if answered.error:
                    call.error = str(answered.facts.get("code") or "error")
                if self.content:
                    call.span.attributes |= tool_content(result=answered.value)
                if not inside:
                    self._end_call(call)
                    self._tools.remove(call)
                return

    def _claim(self, commit: Commit, made: Mapping[str, Any], loop: LoopState | None) -> None:
        """A call of an agent was settled: one that was made, or that could not be made."""
        name, call_id = str(made["tool"]), str(made["callId"])
        args = loop.arguments(call_id) if loop is not None else None
        ready = [one for one in self._tools if one.over is not None and one.name == name]
        call = next((one for one in ready if same(one.args, args)), None)
        if call is None:
            start = commit.at - float(made.get("latencyMs") or 0)
            call = self._begin_call(commit, name, args, start)
            call.over = commit.at
        call.span.attributes["gen_ai.tool.call.id"] = call_id
        if made["error"]:
            call.error = call.error or str(made.get("code") or "error")
        self._end_call(call)
        self._tools.remove(call)

    def _end_call(self, call: _Call) -> None:
        error = call.error or ("cancelled" if call.over is None else "")
        self._end(call.span, error, call.over)

    # ------------------------------------------------------------ spans

    def _begin(
        self,
        name: str,
        commit: Commit,
        attributes: Attributes,
        *,
        kind: SpanKind = "internal",
        start: float | None = None,
    ) -> Span:
        self._count += 1
        around = self._around(commit.frame)
        parent = around.id if around is not None else 0
        began = commit.at if start is None else start
        span = Span(self._count, name, kind, began, attributes, parent, events=[])
        self.watcher.begun(span)
        return span

    def _end(self, span: Span, error: str = "", at: float | None = None) -> None:
        span.end = self._at if at is None else at
        if error:
            span.error = error
            span.attributes["error.type"] = error
        self.watcher.ended(span)
