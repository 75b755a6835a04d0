"""From a cause to its causes: what a step read, who wrote it, and what let the step run.

Which thing is asked about is answered by `targets`, what a model was handed by `handed`, how causes
are worded by `wording`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from saywhy.chart.commit import Commit, Condition, FunctionCall
from saywhy.trace.agents import is_answer
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.carried import carried_out
from saywhy.trace.causes.chain import Cause, Edge
from saywhy.trace.causes.corrected import maker
from saywhy.trace.causes.forms import filled_keys
from saywhy.trace.causes.graph import Effect, Graph
from saywhy.trace.causes.handed import is_chat, model_of_answer, put_in, results_in, settles
from saywhy.trace.causes.intents import found_by_model
from saywhy.trace.causes.mapped import link_mapping
from saywhy.trace.causes.origin import data_reads, is_input, message_of, named, origin_of
from saywhy.trace.causes.own import MODEL, model_behind, own_of
from saywhy.trace.causes.passing import link_kept_back, link_not_handed
from saywhy.trace.causes.refusals import refusals
from saywhy.trace.causes.signs import note_decision, note_later, note_result, note_said, note_signs
from saywhy.trace.causes.silent import silence_in
from saywhy.trace.causes.waiting import link_waiting
from saywhy.trace.causes.worded import link_wording, name_wording
from saywhy.trace.reply import Piece
from saywhy.trace.trace import Trace
from saywhy.trace.words import ROUTING, name_of
from saywhy.values import Key

ARGUMENTS: Final = "arguments"
"""What the chart that carries a call out is given."""
MOST_CHANGES: Final = 8
"""How many changes to parts of one value are followed one by one."""


class Search(Graph):
    """Finds the causes of what stands in the chain, each by a method of its own."""

    correcting: tuple[int, ...] | None = None
    """The messages that may have been meant as corrections, once somebody asked for them."""

    def step(self, commit: Commit) -> None:
        """One step: what it read, and why it ran."""

        def follow(cause: int) -> None:
            self.ran(cause, commit)

        self.add(None, ("step", commit.seq), lambda: causes.step(self.trace, commit), follow)

    def ran(self, cause: int, commit: Commit) -> None:
        """What a step that ran had to do with, and why it ran."""
        self.reads(cause, data_reads(commit), commit)
        self.calls(cause, commit)
        if commit.answered is not None and commit.answered.kind in ("tool", "model"):
            self.answer(cause, commit)
        self.why_run(cause, commit)

    def has_causes(self, cause: int) -> bool:
        """Whether something leads to a cause by now."""
        return any(link.effect == cause for link in self.chain.links)

    # ------------------------------------------------------------ what was said

    def said(self, effect: int, piece: Piece, *, alone: bool) -> None:
        link = Effect(effect, "wrote")
        if piece.commit not in self.trace:
            missing = bool(piece.commit)

            def phrase() -> Cause:
                return causes.phrase(piece.text, alone=alone, missing=missing)

            self.add(link, ("phrase", piece.text), phrase)
            return
        commit = self.trace.commit(piece.commit)

        def follow(cause: int) -> None:
            if refusals(commit):
                self.why_run(cause, commit)
                return
            link_wording(self, cause, commit, piece.text)
            note_said(self, cause, commit)
            waits = link_waiting(self, cause, commit)
            if is_answer(commit) and self._of_loop(Effect(cause, "wrote"), _result(commit), commit):
                return
            reads = data_reads(commit)
            self.reads(cause, reads, commit)
            self.calls(cause, commit)
            if commit.answered is not None and commit.answered.error:
                self.answer(cause, commit)
            if not reads and not commit.calls and not waits and not self.of(cause).root:
                self.of(cause).root = "authored"
            self.silence(cause, commit)
            self.control(cause, commit)

        def make() -> Cause:
            cause = causes.said(self.trace, commit, piece.text, alone=alone)
            name_wording(self.trace, commit, cause)
            return cause

        self.add(link, ("said", commit.seq, piece.text), make, follow)

    # ------------------------------------------------------------ data

    def reads(self, effect: int, keys: Iterable[Key], commit: Commit) -> None:
        """What a step read; of what only keeps its chart going, what stands behind it."""
        own = own_of(self.trace, commit)
        for key in keys:
            if str(key[-1]) not in own:
                self.value(Effect(effect, "read", key), key, _moment(commit, key))
            elif own[str(key[-1])] == MODEL:
                model = model_behind(self.trace, key, commit.seq)
                if model is not None:
                    self.answer(effect, model, "asked")

    def value(self, effect: Effect | None, key: Key, before: int) -> None:
        """What stood at `key` just before a commit, and who wrote it."""
        trace = self.trace
        if is_input(key):
            self.words(effect, int(key[1]))
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
            unset = self.add(effect, ("unwritten", key), lambda: causes.unwritten(trace, key))
            if unset is not None:
                link_not_handed(self, unset, key, None, before)
            return
        newest, *earlier = changes
        if effect is None or not (
            self._of_loop(effect, key, newest) or self._of_call(effect, key, newest)
        ):
            found = self.written(effect, key, newest, earlier)
            note_signs(self, found, key, newest, before)

    def _of_call(self, effect: Effect, key: Key, writer: Commit) -> bool:
        """Whether a value is the arguments of a call that a model wanted."""
        model = self._wanting(writer) if key[1:2] == (ARGUMENTS,) else None
        if model is not None:
            self.answer(effect.cause, model, "asked")
        return model is not None

    def _wanting(self, commit: Commit) -> Commit | None:
        """The model's answer for which a step of an agent's loop carries something out."""
        own = own_of(self.trace, commit)
        read = next((key for key in commit.reads if own.get(str(key[-1])) == MODEL), None)
        return model_behind(self.trace, read, commit.seq) if read is not None else None

    def _of_loop(self, effect: Effect, key: Key, writer: Commit) -> bool:
        """Whether a value is what an agent's loop gave; then its model's answer is the cause."""
        if not is_answer(writer) or key[-1] not in ("result", "answer"):
            return False
        model = model_of_answer(self.trace, key, writer)
        if model is None:
            return False
        self.answer(effect.cause, model, "wrote")
        stopped = next((op.value for op in writer.ops if op.key[-1] == "stopReason"), "")
        if stopped == "max_iterations":
            self.control(effect.cause, writer)
        return True

    def written(
        self, effect: Effect | None, key: Key, commit: Commit, earlier: list[Commit]
    ) -> int | None:
        trace = self.trace
        commit = maker(trace, key, commit)
        origin = origin_of(commit, key, trace.node_of(commit))

        def make() -> Cause:
            return causes.value(trace, key, commit, trace.value_at(key, commit.seq), origin)

        def follow(cause: int) -> None:
            if origin.how == "words":
                self.words(Effect(cause, "answer"), origin.message)
                note_later(self, cause, key, origin.message)
            elif origin.how == "silence":
                self.silence(cause, commit)
            elif origin.how in ("tool", "tool-error", "tool-change", "model"):
                self.answer(cause, commit)
            elif origin.how == "computed" and settles(commit):
                results_in(self, cause, commit)
            elif origin.how == "computed":
                self.calls(cause, commit)
                self.carried_out(cause, commit)
            elif origin.how == "started":
                self.found(cause, commit)
                note_later(self, cause, key, _taken_in(trace, commit))
            self.reads(cause, origin.reads, commit)
            if not origin.reads and origin.how == "passed":
                self.of(cause).root = "authored"
            for change in earlier[:MOST_CHANGES]:
                self.written(Effect(cause, "wrote"), key, change, [])
            if len(earlier) > MOST_CHANGES - 1:
                self.mark(
                    cause, f"{name_of(key)}: only the newest {MOST_CHANGES} changes are followed"
                )
            if origin.how != "host":
                self.control(cause, commit)

        return self.add(effect, ("value", key, commit.seq), make, follow)

    def words(self, effect: Effect | None, number: int) -> int | None:
        """What the user said."""
        message = self.trace.message(number)
        return self.add(effect, ("words", number), lambda: causes.words(message, number))

    def answer(self, effect: int, commit: Commit, edge: Edge = "answer") -> None:
        """The result of a tool or a model, with what it was asked."""
        trace = self.trace

        def follow(cause: int) -> None:
            asked = causes.asked_of(trace, commit)
            if is_chat(commit):
                put_in(self, cause, commit, asked)
                return
            if asked is not None:
                if asked.answered is not None and asked.answered.kind == "model":
                    self.answer(cause, asked)  # it filled in the arguments
                self.reads(cause, data_reads(asked), asked)
            link_mapping(self, cause, commit)
            note_result(self, cause, commit)

        self.add(
            Effect(effect, edge),
            ("answer", commit.seq),
            lambda: causes.answer(trace, commit),
            follow,
        )

    def found(self, effect: int, opener: Commit) -> None:
        """The model's answer that a flow took its first values from."""
        found = found_by_model(self.trace, opener)
        if found is not None:
            self.answer(effect, found)

    def silence(self, effect: int, commit: Commit) -> None:
        """That nobody answered, where the step went on for that."""
        if silence_in(commit) is not None:
            self.add(
                Effect(effect, "decision"),
                ("silence", commit.seq),
                lambda: causes.silence(self.trace, commit),
            )

    def calls(self, effect: int, commit: Commit) -> None:
        for number, call in enumerate(commit.calls):
            self.call(effect, commit, number, call)

    def call(self, effect: int, commit: Commit, number: int, call: FunctionCall) -> None:
        self.add(
            Effect(effect, "answer"),
            ("function", commit.seq, number),
            lambda: causes.function(self.trace, commit, call),
        )

    def carried_out(self, effect: int, commit: Commit) -> None:
        """What the flow or the call gave that an agent had carried out."""
        last = carried_out(self.trace, commit)
        if last is None:
            return

        def follow(cause: int) -> None:
            self.reads(cause, data_reads(last), last)
            link_kept_back(self, cause, last)
            self.carried_out(cause, last)
            self.control(cause, last)

        self.add(
            Effect(effect, "answer"),
            ("carried", last.seq),
            lambda: causes.carried(self.trace, last),
            follow,
        )

    # ------------------------------------------------------------ control

    def control(self, effect: int, commit: Commit) -> None:
        """The decisions that let a step run, and what opened its flow.

        Inside of an agent's loop it is the model that decides, so there only the step that called
        the agent counts.
        """
        if own_of(self.trace, commit):
            opener = self.trace.opener(commit)
            if opener is not None:
                self.control(effect, opener)
            return
        for governing in _governing(self.trace, commit):
            if silence_in(governing) is not None:
                self.silence(effect, governing)
            else:
                self.decision(effect, governing)
        opener = self.trace.opener(commit)
        if opener is not None:
            self.start(effect, opener, commit.flow)

    def decision(self, effect: int | None, commit: Commit, edge: Edge = "decision") -> None:
        """A decision, or a failure that led elsewhere; without an effect it is the target."""

        def follow(cause: int) -> None:
            if not refusals(commit):
                keys = [key for key, _ in self.of(cause).read]
                self.reads(cause, dict.fromkeys([*keys, *data_reads(commit)]), commit)
                self.calls(cause, commit)
                of_model = commit.flow == ROUTING and commit.asked is None
                if commit.answered is not None and (commit.decision is None or of_model):
                    self.answer(cause, commit)
            self.why_run(cause, commit)

        found = self.add(
            Effect(effect, edge) if effect is not None else None,
            ("decision", commit.seq),
            lambda: causes.decision(self.trace, commit),
            follow,
        )
        note_decision(self, found, commit)

    def skipped(self, effect: int, commit: Commit) -> None:
        """A decision for which a step did not run that would have set a value anew."""
        before = len(self.chain.causes)
        self.decision(effect, commit, "beside")
        if len(self.chain.causes) > before:
            self.sign(before, "skipped a step", "so a step that would have set it did not run")

    def why_run(self, effect: int, commit: Commit) -> None:
        """Why a step did what it did: the rules that stopped it, and what let it run."""
        self.silence(effect, commit)
        for rule in refusals(commit):
            self.refusal(effect, commit, rule)
        self.control(effect, commit)

    def refusal(self, effect: int, commit: Commit, rule: Condition) -> None:
        """A rule that stopped a step, with what it refused."""

        def follow(cause: int) -> None:
            for key, _ in rule.read:  # this very step may have stored it, before it was checked
                self.value(Effect(cause, "read", key), key, commit.seq + 1)
            if rule.read:
                return
            if commit.answered is not None and commit.answered.kind == "user":
                self.words(Effect(cause, "read"), message_of(commit))
            elif data_reads(commit):
                self.reads(cause, data_reads(commit), commit)
            else:
                self.of(cause).root = "function"

        self.add(
            Effect(effect, "decision"),
            ("refusal", commit.seq, rule.branch),
            lambda: causes.refusal(self.trace, commit, rule),
            follow,
        )

    def start(self, effect: int, opener: Commit, flow: str) -> int | None:
        """What opened a flow; for one that an agent carries out, the model that wanted it."""
        model = self._wanting(opener)
        if model is not None:
            self.answer(effect, model, "asked")
            return None

        def follow(cause: int) -> None:
            number = _taken_in(self.trace, opener) if opener.flow == ROUTING else 0
            if number and opener.kind != "start":
                self.words(Effect(cause, "answer"), number)
            node = self.trace.node_of(opener)
            target = node.spec.get("value") or node.spec.get("name") if node is not None else None
            if isinstance(target, str) and "{{" in target:
                self.reads(cause, named(target, opener), opener)
            if opener.flow == ROUTING and opener.decision is not None:
                self.decision(cause, opener)  # chosen and opened in one step
            else:
                self.control(cause, opener)

        return self.add(
            Effect(effect, "caller"),
            ("start", opener.seq),
            lambda: causes.start(self.trace, opener, flow),
            follow,
        )


def _moment(commit: Commit, key: Key) -> int:
    """Just before which commit a step read something: a form stores what it is told, and asks with
    that for more, in one step."""
    own = any(one == key or one[: len(key)] == key for one in filled_keys(commit))
    return commit.seq + 1 if own else commit.seq


def _result(commit: Commit) -> Key:
    """Where a step of a loop put the answer."""
    return next(op.key for op in commit.ops if op.key[-1] == "result")


def _taken_in(trace: Trace, opener: Commit) -> int:
    """The message for which routing opened a flow; one that took up an offer names none itself."""
    number = message_of(opener)
    if number or opener.kind == "start":
        return number
    steps = trace.steps_of(frame=opener.frame)
    return next((message_of(one) for one in steps if message_of(one)), 0)


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
