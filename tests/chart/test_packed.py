"""Packing commits and unpacking them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.chart.commit import Answered, Asked, Commit, Condition, Decision, Op
from saywhy.chart.packed import LONG, MOST_BYTES, MOST_ITEMS, Packed, pack, unpack
from saywhy.values import UNDEFINED, BigInt, Date, FrozenDict, FrozenList, NonFinite, freeze

TEXT = "a text that is long enough to be shared; " * 60


def commit(seq: int = 1, **fields: object) -> Commit:
    return Commit(seq, 2, 3, "abc", "loop", "node", "stage", **fields)  # type: ignore[arg-type]


def back(*commits: Commit, pattern: bytes = b"") -> list[Commit]:
    chunk, _ = pack(commits, pattern)
    assert isinstance(chunk, Packed)
    return list(unpack(chunk))


def test_all_fields_come_back() -> None:
    """Whatever a commit says, it says after it was packed."""
    condition = Condition("n > 1", True, "yes", ((("state", "n"), 2),), rule=0, label="many")
    whole = Commit(
        7, 2, 3, "abc", "loop", "node", "stage", "answered", 1, 4, 5.25,
        (("state", "n"), ("state", "list", 0)), False,
        (Op("set", ("state", "n"), 2), Op("delete", ("state", "m"))),
        Decision("yes", (condition,), selected=("yes",)),
        Asked("tool", "add", freeze({"a": 1}), "reads"),
        Answered("tool", "add", freeze({"b": [1, {"c": None}]}), "bad", {"code": 3}, "Oops"),
        (), "next", "wrong", "Wrong", ("careful",), {"how": "completed"}, ("cut",), ("secret",),
    )  # fmt: skip
    assert back(whole) == [whole]
    assert back(whole, commit(8), pattern=b"0123456789" * 100) == [whole, commit(8)]


def test_values_stay_frozen() -> None:
    """What was a frozen object is one again, and what branches gave stays a plain list."""
    set_op = Op("set", ("state", "n"), freeze({"a": 1}))
    plain = Answered("fork", "context", [None, UNDEFINED])
    (found,) = back(commit(ops=(set_op,), answered=plain))
    assert type(found.ops[0].value) is FrozenDict
    assert found.answered is not None
    assert found.answered.value == [None, UNDEFINED]
    assert type(found.answered.value) is list


def test_what_the_state_holds_is_shared() -> None:
    """Long texts, items that were appended and long lists are the same objects afterwards."""
    item = freeze({"role": "tool", "content": "3"})
    many = FrozenList(list(range(MOST_ITEMS + 1)))
    answer = Answered("model", "chat", freeze({"content": TEXT, "calls": [{"text": TEXT}]}))
    ops = (
        Op("append", ("state", "messages"), item),
        Op("set", ("state", "many"), many),
        Op("set", ("state", "said"), TEXT),
        Op("append", ("state", "numbers"), 4),
    )
    whole = commit(ops=ops, answered=answer)
    chunk, _ = pack([whole])
    assert isinstance(chunk, Packed)
    assert chunk.texts == (TEXT,)
    assert chunk.texts[0] is TEXT
    (found,) = unpack(chunk)
    assert found == whole
    assert found.ops[0].value is item
    assert found.ops[1].value is many


@pytest.mark.parametrize("text", ["\x010\x01", '"\x01', "\\", '\\"\x010\x01"', "$text", "é…\u2028"])
def test_texts_that_look_like_a_place(text: str) -> None:
    """No text can be mistaken for the place of another one."""
    fields = {"a": text, "b": TEXT + text, text: text * 200}
    whole = commit(ops=(Op("set", ("state", "x"), freeze(fields)),), to=text)
    assert back(whole, commit(2, error=text)) == [whole, commit(2, error=text)]


def test_values_beyond_json() -> None:
    """What JSON lacks comes back, and so does what only looks like one of our tags."""
    value = {
        "u": UNDEFINED, "n": NonFinite(float("inf")), "b": BigInt(12), "d": Date(0.0),
        "i": 2**70, "z": -0.0, "f": 1e300, "t": {"$date": "no"}, "o": {"$object": {"$num": 1}},
    }  # fmt: skip
    for one in (value, {"$date": "mine"}, [UNDEFINED, {"$num": "NaN"}], UNDEFINED, BigInt(3)):
        whole = commit(ops=(Op("set", ("state", "x"), freeze(one)),))
        assert back(whole) == [whole]


class Live(msgspec.Struct):
    """Something that no JSON can hold."""


def test_strangers_are_shared() -> None:
    """An argument or answer that is no frozen value is the very same object afterwards."""
    args, value = {"a": (1, 2)}, Live()
    (found,) = back(commit(asked=Asked("user", "q", args), answered=Answered("user", "q", value)))
    assert found.asked is not None
    assert found.asked.args is args
    assert found.answered is not None
    assert found.answered.value is value


@pytest.mark.parametrize(
    "fields",
    [
        {"facts": {"pair": (1, 2)}},
        {"facts": {"inside": [{1: "no text"}]}},
        {"answered": Answered("tool", facts={"live": Live()})},
        {"to": "\ud800"},
    ],
)
def test_what_cannot_be_packed(fields: dict[str, object]) -> None:
    """Commits that would come back as something else stay as they are."""
    whole = msgspec.structs.replace(commit(), **fields)
    chunk, pattern = pack([whole], b"before")
    assert chunk == (whole,)
    assert unpack(chunk)[0] is whole
    assert pattern == b"before"


def test_later_chunks_are_packed_by_the_first() -> None:
    """A loop says the same in each round, so what follows takes far less than the first."""
    rounds = [
        commit(
            n, ops=(Op("set", ("state", f"name-{n % 16}"), n),), reads=(("state", f"r{n % 16}"),)
        )
        for n in range(64)
    ]
    first, pattern = pack(rounds[:32])
    second, same = pack(rounds[32:], pattern)
    assert isinstance(first, Packed)
    assert isinstance(second, Packed)
    assert same is pattern
    assert len(second.data) < len(first.data) * 0.75
    assert [*unpack(first), *unpack(second)] == rounds


_TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False) | st.just(TEXT[:LONG + 1])
    | st.just(UNDEFINED) | st.just("y" * MOST_BYTES),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["a", "$num", "$object", "\x010\x01"]), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["set", "append"]), _TREES), max_size=5), _TREES)
def test_any_value_comes_back(ops: list[tuple[str, object]], answer: object) -> None:
    """Commits are equal after they were packed, whatever values they hold."""
    made = tuple(Op(verb, ("state", "x"), freeze(value)) for verb, value in ops)  # type: ignore[arg-type]
    whole = commit(ops=made, answered=Answered("tool", "t", freeze(answer)))
    assert back(whole, commit(2)) == [whole, commit(2)]
