"""Whether an audit bundle is of one piece: the chain, its content, flows, receipts, anchors, seal.

It says the same as the single file `verifier`, which shares no code with it, so that each checks
the other. What that proves, and what it cannot, is told in docs/reasons/audit.md. Whether a store
holds is `check`'s question.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from saywhy.chart.model import Chart
from saywhy.errors import CallerError
from saywhy.runtime.audit.lines import FORMAT, Counts, Row, line, part_in, row_in
from saywhy.runtime.audit.receipts import Receipts
from saywhy.runtime.audit.report import Report, Wrong, all_given_away, check
from saywhy.stores.audit import (
    Content,
    Head,
    StoredChain,
    StoredLink,
    anchor_digest,
    link_digest,
    owner_digest,
    packed_heads,
    start_digest,
)
from saywhy.trace.block import read_block
from saywhy.values import loads_raw

_SEAL: Final = b"saywhy-seal-1"
_BROKEN: Final = (
    ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error, CallerError
)  # fmt: skip
_ERASED: Final = ("forgotten", "pruned", "masked")


class _Chain(msgspec.Struct):
    id: str
    first: int
    turns: int
    session: str | None
    user: str | None
    salt: str | None
    owner: str


class _Turn(msgspec.Struct):
    no: int
    status: str
    messages: int
    rows: int
    salt: str | None
    erased: str
    content: str
    digest: str


class _Anchor(msgspec.Struct):
    number: int
    at: int
    digest: str
    heads: list[tuple[str, int, str]]


class _End(msgspec.Struct):
    chains: int
    turns: int
    messages: int
    commits: int
    erased: int
    missing_charts: list[str]
    seal: str


T = TypeVar("T")


def _told(text: bytes, tree: Any, kind: type[T]) -> T:
    """What a line says; it must be written as we would write it."""
    name = kind.__name__.strip("_").lower()
    problem = f"this is no line of a {name}"
    try:
        found = msgspec.convert(tree[name], kind)
    except msgspec.ValidationError as error:
        raise Wrong(problem) from error
    check(line({name: found}) == text, problem)
    return found


def _unhex(text: str, size: int = 32) -> bytes:
    check(re.fullmatch(f"[0-9a-f]{{{2 * size}}}", text), f"{text} is no digest")
    return bytes.fromhex(text)


def verify_bundle(path: str | Path, known: Iterable[str | bytes] = ()) -> Report:
    """Check the bundle in a file. Raises `CallerError` for one that cannot be read.

    `known` are digests that were given away earlier: each must be in it, as its seal, as the digest
    of a turn or as an anchor.
    """
    try:
        with Path(path).open("rb") as file:
            return verify_lines(file, known)
    except OSError as error:
        raise CallerError(f"{path} cannot be read: {error.strerror or error}") from error


def verify_lines(lines: Iterable[bytes], known: Iterable[str | bytes] = ()) -> Report:
    """Check the lines of a bundle. Raises `CallerError` where something `known` is no digest."""
    digests = all_given_away(known)
    reading = _Reading()
    number = 0
    try:
        for number, text in enumerate(lines, start=1):
            reading.take(number, text)
        number += 1
        check(reading.report.seal, "the bundle is cut off: its last line is missing")
        number = 0
        for one in digests:
            check(one in reading.known, f"the digest {one} is not in this bundle")
    except Wrong as error:
        reading.report.wrong = str(error)
    except _BROKEN as error:
        reading.report.wrong = f"this is no line of a bundle ({type(error).__name__}: {error})"
    if not reading.report.ok:
        reading.report.line = number
    return reading.report


class _Reading:
    """What the lines so far have come to."""

    def __init__(self) -> None:
        self.report = Report()
        self.seal = blake2b(digest_size=32, person=_SEAL)
        self.charts: dict[str, int] = {}
        self.named: dict[str, None] = {}
        self.receipts = Receipts()
        self.chain: StoredChain | None = None
        self.chains: dict[bytes, StoredChain] = {}
        self.heads: dict[tuple[bytes, int], bytes] = {}
        self.before = b""
        self.turn: StoredLink | None = None
        self.content: Content | None = None
        self.rows: dict[str, list[int]] = {}
        self.last: dict[str, int] = {}
        self.anchor = b""
        self.known: set[str] = set()

    def take(self, number: int, text: bytes) -> None:
        """Check one line."""
        check(not self.report.seal, "something stands behind the end of the bundle")
        check(text.endswith(b"\n"), "the line is cut off")
        row = row_in(text)
        part = None if row is not None else part_in(text)
        if row is not None:
            self._row(row)
        elif part is not None:
            self._close()
            self.receipts.take_part(part)
            self.report.parts += 1
        else:
            self._entry(number, text)
        self.seal.update(text)

    def _entry(self, number: int, text: bytes) -> None:
        tree: Any = msgspec.json.decode(text)
        check(isinstance(tree, dict) and tree, "this is no line of a bundle")
        kind = next(iter(tree))
        check((number == 1) == (kind == "saywhy"), "a bundle has one heading, its first line")
        if kind != "turn":
            self._close()
        elif self.turn is not None:
            self._close_turn()
        match kind:
            case "saywhy":
                check(tree[kind] == "audit", "this is no audit bundle")
                found = tree["format"]
                check(found == FORMAT, f"format {found} is not known, {FORMAT} is")
            case "chart":
                self._chart(number, loads_raw(text)["chart"])
            case "chain":
                self._chain(_told(text, tree, _Chain))
            case "turn":
                self._turn(_told(text, tree, _Turn))
            case "anchor":
                self._anchor(_told(text, tree, _Anchor))
            case "end":
                self._end(_told(text, tree, _End))
            case _:
                raise Wrong(f"a line of the kind {kind!r} has no place here")

    def _chart(self, number: int, tree: Any) -> None:
        chart = msgspec.convert(tree, Chart)
        nodes, named = chart.nodes.values(), {"id": chart.id, "kind": chart.kind}
        anew = Chart.of(chart.name, nodes, start=chart.start, meta=chart.meta, **named)
        check(chart.digest == anew.digest, f"the flow {chart.name!r} was changed")
        check(chart.digest not in self.charts, f"the flow {chart.name!r} stands here twice")
        self.charts[chart.digest] = number
        self.report.charts += 1

    def _chain(self, told: _Chain) -> None:
        chain_id, owner = _unhex(told.id, 16), _unhex(told.owner)
        salt = None if told.salt is None else _unhex(told.salt, 16)
        check(chain_id not in self.chains, "the chain stands here twice")
        if salt is None:
            hidden = not told.session and not told.user
            check(hidden, "a chain without a salt cannot tell whose it is")
        else:
            made = owner_digest(salt, told.session or "", told.user or "")
            check(owner == made, "the chain is not that of this conversation")
        self.chain = self.chains[chain_id] = StoredChain(
            chain_id, told.first, owner, salt, told.session, told.user, told.turns
        )
        self.before = start_digest(chain_id, told.first, owner)
        self.last = {}
        self.report.chains += 1
        self.receipts.begin()
        self.expected = told.first

    def _turn(self, told: _Turn) -> None:
        check(self.chain is not None, "a turn stands outside of a chain")
        assert self.chain is not None, "just checked"
        check(told.no == self.expected, f"turn {self.expected} should stand here")
        content = _unhex(told.content)
        counts = told.messages, told.rows
        made = link_digest(self.before, told.no, told.status, *counts, content)
        holds = told.digest == made.hex()
        check(holds, f"turn {told.no} does not follow what stands before it")
        salt = None if told.salt is None else _unhex(told.salt, 16)
        self.turn = StoredLink(told.no, told.status, *counts, salt, content, made)
        self.before = self.heads[self.chain.chain_id, told.no] = made
        self.rows = {"message": [], "commit": []}
        self.expected += 1
        self.report.turns += 1
        if salt is None:
            check(told.erased in _ERASED, f"turn {told.no} lacks its salt")
            self.report.erased += 1
            self.receipts.begin()
        else:
            check(told.erased == "", f"turn {told.no} is said to be erased, and has a salt")
            self.content = Content(salt)

    def _row(self, row: Row) -> None:
        kind, seq, turn = row.kind, row.seq, self.turn
        check(turn is not None, f"the {kind} stands outside of a turn")
        assert turn is not None, "just checked"
        check(turn.salt is not None, f"turn {turn.turn_no} is erased, and has content")
        assert self.content is not None, "a turn with a salt has it"
        check(kind == "commit" or not self.rows["commit"], "messages come before commits")
        check(seq > self.last.get(kind, -1), f"{kind} {seq} does not follow what stands before it")
        self.content.add(kind, seq, row.doc)
        same = row.digest == self.content.digest().hex()
        what = "message" if kind == "message" else "the row of commits from"
        check(same, f"{what} {seq} is not what was recorded")
        self.rows[kind].append(seq)
        self.last[kind] = seq
        if kind == "message":
            self.report.messages += 1
        else:
            commits = read_block(row.doc).commits if row.plain else ()
            self.report.commits += len(commits)
            for commit in commits:
                self.named.setdefault(commit.chart)
                self.receipts.take_commit(commit, self.report)

    def _close_turn(self) -> None:
        turn, self.turn = self.turn, None
        if turn is None or turn.salt is None:
            return
        assert self.content is not None, "a turn with a salt has it"
        found = len(self.rows["message"]), len(self.rows["commit"])
        whole = found == (turn.messages, turn.commits)
        check(whole, f"turn {turn.turn_no} lacks something before this line")
        same = self.content.digest() == turn.content
        check(same, f"turn {turn.turn_no}, which ends before this line, was changed")

    def _close(self) -> None:
        self._close_turn()
        chain, self.chain = self.chain, None
        if chain is not None:
            whole = self.expected == chain.turns + 1
            check(whole, f"turn {self.expected} of the chain is missing")

    def _anchor(self, told: _Anchor) -> None:
        expected = self.report.anchors + 1
        check(told.number == expected, f"anchor {expected} should stand here")
        check(told.heads == sorted(told.heads), "the heads of an anchor are out of order")
        heads = [Head(_unhex(i, 16), no, _unhex(d)) for i, no, d in told.heads]
        made = anchor_digest(self.anchor, told.number, told.at, packed_heads(heads))
        check(told.digest == made.hex(), f"anchor {told.number} was changed")
        for head in heads:
            stands = self.heads.get((head.chain_id, head.turn_no))
            check(stands is not None, f"anchor {told.number} knows of turns that are missing")
            same = stands == head.digest
            name = head.chain_id.hex()
            text = f"anchor {told.number} knows another turn {head.turn_no} of chain {name}"
            check(same, text)
        self.anchor = made
        self.known.add(made.hex())
        self.report.anchors += 1

    def _end(self, end: _End) -> None:
        for name in Counts.__struct_fields__:
            told = getattr(end, name)
            check(told == getattr(self.report, name), f"the end tells of {told} {name}")
        check(end.seal == self.seal.hexdigest(), "the seal is not that of the lines before")
        missing = {*end.missing_charts, ""}
        absent = [one for one in self.named if one not in self.charts and one not in missing]
        check(not absent, f"the flow with the digest {', '.join(absent)} is missing")
        foreign = sorted(line for one, line in self.charts.items() if one not in self.named)
        check(not foreign, f"the flow in line {foreign[:1]} belongs to no commit")
        self.report.seal = end.seal
        self.known |= {end.seal, *(digest.hex() for digest in self.heads.values())}
