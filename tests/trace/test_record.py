"""The recorder keeps masked commits and hands them on, whatever its listeners do."""

from __future__ import annotations

import logging
import math
from typing import Any

import msgspec
import pytest

from saywhy.chart.commit import Answered, Asked, Commit, Condition, Decision, FunctionCall, Op
from saywhy.errors import CallerError
from saywhy.trace.masking.redact import MARK, Policy
from saywhy.trace.record import Recorder, decode, encode
from saywhy.values import UNDEFINED, BigInt, Date, freeze, same


def commit(seq: int = 1, **fields: Any) -> Commit:
    return Commit(
        **{"seq": seq, "turn": 1, "frame": 1, "chart": "c", "flow": "Pay"}
        | {"node": "/steps/0", "kind": "SET"}
        | fields
    )


def test_commits_are_kept_in_order_until_they_are_taken() -> None:
    """`take` gives what was recorded since the last time, once."""
    recorder = Recorder()
    recorder(commit(1))
    recorder(commit(2))
    assert [each.seq for each in recorder.kept] == [1, 2]
    assert [each.seq for each in recorder.take()] == [1, 2]
    recorder(commit(3))
    assert [each.seq for each in recorder.take()] == [3]
    assert recorder.kept == ()


def test_listeners_hear_what_is_kept() -> None:
    """A listener gets each commit as it is kept: masked."""
    heard: list[Commit] = []
    recorder = Recorder(listeners=[heard.append])
    recorder(commit(asked=Asked("tool", "login", {"password": "hunter2"})))
    assert heard == list(recorder.kept)
    assert heard[0].asked is not None
    assert heard[0].asked.args == {"password": MARK}


def test_a_listener_that_raises_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    """The run goes on, the others go on hearing, and the log says which commit it was."""
    heard: list[int] = []

    def broken(each: Commit) -> None:
        raise RuntimeError("the disk is full")

    recorder = Recorder(listeners=[broken])
    recorder.listen(lambda each: heard.append(each.seq))
    with caplog.at_level(logging.ERROR, "saywhy.trace"):
        recorder(commit(1))
        recorder(commit(2))
    assert heard == [1, 2]
    assert [each.seq for each in recorder.kept] == [1, 2]
    assert [record.message for record in caplog.records] == [
        "a listener raised at commit 1 and was dropped"
    ]


def test_a_secret_learnt_late_is_masked_in_what_is_still_here() -> None:
    """Words that came in before anybody knew they were sensitive are masked all the same."""
    recorder = Recorder()
    recorder(commit(1, ops=(Op("set", ("input", "1"), "my code is 48151623"),)))
    recorder(commit(2, ops=(Op("set", ("v1", "code"), "48151623"),), secrets=("48151623",)))
    assert [each.ops[0].value for each in recorder.kept] == [f"my code is {MARK}", MARK]


def test_it_knows_whether_it_masked_what_it_had_kept() -> None:
    """Then rows that were written meanwhile are to be written anew; else they are not."""
    recorder = Recorder(Policy(secrets=("key-of-tool",)))
    recorder(commit(1, ops=(Op("set", ("v1", "text"), "harmless"),)))
    recorder(commit(2, secrets=("48151623",)))
    assert not recorder.has_masked_again
    recorder(commit(3, ops=(Op("set", ("v1", "text"), "of 99887766"),)))
    recorder(commit(4, secrets=("99887766",)))
    assert recorder.has_masked_again
    assert recorder.kept[2].ops[0].value == f"of {MARK}"


def test_secrets_of_earlier_turns_are_handed_in() -> None:
    """A recorder of a later turn masks what earlier turns found out."""
    recorder = Recorder(Policy(secrets=("key-of-tool",)), secrets=["48151623"])
    recorder(commit(error="48151623 was refused for key-of-tool"))
    assert recorder.kept[0].error == f"{MARK} was refused for {MARK}"


FULL = commit(
    7,
    phase="answered",
    depth=2,
    caller=3,
    at=12.5,
    reads=(("v1", "a", 0, "b"), ("cargo", "x")),
    exact=False,
    ops=(
        Op("set", ("v1", "a"), freeze({"u": UNDEFINED, "d": Date(0), "b": BigInt(3), "z": -0.0})),
        Op("append", ("v1", "list"), freeze([1, {"$date": "no date"}])),
        Op("delete", ("v1", "old")),
    ),
    decision=Decision(
        "x", (Condition("a > 1", True, "x", ((("v1", "a"), 2),), "e"),), True, ("y",)
    ),
    asked=Asked("tool", "t", freeze({"a": 1}), "reads"),
    answered=Answered("tool", "t", UNDEFINED, "e", {"message": 3}),
    calls=(FunctionCall("f", [1], 2, "e"),),
    to="/steps/1",
    error="e",
    error_name="E",
    warnings=("w",),
    facts={"how": "completed"},
    tags=("redacted",),
)


@pytest.mark.parametrize("given", [commit(), FULL], ids=["small", "full"])
def test_a_commit_survives_its_json(given: Commit) -> None:
    """What `encode` writes, `decode` reads back, field by field."""
    back = decode(encode(given))
    for name in Commit.__struct_fields__:
        if name != "ops":
            assert getattr(back, name) == getattr(given, name), name
    for one, other in zip(back.ops, given.ops, strict=True):
        assert (one.verb, one.key) == (other.verb, other.key)
        assert same(one.value, other.value)
    assert encode(back) == encode(given)


def test_nan_and_lone_surrogates_survive() -> None:
    """Values that JSON knows no word for, and half characters, come back as they were."""
    back = decode(encode(commit(ops=(Op("set", ("v1", "a"), freeze([math.nan, "\ud800"])),))))
    assert math.isnan(back.ops[0].value[0])
    assert back.ops[0].value[1] == "\ud800"
    broken = decode(encode(commit(error="\udfff", answered=Answered("user", value="\ud800"))))
    assert broken.error == "\udfff"
    assert broken.answered is not None
    assert broken.answered.value == "\ud800"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"seq": "one"}', b'{"seq": 1}'])
def test_what_is_no_commit_is_refused(data: bytes) -> None:
    """Anything else is refused with a word on what is wrong."""
    with pytest.raises(CallerError, match="this is no commit: "):
        decode(data)


def test_recording_changes_nothing_of_what_it_is_given() -> None:
    """The machine's own commit stays as it was, secrets and all."""
    given = commit(ops=(Op("set", ("v1", "pin"), "48151623"),), secrets=("48151623",))
    before = msgspec.structs.asdict(given)
    Recorder()(given)
    assert msgspec.structs.asdict(given) == before


def test_without_keeping() -> None:
    """Nothing is kept and nobody is told, but what is sensitive is learnt and masked elsewhere."""
    heard: list[Commit] = []
    recorder = Recorder(Policy(kept=False), listeners=[heard.append])
    warned: list[Commit] = []
    recorder.warn = warned.append
    commit = Commit(1, 1, 1, "c", "f", "n", "SET", warnings=("w",), secrets=("4111-1111",))
    recorder(commit)
    recorder.keep(commit)
    assert (recorder.kept, heard, len(warned)) == ((), [], 2)
    assert recorder.redactor.text("card 4111-1111") == "card [REDACTED]"
