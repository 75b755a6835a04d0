"""Expressions and templates as a running step uses them.

Which name means what, what a failed expression shows, how an approved function is called in the
midst of one. The language itself is `expr`'s. spec: flow-engine 4.2 to 4.5
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from saywhy.chart.commit import FunctionCall
from saywhy.chart.scope import Scope
from saywhy.expr.javascript import Evaluated, FunctionAnswer, Raised, Suspended
from saywhy.expr.names import Path
from saywhy.expr.template import Hole, Template, condition_source, parse_template
from saywhy.flows.blame import one_line, told
from saywhy.flows.corrections.log import RECORD
from saywhy.flows.functions import answer_call
from saywhy.flows.runtime_names import RUNTIME_NAMES
from saywhy.flows.world import World
from saywhy.trace.masking.kept import touches
from saywhy.trace.masking.redact import MARK
from saywhy.trace.masking.taint import SENSITIVE
from saywhy.values import (
    UNDEFINED,
    BigInt,
    FrozenDict,
    FrozenList,
    Key,
    NonFinite,
    freeze,
    get_path,
    raw,
    same,
)

MAX_CALLS: Final = 200
"""Approved functions one evaluation may call."""

MAX_SECONDS: Final = 1.0
"""Processor time of an evaluation that calls functions, theirs not counted. Each call begins it
anew, so what is long and calls often would take minutes."""

SESSION_NAMES: Final = {
    "sessionId": "sessionId",
    "session_id": "sessionId",
    "userId": "userId",
    "user_id": "userId",
    "language": "language",
}


class FlowNames:
    """What the names in an expression of one frame stand for. spec: flow-engine 4.2"""

    __slots__ = ("functions", "scope", "world")

    def __init__(self, world: World, scope: Scope) -> None:
        self.world = world
        self.scope = scope
        self.functions: Collection[str] = world.functions.keys()

    def has(self, name: str) -> bool:
        """Whether a name is a variable here."""
        return (
            name in RUNTIME_NAMES
            or self.scope.has(self.scope.frame.scope, name)
            or name in self.world.globals
            or self._is_declared(name)
        )

    def _is_declared(self, name: str) -> bool:
        """Whether a flow on these variables declares the name: then it is undefined, not unknown.

        spec: flow-engine 4.1
        """
        scope = self.scope
        for frame in reversed(scope.cursor.frames):
            if frame.scope == scope.frame.scope:
                chart = scope.charts.find(frame.chart)
                if chart is not None and name in chart.meta.get("declared", ()):
                    return True
        return False

    def get(self, path: Path) -> Any:
        """The value at a path, not noted as read; see `key`."""
        root = str(path[0])
        if root in RUNTIME_NAMES:
            return self._runtime(root, path)
        scope = self.scope
        if scope.has(scope.frame.scope, root):
            return scope.peek((scope.frame.scope, *path))
        return get_path(self.world.globals, path)

    def key(self, path: Path) -> Key | None:
        """Where the value at a path lives; None for what no step ever wrote."""
        root = str(path[0])
        if root == "cargo":
            return path
        if root in SESSION_NAMES:
            return ("session", SESSION_NAMES[root])
        if root in ("userInput", "lastUserInput"):
            kept = self.scope.kept("input")
            return ("input", str(kept[1])) if kept else None
        if root == "currentContext":  # all variables, or the one that is named behind it
            return (self.scope.frame.scope, *path[1:])
        if root in RUNTIME_NAMES:
            return None
        if self.scope.has(self.scope.frame.scope, root):
            return (self.scope.frame.scope, *path)
        if root in self.world.globals:
            return ("globals", *path)
        # Where corrections are taken, it matters as well who looked for what is not there yet.
        noted = RECORD in self.scope.frame.data or self._is_declared(root)
        return (self.scope.frame.scope, *path) if noted else None

    def merged(self) -> FrozenDict:
        """All variables: globals with the flow's own over them."""
        return FrozenDict({**self.world.globals.raw, **self._own()})

    def known(self) -> list[str]:
        """Every name that an expression may use here."""
        own = self.scope.names(self.scope.frame.scope)
        return [*own, *self.world.globals, *self.functions, *sorted(RUNTIME_NAMES)]

    def _own(self) -> dict[str, Any]:
        scope = self.scope
        names = scope.names(scope.frame.scope)
        return {name: scope.peek((scope.frame.scope, name)) for name in names}

    def _runtime(self, root: str, path: Path) -> Any:
        scope = self.scope
        if root == "cargo":
            if len(path) > 1:
                return scope.peek(path)
            names = scope.names("cargo")
            return FrozenDict({name: scope.peek(("cargo", name)) for name in names})
        if root in SESSION_NAMES:
            value: Any = scope.peek(("session", SESSION_NAMES[root]))
            if root == "language" and not value:
                value = self.world.language
        elif root in ("userInput", "lastUserInput"):
            kept = scope.kept("input")
            value = kept[0] if kept else UNDEFINED
        else:
            value = self._made_up(root)
        return get_path(value, path[1:]) if len(path) > 1 else value

    def _made_up(self, root: str) -> Any:
        scope = self.scope
        match root:
            case "flowName":
                return scope.frame.name
            case "currentContext":
                return self.merged()
            case "current_time":
                return int(scope.now)
            case "flow_start_time":
                return scope.kept("started", 0)
            case _:
                return FrozenDict({})


# ------------------------------------------------------------------ evaluating


def evaluate(world: World, scope: Scope, source: str, *, text: bool = False) -> Evaluated | Raised:
    """The value of an expression, its reads noted and its changes staged.

    Raises `Suspend` when an approved function must be awaited; the step is then run again.
    """
    names = FlowNames(world, scope)
    answers: list[FunctionAnswer] = []
    seed, spent = scope.state.seq + 1, 0.0
    while True:
        found = world.javascript.evaluate(
            source, names, answers, now_ms=scope.now, seed=seed, text=text
        )
        if not isinstance(found, Suspended):
            break
        if len(answers) >= MAX_CALLS:
            why = f"more than {MAX_CALLS} function calls in one expression"
            found = Raised("RangeError", why, calls=tuple(answers))
            break
        spent += found.seconds
        if spent > MAX_SECONDS:
            why = f"its {len(answers)} function calls take more than {MAX_SECONDS:g} s together"
            found = Raised("TimeLimit", why, calls=tuple(answers))
            break
        answers.append(answer_call(world, scope, found.name, found.args))
    _note_reads(scope, names, found)
    if isinstance(found, Evaluated):
        _stage_changes(scope, names, found)
    return found


def _note_reads(scope: Scope, names: FlowNames, found: Evaluated | Raised) -> None:
    for path in found.reads:
        key = names.key(path)
        if key is not None:
            scope.reads.append(key)
    if found.calls:
        scope.calls += tuple(map(_recorded, found.calls))
    if isinstance(found, Evaluated) and not found.exact:
        scope.exact = False


def _recorded(call: FunctionAnswer) -> FunctionCall:
    """A call with all that it takes to answer the same call once more."""
    after = None if call.args_after is None else freeze(call.args_after, (call.name,))
    return FunctionCall(call.name, call.args, call.value, call.error or "", call.error_name, after)


def _stage_changes(scope: Scope, names: FlowNames, found: Evaluated) -> None:
    """What an expression changed inside variables and cargo stays changed. spec: 3.3"""
    for change in found.changes:
        root = str(change.path[0])
        if root == "cargo" and len(change.path) > 1:
            target: Key = change.path
        elif root == "cargo":
            set_cargo(scope, change.value)
            continue
        elif root in RUNTIME_NAMES:
            continue
        else:
            target = (scope.frame.scope, *change.path)
            if len(target) > 2 and not scope.has(scope.frame.scope, root):
                scope.set((scope.frame.scope, root), names.get((root,)))
        if change.deleted:
            scope.delete(target)
        else:
            scope.set(target, change.value)


def set_cargo(scope: Scope, cargo: Any) -> None:
    """Make cargo the object `cargo`; only what differs is written."""
    for name in scope.names("cargo"):
        if name not in cargo:
            scope.delete(("cargo", name))
    for name, value in cargo.items():
        if not scope.has("cargo", name) or not same(scope.peek(("cargo", name)), value):
            scope.set(("cargo", name), value)


# ------------------------------------------------------------------ templates


def say_text(world: World, scope: Scope, text: str) -> str:
    """A text for the user. A failed expression never shows its marker. spec: 4.5 [FIX]"""
    template = parse_template(text)
    return _unmarked(world, _said(world, scope, text, template)) if template.holes else text


def _said(world: World, scope: Scope, text: str, template: Template) -> str:
    if template.single is not None:
        before = len(scope.reads)
        found = evaluate(world, scope, template.single.source, text=True)
        if isinstance(found, Evaluated):
            if world.watches and is_sensitive(world, scope, before):
                scope.secrets = (*scope.secrets, (found.value, MARK))
            return found.value
        _warn(world, scope, template.single.source, found)
        return f"[error: {text}]" if world.options.error_text == "reference" else ""
    return _mixed(world, scope, template.parts)


def _unmarked(world: World, text: str) -> str:
    """`text` without what a SET that failed has stored, wherever it came from.

    Looked for by the sources of all SETs, so that a user's own words in this form stay.
    """
    if world.options.error_text != "hidden" or "[error: " not in text:
        return text
    for chart in world.charts:
        for node in chart.nodes.values():
            if node.kind == "SET":
                text = text.replace(f"[error: {node.spec.get('value')}]", "")
    return text


def _mixed(world: World, scope: Scope, parts: tuple[str | Hole, ...]) -> str:
    pieces: list[str] = []
    hidden: list[int] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
            continue
        before = len(scope.reads)
        found = evaluate(world, scope, part.source, text=True)
        if isinstance(found, Evaluated):
            if world.watches and is_sensitive(world, scope, before):
                hidden.append(len(pieces))
            pieces.append(found.value)
            continue
        _warn(world, scope, part.source, found)
        if world.options.error_text != "empty":
            pieces.append("{{" + part.source + "}}")
    text = "".join(pieces)
    if hidden:
        shown = "".join(MARK if i in hidden else piece for i, piece in enumerate(pieces))
        scope.secrets = (*scope.secrets, (text, shown))
    return text


def is_sensitive(world: World, scope: Scope, since: int) -> bool:
    """Whether one of the reads from number `since` on was of a sensitive place."""
    known = scope.state.scopes.get("session", {}).get(SENSITIVE)
    if known is None:
        return False
    return touches(raw(known), scope.reads[since:])


def native_value(world: World, scope: Scope, text: str, *, hide_errors: bool = False) -> Any:
    """The value of a SET or RETURN. A failed one is the text `[error: …]`, as recorded.

    With `hide_errors` (RETURN) it is empty text instead, unless the engine keeps the reference's,
    and what failed SETs have stored is not in it.
    """
    value = _native(world, scope, text, hide_errors=hide_errors)
    return _unmarked(world, value) if hide_errors and isinstance(value, str) else value


def _native(world: World, scope: Scope, text: str, *, hide_errors: bool) -> Any:
    template = parse_template(text)
    if template.is_plain:
        source, shown = text, text
    elif template.single is not None:
        source, shown = template.single.source, text
    else:
        return _mixed(world, scope, template.parts)
    if not source.strip():
        return ""
    found = evaluate(world, scope, source)
    if isinstance(found, Evaluated):
        if not found.foreign:
            return found.value
        found = Raised("TypeError", f"a conversation keeps only data, and no {found.foreign}")
    _warn(world, scope, source, found)
    style = world.options.error_text
    if style == "empty" or (hide_errors and style == "hidden"):
        return ""
    return f"[error: {shown}]"


def condition(world: World, scope: Scope, text: str) -> tuple[bool, str]:
    """Whether a condition holds, and why it counts as false when it cannot be evaluated."""
    source = condition_source(text)
    found = evaluate(world, scope, source)
    if isinstance(found, Evaluated):
        return is_truthy(found.value), ""
    _warn(world, scope, source, found)
    return False, f"{found.kind}: {found.message}"


def is_truthy(value: Any) -> bool:
    """Truth as JavaScript has it."""
    if value is True or value is False or value is UNDEFINED:  # what it nearly always is
        return value is True
    if isinstance(value, FrozenDict | FrozenList):
        return True
    if isinstance(value, NonFinite):
        return value == value  # noqa: PLR0124 - NaN alone is not equal to itself
    if isinstance(value, BigInt):
        return bool(value.value)
    if value is None or value is UNDEFINED or isinstance(value, str | bool | int | float):
        return bool(value)
    return True


def _warn(world: World, scope: Scope, source: str, raised: Raised) -> None:
    names = FlowNames(world, scope)
    why = told(source, raised, names, names.known())
    scope.warn(one_line(f"{{{{{source}}}}} in {scope.frame.name} at {scope.node.where}: {why}"))
