"""What becomes of a message: a command, an interruption, an answer, or the start of a flow.

Routing is a chart like any other, on a short cursor of its own beside the flow's: each thing it
does leaves a commit, and a crash in the middle of it resumes. What it needs of the flows it asks
for as `Need("flow", …)`; the driver moves the flow cursor and answers. spec: flow-engine 1.3, 5
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Op
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.machine import Language, Step
from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Answer, Call, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows import analysis, choosing, intent, offers, outside, overview
from saywhy.flows.agents.places import AGENTS, flows_among
from saywhy.flows.answers import mask, withdraw_keypad
from saywhy.flows.corrections.routing import Corrector, may_correct
from saywhy.flows.due import take_due
from saywhy.flows.given import note_given, note_said
from saywhy.flows.model import Flow
from saywhy.flows.modelled import ask_model
from saywhy.flows.said_again import hide_given
from saywhy.flows.speech import (
    QUEUE,
    TENTATIVE,
    deliver,
    here,
    language_of,
    prompt_for,
    queue_text,
    say_phrase,
)
from saywhy.flows.starting import Starter, forget, named, opened, words
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, freeze

ROUTING: Final = "(routing)"
_NUMBER: Final = re.compile(r"(?:[0-9][\s().-]?){4}")

NODES: Final = (
    ("receive", "take the message in"),
    ("command", "is it a command?"),
    ("switch", "go to the flow that was offered"),
    ("correction", "does it correct an earlier answer?"),
    ("interruption", "does it start another flow?"),
    ("resume", "hand it to the flow that waits"),
    ("start", "start the flow the host asks for"),
    ("intent", "which flow fits?"),
    ("parameters", "with which parameters?"),
    ("language", "in which language?"),
    ("open", "start that flow"),
    ("fallback", "let an agent answer what no flow fits"),
    ("decide", "what was decided about a call"),
    ("due", "what fell due by itself"),
)


def routing_chart() -> Chart:
    """The chart that every message goes through."""
    return Chart.of(
        ROUTING,
        [Node(name, name, None, describe=text) for name, text in NODES],
        kind="routing",
    )


def routing_language(world: World) -> Language:
    """What the routing chart does. The cursor of the flows is the last of those beside it."""
    router, starter, corrector = Router(world), Starter(world), Corrector(world)
    return Language(
        {
            "receive": Step(router.receive, router.after_flow),
            "command": Step(router.command, router.after_command),
            "switch": Step(router.switch, router.after_flow),
            "correction": Step(corrector.correction, corrector.after_correction),
            "interruption": Step(router.interruption, router.after_interruption),
            "resume": Step(router.resume, router.after_flow),
            "start": Step(router.host_start, router.after_flow),
            "intent": Step(starter.intent, starter.after_intent),
            "parameters": Step(starter.parameters, starter.after_parameters),
            "language": Step(starter.language, starter.after_language),
            "open": Step(starter.open_flow, starter.after_start),
            "fallback": Step(starter.fall_back, starter.after_start),
            "decide": Step(router.decide, router.after_flow),
            "due": Step(router.due, router.after_due),
        }
    )


def routing_call(received: Mapping[str, Any]) -> Call:
    """The call that begins a turn's routing; `received` is what came in."""
    return Call(ROUTING, "routing", data={"received": received})


class Router(msgspec.Struct, frozen=True, eq=False):
    """The routing steps. The cursor of the flows is only looked at; the driver moves it."""

    world: World

    def receive(self, node: Node, scope: Scope) -> Outcome:
        """Note the words, the host's changes to cargo, and where the message goes first."""
        received = scope.kept("received")
        if received.get("host"):
            scope.facts["host"] = received["host"]
        if received.get("decision"):
            return Goto("decide")
        if received.get("timer") is not None:
            return Goto("due")
        message = received["message"]
        scope.facts["message"] = message
        text = received["text"]
        scope.replace(("turn", "text"), text, [Op("set", ("input", str(message)), text)])
        scope.replace(("turn", "message"), message, [])
        frames = _flow(scope).frames
        if not (frames and frames[-1].data.get("pii")):  # a mark of a PIN would tell it
            note_said(self.world, scope, text)
            if self.world.watches:
                hide_given(self.world, scope, frames, text, language_of(self.world, scope))
        elif _NUMBER.search(text):  # also where the words turn out to be a command
            mask(scope, text)
        cargo = received.get("cargo")
        if cargo:
            note_given(self.world, scope, cargo)
            for name, value in cargo.items():
                scope.set(("cargo", name), value)
        for name in received.get("cargo_gone", ()):
            scope.delete(("cargo", name))
        if received.get("start"):
            return Goto("start")
        if not frames:
            offers.withdraw(scope)
            return Goto("intent")
        to = self._first(scope, text)
        if to == "resume" and outside.waiting_record(_flow(scope), scope) is None:
            # What most words are, an answer, is handed on at once: a step of its own has a price.
            return _answered_by(text)
        return Goto(to)

    def _first(self, scope: Scope, text: str) -> str:
        """Where words go that are said to a flow: past what is decided without a look at them."""
        if offers.pending(scope) is not None or self._command_in(scope, text):
            return "command"
        return _past_commands(scope)

    def _command_in(self, scope: Scope, text: str) -> str | None:
        language = language_of(self.world, scope)
        return self.world.commands.detect(text, language, self.world.options.commands)

    # -------------------------------------------------------- commands

    def command(self, node: Node, scope: Scope) -> Outcome:
        """Cancel, help, status, or what became of an offer; anything else goes on to the flow."""
        text = words(scope)
        language = language_of(self.world, scope)
        found = self._command_in(scope, text)
        offer = offers.pending(scope)
        if found == "cancel":
            reason = f"User requested exit: {text.strip()}"
            return Need("flow", "end", {"how": "cancelled", "reason": reason}, "repeatable")
        if found == "help":
            told = overview.help_text(*self._view(scope, language), offer)
            deliver(scope, here(scope, told))
            return Return()
        if found == "status":
            deliver(scope, here(scope, overview.status_text(*self._view(scope, language))))
            return Return()
        offers.withdraw(scope)
        if offer is not None and found == "switch":
            scope.keep("switch", offer.flow)
            return Goto("switch")
        if offer is not None and found == "continue":
            offers.go_on(self.world, scope, offer, _flow(scope).top)
            return Return()
        return Goto(_past_commands(scope))

    def _view(self, scope: Scope, language: str) -> tuple[World, Any, Cursor, str]:
        return self.world, scope.charts, _flow(scope), language

    def after_command(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """All flows were ended: say so."""
        forget(scope, QUEUE, TENTATIVE, offers.OFFER)
        name = answer.value["root"]
        language = language_of(self.world, scope)
        chart = scope.charts.find(name)
        prompt = prompt_for(chart, language) if chart else name
        text = say_phrase(
            self.world, scope, "cmd_flow_exited", language, flowName=name, flowPrompt=prompt
        )
        deliver(scope, here(scope, text))
        return Return()

    def switch(self, node: Node, scope: Scope) -> Outcome:
        """The user took what was offered."""
        chart = scope.charts.find(scope.kept("switch"))
        assert chart is not None, "an offer whose flow is gone was withdrawn"
        if not _may_interrupt(scope):  # a decision about a call has moved the flow meanwhile
            return Goto("resume")
        return self._interrupt(scope, chart, "cmd_interruption_switch")

    # -------------------------------------------------------- interruption and resume

    def interruption(self, node: Node, scope: Scope) -> Outcome:
        """Another flow's name, where every flow of the active stack lets itself be interrupted."""
        stack = _active_stack(_flow(scope))
        if not _may_interrupt(scope):
            return Goto("resume")
        text = words(scope)
        if self.world.has_model and not stack[-1].data.get("pii"):  # nobody else's to read
            since = stack[0].data.get("first", 0)
            told = self._told(flows_among(scope.charts, stack))
            return ask_model(analysis.TASK, input=text, stack=told, since=since)
        match = intent.exact(text, self.world.order)
        if match is None or match.flow.name == stack[-1].name:
            return Goto("resume")
        scope.decision = named(match.flow, match.how)
        return self._leave(scope, match.flow)

    def after_interruption(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """What the model thinks of the words; or the interrupting flow rests or has ended."""
        if scope.asked is None or scope.asked.kind != "model":
            return self.after_flow(node, scope, answer)
        words(scope)
        found = analysis.analysis_of(self.world, answer)
        current = _flow(scope).top.name
        scope.decision = analysis.decision_of(found, current)
        if found.target is None or scope.decision.default:
            return Goto("resume")
        return self._leave(scope, found.target)

    def _told(self, stack: list[Frame]) -> list[dict[str, str]]:
        """The flows that run, as the model is told of them: the one that asked comes last."""
        asked = stack[-1].data.get("question")
        questions = [""] * (len(stack) - 1) + [asked if isinstance(asked, str) else ""]
        return [
            {"flow": frame.name, "question": question}
            for frame, question in zip(stack, questions, strict=True)
        ]

    def _leave(self, scope: Scope, flow: Flow) -> Outcome:
        """Go to another flow, or ask the user first, as the engine was told."""
        chart = self.world.chart_of(flow)
        if not self.world.options.offer_interruptions:
            return self._interrupt(scope, chart, "flow_interrupted")
        offers.offer(self.world, scope, chart, _active_stack(_flow(scope))[0])
        return Return()

    def _interrupt(self, scope: Scope, chart: Chart, phrase: str) -> Outcome:
        """Leave the question open, and open another flow above it."""
        stack = _active_stack(_flow(scope))
        withdraw_keypad(scope)
        language = language_of(self.world, scope)
        root = scope.charts.find(stack[0].chart)
        said = say_phrase(
            self.world,
            scope,
            phrase,
            language,
            targetFlow=prompt_for(chart, language),
            currentFlow=prompt_for(root, language) if root else stack[0].name,
        )
        queue_text(self.world, scope, said)
        return opened(scope, chart, {}, "intent-switch", boundary=True)

    def resume(self, node: Node, scope: Scope) -> Outcome:
        """Hand the words to the flow that waits for them; one that waits for others stays put."""
        record = outside.waiting_record(_flow(scope), scope)
        if record is not None:
            if outside.is_expired(record, scope.now):
                named = {name: record[name] for name in ("id", "seq")}
                return self._take(scope, {**named, "how": "expired", "at": scope.now})
            outside.tell_waiting(self.world, scope, record)
            return Return()
        return _answered_by(words(scope))

    def after_flow(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """The flows rest, ended, or handed the words back by DISPATCH."""
        if scope.peek(("turn", "dispatched")) is UNDEFINED:
            return Return()
        return Goto("intent")

    # -------------------------------------------------------- what a person decided

    def decide(self, node: Node, scope: Scope) -> Outcome:
        """Hand a person's decision to the step that waits for it, however far away that is."""
        return self._take(scope, scope.kept("received")["decision"])

    def _take(self, scope: Scope, decision: Mapping[str, Any]) -> Outcome:
        record = outside.take_decision(scope, decision)
        if record is None:
            scope.facts["too_late"] = True
            scope.set(("turn", "tooLate"), True)
            return Return()
        told = ("id", "how", "by", "note", "at")
        facts = {name: decision[name] for name in told if decision.get(name) is not None}
        scope.facts["decided"] = {**facts, "kind": record["kind"], "tool": record["name"]}
        args = freeze({**decision, "frame": record["frame"]})
        return Need("flow", "decided", args, "repeatable")

    # -------------------------------------------------------- what falls due

    def due(self, node: Node, scope: Scope) -> Outcome:
        """Let the flow that waits know of the silence, or end all of them."""
        return take_due(scope, _flow(scope), scope.kept("received")["timer"])

    def after_due(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """The flows rest or have ended. There are no words that they could hand back."""
        forget(scope, ("turn", "dispatched"))
        if not _flow(scope).frames:
            forget(scope, QUEUE, TENTATIVE)
        return Return()

    # -------------------------------------------------------- starting a flow

    def host_start(self, node: Node, scope: Scope) -> Outcome:
        """Start the flow the host named, ending those that run. spec: flow-engine 5.5"""
        wanted = scope.kept("received")["start"]
        chart = scope.charts.find(str(wanted["flow"]))
        assert chart is not None, "the host's flow was looked up before the turn began"
        forget(scope, QUEUE, TENTATIVE, offers.OFFER, choosing.CHOICE)
        arguments = dict(wanted.get("arguments") or {})
        return opened(scope, chart, arguments, "host-start", end=bool(_flow(scope).frames))


def _answered_by(text: str) -> Need:
    """The words go to the flow that waits for them."""
    return Need("flow", "answer", {"text": text}, "repeatable")


def _flow(scope: Scope) -> Cursor:
    """The cursor of the flows."""
    return scope.cursors[-1]


def _active_stack(flow: Cursor) -> list[Frame]:
    """The newest stack: the flow that is active and those that called it."""
    frames = flow.frames
    start = len(frames) - 1
    while start > 0 and not frames[start].boundary:
        start -= 1
    return frames[start:]


def _past_commands(scope: Scope) -> str:
    """Where words go that are no command: to the flow itself, where nothing else is allowed."""
    if may_correct(_flow(scope)):
        return "correction"
    return "interruption" if _may_interrupt(scope) else "resume"


def _may_interrupt(scope: Scope) -> bool:
    """Whether every flow of the active stack lets itself be interrupted."""
    version = scope.charts.version
    for frame in _active_stack(_flow(scope)):
        chart = version(frame.chart)
        if chart is None:
            return False
        if not chart.meta.get("interruptable") and chart.kind not in AGENTS:
            return False
    return True


__all__ = ["ROUTING", "Router", "routing_call", "routing_chart", "routing_language"]
