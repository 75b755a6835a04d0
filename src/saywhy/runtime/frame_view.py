"""A running flow as hosts know it: every FlowFrame field, read off the cursor.

spec: flow-engine 8.1; the source document's "Flow Frame Structure"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from saywhy.chart.cursor import Frame
from saywhy.flows.forms.record import view_of
from saywhy.flows.offers import OFFER
from saywhy.trace.trace import Trace
from saywhy.trace.transactions import steps_of
from saywhy.values import thaw

if TYPE_CHECKING:
    from saywhy.runtime.session import Session


class FrameView:
    """One frame of a session between turns. Reading it changes nothing."""

    def __init__(self, session: Session, frame: Frame) -> None:
        self._session = session
        self._frame = frame

    @property
    def flow_name(self) -> str:
        """Name of the flow."""
        return self._frame.name

    @property
    def flow_id(self) -> str:
        """Id of the flow."""
        chart = self._session.charts.find(self._frame.chart)
        return chart.id if chart else ""

    @property
    def flow_version(self) -> str:
        """The author's version of the flow this frame was opened with."""
        chart = self._session.charts.find(self._frame.chart)
        return str(chart.meta.get("version", "")) if chart else ""

    @property
    def flow_steps_stack(self) -> list[dict[str, Any]]:
        """Steps still to run along the straight way, reversed: the last one is next."""
        chart = self._session.charts.find(self._frame.chart)
        steps: list[dict[str, Any]] = []
        at = self._frame.at
        while chart is not None and at in chart.nodes and len(steps) < len(chart.nodes):
            node = chart.nodes[at]
            steps.append({"id": node.name, "type": node.kind, **node.spec})
            at = node.next
        return steps[::-1]

    @property
    def context_stack(self) -> list[dict[str, Any]]:
        """What was said and what tools gave since this flow began, oldest first."""
        since = self._frame.data.get("first", 0)
        entries = [
            {"role": one.role, "content": one.text, "timestamp": one.at}
            for one in self._session.messages
            if one.seq >= since
        ]
        chart = self._session.charts.find(self._frame.chart)
        nodes = chart.nodes if chart else {}
        for commit in self._session.commits:
            done = commit.answered
            if commit.frame == self._frame.id and done is not None and done.kind == "tool":
                entry = {"role": "tool", "content": thaw(done.value), "timestamp": commit.at}
                step = nodes[commit.node].name if commit.node in nodes else commit.node
                entries.append({**entry, "stepId": step, "toolName": done.name})
        return sorted(entries, key=lambda entry: entry["timestamp"])

    @property
    def input_stack(self) -> list[str]:
        """The newest words of the user in this flow."""
        kept = self._frame.data.get("input")
        return [kept[0]] if kept else []

    @property
    def variables(self) -> dict[str, Any]:
        """A copy of the flow's variables."""
        scope = self._session.state.scopes.get(self._frame.scope, {})
        return {name: thaw(value) for name, value in scope.items()}

    @property
    def transaction(self) -> dict[str, Any]:
        """The transaction of this flow so far."""
        data = self._frame.data
        return {
            "id": data.get("tx", ""),
            "flowName": self._frame.name,
            "initiator": data.get("initiator", ""),
            "userId": self._session.user_id,
            "steps": steps_of_frame(self._session.trace, self._frame.id),
            "state": "active",
            "createdAt": data.get("started", 0),
        }

    @property
    def user_id(self) -> str:
        """Whose conversation this is."""
        return self._session.user_id

    @property
    def start_time(self) -> float:
        """When the flow began: milliseconds since 1970."""
        return self._frame.data.get("started", 0.0)

    @property
    def pending_variable(self) -> str | None:
        """The variable that the user's next words go to."""
        need = self._frame.waiting
        if need is None or need.kind != "user":
            return None
        if isinstance(need.args, dict) and "field" in need.args:
            return str(need.args["field"])
        return need.name or None

    @property
    def pending_variable_context(self) -> str | None:
        """The question that is open."""
        return self._session.question_of(self._frame.data)

    @property
    def pending_variable_pii(self) -> bool:
        """Whether the next words are sensitive and must stay out of the host's logs."""
        return self.pending_variable is not None and bool(self._frame.data.get("pii"))

    @property
    def last_say_message(self) -> str | None:
        """The text of the open question."""
        return self.pending_variable_context

    @property
    def pending_interruption(self) -> dict[str, Any] | None:
        """What the user was offered to go to instead of answering; only the open flow has it."""
        if self._frame is not self._session.cursor.frames[-1]:
            return None
        kept = self._session.state.get(*OFFER)
        return thaw(kept) if kept else None

    @property
    def accumulated_messages(self) -> list[str]:
        """Texts said but not delivered."""
        return self._session.pending_messages

    @property
    def declared_outcome(self) -> dict[str, Any] | None:
        """The outcome that will be stamped when the flow ends."""
        return self._frame.data.get("outcome")

    @property
    def form(self) -> dict[str, Any] | None:
        """How the form of this flow stands: what is filled, its completion and its recovery."""
        return view_of(self._frame)

    @property
    def parent_transaction(self) -> str | None:
        """The transaction of the flow that called this one."""
        return self._frame.data.get("parent") or None

    @property
    def just_resumed(self) -> bool:
        """Whether the flow was just taken up again after an interruption."""
        return bool(self._frame.data.get("justResumed"))

    def to_dict(self) -> dict[str, Any]:
        """All fields under their camelCase names, as plain JSON data."""
        return {name: getattr(self, attribute) for name, attribute in FIELDS.items()}


def steps_of_frame(trace: Trace, frame: int) -> list[dict[str, Any]]:
    """The steps of one flow as a transaction lists them, as plain data."""
    return [msgspec.to_builtins(step) for step in steps_of(trace, trace.steps_of(frame=frame))]


FIELDS = {
    "flowName": "flow_name",
    "flowId": "flow_id",
    "flowVersion": "flow_version",
    "flowStepsStack": "flow_steps_stack",
    "contextStack": "context_stack",
    "inputStack": "input_stack",
    "variables": "variables",
    "transaction": "transaction",
    "userId": "user_id",
    "startTime": "start_time",
    "pendingVariable": "pending_variable",
    "pendingVariableContext": "pending_variable_context",
    "pendingVariablePii": "pending_variable_pii",
    "lastSayMessage": "last_say_message",
    "pendingInterruption": "pending_interruption",
    "accumulatedMessages": "accumulated_messages",
    "declaredOutcome": "declared_outcome",
    "form": "form",
    "parentTransaction": "parent_transaction",
    "justResumed": "just_resumed",
}
