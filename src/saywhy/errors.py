"""Who did what wrong, where, and what to try.

Four kinds are kept apart, because a caller does something else about each: the author's mistake
in a flow file (`AuthorError`), the caller's misuse (`CallerError`), the outside world failing
(`OutsideError`, the only kind that is ever retried) and a bug of ours (an assertion). A `Problem`
is one finding of a check; an error is what stops a run.

Long because every error stands here once, in the order in which the reference lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

SHOWN_REPLY: Final = 200
"""So many characters of a model's reply stand in the message about it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file an author wrote; lines and columns count from 1."""

    file: str = ""
    line: int = 0
    column: int = 0
    pointer: str = ""
    """JSON pointer inside the file, `/0/steps/3/value`."""

    def __str__(self) -> str:
        spot = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return spot or self.pointer or "(no place)"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong (or doubtful) in what an author wrote."""

    message: str
    place: Place = Place()
    hint: str = ""
    severity: Literal["error", "warning", "note"] = "error"
    excerpt: str = ""
    """The offending source line, for instance `{{ ammount * 2 }}`."""
    span: tuple[int, int] | None = None
    """Start and end column of the offending part inside `excerpt`, from 0."""
    known_names: tuple[str, ...] = ()
    flow: str = ""
    step: str = ""

    def render(self) -> str:
        """The problem as text of one to five lines, place first."""
        where, pointer = str(self.place), self.place.pointer
        if pointer and pointer != where:  # without a file the pointer is the place
            where += f"  {pointer}"
        spot = f"{where}: " if self.place.file or self.place.line or pointer else ""
        lines = [f"{spot}{self.severity}: {self.message}"]
        if self.excerpt:
            lines.append(f"    {self.excerpt}")
            if self.span:
                start, end = self.span
                lines.append("    " + " " * start + "^" * max(1, end - start))
        if self.hint:
            lines.append(f"    {self.hint}")
        if self.known_names:
            lines.append(f"    known here: {', '.join(self.known_names)}")
        return "\n".join(lines)


class SaywhyError(Exception):
    """Root of everything this library raises. `name` is what hosts of flows match on."""

    name = "SaywhyError"

    def __init__(self, message: str = "", *, place: Place | None = None, hint: str = "") -> None:
        self.message = message
        self.place = place
        self.hint = hint
        super().__init__(message)
        # Notes stand below the message in a traceback, which is all that some readers ever see.
        for note in (str(place) if place else "", hint):
            if note:
                self.add_note(f"    {note}")

    def __str__(self) -> str:
        return self.message


class AuthorError(SaywhyError):
    """What an author wrote cannot be run. Fix the file; trying again changes nothing."""

    name = "AuthorError"


class DefinitionError(AuthorError):
    """Flow or tool files with problems; `problems` has all of them."""

    name = "DefinitionError"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.render() for problem in self.problems))


class ExpressionError(AuthorError):
    """An expression does not parse, or raised when it ran.

    `kind` is the JavaScript constructor name (`ReferenceError`), `phase` is `parse` or `run`.
    """

    name = "ExpressionError"

    def __init__(
        self,
        message: str,
        *,
        kind: str = "Error",
        phase: Literal["parse", "run"] = "run",
        span: tuple[int, int] | None = None,
        place: Place | None = None,
        hint: str = "",
    ) -> None:
        self.kind = kind
        self.phase = phase
        self.span = span
        super().__init__(message, place=place, hint=hint)


class CallerError(SaywhyError):
    """The program around us asked for something that makes no sense. Fix the call."""

    name = "CallerError"


class StateValueError(CallerError):
    """A value that a conversation cannot hold; `key` says where it was to go."""

    name = "StateValueError"

    def __init__(self, key: Sequence[str | int], problem: str) -> None:
        self.key = tuple(key)
        self.problem = problem
        where = ".".join(str(part) for part in key) or "the value"
        super().__init__(f"{where} {problem}")


class ChartError(CallerError):
    """A chart that cannot be built or run: unknown node, unreachable stage, conflicting writes."""

    name = "ChartError"


class MergeConflict(ChartError):
    """Two branches of a fork wrote one key and no policy says which write wins."""

    name = "MergeConflict"

    def __init__(self, key: Sequence[str | int], one: str, other: str) -> None:
        self.key = tuple(key)
        self.branches = (one, other)
        super().__init__(
            f"{'.'.join(map(str, key))} was written by the branches {one} and {other}",
            hint="declare a merge policy for the key, or let one branch write it",
        )


class UnknownFlow(CallerError):
    """No flow has this id or name."""

    name = "UnknownFlow"

    def __init__(self, flow: str, known: Sequence[str] = ()) -> None:
        self.flow = flow
        self.known = tuple(known)
        super().__init__(f'no flow has the id or name "{flow}"', hint=did_you_mean(flow, known))


class UnknownSession(CallerError):
    """No conversation with this id is in the store."""

    name = "UnknownSession"

    def __init__(self, session_id: str, hint: str) -> None:
        self.session_id = session_id
        super().__init__(f'there is no conversation "{session_id}" in this store', hint=hint)


class NothingPending(CallerError):
    """Nothing of this name waits for anybody's decision."""

    name = "NothingPending"


class AlreadyDecided(CallerError):
    """Somebody has settled, approved or denied this call before; their word counts."""

    name = "AlreadyDecided"


class ApprovalExpired(CallerError):
    """The approval came too late. It can be asked for again, by whoever wanted the call."""

    name = "ApprovalExpired"


class ApprovalMismatch(CallerError):
    """What was approved is not what is asked for. Look at the arguments again."""

    name = "ApprovalMismatch"


class RecordingMismatch(CallerError):
    """A model is asked something else than was recorded. Record again, or find what changed.

    `part` is the first part that differs, such as `messages[3].content`; empty where nothing that
    was recorded is left.
    """

    name = "RecordingMismatch"

    def __init__(self, message: str, *, part: str = "", hint: str = "") -> None:
        self.part = part
        super().__init__(message, hint=hint)


class DamagedSession(CallerError):
    """A stored conversation that cannot be continued; it was left untouched.

    `frame` is the number of the frame from the bottom, `flow` the flow it names.
    """

    name = "DamagedSession"

    def __init__(self, problem: str, *, frame: int | None = None, flow: str = "") -> None:
        self.frame = frame
        self.flow = flow
        where = "" if frame is None else f"frame {frame}" + (f" (flow {flow})" if flow else "")
        super().__init__(f"{where}: {problem}" if where else problem)


class DocumentTooLarge(DamagedSession):
    """A compressed document would grow beyond every session that could be meant."""

    name = "DocumentTooLarge"


class SessionBusy(CallerError):
    """Another turn of this conversation is being run. Wait for it, then send the message again."""

    name = "SessionBusy"


class QueueFull(CallerError):
    """Too many messages of one conversation wait. This one was not accepted; send it later."""

    name = "QueueFull"


class PersistenceMismatch(CallerError):
    """A conversation keeps the `action_persistence` it began with. This message was not accepted.

    Go on with it on an engine that has the same.
    """

    name = "PersistenceMismatch"


class TurnHeld(CallerError):
    """A turn that was interrupted cannot go on here, and what came after it waits behind it.

    Nothing was repeated and nothing is lost. `reasons` say what is missing or different: bring it
    back, or let somebody decide with `release_held` or `abandon_held`.
    """

    name = "TurnHeld"

    def __init__(
        self, session_id: str, turn_no: int, reasons: Sequence[str], hint: str = ""
    ) -> None:
        self.session_id = session_id
        self.turn_no = turn_no
        self.reasons = tuple(reasons)
        super().__init__(
            f'turn {turn_no} of conversation "{session_id}" is held: {"; ".join(reasons)}',
            hint=hint
            or "a message that was sent now waits behind it; load what is missing and recover(), "
            "or see `saywhy held list`",
        )


class Fenced(SaywhyError):
    """Another worker took the conversation over. Drop what was computed; the journal is kept."""

    name = "Fenced"


class OutsideError(SaywhyError):
    """Something outside failed: a tool, a model, a network. May be tried again where harmless."""

    name = "OutsideError"


class LibraryMissing(OutsideError):
    """What is stored needs an optional library that is not installed. Nothing was changed."""

    name = "LibraryMissing"


class RunError(SaywhyError):
    """A run stopped. The cursor is repaired and can go on."""

    name = "RunError"


class FlowExecutionError(RunError):
    """A step raised in mid-turn. `session` is the repaired session; the conversation goes on.

    spec: flow-engine 1.6
    """

    name = "JSFEExecutionError"

    def __init__(
        self,
        message: str,
        *,
        session: Any = None,
        flow: str = "",
        step: str = "",
        place: Place | None = None,
        hint: str = "",
    ) -> None:
        self.session = session
        self.flow = flow
        self.step = step
        super().__init__(message, place=place, hint=hint)


class RequiredSetFailed(FlowExecutionError):
    """A SET with `requireTrue` gave something other than true. spec: flow-engine 3.3"""

    name = "JSFERequiredSetFailed"


class ActiveFlowEmptyResponse(FlowExecutionError):
    """A flow waits, but said nothing. Stacks are reset, cargo is kept. spec: flow-engine 1.6"""

    name = "JSFEActiveFlowEmptyResponse"


class TooManySteps(FlowExecutionError):
    """More steps in one turn than the limit allows, usually a loop without a way out."""

    name = "TooManySteps"


ModelErrorCode: TypeAlias = Literal[
    "auth",
    "rate_limit",
    "invalid_request",
    "context_length",
    "server",
    "timeout",
    "aborted",
    "network",
    "unknown",
]
"""What went wrong with a model call. spec: agent A.3"""

_PASSING: Final = frozenset({"rate_limit", "server", "timeout", "network"})
"""What may be over when the call is made again."""


class ModelError(OutsideError):
    """A model call failed or took too long.

    `code` says what it was, `provider` who failed, `status_code` what its server answered, and
    `retry_after` how many seconds it asked us to wait. spec: flow-engine 1.6, agent A.3
    """

    name = "Error"

    def __init__(
        self,
        message: str = "",
        *,
        code: ModelErrorCode = "unknown",
        provider: str = "",
        status_code: int | None = None,
        retry_after: float | None = None,
        place: Place | None = None,
        hint: str = "",
    ) -> None:
        self.code: ModelErrorCode = code
        self.provider = provider
        self.status_code = status_code
        self.retry_after = retry_after
        super().__init__(message, place=place, hint=hint)

    @property
    def retryable(self) -> bool:
        """Whether the same call may go well a moment later."""
        return self.code in _PASSING


class InvalidReply(ModelError):
    """A model was to reply with JSON and did not. `reply` is what it wrote instead."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        shown = " ".join(reply.split())
        shown = shown if len(shown) <= SHOWN_REPLY else shown[:SHOWN_REPLY] + " …"
        super().__init__(
            f"Invalid JSON response from AI: {shown or '(empty)'}",
            hint="hand the JSON schema of the call to the model, or use one that keeps to it",
        )


class UnansweredQuestion(ModelError):
    """A classifier left a question open, so its answer counts for nothing. Ask a text model.

    `question` is the id of the question, `answer` what stood there, if anything did.
    """

    name = "UnansweredQuestion"

    def __init__(self, question: str, answer: object = None, *, asks: str = "") -> None:
        self.question = question
        self.answer = answer
        found = "has no answer" if answer is None else f"was answered {answer!r:.40}"
        about = f" ({asks})" if asks else ""
        super().__init__(
            f'question "{question}"{about} {found}; it wants a number from 0 to 1',
            hint="answer every question with the probability of yes, or ask a text model instead",
        )


class CircuitOpen(ModelError):
    """Nobody was asked: the model failed too often, and is left alone for `retry_after` seconds."""

    name = "CircuitOpen"

    def __init__(self, retry_after: float) -> None:
        super().__init__("Circuit breaker is open", code="server", retry_after=retry_after)

    @property
    def retryable(self) -> bool:
        """No: it is there so that nobody waits."""
        return False


class BudgetExceeded(ModelError):
    """Nobody was asked, or a call was cut off: the budget for models is used up.

    `limited` is what ran out (`calls`, `tokens`, `cost` or `seconds`), `limit` how much there was,
    `used` how much is gone.
    """

    name = "BudgetExceeded"

    def __init__(self, limited: str, limit: float, used: float) -> None:
        self.limited = limited
        self.limit = limit
        self.used = used
        super().__init__(
            f"the budget for models is used up: {used:.15g} of {limit:.15g} {limited}",
            code="aborted",
            hint="raise the limit, or go on with a new budget",
        )


class MappingError(OutsideError):
    """An answer does not fit the response mapping of its tool; the call itself was made.

    `kind` is the kind of mapping, `path` the path that failed, `found` what the answer had there.
    `is_strict`: the mapping says `strict`, so that the call fails instead of keeping the answer.
    """

    name = "MappingError"

    def __init__(
        self,
        problem: str,
        *,
        kind: str = "",
        path: str = "",
        found: str = "",
        is_strict: bool = False,
    ) -> None:
        self.kind = kind
        self.path = path
        self.found = found
        self.is_strict = is_strict
        where = f"{kind} mapping: " if kind else ""
        super().__init__(f"{where}{problem}" + (f"; {found}" if found else ""))


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as data: what a step, a tool or a model reports without raising."""

    message: str
    name: str = "Error"
    data: dict[str, Any] = field(default_factory=dict[str, Any])


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`did you mean "amount"?`, or empty text when nothing known is close."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f'did you mean "{close[0]}"?' if close else ""
