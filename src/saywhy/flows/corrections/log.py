"""The record of one run of a flow that takes corrections, as it stands in the session.

It belongs to the lowest frame whose flow takes corrections and covers every flow called from there.
What is in it is `entries`', who writes it `recording`, who reads it `rewind` and `replay`. Bounded:
of a long run only the newest steps can be corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.scope import Scope
from saywhy.flows.corrections.entries import Entry, Root, Write
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, get_path, raw, same, seal

SCOPE: Final = "corrections"
RECORD: Final = "record"
"""The key of a frame's data under which its place in a record stands."""
MAX_ENTRIES: Final = 200
"""Steps that can be gone back over."""


def recorded(frame: Frame) -> bool:
    """Whether the steps of a frame are recorded for corrections."""
    return RECORD in frame.data


def path_of(frame: Frame) -> str:
    """The calls that led to a recorded frame: empty for the one the record belongs to."""
    return str(frame.data[RECORD]["path"])


def owner_of(cursor: Cursor, frame: Frame) -> Frame:
    """The frame that the record of a recorded frame belongs to."""
    place = cursor.frames.index(frame)
    while path_of(cursor.frames[place]):
        place -= 1
    return cursor.frames[place]


def key_of(owner: Frame) -> Root:
    """Where the record of a frame stands in the session."""
    return SCOPE, str(owner.id)


class Log:
    """A record as read from the session, and what changes in it.

    `save` puts the changes back as one write of a step.
    """

    __slots__ = ("entries", "first", "memo", "stamps", "target")

    def __init__(self, tree: Any = UNDEFINED) -> None:
        fields: Mapping[str, Any] = {} if tree is UNDEFINED else raw(tree)
        entries: Any = fields.get("entries", FrozenList([]))
        self.entries: FrozenList = entries if isinstance(entries, FrozenList) else seal(entries)
        """The steps of this run, oldest first."""
        self.first: dict[str, Any] = fields.get("first", {})
        """What variables were before the first step that wrote them: `[value]`, `[]` for none."""
        self.stamps: dict[str, int] = fields.get("stamps", {})
        """The step that wrote each variable last."""
        self.memo: list[Any] = fields.get("memo", [])
        """Steps of an earlier run that were gone back over and may still be good."""
        self.target: Mapping[str, Any] = fields.get("target", {})
        """The answer that takes the place of an earlier one, and where the flow waited."""

    @classmethod
    def at(cls, scope: Scope, owner: Frame) -> Log:
        """The record of a frame, as a step sees it."""
        return cls(scope.peek(key_of(owner)))

    def save(self, scope: Scope, owner: Frame) -> None:
        """Write it as part of a step. No operation says so: the commits themselves tell it all."""
        scope.replace(key_of(owner), FrozenDict(self.tree()), [])

    def tree(self) -> dict[str, Any]:
        """The record as plain data."""
        tree = {
            "entries": self.entries.raw,
            "first": self.first,
            "stamps": self.stamps,
            "memo": self.memo,
            "target": self.target,
        }
        return {name: value for name, value in tree.items() if value}

    def all(self) -> list[Entry]:
        """The steps of this run."""
        return [Entry.of(tree) for tree in self.entries.raw]

    def remembered(self) -> list[Entry]:
        """The steps that may still be good."""
        return [Entry.of(tree) for tree in self.memo if not tree.get("stale")]

    def known(self) -> list[Entry]:
        """Every step whose results can be compared with."""
        return [Entry.of(tree) for tree in (*self.memo, *self.entries.raw)]

    def add(self, entries: Iterable[Entry], before: Mapping[Root, Any] | None = None) -> None:
        """Put steps at the end; `before` has what their variables were until now."""
        first, stamps = dict(self.first), dict(self.stamps)
        grown = self.entries
        for entry in entries:
            for write in entry.writes:
                name = root_name(write.root)
                if name not in first and before is not None:
                    known = before.get(write.root, UNDEFINED)
                    first[name] = [] if known is UNDEFINED else [raw(known)]
                stamps[name] = entry.seq
            grown = grown.appended(entry.tree())
        self.entries, self.first, self.stamps = grown, first, stamps
        if len(grown) > MAX_ENTRIES + MAX_ENTRIES // 4:
            self._forget(len(grown) - MAX_ENTRIES)

    def _forget(self, count: int) -> None:
        """Take the oldest steps as what went before."""
        trees = self.entries.raw
        for tree in trees[:count]:
            for write in Entry.of(tree).writes:
                self.first[root_name(write.root)] = [] if write.gone else [raw(write.value)]
        self.entries = FrozenList(trees[count:])

    def recall(self, taken: Iterable[Entry]) -> None:
        """Steps of the earlier run were taken over: they stand in this one now."""
        gone = {entry.seq for entry in taken}
        self.memo = [tree for tree in self.memo if tree["seq"] not in gone]

    def retire(self, changed: Iterable[Entry]) -> None:
        """Steps of the earlier run are run again. What they wrote is still compared with."""
        gone = {entry.seq for entry in changed}
        self.memo = [{**tree, "stale": True} if tree["seq"] in gone else tree for tree in self.memo]

    def finish(self) -> list[Entry]:
        """The flow is back where it waited. Gives the steps that found no place in this run."""
        left = self.remembered()
        self.memo, self.target = [], {}
        return left

    def stamp(self, root: Root) -> int:
        """The step that wrote a variable last; 0 for none on record."""
        return self.stamps.get(root_name(root), 0)


def root_name(root: Root) -> str:
    """A variable as the key of an object."""
    return f"{root[0]}/{root[1]}"


def value_written(writer: int, root: Root, known: Iterable[Entry], first: Mapping[str, Any]) -> Any:
    """What a variable was after the step `writer` had written it; a `Write`, or None if unknown."""
    if not writer:
        name = root_name(root)
        if name not in first:
            return None
        return Write(root, seal(first[name][0])) if first[name] else Write(root, gone=True)
    for entry in known:
        if entry.seq == writer:
            for write in entry.writes:
                if write.root == root:
                    return write
    return None


def same_at(write: Write, path: tuple[str | int, ...], value: Any) -> bool:
    """Whether a variable still is, at a path inside it, what it was after `write`."""
    earlier = UNDEFINED if write.gone else write.value
    return same(get_path(earlier, path), get_path(value, path))
