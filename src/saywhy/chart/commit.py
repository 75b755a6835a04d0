"""The record of one step: what it read, what it wrote, what it decided, where it stands.

Commits are facts and are kept. They hold operations, never whole states, and share their values
with the state. A trace is commits plus the charts they speak of; every explanation is a query.
Nothing in a commit can lead back to it, so the garbage collector need not look (`gc=False`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from saywhy.values import Key

Effect = Literal["reads", "repeatable", "once"]
"""What doing it again would do: nothing, the same once more under one key, or another effect."""

Verb = Literal["set", "append", "delete"]
Phase = Literal["enter", "asked", "answered", "closed"]


class Op(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One change: `set` a path, `append` an item to the list at a path, `delete` a path."""

    verb: Verb
    key: Key
    value: Any = None


class Condition(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One tested condition: its text, what it gave, and the values it read."""

    text: str
    result: bool
    branch: str = ""
    read: tuple[tuple[Key, Any], ...] = ()
    error: str = ""
    """Why it counted as false although it could not be evaluated; what a validator said."""
    rule: int | None = None
    """Number of the rule it belongs to, from 0, where several make up one rule."""
    label: str = ""
    """What the author calls that rule."""
    parts: tuple[Condition, ...] = ()
    """For `any of`, `all of` and `not`: the evidence of what is inside."""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Which branch was taken, and the evidence: every condition tested up to it, in order."""

    chosen: str
    conditions: tuple[Condition, ...] = ()
    default: bool = False
    """No condition held; the default was taken."""
    selected: tuple[str, ...] = ()
    """For a selector: all branches taken."""
    label: str = ""
    """What the author calls the rule, or the default, that decided."""


class FunctionCall(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An approved function called from an expression."""

    name: str
    args: Any = None
    value: Any = None
    error: str = ""
    error_name: str = "Error"
    after: Any = None
    """The arguments after the call, where the function changed one of them."""


class Asked(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a step needed: a question to the user, a tool call, a model call."""

    kind: str
    name: str = ""
    args: Any = None
    effect: Effect = "once"


class Answered(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What came back."""

    kind: str
    name: str = ""
    value: Any = None
    error: str = ""
    facts: dict[str, Any] = {}
    error_name: str = "Error"


class Commit(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One step of one frame. `(conversation, seq)` names it; `seq` counts from 1."""

    seq: int
    turn: int
    frame: int
    chart: str
    """Digest of the chart."""
    flow: str
    """Name of the chart, for people."""
    node: str
    kind: str
    phase: Phase = "enter"
    depth: int = 0
    caller: int = 0
    """The commit that opened this frame; 0 for none."""
    at: float = 0.0
    reads: tuple[Key, ...] = ()
    exact: bool = True
    """False: `reads` is an upper bound, because a path could not be known beforehand."""
    ops: tuple[Op, ...] = ()
    decision: Decision | None = None
    asked: Asked | None = None
    answered: Answered | None = None
    calls: tuple[FunctionCall, ...] = ()
    to: str = ""
    """Where it went on: a node, `call NAME`, `return`, `rest`, `fail`."""
    error: str = ""
    error_name: str = ""
    warnings: tuple[str, ...] = ()
    facts: dict[str, Any] = {}
    """What a language adds: how a frame ended, its outcome, its transaction."""
    tags: tuple[str, ...] = ()
    secrets: tuple[str | tuple[str, str], ...] = ()
    """Texts that this step learnt to be sensitive, or a text it said and how that is to be shown.
    Taken out by `trace.record`, never kept."""
