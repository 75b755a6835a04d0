"""Walking everything a commit holds, and changing some of it.

One walk serves masking, shortening and putting texts back: each overrides what it does to a text,
to a field or to any other leaf. What is not changed stays the same object, so a commit that needs
nothing costs a walk and no copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from saywhy.chart.commit import Answered, Asked, Commit, Condition, Decision, FunctionCall, Op
from saywhy.values import FrozenDict, FrozenList, Key

T = TypeVar("T")


class Rewriter:
    """A walk that changes nothing; see the methods to override."""

    __slots__ = ()

    renames = False
    """Whether `name` changes anything; paths are looked at only then."""

    # ------------------------------------------------------------ to override

    def text(self, text: str) -> Any:
        """What to keep of a text."""
        return text

    def leaf(self, value: Any) -> Any:
        """What to keep of a number, a date, nothing or any other value without parts."""
        return value

    def field(self, name: str, value: Any) -> Any:
        """What to keep of a value that stands under a name."""
        return self.value(value)

    def name(self, name: str) -> str:
        """What to keep of a name that may come from data: a field, a part of a path."""
        return name

    def whole(self, key: Key, value: Any) -> Any:
        """What to keep of a value in its own right; `key` says where it lives, if anywhere."""
        return self.value(value)

    def sentence(self, text: str) -> str:
        """What to keep of a text that is part of the record itself: an error, a warning."""
        return text

    # ------------------------------------------------------------ values

    def value(self, value: Any) -> Any:
        """What to keep of a value and of everything in it."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is FrozenDict:
            fields = self.fields(value.raw)
            return value if fields is value.raw else FrozenDict(fields)
        if kind is dict:
            return self.fields(value)
        if kind is FrozenList:
            tree = value.raw
            items = self.items(tree)
            return value if items is tree else FrozenList(items)
        if kind is list:
            return self.items(value)
        if kind is tuple:
            items = self.items(list(value))
            return value if all(map(_is, items, value)) else tuple(items)
        return self.leaf(value)

    def fields(self, tree: dict[str, Any]) -> dict[str, Any]:
        """The object with every field rewritten; `tree` itself where nothing changes."""
        changed: dict[str, Any] = {}
        same = True
        for name, value in tree.items():
            new_name, new = self.name(name), self.field(name, value)
            same = same and new is value and new_name is name
            changed[new_name] = new
        return tree if same else changed

    def items(self, items: list[Any]) -> list[Any]:
        """The list with every item rewritten; `items` itself where nothing changes."""
        changed = [self.value(item) for item in items]
        return items if all(map(_is, changed, items)) else changed

    # ------------------------------------------------------------ commits

    def commit(self, commit: Commit) -> Commit:
        """The commit with every value in it rewritten."""
        changes = self.changes(commit)
        return msgspec.structs.replace(commit, **changes) if changes else commit

    def changes(self, commit: Commit) -> dict[str, Any]:
        """Which fields of the commit become what."""
        changes: dict[str, Any] = {}
        if commit.ops:
            _note(changes, "ops", commit.ops, _each(commit.ops, self._op))
        if commit.reads and self.renames:
            _note(changes, "reads", commit.reads, _each(commit.reads, self._key))
        if commit.decision is not None:
            _note(changes, "decision", commit.decision, self._decision(commit.decision))
        if commit.asked is not None:
            _note(changes, "asked", commit.asked, self._asked(commit.asked))
        if commit.answered is not None:
            _note(changes, "answered", commit.answered, self._answered(commit.answered))
        if commit.calls:
            _note(changes, "calls", commit.calls, _each(commit.calls, self._call))
        if commit.error:
            _note(changes, "error", commit.error, self.sentence(commit.error))
        if commit.warnings:
            _note(changes, "warnings", commit.warnings, _each(commit.warnings, self.sentence))
        if commit.facts:
            _note(changes, "facts", commit.facts, self.whole((), commit.facts))
        return changes

    def _op(self, op: Op) -> Op:
        key = self._key(op.key)
        value = self.whole(op.key, op.value)
        return op if key is op.key and value is op.value else Op(op.verb, key, value)

    def _key(self, key: Key) -> Key:
        """Scope and variable name are the author's; a path inside a value may be data."""
        if not self.renames or len(key) <= 2:
            return key
        parts = [self.name(part) if isinstance(part, str) else part for part in key[2:]]
        return key if all(map(_is, parts, key[2:])) else (*key[:2], *parts)

    def _decision(self, decision: Decision) -> Decision:
        conditions = _each(decision.conditions, self._condition)
        if conditions is decision.conditions:
            return decision
        return msgspec.structs.replace(decision, conditions=conditions)

    def _condition(self, condition: Condition) -> Condition:
        read = _each(condition.read, self._read)
        text, error = self.sentence(condition.text), self.sentence(condition.error)
        parts = _each(condition.parts, self._condition) if condition.parts else condition.parts
        kept = (condition.read, condition.text, condition.error, condition.parts)
        if all(map(_is, (read, text, error, parts), kept)):
            return condition
        return msgspec.structs.replace(condition, read=read, text=text, error=error, parts=parts)

    def _read(self, read: tuple[Key, Any]) -> tuple[Key, Any]:
        key, value = self._key(read[0]), self.whole(read[0], read[1])
        return read if key is read[0] and value is read[1] else (key, value)

    def _asked(self, asked: Asked) -> Asked:
        args = self.whole((), asked.args)
        return asked if args is asked.args else msgspec.structs.replace(asked, args=args)

    def _answered(self, answered: Answered) -> Answered:
        value, error = self.whole((), answered.value), self.sentence(answered.error)
        facts = self.whole((), answered.facts) if answered.facts else answered.facts
        if value is answered.value and error is answered.error and facts is answered.facts:
            return answered
        return msgspec.structs.replace(answered, value=value, error=error, facts=facts)

    def _call(self, call: FunctionCall) -> FunctionCall:
        args, value = self.whole((), call.args), self.whole((), call.value)
        error, after = self.sentence(call.error), self.whole((), call.after)
        if (
            args is call.args
            and value is call.value
            and error is call.error
            and after is call.after
        ):
            return call
        return msgspec.structs.replace(call, args=args, value=value, error=error, after=after)


def _is(one: object, other: object) -> bool:
    return one is other


def _each(items: tuple[T, ...], of: Callable[[T], T]) -> tuple[T, ...]:
    changed = tuple([of(item) for item in items])
    return items if all(map(_is, changed, items)) else changed


def _note(changes: dict[str, Any], name: str, old: object, new: object) -> None:
    if new is not old:
        changes[name] = new
