"""The commits of a turn in one row: nothing is lost, texts are pointed at, old rows are read."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from saywhy.chart.commit import (
    Answered,
    Asked,
    Commit,
    Condition,
    Decision,
    FunctionCall,
    Op,
)
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.block import VERSION, AnsweredRow, AskedRow, Rest, Row, read_block, rows_of
from saywhy.trace.record import decode, encode
from saywhy.trace.shorten import put_back
from saywhy.values import UNDEFINED, BigInt, Date, freeze, thaw

CASES = Path(__file__).parent.parent / "cases" / "record"
STORY = "It was a dark and stormy night; the rain fell in torrents, except at occasional intervals."
AT = 1_767_225_600_000.0


def commit(seq: int, **fields: Any) -> Commit:
    usual: dict[str, Any] = {"at": AT, **fields}
    return Commit(seq, 3, 7, "c1", "Pay", f"/steps/{seq}", "SET", **usual)


FULL = Commit(
    9, 3, 8, "c2", "Fee", "/steps/1", "CASE", "asked", 2, 5, AT + 1,
    (("v1", "a"), ("cargo",)), False, (Op("set", ("v1", "b", 0), freeze({"x": [1]})),),
    Decision("yes", (Condition("a > 1", True, read=((("v1", "a"), 2),)),), label="l"),
    Asked("tool", "fee", freeze({"n": 1}), "reads"),
    Answered("tool", "fee", freeze([1, None]), "no", {"k": 1}, "TypeError"),
    (FunctionCall("f", freeze([1]), 2, "e", "RangeError", freeze([3])),),
    "call x", "went wrong", "TypeError", ("careful",), {"how": "done"}, ("redacted",),
)  # fmt: skip


def kept(*commits: Commit, messages: tuple[Message, ...] = ()) -> bytes:
    ((seq, row),) = rows_of(commits, messages)
    assert seq == commits[0].seq
    return row


def test_nothing_is_lost() -> None:
    """Every field of every part comes back, whether it has its usual value or another."""
    commits = [commit(7), commit(8, to="/steps/9", exact=False), FULL, commit(20)]
    assert read_block(kept(*commits)).commits == commits


def test_no_field_is_forgotten() -> None:
    """A field that is added to a commit or a part of it must be given a place in the row."""
    placed = set(Row.__struct_fields__) | set(Rest.__struct_fields__)
    placed |= {"turn", "chart", "flow", "depth", "caller"} - {"rest"}
    assert set(Commit.__struct_fields__) - {"secrets"} == placed - {"rest"}
    assert AskedRow.__struct_fields__ == Asked.__struct_fields__
    assert AnsweredRow.__struct_fields__ == Answered.__struct_fields__
    changed = [
        name
        for name in Commit.__struct_fields__
        if name not in ("secrets", "turn") and getattr(FULL, name) == getattr(commit(7), name)
    ]
    assert changed == []  # else the test above would not notice it


def test_what_a_row_looks_like() -> None:
    """The array by position that the reference describes."""
    row = kept(
        commit(7, ops=(Op("set", ("v1", "a"), 2),), to="/steps/8"),
        commit(8, reads=(("v1", "a"),), facts={"k": 1}),
    )
    assert json.loads(row) == [
        2, 0, 7, 3, AT, [[7, "c1", "Pay", 0, 0]], [],
        [
            [0, "/steps/7", "SET", 0, "/steps/8", [], [["set", ["v1", "a"], 2]]],
            [0, "/steps/8", "SET", 0, "", [["v1", "a"]], [], {"k": 1}],
        ],
    ]  # fmt: skip


def test_no_commits_no_row() -> None:
    """A turn without a step leaves no row."""
    assert rows_of([], [Message(1, "user", STORY)]) == []


@pytest.mark.parametrize("value", [UNDEFINED, BigInt(2**70), Date(0.0), float("nan"), "\ud800"])
def test_values_that_json_lacks(value: Any) -> None:
    """They come back as they were."""
    given = commit(7, ops=(Op("set", ("v1", "a"), freeze({"x": [value]})),))
    assert encode(read_block(kept(given)).commits[0]) == encode(given)


MESSAGES = (Message(1, "user", f"  {STORY} "), Message(2, "assistant", f"You said: {STORY} Yes?"))
BY_NUMBER = {message.seq: message for message in MESSAGES}


@pytest.mark.parametrize(
    "value",
    [
        STORY,
        [STORY, {"a": STORY}],
        {"$text": [1, 2, 3], "a": STORY},
        [{"$text": [1, 2, 3]}, STORY],
        [{"$text": {"$text": [1]}}, STORY],
        f'{{"$text":[1,2,3]}}{STORY}',
        STORY.replace(" ", '"'),
        [f'x "{STORY}', STORY],
        {"$text": [1, 0, 5]},
        {"$date": STORY},
        [{"$text": [1, 2, 3], "b": 1}, Date(0.0), STORY],
    ],
    ids=str,
)
def test_long_texts_come_back(value: Any) -> None:
    """At once or later, and whatever of the user's looks like a pointer stays what it is."""
    commits = [
        commit(7, ops=(Op("set", ("v1", "a"), freeze(value)),)),
        commit(8, ops=(Op("set", ("v1", "b"), freeze({"$text": [1, 0, 4]})),)),
    ]
    row = kept(*commits, messages=MESSAGES)
    at_once = read_block(row, BY_NUMBER).commits
    later = [put_back(each, BY_NUMBER) for each in read_block(row).commits]
    assert [encode(each) for each in at_once] == [encode(each) for each in commits]
    assert [encode(each) for each in later] == [encode(each) for each in commits]


@pytest.mark.parametrize("many", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("sign", ["", "$", '{"$text":[1,0,4]}', '{"$text":[{'])
def test_many_texts_come_back(many: int, sign: str) -> None:
    """However many there are, each in its places, and whatever looks like a pointer in them."""
    texts = [f"{sign} {number}: {STORY}" for number in range(many)]
    said = tuple(Message(number, "user", text) for number, text in enumerate(texts, 1))
    commits = [
        commit(7, ops=(Op("set", ("v1", "a"), freeze([*texts, *texts, STORY])),)),
        commit(8, ops=(Op("set", ("v1", "b"), freeze({"t": texts[-1]})),), facts={"x": texts[0]}),
    ]
    row = kept(*commits, messages=said)
    by_number = {message.seq: message for message in said}
    assert [encode(each) for each in read_block(row, by_number).commits] == [
        encode(each) for each in commits
    ]


def test_long_texts_as_far_as_they_are_shown() -> None:
    """Values and items are cut to what was asked for; fields are whole, for some are told whole."""
    facts = {"failureReason": STORY, "deep": {"why": STORY}}
    row = kept(commit(7, ops=(Op("set", ("v1", "a"), freeze([STORY, {"b": STORY}])),),
                      facts=facts), messages=MESSAGES)  # fmt: skip
    (short,) = read_block(row, BY_NUMBER, 10).commits
    assert thaw(short.ops[0].value) == [STORY[:10], {"b": STORY}]
    assert short.facts == facts
    assert thaw(read_block(row, BY_NUMBER, 1000).commits[0].ops[0].value) == [STORY, {"b": STORY}]


def test_a_pointer_that_is_none() -> None:
    """What somebody damaged is left as it stands, and what can be put back is."""
    row = kept(commit(7, ops=(Op("set", ("v1", "a"), freeze([STORY] * 3)),)), messages=MESSAGES)
    damaged = row.replace(b'{"$text":[1,2,92]}', b'{"$text":[1,2]}', 1)
    value = read_block(damaged, BY_NUMBER).commits[0].ops[0].value
    assert list(value[1:]) == [STORY, STORY]
    assert thaw(value[0]) == {"$text": [1, 2]}


def test_a_long_text_is_not_written_again() -> None:
    """The row points at the message, however often its text occurs."""
    row = kept(commit(7, ops=(Op("set", ("v1", "a"), freeze([STORY] * 3)),)), messages=MESSAGES)
    assert STORY.encode() not in row
    assert row.count(b'{"$text":[1,2,92]}') == 3


def test_a_message_that_is_missing() -> None:
    """Its texts are marked as cut, in the commits that had them."""
    row = kept(commit(7, ops=(Op("set", ("v1", "a"), STORY),)), commit(8), messages=MESSAGES)
    first, second = read_block(row, {}).commits
    assert (first.ops[0].value, first.tags) == (
        "[CUT: message 1 is not part of this trace]",
        ("cut",),
    )
    assert second == commit(8)


def test_rows_of_version_1() -> None:
    """A commit in a row of its own, as earlier versions wrote it, with its texts."""
    told = json.loads((CASES / "told-1.json").read_text(encoding="utf-8"))["commits"]
    with sqlite3.connect(":memory:") as db:
        db.executescript((CASES / "store-m003.sql").read_text(encoding="utf-8"))
        rows = [doc for (doc,) in db.execute('SELECT doc FROM "commit" ORDER BY seq')]
        docs = [doc for (doc,) in db.execute("SELECT doc FROM message")]
    messages = {one.seq: one for one in (msgspec.json.decode(doc, type=Message) for doc in docs)}
    blocks = [read_block(row, messages) for row in rows]
    assert {each.version for each in blocks} == {1}
    wanted = [decode(json.dumps(one)) for one in told]
    assert [encode(each.commits[0]) for each in blocks] == [encode(one) for one in wanted]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"[3,0,1]", "this is no row of commits: version 3 is not known here, only 2 is"),
        (b"[2,0", "this is no row of commits: "),
        (b"[]", "this is no row of commits: "),
        (b"[" * 3000, "this is no row of commits: "),
        (b'[2,0,1,1,0,[],[],[[0,"n","SAY"]]]', "this is no row of commits: "),
        (b'{"a":' * 3000, "this is no commit: "),
        (b'{"seq":1}', "this is no commit: "),
        (b"", "this is no commit: "),
    ],
)
def test_what_is_no_row(row: bytes, problem: str) -> None:
    """What cannot be read says so, and of which version it is."""
    with pytest.raises(CallerError) as raised:
        read_block(row)
    assert raised.value.message.startswith(problem)


def test_the_version_stands_first() -> None:
    """A reader knows from the first bytes whether it can go on."""
    assert kept(commit(7)).startswith(b"[%d," % VERSION)
