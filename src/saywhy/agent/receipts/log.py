"""What the state was at each model call of a record, and which receipt was left there.

One walk over the commits does for all calls: what an operation changes is changed in a copy that
shares everything else, so a call costs a look at the names of its scope. A record may be a run's
`Result`, a `Trace`, commits in order, or the state alone; of the latter only the end is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import Reader, Unreadable, from_stored, root_of
from saywhy.chart.commit import Commit, Op
from saywhy.chart.cursor import Cursor
from saywhy.trace.masking.redact import CUT_TAG, REDACTED_TAG
from saywhy.trace.rebuild import Doubt, doubt_in
from saywhy.values import UNDEFINED, FrozenList, append_path, delete_path, seal, set_path

KEY: Final = "receipts"
"""The variable under which a run keeps its receipts."""

END_STATE: Final = "end-state"
"""A doubt: the value is that of the end of the run, as the one of the moment is not recorded."""

Variables: TypeAlias = Mapping[str, Any]
End = Literal["", "newest", "older"]


class Run(Protocol):
    """What a chart's run has come to: `chart.built.Result` is one."""

    @property
    def commits(self) -> Sequence[Commit]: ...
    @property
    def cursor(self) -> Cursor: ...


Snapshot: TypeAlias = Run | Iterable[Commit] | Mapping[str, Any]
"""A `Result`, a `Trace` or other commits in order, or the variables of a state."""


class ModelCall(msgspec.Struct, frozen=True):
    """One time a model was asked, and what the record knows of that moment."""

    number: int
    """Which one of the record, from 1."""
    scope: str
    variables: Variables
    """The state of its scope then."""
    doubts: Mapping[str, str]
    """By variable: why it may not be what the run had; `END_STATE` where it is that of the end."""
    receipt: Receipt | Unreadable | None = None
    """None: none was committed."""
    args: Mapping[str, Any] = {}
    """What the step that asked said of itself."""
    final: End = ""
    """`variables` are those at the end: the moment itself is not in the record. `newest`: no other
    call came after it; `older`: one did, and may have been handed another prompt."""

    @property
    def run_id(self) -> str:
        """The run that its receipt names."""
        return self.receipt.basis.run_id if isinstance(self.receipt, Receipt) else ""


def calls_of(snapshot: Snapshot) -> Iterator[ModelCall]:
    """The model calls of a record, in order."""
    if isinstance(snapshot, Mapping):
        state: Variables = snapshot  # pyright: ignore[reportAssignmentType]
        found = from_stored(_entries(state.get(KEY)))
        for number, receipt in enumerate(found, 1):
            final: End = "newest" if number == len(found) else "older"
            yield ModelCall(number, "", state, {}, receipt, final=final)
        if not found:  # how often a model was asked is not known; that nothing was left is
            yield ModelCall(1, "", state, {}, final="newest")
        return
    cursor: Cursor | None = getattr(snapshot, "cursor", None)
    commits: Iterable[Commit] = getattr(snapshot, "commits", snapshot)  # pyright: ignore[reportAssignmentType]
    yield from _Walk(cursor).over(commits)


def receipts_in(snapshot: Snapshot) -> list[Receipt | Unreadable]:
    """Every receipt of a record, in order."""
    return [call.receipt for call in calls_of(snapshot) if call.receipt is not None]


class _Walk:
    """One pass over the commits of a record."""

    def __init__(self, cursor: Cursor | None) -> None:
        self.cursor = cursor
        self.scopes: dict[str, dict[str, Any]] = {}
        self.doubts: dict[str, dict[str, Doubt]] = {}
        self.readers: dict[str, Reader] = {}
        self.newest: dict[str, Receipt | Unreadable] = {}
        self.number = 0
        self.late = False
        """The record begins after the conversation did."""

    @cached_property
    def kept(self) -> dict[str, list[Receipt | Unreadable]]:
        """By scope, the receipts that the state holds at the end."""
        if self.cursor is None:
            return {}
        return {
            scope: from_stored(_entries(variables[KEY]))
            for scope, variables in self.cursor.state.scopes.items()
            if KEY in variables
        }

    def over(self, commits: Iterable[Commit]) -> Iterator[ModelCall]:
        """The calls before the record begins, where the state still knows them, and those in it."""
        steps = list(commits)
        self.late = bool(steps) and steps[0].seq > 1
        if self.late or not steps:
            yield from self._before(steps)
        for commit in steps:
            self._apply(commit)
            call = self._call(commit)
            if call is not None:
                yield call

    def _call(self, commit: Commit) -> ModelCall | None:
        asked = commit.asked
        if asked is None or asked.kind != "model" or asked.name != "chat":
            return None
        args: Any = seal(asked.args)
        given: Mapping[str, Any] = args if isinstance(args, Mapping) else {}
        scope = str(given.get("scope", ""))
        receipt = self.newest.pop(scope, None)  # so that a call which left none has none
        self.number += 1
        doubts: dict[str, str] = dict(self.doubts.get(scope, {}))
        end = self._unwritten(scope)
        variables = {**end, **self.scopes.get(scope, {})}
        for name, doubt in doubts.items():
            if doubt in {"start", "cut"} and name in end:
                variables[name] = end[name]
                doubts[name] = END_STATE
        return ModelCall(self.number, scope, variables, doubts, receipt, given)

    def _unwritten(self, scope: str) -> dict[str, Any]:
        """Variables that no recorded step wrote: what they are at the end they always were."""
        if self.cursor is None:
            return {}
        held: dict[str, Any] = {}
        state = self.cursor.state
        chain = [scope]
        while chain[-1] in state.bases and state.bases[chain[-1]].scope not in chain:
            chain.append(state.bases[chain[-1]].scope)
        for name in reversed(chain):
            held.update(state.scopes.get(name, {}))
        return held

    def _before(self, commits: Iterable[Commit]) -> Iterator[ModelCall]:
        """Calls of which only the receipt is left in the state, as after resuming elsewhere."""
        here = {
            root_of(op.value)
            for commit in commits
            for op in commit.ops
            if op.verb == "append" and op.key[1:] == (KEY,)
        }
        for scope, receipts in self.kept.items():
            for receipt in receipts:
                if receipt.root in here:
                    break
                self.number += 1
                final: End = "newest" if receipt is receipts[-1] else "older"
                yield ModelCall(
                    self.number, scope, self._unwritten(scope), {}, receipt, final=final
                )

    # ------------------------------------------------------------ operations

    def _apply(self, commit: Commit) -> None:
        altered = REDACTED_TAG in commit.tags or CUT_TAG in commit.tags
        for op in commit.ops:
            if len(op.key) < 2:
                continue
            scope, name = str(op.key[0]), str(op.key[1])
            if name == KEY:
                self._receipts(scope, op)
            variables = self.scopes.setdefault(scope, {})
            self._doubt(scope, name, op, altered, name in variables)
            path = op.key[2:]
            try:
                value = _after(variables.get(name, UNDEFINED), op, path)
            except (IndexError, TypeError):
                continue  # what it was to change was masked, or is not in the record
            if value is UNDEFINED:
                variables.pop(name, None)
            else:
                variables[name] = value

    def _doubt(self, scope: str, name: str, op: Op, altered: bool, there: bool) -> None:
        doubts = self.doubts.setdefault(scope, {})
        whole = len(op.key) == 2 and op.verb != "append"
        doubt: Doubt = doubt_in(op.value) if altered else ""
        if whole or doubt:
            doubts[name] = doubt
        elif not there and self.late:
            doubts[name] = "start"

    def _receipts(self, scope: str, op: Op) -> None:
        if op.verb == "append" and len(op.key) == 2:
            entries = [op.value]
        elif op.verb == "set" and len(op.key) == 2:
            entries = _entries(op.value)
            self.readers.pop(scope, None)
        else:
            entries = [op.value]
        reader = self.readers.setdefault(scope, Reader())
        for entry in entries:
            self.newest[scope] = self._read(reader, scope, entry)

    def _read(self, reader: Reader, scope: str, entry: Any) -> Receipt | Unreadable:
        found = reader.read(entry)
        if isinstance(found, Unreadable) and found.root:
            for kept in self.kept.get(scope, ()):
                if kept.root == found.root and isinstance(kept, Receipt):
                    reader.last = kept
                    return kept
        return found


def _entries(value: Any) -> list[Any]:
    found = seal(value)
    return list(found) if isinstance(found, FrozenList | list | tuple) else []


def _after(value: Any, op: Op, path: tuple[str | int, ...]) -> Any:
    if op.verb == "set":
        return set_path(value, path, seal(op.value)) if path else seal(op.value)
    if op.verb == "append":
        return append_path(value, path, seal(op.value))
    return delete_path(value, path) if path else UNDEFINED
