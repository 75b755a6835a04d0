"""One executed step as a correction needs it: what it read, what it wrote, where it went on.

A commit says the same and more, but a session does not keep its commits. So each step of a flow
that takes corrections leaves an entry in the session: small, plain data, bounded in number.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from saywhy.values import UNDEFINED, Key, raw, seal

Root = tuple[str, str]
"""A variable: its scope and its name."""

ENDED: Final = "(end)"
"""The node under which the end of a called flow is entered."""


class Read(NamedTuple):
    """A key that was read, and which step had written its variable: 0 for none on record."""

    writer: int
    key: Key


class Write(NamedTuple):
    """A variable and what it was from this step on; `UNDEFINED` with `gone` for none."""

    root: Root
    value: Any = UNDEFINED
    gone: bool = False


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that acted on the world, or may have, and how it is undone."""

    tool: str
    """What people call the tool."""
    undo: str = ""
    """The tool that undoes it; empty where nothing does."""
    args: Any = None
    """What that tool is called with: filled when the call was made, with the values of then."""
    text: str = ""
    """How the user is asked, where the author says so."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step that was executed."""

    seq: int
    """Its commit."""
    path: str
    """The calls that led to its frame, from the flow that takes corrections on."""
    node: str
    kind: str
    to: str | None = None
    reads: tuple[Read, ...] = ()
    """For a SAY-GET: what its question read."""
    checks: tuple[Read, ...] = ()
    """For a SAY-GET: what the checks of its answer read."""
    writes: tuple[Write, ...] = ()
    data: dict[str, Any] = {}
    """What it left on its frame."""
    chosen: str = ""
    """For a CASE or SWITCH: the branch."""
    effect: Effect | None = None
    flow: str = ""
    """The flow of its frame."""

    def tree(self) -> dict[str, Any]:
        """The entry as plain data, as a session holds it."""
        tree: dict[str, Any] = {"seq": self.seq, "path": self.path, "node": self.node}
        tree |= {"kind": self.kind, "flow": self.flow}
        lists = {
            "reads": [[read.writer, *read.key] for read in self.reads],
            "checks": [[read.writer, *read.key] for read in self.checks],
            "writes": [
                [*one.root] if one.gone else [*one.root, raw(one.value)] for one in self.writes
            ],
            "data": {name: raw(value) for name, value in self.data.items()},
        }
        tree |= {name: value for name, value in lists.items() if value}
        if self.to is not None:
            tree["to"] = self.to
        if self.chosen:
            tree["chosen"] = self.chosen
        if self.effect is not None:
            tree["effect"] = effect_tree(self.effect)
        return tree

    @classmethod
    def of(cls, tree: Any) -> Entry:
        """The entry that `tree` stands for."""
        fields = raw(tree)
        effect = fields.get("effect")
        return cls(
            fields["seq"],
            fields["path"],
            fields["node"],
            fields["kind"],
            fields.get("to"),
            _reads(fields.get("reads", ())),
            _reads(fields.get("checks", ())),
            tuple(
                Write((each[0], each[1]), seal(each[2]) if len(each) > 2 else UNDEFINED,
                      len(each) == 2)
                for each in fields.get("writes", ())
            ),
            {name: seal(value) for name, value in fields.get("data", {}).items()},
            fields.get("chosen", ""),
            effect_of(effect) if effect else None,
            fields.get("flow", ""),
        )  # fmt: skip

    @property
    def answers(self) -> str:
        """The variable that the user gave a value for; empty for other steps."""
        return str(self.data.get("field", "")) if self.kind == "SAY-GET" else ""


def effect_tree(effect: Effect) -> dict[str, Any]:
    """An effect as plain data."""
    fields = {"tool": effect.tool, "undo": effect.undo, "text": effect.text}
    return {**{k: v for k, v in fields.items() if v}, "args": raw(effect.args)}


def effect_of(tree: Any) -> Effect:
    """The effect that `tree` stands for."""
    fields = raw(tree)
    return Effect(
        fields["tool"], fields.get("undo", ""), seal(fields.get("args")), fields.get("text", "")
    )


def _reads(items: Any) -> tuple[Read, ...]:
    return tuple(Read(each[0], tuple(each[1:])) for each in items)


def is_tracked(key: Key) -> bool:
    """Whether a key is one whose change a correction follows: a variable, or cargo."""
    return key[0] == "cargo" or str(key[0])[:1] == "v"
