"""Why something was said, or why a variable is what it is: the chain of causes in the record.

Nothing runs again. From the target the chain follows what each step read to the steps that wrote
it, each step to the decisions that let it run and to what opened its flow, until it comes to roots:
the user's words, results of tools, texts and defaults an author wrote, what a host gave. Where the
record cannot know, the chain says so. How causes are worded is answered by `causes`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from saywhy.chart.commit import Commit, Condition, FunctionCall
from saywhy.errors import CallerError
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.carried import carried_out
from saywhy.trace.causes.chain import Cause, Chain, Edge, Link
from saywhy.trace.causes.corrected import maker
from saywhy.trace.causes.intents import found_by_model
from saywhy.trace.causes.origin import data_reads, is_input, message_of, named, origin_of
from saywhy.trace.causes.refusals import refusals
from saywhy.trace.causes.silent import silence_in
from saywhy.trace.reply import Piece, reply_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import ROUTING, name_of
from saywhy.values import Key

MOST_CAUSES: Final = 200
DEEPEST: Final = 20
MOST_CHANGES: Final = 8
"""How many changes to parts of one value are followed one by one."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a turn; without a number, of the newest turn that has one."""

    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable by name (`amount`, `fee.total`, `cargo.plan`), as it was when a turn ended."""

    name: str
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class At:
    """One step, by the number of its commit."""

    commit: int


Target: TypeAlias = Reply | Variable | At | Key | str


def why(
    trace: Trace, target: Target = Reply(), *, most: int = MOST_CAUSES, deepest: int = DEEPEST
) -> Chain:
    """The causes of `target`, nearest first: at most `most`, none farther than `deepest` links.

    A text is the name of a variable, as it is now.
    Raises `CallerError` when the trace holds no such reply, variable or commit.
    """
    if not isinstance(trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        hint = "why(session.trace), or why(await engine.trace(session_id))"
        raise CallerError(f"why asks a trace, not {type(trace).__name__}", hint=hint)
    search = _Search(trace, most, deepest)
    if isinstance(target, str):
        target = Variable(target)
    if isinstance(target, Reply):
        search.reply(target)
    elif isinstance(target, Variable):
        search.variable(target)
    elif isinstance(target, At):
        search.step(trace.commit(target.commit))
    else:
        search.value(None, target, trace.last + 1)
    search.run()
    return search.chain


class _Effect(NamedTuple):
    """What a cause that is being added is the cause of, and how."""

    cause: int
    edge: Edge
    key: Key = ()


class _Search:
    """Builds one chain, breadth first, so that a limit cuts off what is farthest away."""

    def __init__(self, trace: Trace, most: int, deepest: int) -> None:
        self.trace = trace
        self.most = most
        self.deepest = deepest
        self.chain = Chain([], [])
        self._known: dict[object, int] = {}
        self._depths: list[int] = []
        self._links: set[Link] = set()
        self._left_out: set[object] = set()
        self._open: deque[tuple[Callable[[int], None], int]] = deque()

    def run(self) -> None:
        """Follow every open end."""
        while self._open:
            follow, cause = self._open.popleft()
            follow(cause)
        self.chain.left_out = len(self._left_out)

    def _add(
        self,
        effect: _Effect | None,
        identity: object,
        make: Callable[[], Cause],
        follow: Callable[[int], None] | None = None,
    ) -> None:
        """Put a cause into the chain, once, and link it to what it brought about."""
        found = self._known.get(identity)
        if found is None:
            depth = 0 if effect is None else self._depths[effect.cause] + 1
            if len(self._depths) >= self.most or depth > self.deepest:
                self._left_out.add(identity)
                return
            found = self._known[identity] = len(self._depths)
            self._depths.append(depth)
            cause = make()
            cause.id = found
            self.chain.causes.append(cause)
            if follow is not None:
                self._open.append((follow, found))
        if effect is not None and effect.cause != found:
            link = Link(effect.cause, found, effect.edge, effect.key)
            if link not in self._links:
                self._links.add(link)
                self.chain.links.append(link)

    # ------------------------------------------------------------ targets

    def reply(self, target: Reply) -> None:
        """The reply of a turn: each stretch of it with the step that wrote it."""
        found = reply_of(self.trace, target.turn)

        def follow(cause: int) -> None:
            spoken = [piece for piece in found.pieces if piece.text.strip()]
            for piece in spoken:
                self._said(cause, piece, alone=len(spoken) == 1)
            if not found.exact:
                self._mark(cause, "which step said what was not recorded")

        self._add(None, "reply", lambda: causes.reply(found.turn, found.text), follow)

    def variable(self, target: Variable) -> None:
        """A variable by name."""
        trace = self.trace
        turn = trace.newest_turn if target.turn is None else target.turn
        until = trace.end_of(turn)
        self.value(None, trace.key(target.name, until), until + 1)

    def step(self, commit: Commit) -> None:
        """One step: what it read, and why it ran."""

        def follow(cause: int) -> None:
            self._reads(cause, data_reads(commit), commit.seq)
            self._calls(cause, commit)
            self._why_run(cause, commit)

        self._add(None, ("step", commit.seq), lambda: causes.step(self.trace, commit), follow)

    def _mark(self, cause: int, text: str) -> None:
        self.chain.causes[cause].marks = (*self.chain.causes[cause].marks, text)

    # ------------------------------------------------------------ what was said

    def _said(self, effect: int, piece: Piece, *, alone: bool) -> None:
        link = _Effect(effect, "wrote")
        if piece.commit not in self.trace:
            missing = bool(piece.commit)

            def phrase() -> Cause:
                return causes.phrase(piece.text, alone=alone, missing=missing)

            self._add(link, ("phrase", piece.text), phrase)
            return
        commit = self.trace.commit(piece.commit)

        def follow(cause: int) -> None:
            if refusals(commit):
                self._why_run(cause, commit)
                return
            reads = data_reads(commit)
            self._reads(cause, reads, commit.seq)
            self._calls(cause, commit)
            if commit.answered is not None and commit.answered.error:
                self._answer(cause, commit)
            if not reads and not commit.calls and not self.chain.causes[cause].root:
                self.chain.causes[cause].root = "authored"
            self._silence(cause, commit)
            self._control(cause, commit)

        def make() -> Cause:
            return causes.said(self.trace, commit, piece.text, alone=alone)

        self._add(link, ("said", commit.seq, piece.text), make, follow)

    # ------------------------------------------------------------ data

    def _reads(self, effect: int, keys: Iterable[Key], before: int) -> None:
        for key in keys:
            self.value(_Effect(effect, "read", key), key, before)

    def value(self, effect: _Effect | None, key: Key, before: int) -> None:
        """What stood at `key` just before a commit, and who wrote it."""
        trace = self.trace
        if is_input(key):
            self._words(effect, int(key[1]))
            return
        key = causes.measured(trace, key, before)
        if len(key) == 1:  # all of cargo: each variable in it
            written = [each for each in trace.variables(str(key[0])) if trace.wrote(each, before)]
            for variable in written:
                self.value(effect, variable, before)
            if written:
                return
        changes = list(islice(trace.sources(key, before), MOST_CHANGES + 1))
        if not changes:
            self._add(effect, ("unwritten", key), lambda: causes.unwritten(trace, key))
            return
        newest, *earlier = changes
        self._written(effect, key, newest, earlier)

    def _written(
        self, effect: _Effect | None, key: Key, commit: Commit, earlier: list[Commit]
    ) -> None:
        trace = self.trace
        commit = maker(trace, key, commit)
        origin = origin_of(commit, key, trace.node_of(commit))

        def make() -> Cause:
            return causes.value(trace, key, commit, trace.value_at(key, commit.seq), origin)

        def follow(cause: int) -> None:
            if origin.how == "words":
                self._words(_Effect(cause, "answer"), origin.message)
            elif origin.how == "silence":
                self._silence(cause, commit)
            elif origin.how in ("tool", "tool-error", "tool-change", "model"):
                self._answer(cause, commit)
            elif origin.how == "computed":
                self._calls(cause, commit)
                self._carried_out(cause, commit)
            elif origin.how == "started":
                self._found(cause, commit)
            self._reads(cause, origin.reads, commit.seq)
            if not origin.reads and origin.how == "passed":
                self.chain.causes[cause].root = "authored"
            for change in earlier[:MOST_CHANGES]:
                self._written(_Effect(cause, "wrote"), key, change, [])
            if len(earlier) > MOST_CHANGES - 1:
                self._mark(
                    cause, f"{name_of(key)}: only the newest {MOST_CHANGES} changes are followed"
                )
            if origin.how != "host":
                self._control(cause, commit)

        self._add(effect, ("value", key, commit.seq), make, follow)

    def _words(self, effect: _Effect | None, number: int) -> None:
        message = self.trace.message(number)
        self._add(effect, ("words", number), lambda: causes.words(message, number))

    def _answer(self, effect: int, commit: Commit) -> None:
        """The result of a tool or a model, with what it was asked."""
        trace = self.trace

        def follow(cause: int) -> None:
            asked = causes.asked_of(trace, commit)
            if asked is not None:
                if asked.answered is not None and asked.answered.kind == "model":
                    self._answer(cause, asked)  # it filled in the arguments
                self._reads(cause, data_reads(asked), asked.seq)

        self._add(
            _Effect(effect, "answer"),
            ("answer", commit.seq),
            lambda: causes.answer(trace, commit),
            follow,
        )

    def _found(self, effect: int, opener: Commit) -> None:
        """The model's answer that a flow took its first values from."""
        found = found_by_model(self.trace, opener)
        if found is not None:
            self._answer(effect, found)

    def _silence(self, effect: int, commit: Commit) -> None:
        """That nobody answered, where the step went on for that."""
        if silence_in(commit) is not None:
            self._add(
                _Effect(effect, "decision"),
                ("silence", commit.seq),
                lambda: causes.silence(self.trace, commit),
            )

    def _calls(self, effect: int, commit: Commit) -> None:
        for number, call in enumerate(commit.calls):
            self._call(effect, commit, number, call)

    def _call(self, effect: int, commit: Commit, number: int, call: FunctionCall) -> None:
        self._add(
            _Effect(effect, "answer"),
            ("function", commit.seq, number),
            lambda: causes.function(self.trace, commit, call),
        )

    def _carried_out(self, effect: int, commit: Commit) -> None:
        """What the flow or the call gave that an agent had carried out."""
        last = carried_out(self.trace, commit)
        if last is None:
            return

        def follow(cause: int) -> None:
            self._reads(cause, data_reads(last), last.seq)
            self._carried_out(cause, last)
            self._control(cause, last)

        self._add(
            _Effect(effect, "answer"),
            ("carried", last.seq),
            lambda: causes.carried(self.trace, last),
            follow,
        )

    # ------------------------------------------------------------ control

    def _control(self, effect: int, commit: Commit) -> None:
        """The decisions that let a step run, and what opened its flow."""
        for governing in _governing(self.trace, commit):
            if silence_in(governing) is not None:
                self._silence(effect, governing)
            else:
                self._decision(effect, governing)
        opener = self.trace.opener(commit)
        if opener is not None:
            self._start(effect, opener, commit.flow)

    def _decision(self, effect: int, commit: Commit) -> None:
        def follow(cause: int) -> None:
            if not refusals(commit):
                keys = [key for key, _ in self.chain.causes[cause].read]
                self._reads(cause, dict.fromkeys([*keys, *data_reads(commit)]), commit.seq)
                self._calls(cause, commit)
                of_model = commit.flow == ROUTING and commit.asked is None
                if commit.answered is not None and (commit.decision is None or of_model):
                    self._answer(cause, commit)
            self._why_run(cause, commit)

        self._add(
            _Effect(effect, "decision"),
            ("decision", commit.seq),
            lambda: causes.decision(self.trace, commit),
            follow,
        )

    def _why_run(self, effect: int, commit: Commit) -> None:
        """Why a step did what it did: the rules that stopped it, and what let it run."""
        self._silence(effect, commit)
        for rule in refusals(commit):
            self._refusal(effect, commit, rule)
        self._control(effect, commit)

    def _refusal(self, effect: int, commit: Commit, rule: Condition) -> None:
        """A rule that stopped a step, with what it refused."""

        def follow(cause: int) -> None:
            for key, _ in rule.read:  # this very step may have stored it, before it was checked
                self.value(_Effect(cause, "read", key), key, commit.seq + 1)
            if rule.read:
                return
            if commit.answered is not None and commit.answered.kind == "user":
                self._words(_Effect(cause, "read"), message_of(commit))
            elif data_reads(commit):
                self._reads(cause, data_reads(commit), commit.seq)
            else:
                self.chain.causes[cause].root = "function"

        self._add(
            _Effect(effect, "decision"),
            ("refusal", commit.seq, rule.branch),
            lambda: causes.refusal(self.trace, commit, rule),
            follow,
        )

    def _start(self, effect: int, opener: Commit, flow: str) -> None:
        def follow(cause: int) -> None:
            number = message_of(opener) if opener.flow == ROUTING else 0
            if number and opener.kind != "start":
                self._words(_Effect(cause, "answer"), number)
            node = self.trace.node_of(opener)
            target = node.spec.get("value") or node.spec.get("name") if node is not None else None
            if isinstance(target, str) and "{{" in target:
                self._reads(cause, named(target, opener), opener.seq)
            self._control(cause, opener)

        self._add(
            _Effect(effect, "caller"),
            ("start", opener.seq),
            lambda: causes.start(self.trace, opener, flow),
            follow,
        )


# ------------------------------------------------------------------ who let a step run


def _governing(trace: Trace, commit: Commit) -> list[Commit]:
    """The newest decision, or failure, of each node that governs the step of `commit`."""
    if commit.flow == ROUTING:
        return _earlier_routing(trace, commit)
    node = trace.node_of(commit)
    found: list[Commit] = []
    for governor in node.under if node is not None else ():
        newest = trace.newest(commit.frame, governor, commit.seq)
        if newest is not None and (newest.decision is not None or causes.failure_of(newest)):
            found.append(newest)
    return found


def _earlier_routing(trace: Trace, commit: Commit) -> list[Commit]:
    """In routing one thing follows another: the newest decision before this one."""
    steps = trace.steps_of(frame=commit.frame)
    decided = [each for each in steps if each.seq < commit.seq and each.decision is not None]
    return decided[-1:]
