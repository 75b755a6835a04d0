"""The values a form has collected so far: taking them in, refusing them, letting them go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saywhy.expr.numbers import value_text
from saywhy.flows.answers import SECRETS
from saywhy.flows.forms.matching import Fill, Tie
from saywhy.flows.forms.model import Input
from saywhy.flows.forms.speaking import Talk
from saywhy.flows.forms.values import problem_with
from saywhy.trace.masking.digests import telling_parts
from saywhy.values import UNDEFINED, FrozenDict, freeze


class Draft:
    """The draft of a form during one step."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.took = False
        """Whether a value was taken in."""

    def take(self, fills: Iterable[Fill], kept: dict[str, Any]) -> str:
        """Take in values that pass their input's rules; gives what is said of those that do not."""
        told: list[str] = []
        filled = dict(self.talk.scope.facts.get("filled", {}))
        for fill in fills:
            entry = self.talk.form.input(fill.name)
            if entry is None:
                continue
            if self.talk.is_pii(entry):
                self.hide(fill, kept)
            problem = self._checked(entry, fill.value)
            if problem:
                told.append(problem)
                continue
            filled[fill.name] = {"words": fill.words, "by": fill.by}
            self.took = True
        if filled:
            self.talk.scope.facts["filled"] = filled
        return ", ".join(told)

    def _checked(self, entry: Input, value: Any) -> str:
        """Put a value down, unless a rule refuses it: then what stood there stands again."""
        talk, key = self.talk, self._key(entry.name)
        before = talk.values.get(entry.name, UNDEFINED)
        written = len(talk.scope.ops)
        self.put(entry, value)
        problem = problem_with(talk.world, talk.node, talk.scope, entry, value, talk.language)
        if problem:
            if before is UNDEFINED:
                talk.scope.delete(key)
            else:
                self.put(entry, before)
            # as if it had never been put down: what stood there is still the earlier answer's
            ops = talk.scope.ops
            ops[written:] = [op for op in ops[written:] if op.key != key]
        return problem

    def put(self, entry: Input, value: Any) -> None:
        """Store a value in the form's variable, which is an object whatever was made of it."""
        scope, root = self.talk.scope, self._key(entry.name)[:2]
        if not isinstance(scope.peek(root), FrozenDict):
            scope.set(root, {})
        scope.set(self._key(entry.name), value)

    def drop(self, names: list[str]) -> None:
        """Forget the values of these inputs."""
        values = self.talk.values
        for name in names:
            if name in values:
                self.talk.scope.delete(self._key(name))

    def _key(self, name: str) -> tuple[str, str, str]:
        return (self.talk.scope.frame.scope, self.talk.form.variable, name)

    def hide_tie(self, tie: Tie, kept: dict[str, Any]) -> None:
        """What may turn out to be sensitive is treated as such before the user has said."""
        for name, value in tie.values.items():
            entry = self.talk.form.input(name)
            if entry is not None and self.talk.is_pii(entry):
                self.hide(Fill(name, value, tie.words), kept)

    def hide(self, fill: Fill, kept: dict[str, Any]) -> None:
        """No record of this step or a later one shows a sensitive value, and no status does."""
        scope = self.talk.scope
        value = "" if isinstance(fill.value, bool) else value_text(freeze(fill.value))
        texts = {fill.words, value, *telling_parts(value)} - {""}
        known = scope.peek(SECRETS) or ()
        fresh = [text for text in sorted(texts) if text not in known]
        scope.secrets = (*scope.secrets, *fresh)
        scope.staged[SECRETS] = freeze([*known, *fresh])  # no operation: a record would tell it
        if fill.name not in kept["hidden"]:
            kept["hidden"] = [*kept["hidden"], fill.name]
