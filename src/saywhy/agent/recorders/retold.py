"""What a record tells recorders: the hooks of its runs, in the order in which they were told live.

It takes commits one by one, so that it can also listen to runs that nobody tells recorders of: the
agents of an engine. Loops of agents are known by what their first step writes, wherever they are
mounted; the parts of a sequence and the like are told as one run. The id of a conversation is in no
record: who hands in the commits may know it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from saywhy.agent.hooks import (
    HookEvent,
    InstructionsFired,
    LLMCalled,
    RunFailed,
    ToolCalled,
    ToolsBlocked,
    TurnCompleted,
    TurnStarted,
)
from saywhy.agent.instructions.follow_up import resolved_runtime
from saywhy.agent.instructions.judge import Verdict
from saywhy.agent.instructions.rule import ResolvedInstruction
from saywhy.agent.instructions.seen import Look
from saywhy.agent.loop.history import conversation_of
from saywhy.agent.recorders.later import Later
from saywhy.chart.commit import Commit
from saywhy.models.provider import CHAT
from saywhy.trace.loops import Loops, LoopState
from saywhy.values import raw

Told = tuple[str, HookEvent]
"""The name of a hook, and what it is given."""

PHASES: Final = {"model": "llm", "tool": "tool"}
"""What waiting for a need is called; other needs have the name of their stage."""

_TIMED_OUT: Final = "took longer than "


class RecordedError(Exception):
    """What made a recorded run fail, by its text; `name` is that of what was raised."""

    def __init__(self, message: str, name: str = "") -> None:
        self.name = name
        super().__init__(message)


def replay(record: Iterable[Commit], recorder: Any) -> None:
    """Tell `recorder` what a record holds. A hook that raises is logged, as it is live."""
    for name, event in hooks_in(record):
        tell(recorder, name, event)


def tell(recorder: Any, name: str, event: HookEvent) -> None:
    """Call a hook of `recorder`, if it has it. One that raises is logged."""
    hook = getattr(recorder, name, None)
    if hook is None:
        return
    try:
        _BESIDE.ask(partial(hook, event), _nothing)
    except Exception:
        who = type(recorder).__name__
        _LOG.exception("recorder %s raised in %s; it is told the rest", who, name)


def _nothing(given: Any) -> None:
    """A hook gives nothing that is of use."""


_BESIDE: Final = Later("a hook")
"""What `async def` hooks do goes on beside whoever hands in the record."""


def hooks_in(record: Iterable[Commit]) -> Iterator[Told]:
    """The hooks of the runs in a record, in order."""
    told = Retelling()
    for commit in record:
        yield from told.take(commit)


class Retelling:
    """Makes hooks of commits, one after the other."""

    def __init__(self) -> None:
        self.loops = Loops()

    def take(self, commit: Commit, conversation_id: str = "") -> list[Told]:
        """What this step tells."""
        loop = self.loops.take(commit)
        if loop is None:
            return []
        return list(_told(commit, loop, conversation_id))


def _told(commit: Commit, loop: LoopState, conversation_id: str) -> Iterator[Told]:
    root = loop.root
    about: dict[str, Any] = {"turn_number": commit.turn, "run_id": root.text("runId")}
    about["conversation_id"] = conversation_id
    if root.began == commit.seq:
        yield "on_turn_start", TurnStarted(message=loop.text("userMessage"), **about)
    blocked = commit.facts.get("blocked")
    if blocked:
        yield "on_tools_blocked", ToolsBlocked(names=tuple(raw(blocked)), **about)
    if _is_answer(commit):
        yield "on_llm_call", _model_call(commit, loop.iteration, about)
    yield from _calls(commit, loop, about)
    _wait(commit, loop, root)
    if commit.phase == "closed" and commit.frame == root.frame:
        yield _end(commit, root, about)


def _is_answer(commit: Commit) -> bool:
    answered = commit.answered
    if answered is None or answered.error:
        return False
    return answered.kind == "model" and answered.name == CHAT


def _model_call(commit: Commit, iteration: int, about: dict[str, Any]) -> LLMCalled:
    answered = commit.answered
    assert answered is not None, "asked only for a commit that has an answer"
    value: Any = raw(answered.value)
    told: dict[str, Any] = value if isinstance(value, dict) else {}
    usage: Any = raw(told.get("usage"))
    return LLMCalled(
        model=str(told.get("model") or ""),
        usage=tokens_in(usage),
        latency_ms=float(answered.facts.get("latencyMs") or 0.0),
        loop_iteration=iteration,
        finish_reason=str(told.get("finish_reason") or ""),
        content=str(told.get("content") or ""),
        **about,
    )


def tokens_in(usage: Any) -> dict[str, int] | None:
    """`input_tokens` and `output_tokens`; None where the provider told nothing."""
    if not isinstance(usage, dict) or not usage:
        return None
    return {name: int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens")}


# ------------------------------------------------------------------ tools and rules


def _calls(commit: Commit, loop: LoopState, about: dict[str, Any]) -> Iterator[Told]:
    """The calls that this step settled, each after what its rules came to."""
    settled: Any = raw(commit.facts.get("calls")) or ()
    if not settled:
        return
    rules = {told["callId"]: told for told in map(raw, _rules_in(commit))}
    results = _results(commit)
    for made in map(raw, settled):
        call_id = str(made["callId"])
        if call_id in rules:
            yield "on_instructions_fired", fired_in(rules[call_id], about)
        called = ToolCalled(
            tool_name=str(made["tool"]),
            args=loop.arguments(call_id),
            result=results.get(call_id, ""),
            error=bool(made["error"]),
            latency_ms=float(made.get("latencyMs") or 0.0),
            tool_call_id=call_id,
            loop_iteration=loop.iteration,
            **about,
        )
        yield "on_tool_call", called


def _rules_in(commit: Commit) -> list[Any]:
    """What the rules about results came to. Those of the agent stand there in another form."""
    told: Any = raw(commit.facts.get("instructions")) or ()
    return [one for one in told if "callId" in raw(one)]


def _results(commit: Commit) -> dict[str, str]:
    """What the model reads of each call, by the call's id."""
    messages = [raw(op.value) for op in commit.ops if op.verb == "append"]
    return {
        str(one.get("tool_call_id")): str(one.get("content"))
        for one in messages
        if isinstance(one, dict) and one.get("role") == "tool"
    }


def fired_in(told: dict[str, Any], about: dict[str, Any]) -> InstructionsFired:
    """What the rules made of one result, from the facts of its commit."""
    fired = tuple(_resolved(raw(one)) for one in raw(told.get("fired")) or ())
    log = tuple(_verdict(raw(one)) for one in raw(told.get("log")) or ())
    return InstructionsFired(tool_id=str(told["tool"]), fired=fired, log=log, **about)


def _resolved(fields: dict[str, Any]) -> ResolvedInstruction:
    follow_up = fields.get("follow_up")
    return ResolvedInstruction(
        str(fields["id"]),
        fields.get("text"),
        None if follow_up is None else resolved_runtime(follow_up),
        bool(fields.get("safety")),
        float(fields.get("priority") or 0),
    )


def _verdict(fields: dict[str, Any]) -> Verdict:
    read: Any = raw(fields.get("read")) or ()
    looks = tuple(Look(tuple(str(path).split(".")), value) for path, value in map(raw, read))
    rest = {name: fields[name] for name in Verdict.__struct_fields__ if name in fields}
    return Verdict(**rest, looks=looks)


# ------------------------------------------------------------------ ends


def _wait(commit: Commit, loop: LoopState, root: LoopState) -> None:
    """What the run waits for now, or was about to do when it failed."""
    asked = commit.asked
    if commit.error:
        root.phase = root.phase or commit.node
        root.error, root.error_name = commit.error, commit.error_name
    elif commit.phase != "closed":
        root.phase = ""
    if asked is not None:
        root.phase = PHASES.get(asked.kind, commit.node)
        if asked.kind == "model":
            args: Any = raw(asked.args)
            told = args.get("iteration") if isinstance(args, dict) else None
            loop.iteration = told if isinstance(told, int) else 0  # a record may have masked it


def _end(commit: Commit, loop: LoopState, about: dict[str, Any]) -> Told:
    how = commit.facts.get("how")
    reason = str(commit.facts.get("reason") or "")
    if how == "cancelled":
        late = reason.startswith(_TIMED_OUT)
        text = f"the run {reason} and was cancelled" if late else reason
        name = "RunTimedOut" if late else "RunCancelled"
        error = RecordedError(text, name)
        return "on_error", RunFailed(phase="cancelled", error=error, **about)
    if how == "failed":
        error = RecordedError(loop.error or reason, loop.error_name)
        return "on_error", RunFailed(phase=loop.phase or "run", error=error, **about)
    completed = TurnCompleted(
        content=loop.text("result"),
        message_count=len(conversation_of(loop.state)),
        total_loop_iterations=int(loop.state.get("loopCount") or 0),
        stop_reason=loop.text("stopReason") or "final",
        **about,
    )
    return "on_turn_complete", completed


_LOG: Final = logging.getLogger("saywhy")
