"""The record of a conversation: commits, the charts they speak of, and what was said.

Append-only. It finds who wrote or read what and rebuilds values from operations; nothing runs
again. What caused something is answered by `why`, what happened in sentences by `narrative`,
which transactions and events there were by `transactions`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

import msgspec

from saywhy.chart.commit import Commit, Op
from saywhy.chart.model import Chart, Charts, Node
from saywhy.errors import CallerError, Place, did_you_mean
from saywhy.messages import Message
from saywhy.trace.index import KeyIndex, touches
from saywhy.trace.masking.redact import CUT_TAG, REDACTED_TAG
from saywhy.trace.rebuild import Doubt, Found, doubt_in, part_of, replay
from saywhy.trace.shorten import put_back
from saywhy.trace.shown import shown
from saywhy.trace.words import ROUTING
from saywhy.values import UNDEFINED, Key, freeze

if TYPE_CHECKING:
    from saywhy.trace.causes.chain import Chain
    from saywhy.trace.causes.changed import Changed
    from saywhy.trace.causes.why import Target
    from saywhy.trace.causes.why_not import WhyNot
    from saywhy.trace.narrative.story import Telling
    from saywhy.trace.transactions import Event, EventName, Transaction


NAMED_SCOPES: Final = frozenset({"cargo", "globals", "session", "turn", "input", "args"})
"""Scopes that an author names; the others belong to a running flow."""

MOST_VALUES: Final = 256
"""Values that are kept for who asks for them again, as whoever follows causes does."""
MOST_NAMES: Final = 20
"""So many variables are listed where a name is like none of them."""
_PART: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


class Touch(msgspec.Struct, frozen=True):
    """One read or write in a timeline."""

    seq: int
    turn: int
    how: Literal["read", "set", "append", "delete"]
    key: Key
    value: Any
    """What was written, or what the reading step got."""
    source: int = 0
    """For a read: the commit whose write it saw; 0 where none is recorded."""
    doubt: Doubt = ""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """What happened between one message of the user's and the next rest."""

    number: int
    commits: tuple[Commit, ...]
    messages: tuple[Message, ...]


class Trace:
    """Commits in order, indexed by what they touch as they come in.

    `charts` give steps their names and places; `messages` hold what was said. Both may be
    incomplete: what is missing is then missing from the explanations, and they say so.
    """

    def __init__(
        self,
        commits: Iterable[Commit] = (),
        charts: Charts | Iterable[Chart] = (),
        messages: Iterable[Message] = (),
    ) -> None:
        self.charts: Charts = charts if isinstance(charts, Charts) else Charts(charts)
        self._commits: dict[int, Commit] = {}
        self._order: list[int] = []
        self._writes = KeyIndex()
        self._reads = KeyIndex()
        self._turns: dict[int, list[int]] = {}
        self._frames: dict[int, list[int]] = {}
        self._nodes: dict[tuple[int, str], list[int]] = {}
        self._messages: dict[int, Message] = {}
        self._said: dict[int, dict[int, Message]] = {}
        self._values: dict[tuple[Key, int], Found] = {}
        self.say(*messages)
        self.append(*commits)

    # ------------------------------------------------------------ growing

    def append(self, *commits: Commit) -> None:
        """Take in the next commits. Raises `CallerError` for one that is no later than the last."""
        self._values.clear()
        for commit in commits:
            last = self._order[-1] if self._order else 0
            if commit.seq <= last:
                raise CallerError(f"commit {commit.seq} cannot follow commit {last}")
            self._order.append(commit.seq)
            self._commits[commit.seq] = commit
            self._turns.setdefault(commit.turn, []).append(commit.seq)
            self._frames.setdefault(commit.frame, []).append(commit.seq)
            self._nodes.setdefault((commit.frame, commit.node), []).append(commit.seq)
            for op in commit.ops:
                self._writes.add(op.key, commit.seq)
            for key in commit.reads:
                self._reads.add(key, commit.seq)

    def say(self, *messages: Message) -> None:
        """Take in what was said; a message that is there already is replaced."""
        self._values.clear()
        for message in messages:
            self._messages[message.seq] = message
            self._said.setdefault(message.turn, {})[message.seq] = message

    # ------------------------------------------------------------ explaining
    # The explanations are modules that know the trace; it knows them only when it is asked.

    def why(self, target: Target | None = None) -> Chain:
        """What caused the newest reply, a variable (by its name), or another target of `why`.

        Raises `CallerError` when there is no such reply or variable.
        """
        from saywhy.trace.causes.why import Reply, why

        return why(self, Reply() if target is None else target)

    def why_not(self, what: str, turn: int | None = None, *, flows: Sequence[str] = ()) -> WhyNot:
        """Why something did not happen: `flow:Pay`, `branch:Pay/check/dear`, `rule:ID`,
        `tool:NAME`, `instruction:ID`; a name alone is that of a flow. `flows` are those there were.

        Raises `CallerError` for what this record does not know.
        """
        from saywhy.trace.causes.why_not import why_not

        return why_not(self, what, turn, flows)

    def what_changed(self, message: int | str | None = None, turn: int | None = None) -> Changed:
        """All that depended on a message of the user's, by its number or turn; else on the newest.

        `message:3`, as chains name it, is number 3. Raises `CallerError` where there is no such
        message.
        """
        from saywhy.trace.causes.changed import what_changed

        return what_changed(self, message, turn)

    def narrative(self, turn: int | None = None, **how: Unpack[Telling]) -> str:
        """The story of one turn or of the newest: `text`, `markdown` or `json`; see `narrative`.

        In a `language`, within a `budget` of tokens. Raises `CallerError` for what is not there.
        """
        from saywhy.trace.narrative.story import narrative

        return narrative(self, turn, **how)

    def transactions(self, state: str | None = None) -> list[Transaction]:
        """The lives of the flows, oldest first; only those in `state`, if given."""
        from saywhy.trace.transactions import transactions

        return transactions(self, state)

    def events(self, name: EventName | None = None) -> list[Event]:
        """Flows that began and ended, tools that answered, failed and are audited, in order."""
        from saywhy.trace.transactions import events

        return events(self, name)

    # ------------------------------------------------------------ looking up

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Commit]:
        return (self.commit(seq) for seq in self._order)

    def __contains__(self, seq: object) -> bool:
        return seq in self._commits

    def commit(self, seq: int) -> Commit:
        """The commit with this number. Raises `CallerError` when it is not in this trace."""
        found = self._commits.get(seq)
        if found is None:
            have = f"{self.first} to {self.last}" if self._order else "none"
            raise CallerError(f"commit {seq} is not in this trace", hint=f"it holds {have}")
        return put_back(found, self._messages)

    @property
    def first(self) -> int:
        """Number of the oldest commit, 0 for an empty trace. Above 1 the beginning is missing."""
        return self._order[0] if self._order else 0

    @property
    def last(self) -> int:
        """Number of the newest commit, 0 for an empty trace."""
        return self._order[-1] if self._order else 0

    def for_a_story(self) -> Trace:
        """The same for who tells all of it: what was passed need not be kept, and of the values
        in commits not more than a sentence shows."""
        return self

    @property
    def turns(self) -> Sequence[int]:
        """Numbers of the turns that left a commit or a message, in order."""
        return sorted({*self._turns, *self._said})

    def turns_until(self, turn: int | None, most: int) -> list[int]:
        """The newest turns up to and including one, at most so many, in order."""
        newest = (each for each in reversed(self.turns) if turn is None or each <= turn)
        return list(islice(newest, most))[::-1]

    @property
    def newest_turn(self) -> int:
        """Number of the newest turn, 0 for an empty trace."""
        return self.turns[-1] if self.turns else 0

    def end_of(self, turn: int) -> int:
        """Number of the last commit of a turn. Raises `CallerError` when it left none."""
        seqs = self._turns.get(turn)
        if not seqs:
            known = sorted(self._turns)
            hint = f"turns {known[0]} to {known[-1]} are recorded" if known else "it is empty"
            raise CallerError(f"no step of turn {turn} is in this trace", hint=hint)
        return seqs[-1]

    def turn(self, number: int) -> Turn:
        """The commits and messages of one turn; both empty where there are none."""
        commits = tuple(self.commit(seq) for seq in self._turns.get(number, ()))
        return Turn(number, commits, tuple(self.messages(number)))

    def messages(self, turn: int | None = None) -> list[Message]:
        """What was said, in order, as it may be shown; of one turn, or of all."""
        found = self._messages if turn is None else self._said.get(turn, {})
        return [self._shown(found[seq]) for seq in sorted(found)]

    def message(self, seq: int) -> Message | None:
        """The message with this number, as it may be shown: masked where its record is."""
        found = self._messages.get(seq)
        return None if found is None else self._shown(found)

    def _shown(self, message: Message) -> Message:
        received = None
        if message.role == "user":
            received = self._commits.get(
                self._writes.last(("input", str(message.seq)), self.last + 1)
            )
        return shown(message, received, self._commits.get)

    def node_of(self, commit: Commit) -> Node | None:
        """The step a commit speaks of; None when its chart is not at hand."""
        chart = self.charts.version(commit.chart)
        return None if chart is None else chart.nodes.get(commit.node)

    def place_of(self, commit: Commit) -> Place:
        """Where the step of a commit stands in the author's file."""
        node = self.node_of(commit)
        return node.where if node is not None else Place(pointer=commit.node)

    def steps_of(
        self, *, frame: int | None = None, node: str | None = None, flow: str | None = None
    ) -> list[Commit]:
        """The commits of a frame, a node and a flow; of those that are given."""
        seqs = self._order if frame is None else self._frames.get(frame, [])
        raw = (self._commits[seq] for seq in seqs)
        return [
            put_back(commit, self._messages)
            for commit in raw
            if (node is None or commit.node == node) and (flow is None or commit.flow == flow)
        ]

    def newest(self, frame: int, node: str, before: int) -> Commit | None:
        """The newest commit of a node in a frame before commit `before`."""
        seqs = self._nodes.get((frame, node), [])
        i = bisect_left(seqs, before)
        return self.commit(seqs[i - 1]) if i else None

    def next_of(self, commit: Commit) -> Commit | None:
        """The next commit of the same step in the same frame."""
        seqs = self._nodes.get((commit.frame, commit.node), [])
        i = bisect_right(seqs, commit.seq)
        return self.commit(seqs[i]) if i < len(seqs) else None

    def opener(self, commit: Commit) -> Commit | None:
        """The step that opened the frame of `commit`; None for routing and what is not recorded.

        A flow that takes another's place is opened after the closing commits of those it ends; the
        step that wanted it stands before them.
        """
        seq = 0 if commit.flow == ROUTING else commit.caller
        while seq in self._commits:
            if self._commits[seq].phase != "closed":
                return self.commit(seq)
            seq -= 1
        return None

    @property
    def frames(self) -> list[int]:
        """Numbers of the frames that left a commit, in the order they began."""
        return list(self._frames)

    @property
    def decisions(self) -> list[Commit]:
        """The commits in which a branch was chosen."""
        return [self.commit(seq) for seq in self._order if self._commits[seq].decision is not None]

    # ------------------------------------------------------------ keys

    def key(self, name: str, until: int | None = None) -> Key:
        """The key of a name: `amount`, `fee.total`, `items[0]`, `cargo.plan`, `userInput`.

        Of several flows' variables it is the one written last, at the latest by commit `until`.
        Raises `CallerError`, with the nearest name, when nothing of this name was ever touched.
        """
        parts = [int(index) if index else word for word, index in _PART.findall(name)]
        if not parts:
            raise CallerError("a variable needs a name")
        if parts[0] in NAMED_SCOPES and len(parts) > 1:
            return tuple(parts)
        if parts == ["userInput"] and self.variables("input"):
            return self.variables("input")[-1]
        root = self._newest_root(str(parts[0]), (self.last if until is None else until) + 1)
        if root is None:
            few = ", ".join(self.names[:MOST_NAMES])
            hint = did_you_mean(str(parts[0]), self.names) or (few and f"recorded are {few}")
            raise CallerError(f'no recorded step touched a variable "{parts[0]}"', hint=hint)
        return (*root, *parts[1:])

    def _newest_root(self, name: str, before: int) -> Key | None:
        """Of the variables with a name, the one that was written last."""
        roots = self._writes.roots(name) or self._reads.roots(name)
        return max(roots, key=lambda root: self._writes.last(root, before), default=None)

    @property
    def names(self) -> list[str]:
        """Names of the variables of flows that some step wrote or read."""
        found = {*self._writes.names(NAMED_SCOPES), *self._reads.names(NAMED_SCOPES)}
        return sorted(found)

    def writers(self, key: Key) -> list[Commit]:
        """Every commit that wrote at `key`, above it or beneath it, in order."""
        return [self.commit(seq) for seq in self._writes.all(key)]

    def readers(self, key: Key) -> list[Commit]:
        """Every commit that read at `key`, above it or beneath it, in order."""
        return [self.commit(seq) for seq in self._reads.all(key)]

    def last_writer(self, key: Key, before: int | None = None) -> Commit | None:
        """The newest commit before `before` that wrote at `key`, above it or beneath it."""
        seq = self._writes.last(key, self.last + 1 if before is None else before)
        return self.commit(seq) if seq else None

    def wrote(self, key: Key, before: int) -> bool:
        """Whether some step wrote at `key` before commit `before`."""
        return bool(self._writes.last(key, before))

    def sources(self, key: Key, before: int) -> Iterator[Commit]:
        """The commits the value at `key` was made of just before `before`, newest first.

        The last of them set the value as a whole; those before it changed a part.
        """
        for seq in self._writes.newest_first(key, before):
            commit = self.commit(seq)
            yield commit
            if any(_replaces(op, key) for op in commit.ops):
                return

    def timeline(self, of: Key | str) -> list[Touch]:
        """Every read and write of a key, or of the newest variable of a name, in order."""
        key = self.key(of) if isinstance(of, str) else of
        touched = [(seq, True) for seq in self._reads.all(key)]
        touched += [(seq, False) for seq in self._writes.all(key)]
        touches_: list[Touch] = []
        for seq, is_read in sorted(touched, key=lambda pair: (pair[0], not pair[1])):
            commit = self.commit(seq)
            touches_ += self._reads_at(commit, key) if is_read else _writes_at(commit, key)
        return touches_

    def _reads_at(self, commit: Commit, key: Key) -> Iterator[Touch]:
        for read in commit.reads:
            if touches(read, key):
                found = self.value_at(read, commit.seq - 1)
                source = self._writes.last(read, commit.seq)
                yield Touch(commit.seq, commit.turn, "read", read, found.value, source, found.doubt)

    # ------------------------------------------------------------ values

    def value_at(self, key: Key, seq: int | None = None) -> Found:
        """What stood at `key` after commit `seq`, as far as the record knows.

        A masked record cannot give real values back: that is what masking is for. Then, and when
        the value was cut, when the record begins later than the value, or when no step wrote it,
        the answer carries a doubt.
        """
        at = self.last if seq is None else seq
        found = self._values.get((key, at))
        if found is None:
            if len(self._values) >= MOST_VALUES:
                self._values.clear()
            found = self._values[key, at] = self._value_at(key, at)
        return found

    def _value_at(self, key: Key, seq: int) -> Found:
        if len(key) == 1:
            return self._scope_at(key, seq)
        root = key[:2]
        ops, commits, whole = self._ops_on(root, seq)
        value = part_of(replay(root, ops), root, key)
        numbers = tuple(commit.seq for commit in commits)
        return Found(value, self._doubt(root, value, commits, whole), numbers)

    def variables(self, scope: str) -> list[Key]:
        """The keys of all variables that some step wrote in a scope."""
        return self._writes.variables(scope)

    def _scope_at(self, key: Key, seq: int) -> Found:
        """All variables of a scope as one object: what reading `cargo` itself gives."""
        found = {str(root[1]): self.value_at(root, seq) for root in self.variables(str(key[0]))}
        fields = {name: each.value for name, each in found.items() if each.value is not UNDEFINED}
        commits = sorted({number for each in found.values() for number in each.commits})
        doubts: list[Doubt] = [each.doubt for each in found.values() if each.doubt]
        return Found(freeze(fields), doubts[0] if doubts else "", tuple(commits))

    def _ops_on(self, root: Key, seq: int) -> tuple[list[Op], list[Commit], bool]:
        """The operations since the variable was last set as a whole, and whether it ever was."""
        commits: list[Commit] = []
        ops: list[Op] = []
        for number in self._writes.newest_first(root, seq + 1):
            commit = self.commit(number)
            commits.append(commit)
            for op in reversed(commit.ops):
                if op.key[:2] != root:
                    continue
                ops.append(op)
                if _replaces(op, root):
                    return ops[::-1], commits[::-1], True
        return ops[::-1], commits[::-1], False

    def _doubt(self, root: Key, value: Any, commits: list[Commit], whole: bool) -> Doubt:
        if not commits:
            begun = self.first > 1 or root[0] in ("globals", "args")
            return "unrecorded" if begun else ""
        if not whole and self.first > 1:
            return "start"
        altered = any(REDACTED_TAG in commit.tags or CUT_TAG in commit.tags for commit in commits)
        return doubt_in(value) if altered else ""


def _replaces(op: Op, key: Key) -> bool:
    """Whether after this operation nothing of what stood at `key` before is left."""
    return op.verb != "append" and key[: len(op.key)] == op.key


def _writes_at(commit: Commit, key: Key) -> Iterator[Touch]:
    altered = REDACTED_TAG in commit.tags or CUT_TAG in commit.tags
    for op in commit.ops:
        if touches(op.key, key):
            doubt = doubt_in(op.value) if altered else ""
            yield Touch(commit.seq, commit.turn, op.verb, op.key, op.value, 0, doubt)
