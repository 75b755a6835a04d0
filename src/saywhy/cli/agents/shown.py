"""What is shown of a run: words as they come, or one JSON object a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol

from saywhy.cli.blame import place_of, said
from saywhy.cli.output import STYLES, described, err, out
from saywhy.errors import SaywhyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from saywhy.agent.events import AgentEvent
    from saywhy.agent.instructions.follow_up import ResolvedFollowUp
    from saywhy.agent.receipts.served import Served
    from saywhy.cli.agents.talk import Talk
    from saywhy.runtime.agents.result import AgentResult

REPLY: Final = "cyan"
QUIET: Final = "dim"
CANCELLED: Final = "cancelled; the conversation is as it was before"
LONGEST: Final = 400
"""Characters of a call or of what it gave."""


class Shown(Protocol):
    """Where a conversation is written."""

    def begin(self, talk: Talk) -> None:
        """Where it stands."""
        ...

    def event(self, event: AgentEvent) -> None:
        """Something that happens in a run."""
        ...

    def result(self, result: AgentResult) -> None:
        """What a run came to."""
        ...

    def failed(self, error: BaseException) -> None:
        """A run failed, or something was asked for that cannot be."""
        ...

    def cancelled(self) -> None:
        """A run was cancelled by whoever types."""
        ...

    def about(self, kind: str, text: str, data: Any = None) -> None:
        """The answer to a command."""
        ...


class TextShown:
    """For people: the answer on standard output, what is said about it on standard error."""

    def __init__(self, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self._open = False
        self._said = ""
        """What came in pieces from the call of the model that is under way."""

    def begin(self, talk: Talk) -> None:
        name = talk.runner.name
        if not talk.resumed:
            err().line(f"a new conversation with {name}; /help says what can be typed", QUIET)
            return
        asked = f"; it asks:\n{talk.question}" if talk.question else ""
        last = talk.last_answer
        answer = f"; the last answer was:\n{last}" if last and not asked else ""
        err().line(f"the conversation with {name} goes on{asked}{answer}", QUIET)

    def event(self, event: AgentEvent) -> None:
        from saywhy.agent.events import LLMEnd, LLMStart, Token, ToolEnd, ToolStart

        match event:
            case LLMStart():
                self._said = ""
            case Token():
                out().piece(event.content, REPLY)
                self._said += event.content
                self._open = not event.content.endswith("\n")
            case LLMEnd() if event.tool_call_count:
                self._end_line()
                if event.content and not self._said:
                    out().line(event.content, REPLY)
            case ToolStart() if self.verbose:
                self._end_line()
                err().line(f"→ {_call(event.tool_name, event.args)}", QUIET)
            case ToolEnd() if self.verbose:
                failed = "failed: " if event.error else ""
                err().line(f"← {failed}{_short(event.result)}", QUIET)
            case _:
                pass

    def result(self, result: AgentResult) -> None:
        self._end_line()
        if result.paused:
            from saywhy.cli.agents.talk import question_in

            out().line(f"? {question_in(result.pause_data or {})}", STYLES["note"])
            return
        if not result.content:
            err().line("(the agent said nothing)", QUIET)
        elif result.content != self._said:
            out().line(result.content, REPLY)
        self._said = ""
        if result.stop_reason == "max_iterations":
            rounds = result.iterations
            err().line(f"(it stopped after {rounds} rounds of tools, still wanting more)", QUIET)
        for line in offers(result.follow_ups):
            out().line(line, STYLES["note"])

    def failed(self, error: BaseException) -> None:
        self._end_line()
        err().line(sentence(error), STYLES["error"])

    def cancelled(self) -> None:
        self._end_line()
        err().line(CANCELLED, QUIET)

    def about(self, kind: str, text: str, data: Any = None) -> None:
        out().line(text)

    def _end_line(self) -> None:
        if self._open:
            out().line()
        self._open = False


class JsonShown:
    """For programs: every event, and what a run came to, as one object on one line."""

    def begin(self, talk: Talk) -> None:
        """Nothing: a question that is open comes with the result that asked it."""

    def event(self, event: AgentEvent) -> None:
        _write(event.to_value())

    def result(self, result: AgentResult) -> None:
        from saywhy.values import thaw

        usage = result.usage
        told: dict[str, Any] = {
            "type": "result",
            "content": result.content,
            "paused": result.paused,
            "question": (result.pause_data or {}).get("question"),
            "approval": thaw((result.pause_data or {}).get("approval")),
            "stop_reason": result.stop_reason,
            "iterations": result.iterations,
            "follow_ups": [thaw(one.to_value()) for one in result.follow_ups],
            "run_id": result.run_id,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "calls": usage.calls,
            },
        }
        _write(told)

    def failed(self, error: BaseException) -> None:
        hint = error.hint if isinstance(error, SaywhyError) else ""
        name, text = type(error).__name__, str(error)
        _write({"type": "failed", "name": name, "message": text, "hint": hint or None})

    def cancelled(self) -> None:
        _write({"type": "failed", "name": "Cancelled", "message": CANCELLED, "hint": None})

    def about(self, kind: str, text: str, data: Any = None) -> None:
        _write({"type": kind, **({"text": text} if data is None else {"data": data})})


def offers(follow_ups: Sequence[ResolvedFollowUp]) -> list[str]:
    """A line for each action that can be taken now."""
    return [
        f"  /{number}  {one.description or one.tool_id}"
        for number, one in enumerate(follow_ups, start=1)
    ]


def sentence(error: BaseException) -> str:
    """An error in one or two lines, with the place in somebody's own code where that is known."""
    from saywhy.chart.failure import ForkFailed, StepFailed

    cause: BaseException = error
    while isinstance(cause, ForkFailed | StepFailed) and cause.__cause__ is not None:
        cause = cause.__cause__  # a branch failed because a step in it did, and so on
    place = None if isinstance(cause, SaywhyError) else place_of(cause)
    if place is not None:
        return f"{place}: {said(cause)}"
    return described(error) if isinstance(error, SaywhyError) else said(error)


def receipt_line(number: int, served: Served) -> str:
    """What is to be said of one call: `call 2: verified (…)`."""
    view = served.view
    parts: list[str] = []
    if view is not None:
        system = "no system prompt" if view.system is None else f"system {len(view.system)} chars"
        parts = [system, f"messages {len(view.messages)}", f"tools {len(view.tools or ())}"]
    root = f"; root {served.receipt.root[:12]}" if served.receipt else ""
    return f"call {number}: {served.verdict}{_doubt(served)} ({', '.join(parts)}{root})"


def receipt_data(number: int, served: Served) -> dict[str, Any]:
    """The same for programs."""
    receipt = served.receipt
    return {
        "call": number,
        "verdict": served.verdict,
        "mismatches": list(served.mismatches),
        "unread": [{"part": one.part, "reason": one.reason} for one in served.unread],
        "absence": None if served.absence is None else served.absence.code,
        "receipt": None if receipt is None else json.loads(receipt.to_json()),
    }


def _doubt(served: Served) -> str:
    if served.absence is not None:
        return f": {served.absence.code}, {served.absence.cause}"
    unread = [f"{one.part} {one.reason}" for one in served.unread]
    doubts = [*served.mismatches, *unread]
    return f": {', '.join(doubts)}" if doubts else ""


def _call(name: str, args: Mapping[str, Any]) -> str:
    return _short(f"{name}({json.dumps(_plain(args), ensure_ascii=False)})")


def _plain(args: Mapping[str, Any]) -> Any:
    from saywhy.values import thaw

    return thaw(args)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _write(document: Mapping[str, Any]) -> None:
    out().line(json.dumps(document, ensure_ascii=False, default=str))
