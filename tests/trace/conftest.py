"""A small flow language on the real machine, so that the commits in these tests are genuine.

It has the kinds of step that explanations speak of, and writes the scopes that flows write: what
was said waits in ("session", "queue"), the user's words stand at ("input", number of the message).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from saywhy.chart.commit import Commit, Condition, Decision, FunctionCall, Op
from saywhy.chart.cursor import Cursor
from saywhy.chart.machine import Ending, Language, Step, StepFailed, advance, open_frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Answer, Call, Fail, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.messages import Message, Span
from saywhy.trace.masking.redact import Policy
from saywhy.trace.record import Recorder
from saywhy.trace.trace import Trace
from saywhy.values import Key, raw

QUEUE: Key = ("session", "queue")
REPLY: Key = ("turn", "reply")
NAME = re.compile(r"[A-Za-z_][\w.]*")
HOLE = re.compile(r"\{([\w.]+)\}")


# ------------------------------------------------------------------ reading


def key_of(scope: Scope, path: str) -> Key:
    """Where a dotted name lives: a variable of the flow, cargo, or the user's words."""
    parts = tuple(path.split("."))
    if parts[0] == "userInput":
        return ("input", str(scope.peek(("turn", "message"))))
    return parts if parts[0] == "cargo" else (scope.frame.scope, *parts)


def read(scope: Scope, path: str) -> Any:
    """The value of a dotted name, noted as read."""
    key = key_of(scope, path)
    if key[0] == "input":
        scope.reads.append(key)
        return scope.peek(("turn", "text"))
    return scope.read(key)


class Names(dict[str, Any]):
    """The names of an expression, each noted as read."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def __missing__(self, name: str) -> Any:
        return read(self.scope, name)


def calculate(scope: Scope, source: str) -> Any:
    """The value of `amount + fee.total`. `rate(x)` is an approved function: a tenth."""
    names = Names(scope)
    called = re.fullmatch(r"rate\(([\w.]+)\)", source)
    if called:
        given = names[called[1]]
        scope.calls += (FunctionCall("rate", [given], given / 10),)
        return given / 10
    code = NAME.sub(lambda found: f"_[{found[0]!r}]", source)
    return eval(code, {"__builtins__": {}, "_": names})


def fill(scope: Scope, text: str) -> str:
    """A text with the values of its `{names}`."""
    return HOLE.sub(lambda hole: str(read(scope, hole[1])), text)


# ------------------------------------------------------------------ steps


def say(node: Node, scope: Scope) -> Outcome:
    scope.append(QUEUE, [fill(scope, node.spec["value"]), scope.state.seq + 1])
    return Goto(node.next)


def take_queue(scope: Scope) -> list[Any]:
    pieces: list[Any] = []
    for text, commit in scope.read(QUEUE) or ():
        pieces += [["\n\n", 0]] * bool(pieces) + [[text, commit]]
    if pieces:
        scope.delete(QUEUE)
    return pieces


def ask(node: Node, scope: Scope) -> Outcome:
    question = [[fill(scope, node.spec["value"]), scope.state.seq + 1]]
    pieces = take_queue(scope)
    scope.set(REPLY, [*pieces, *([["\n\n", 0]] if pieces else []), *question])
    return Need("user", node.spec["variable"])


def take_answer(node: Node, scope: Scope, answer: Answer) -> Outcome:
    scope.reads.append(("input", str(answer.facts["message"])))
    text = str(answer.value).strip()
    if node.spec.get("pii"):
        scope.secrets = (text,)
    scope.set((scope.frame.scope, node.spec["variable"]), text)
    return Goto(node.next)


def set_variable(node: Node, scope: Scope) -> Outcome:
    value = node.spec["value"]
    if isinstance(value, str) and value.startswith("{{"):
        value = calculate(scope, value[2:-2].strip())
    target: Key = (scope.frame.scope, *node.spec["variable"].split("."))
    if node.spec.get("append"):
        scope.append(target, value)
    else:
        scope.set(target, value)
    return Goto(node.next)


def call_tool(node: Node, scope: Scope) -> Outcome:
    args = {name: read(scope, path) for name, path in node.spec["args"].items()}
    return Need("tool", node.spec["tool"], args)


def take_result(node: Node, scope: Scope, answer: Answer) -> Outcome:
    target = (scope.frame.scope, node.spec["variable"])
    if answer.error is None:
        scope.set(target, answer.value)
        return Goto(node.next)
    scope.facts["failure"] = {"message": answer.error, "action": ""}
    scope.set(target, answer.error)
    rescue = node.spec.get("onFail")
    return Goto(rescue) if rescue else Fail(RuntimeError(answer.error))


def case(node: Node, scope: Scope) -> Outcome:
    tested: list[Condition] = []
    for branch, target in node.spec["branches"]:
        if branch == "default":
            scope.decision = Decision("default", tuple(tested), default=True)
            return Goto(target)
        source = branch.removeprefix("condition:").strip()
        before = len(scope.reads)
        holds = bool(calculate(scope, source))
        values = tuple((key, scope.peek(key)) for key in scope.reads[before:])
        tested.append(Condition(source, holds, branch, values))
        if holds:
            scope.decision = Decision(branch, tuple(tested))
            return Goto(target)
    return Goto(node.next)


def call_flow(node: Node, scope: Scope) -> Outcome:
    chart = scope.charts.find(node.spec["value"])
    assert chart is not None
    given = {name: read(scope, path) for name, path in node.spec.get("parameters", {}).items()}
    target = first_variables(scope, chart, given)
    tail = node.spec.get("callType") == "replace"
    return Call(chart.digest, target, then=node.next, tail=tail)


def first_variables(scope: Scope, chart: Chart, given: Mapping[str, Any]) -> str:
    target = scope.open()
    defaults = chart.meta.get("defaults", {})
    for name, value in {**defaults, **given}.items():
        scope.set((target, name), value)
    scope.facts = {
        "target": chart.name,
        "digest": chart.digest,
        "scope": target,
        "defaults": list(defaults),
        "parameters": list(given),
    }
    return target


def end(node: Node, scope: Scope) -> Outcome:
    return Return()


def close(scope: Scope, ending: Ending) -> None:
    failed = ending.how == "failed"
    scope.facts["transaction"] = {
        "id": f"tx-{scope.frame.id}",
        "state": "failed" if failed else "completed",
        "createdAt": 1000.0,
        "failedAt" if failed else "completedAt": scope.now,
        **({"failureReason": ending.reason} if failed else {}),
    }
    if len(scope.cursor.frames) == 1 and not failed:
        scope.set(REPLY, take_queue(scope))


STEPS = {
    "SAY": Step(say),
    "SAY-GET": Step(ask, take_answer),
    "SET": Step(set_variable),
    "CALL-TOOL": Step(call_tool, take_result),
    "CASE": Step(case),
    "FLOW": Step(call_flow),
    "END": Step(end),
}


# ------------------------------------------------------------------ flows and conversations


def flow(name: str, *steps: dict[str, Any], defaults: dict[str, Any] | None = None) -> Chart:
    """A chart of steps written as `{"id": …, "type": …, …}`; branches are steps too."""
    nodes: list[Node] = []

    def add(step: dict[str, Any], next: str | None, under: tuple[str, ...]) -> None:
        spec = {key: value for key, value in step.items() if key not in ("branches", "onFail")}
        inner = list(step.get("branches", {}).items())
        if inner:
            spec["branches"] = [[branch, each["id"]] for branch, each in inner]
        if "onFail" in step:
            spec["onFail"] = step["onFail"]["id"]
            inner.append(("on failure", step["onFail"]))
        place = (f"{name}.flows.json", 10 * (len(nodes) + 1), 3, f"/steps/{len(nodes)}")
        nodes.append(Node(step["id"], step["type"], next, step["id"], spec, under, place))
        for _, each in inner:
            add(each, next, (step["id"],))

    for step, following in zip(steps, [*steps[1:], None], strict=True):
        add(step, following["id"] if following else None, ())
    return Chart.of(name, nodes, kind="flow", meta={"defaults": defaults or {}})


ROUTING = Chart.of(
    "(routing)", [Node(name, name) for name in ("receive", "open", "resume")], kind="routing"
)


class Talk:
    """One conversation with the flows; the first is started by the first message."""

    def __init__(
        self,
        *flows: Chart,
        tools: Mapping[str, Callable[[Any], Any]] | None = None,
        policy: Policy | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.first = flows[0]
        self.charts = Charts([*flows, ROUTING])
        self.tools = tools or {}
        self.parameters = parameters or {}
        self.recorder = Recorder(policy) if policy else Recorder()
        self.commits: list[Commit] = []
        self.messages: list[Message] = []
        self.flow = Cursor()
        self.routing = self.flow.beside()
        self.cargo: dict[str, Any] = {}
        self.now = 1_000_000.0

    @property
    def trace(self) -> Trace:
        """The record so far."""
        return Trace(self.commits, self.charts, self.messages)

    def says(self, text: str, **cargo: Any) -> str:
        """One turn; gives the reply."""
        state = self.flow.state
        state.turn += 1
        state.scopes["turn"] = {}
        self.cargo = cargo
        self.message("user", text)
        open_frame(self.routing, ROUTING, Call(ROUTING.digest, "routing"))
        try:
            self._route()
        finally:
            self.commits += self.recorder.take()
        pieces = [list(map(raw, piece)) for piece in state.get("turn", "reply") or ()]
        reply = "".join(text for text, _ in pieces)
        self.message("assistant", reply, spans_of(pieces))
        return reply

    def message(self, role: Any, text: str, spans: tuple[Span, ...] = ()) -> None:
        """Add to what was said."""
        number = len(self.messages) + 1
        pii = bool(self.flow.frames and "pii" in self._node().spec) and role == "user"
        self.messages.append(
            Message(number, role, text, self.flow.state.turn, self.now, spans, pii=pii)
        )

    def _node(self) -> Node:
        top = self.flow.top
        return self.charts[top.chart].node(str(top.at))

    def _route(self) -> None:
        routing = Language(
            {
                "receive": Step(self._receive),
                "open": Step(self._open, self._routed),
                "resume": Step(self._resume, self._routed),
            }
        )
        need = self._advance(routing, self.routing, None)
        while need is not None:
            answer = None
            if need.name == "start":
                call = Call(need.args["chart"], need.args["scope"])
                open_frame(self.flow, self.charts[need.args["chart"]], call)
            else:
                answer = Answer(need.args, facts={"message": len(self.messages)})
            self._drive(answer)
            need = self._advance(routing, self.routing, Answer())

    def _drive(self, answer: Answer | None) -> None:
        language = Language(STEPS, {"flow": close})
        try:
            need = self._advance(language, self.flow, answer)
            while need is not None and need.kind == "tool":
                self.now += 250
                try:
                    answer = Answer(self.tools[need.name](need.args))
                except Exception as error:
                    answer = Answer(error=str(error))
                need = self._advance(language, self.flow, answer)
        except StepFailed:
            pass

    def _advance(self, language: Language, cursor: Cursor, answer: Answer | None) -> Need | None:
        self.now += 1
        return advance(self.charts, language, cursor, answer, record=self.recorder, now=self.now)

    def _receive(self, node: Node, scope: Scope) -> Outcome:
        message = self.messages[-1]
        scope.facts = {"message": message.seq}
        scope.set(("turn", "text"), message.text)
        scope.set(("turn", "message"), message.seq)
        scope.ops[:] = [Op("set", ("input", str(message.seq)), message.text)]
        if message.pii:
            scope.secrets = (message.text.strip(),)
        for name, value in self.cargo.items():
            scope.set(("cargo", name), value)
        return Goto("resume" if self.flow.frames else "open")

    def _open(self, node: Node, scope: Scope) -> Outcome:
        scope.reads.append(("input", str(scope.peek(("turn", "message")))))
        target = first_variables(scope, self.first, self.parameters)
        return Need("flow", "start", {"chart": self.first.digest, "scope": target})

    def _resume(self, node: Node, scope: Scope) -> Outcome:
        scope.reads.append(("input", str(scope.peek(("turn", "message")))))
        return Need("flow", "answer", scope.peek(("turn", "text")))

    def _routed(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        return Return()


def spans_of(pieces: list[Any]) -> tuple[Span, ...]:
    spans: list[Span] = []
    start = 0
    for text, commit in pieces:
        if commit:
            spans.append(Span(start, start + len(text), commit))
        start += len(text)
    return tuple(spans)


# ------------------------------------------------------------------ a payment


@pytest.fixture
def make_flow() -> Callable[..., Chart]:
    """Builds a flow of the small language."""
    return flow


@pytest.fixture
def make_talk() -> Callable[..., Talk]:
    """Begins a conversation with flows of the small language."""
    return Talk


def payment_flows() -> tuple[Chart, Chart]:
    """Asks for amount and payee, gets a fee, and says so by a rule; charges in a second flow."""
    pay = flow(
        "Pay",
        {"id": "ask-amount", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
        {"id": "ask-payee", "type": "SAY-GET", "variable": "payee", "value": "To whom?"},
        {
            "id": "get-fee",
            "type": "CALL-TOOL",
            "tool": "quote_fee",
            "args": {"amount": "amount"},
            "variable": "fee",
        },
        {
            "id": "check-fee",
            "type": "CASE",
            "branches": {
                "condition: fee.total > limit": {"id": "dear", "type": "SAY", "value": "Too dear."},
                "condition: fee.total > 5": {
                    "id": "charge",
                    "type": "FLOW",
                    "value": "Charge",
                    "parameters": {"sum": "amount", "to": "payee"},
                },
                "default": {"id": "cheap", "type": "SAY", "value": "That is cheap."},
            },
        },
        defaults={"limit": 100},
    )
    charge = flow(
        "Charge",
        {
            "id": "done",
            "type": "SAY",
            "value": "Your payment of {sum} to {to} is done.",
        },
    )
    return pay, charge


@pytest.fixture
def payment() -> Talk:
    """A payment of 80 to Ann, done."""
    talk = Talk(
        *payment_flows(), tools={"quote_fee": lambda args: {"total": 8, "for": args["amount"]}}
    )
    talk.says("pay")
    talk.says("80")
    talk.says("Ann")
    return talk
