"""One call of a tool: what has to be asked for it, and what it comes to for the model.

Every call takes this way, whoever wants it: a reply of the model or a strict follow-up, a tool of
the registry, of a provider or of an instruction, one that is not there, one with wrong arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.agent.instructions.context import InstructionContext, content_as_data
from saywhy.agent.instructions.decision import apply_decisions
from saywhy.agent.instructions.fence import fence
from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.inject import InstructionInjectionResult, process_instructions
from saywhy.agent.instructions.pending import pending_of
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.approving import APPROVAL, TO_APPROVE, ask_approval, decided, use_up
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.loop.state import NOTHING, append, given, glance, listener, look, tell, write
from saywhy.agent.loop.toolbox import Toolbox
from saywhy.agent.tool_input import InputCheck, InputError, validate_tool_input
from saywhy.agent.tool_reply import (
    INVALID_INPUT,
    ToolReply,
    content_of,
    failed,
    invalid_input,
    not_found,
    reply_with,
)
from saywhy.agent.tools import ASK_HUMAN, AgentTool, ChartRun
from saywhy.chart.outcome import Answer, Invoke, Need
from saywhy.chart.view import sight_of
from saywhy.models.chat import tool_message
from saywhy.tools.tool_result import ToolResult
from saywhy.values import FrozenDict, same, thaw

SHOWN_ARGUMENTS: Final = 200
"""So many characters of arguments that are no JSON object stand in the message about them."""

CARRIED_BY: Final = "carried_by"
"""Name in the environment of stages under which a host says what carries calls out."""

Asks = Need | Invoke
"""What a call waits for: somebody outside, or a chart that is run for it."""

Call = Mapping[str, Any]
"""`id`, `name` and `arguments`, as in a message; `raw` where those were no JSON object."""


class StrictFollowUpResult(msgspec.Struct, frozen=True):
    """A strict follow-up that fired, and the tool whose result it speaks about."""

    follow_up: ResolvedFollowUp
    source_tool_id: str


class ToolCalls:
    """How the calls of one loop are made."""

    def __init__(self, config: AgentLoopConfig, box: Toolbox) -> None:
        self.config = config
        self.box = box
        self.strict: StrictFollowUpResult | None = None
        """The first strict follow-up of the last run."""

    # ------------------------------------------------------------ before

    def begin(self, s: Any, call: Call) -> Asks | ToolReply:
        """Say that the call begins; what has to be asked, or the reply where nothing has to be."""
        self.started(s, call)
        return self.plan(s, call)

    def started(self, s: Any, call: Call) -> None:
        """Say that the call begins."""
        show = listener(s)
        if show is not None:
            arguments = FrozenDict(call["arguments"])
            started = {"tool_name": call["name"], "tool_call_id": call["id"], "args": arguments}
            show("tool_start", started)

    def plan(self, s: Any, call: Call) -> Asks | ToolReply:
        """What has to be asked, or the reply where nothing has to be."""
        name, arguments = call["name"], FrozenDict(call["arguments"])
        tool = self.found(s, name)
        if tool is None:
            return not_found(name)
        if isinstance(tool, ToolReply):
            return tool
        check = _checked(call, tool)
        if not check.valid:
            return invalid_input(tool.id, check)
        run = self._run_of(s, tool)
        if run is not None:
            return Invoke(run.chart, {**run.given(arguments), **_of_the_run(s, run, tool)})
        if tool.asks_human:
            question = str(arguments.get("question", ""))
            asked = FrozenDict({"question": question, "toolCallId": call["id"]})
            return Need("user", ASK_HUMAN, asked, "reads")
        return Need("tool", tool.id, arguments, tool.tool.effect)

    def found(self, s: Any, name: str) -> AgentTool | ToolReply | None:
        """Who carries out a call of `name`."""
        if self.box.is_registry:
            return self.box.registry.get(name)
        return self.box.find(name, lambda variable: look(s, variable))

    def _run_of(self, s: Any, tool: AgentTool) -> ChartRun | None:
        """The chart that carries its calls out, where there is one.

        An agent inside another one is not built by the host; its stages are run by it.
        """
        carried_by = self.config.carried_by or sight_of(s).env.get(CARRIED_BY)
        own = self.box.run_of(tool)
        if carried_by is None:  # no host has the charts that do not come along
            return own if own is not None and own.build is not None else None
        return own or carried_by(tool)

    # ------------------------------------------------------------ after

    def after(self, s: Any, call: Call, answer: Answer) -> Asks | ToolReply:
        """What a call that `begin` asked for still waits for, or what came of it."""
        asked = sight_of(s).scope.asked
        waiting = answer.facts.get(TO_APPROVE)
        use_up(s)
        is_decided = asked is not None and asked.kind == APPROVAL
        if waiting is None and not is_decided:
            return self.reply_of(s, call, answer)
        tool = self.found(s, call["name"])
        if not isinstance(tool, AgentTool):
            return tool or not_found(call["name"])
        if is_decided:
            return decided(s, call, tool, answer)
        return ask_approval(s, call, tool, waiting)

    def reply_of(self, s: Any, call: Call, answer: Answer) -> ToolReply:
        """What came of a call that was made."""
        asked = sight_of(s).scope.asked
        if asked is None or asked.kind != "call":
            return reply_from(answer)
        tool = self.found(s, call["name"])
        run = self._run_of(s, tool) if isinstance(tool, AgentTool) else None
        if run is None or (answer.error is not None and run.failure is None):
            return reply_from(answer)
        if answer.error is not None and run.failure is not None:
            return run.failure(answer.error)
        return run.reply(answer.value)

    def settle(self, s: Any, call: Call, reply: ToolReply, latency_ms: float = 0) -> Any:
        """The message for the model; what the rules make of the reply is done and told."""
        rules, shown = self._rules(s, call, reply), reply.content
        if rules or reply.instructions or reply.follow_ups:
            shown = self._instructed(s, call, reply, rules, latency_ms)
        else:
            shown = fence(shown, self.config.template.marks if self.config.template else ())
        wrong = reply.error is not None
        made: dict[str, Any] = {
            "tool": call["name"],
            "callId": call["id"],
            "error": wrong,
            "latencyMs": latency_ms,
        }
        code = reply.error.get("code") if reply.error else None
        if code:
            made["code"] = code
        suppressed = self.box.suppressed(call["name"])
        if suppressed:
            made["suppressed"] = suppressed
        tell(s, "calls", made)
        show = listener(s)
        if show is not None:
            ended: dict[str, Any] = {"tool_name": call["name"], "tool_call_id": call["id"]}
            show("tool_end", {**ended, "result": shown, "error": wrong, "latency_ms": latency_ms})
        return tool_message(shown, call["id"])

    def _rules(self, s: Any, call: Call, reply: ToolReply) -> tuple[LLMInstruction, ...]:
        """First those of the agent's active instructions, then the tool's own."""
        if reply.error and reply.error.get("code") == INVALID_INPUT:
            return ()
        agents: tuple[LLMInstruction, ...] = ()
        if self.box.book.instructions:
            agents = self.box.agent_rules(look(s, "responseRules"))
        tool = self.found(s, call["name"])
        return (*agents, *self.box.rules_of(tool)) if isinstance(tool, AgentTool) else agents

    def _instructed(
        self,
        s: Any,
        call: Call,
        reply: ToolReply,
        rules: tuple[LLMInstruction, ...],
        latency_ms: float,
    ) -> str:
        """What the model reads: the reply with what the rules say about it."""
        ctx = InstructionContext(
            content_as_data(reply.content),
            call["name"],
            error=reply.error,
            latency_ms=latency_ms,
            input=call["arguments"],
        )
        config = self.config
        result = process_instructions(
            reply.content,
            rules,
            ctx,
            reply if reply.instructions or reply.follow_ups else None,
            config.template,
            order=config.order,
            instruction_budget=config.instruction_budget,
        )
        told: dict[str, Any] = {
            "tool": call["name"],
            "callId": call["id"],
            "fired": [one.to_value() for one in result.fired],
            "log": [one.to_value() for one in result.log],
            "added": result.added,
            "fenced": result.fenced,
        }
        decided = self._decide(s, result, ctx)
        if decided:
            told["decided"] = decided
        tell(s, "instructions", told)
        self._offer(s, call, result)
        fired = {"tool_id": call["name"], "fired": result.fired, "log": result.log}
        s.emit("instructions_fired", fired)
        return result.content

    def _decide(
        self, s: Any, result: InstructionInjectionResult, ctx: InstructionContext
    ) -> list[dict[str, Any]]:
        """Let the rules that fired change the decision; who changed what."""
        if not any(one.rule is not None and one.rule.decide for one in result.fired):
            return []
        before = look(s, "decision", NOTHING)
        decided = apply_decisions(result.fired, before, ctx)
        if not same(decided.decision, before):
            write(s, "decision", decided.decision)
        return [note.to_value() for note in decided.notes]

    def _offer(self, s: Any, call: Call, result: InstructionInjectionResult) -> None:
        """Note the actions that were offered, and the first strict one."""
        for one in result.fired:
            if one.resolved_follow_up is not None:
                append(s, "followUps", one.resolved_follow_up.to_value())
        pending = pending_of(result.fired, call["name"])
        if pending is not None and glance(s, "strictFollowUp") is None:
            write(s, "strictFollowUp", pending.to_value())
            self.strict = StrictFollowUpResult(pending.follow_up, pending.source_tool_id)


def _of_the_run(s: Any, run: ChartRun, tool: AgentTool) -> dict[str, Any]:
    """What a chart that comes along is told of the run that it is a part of."""
    if run.build is None:
        return {}
    told = {"runId": glance(s, "runId"), "turnNumber": glance(s, "turnNumber")}
    conversation = given(s, "conversationId")
    if conversation:
        told["conversationId"] = f"{conversation}/{tool.id}"
    return {name: value for name, value in told.items() if value}


def _checked(call: Call, tool: AgentTool) -> InputCheck:
    """Whether the arguments are what the tool takes."""
    text = call.get("raw")
    if not text:
        return validate_tool_input(call["arguments"], tool.input_schema)
    shown = " ".join(str(text).split())
    if len(shown) > SHOWN_ARGUMENTS:
        shown = shown[:SHOWN_ARGUMENTS] + " …"
    return InputCheck((InputError("arguments", f"Expected a JSON object, got: {shown}"),))


def reply_from(answer: Answer) -> ToolReply:
    """What came of a call, from its answer: one of ours, or any other that has a value."""
    if answer.facts.get("reply"):
        return ToolReply.from_value(answer.value)
    if answer.error is not None:
        return failed(answer.error, str(answer.facts.get("code", "")))
    if answer.facts.get("isResult"):
        return reply_with(ToolResult(**thaw(answer.value)))
    return ToolReply(content_of(answer.value))


def latency_of(answer: Answer) -> float:
    """How long the call took, in milliseconds, where whoever made it tells."""
    return float(answer.facts.get("latencyMs") or 0)
