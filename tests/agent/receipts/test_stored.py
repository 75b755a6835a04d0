"""Promise: in the state each receipt takes room for what is new, and reads back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.agent.receipts.mint import Minter
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import Unreadable, from_stored, root_of, stored_form
from saywhy.models.provider import Ask
from saywhy.trace.masking.redact import MARK
from saywhy.values import FrozenList, dumps, freeze, loads
from tests.agent.receipts.conftest import TOOLS, ask


def entries_of(receipts: list[Receipt]) -> list[Any]:
    """The entries of receipts one after the other, as they come back from JSON."""
    previous = [None, *receipts][: len(receipts)]
    made = [stored_form(one, before) for one, before in zip(receipts, previous, strict=True)]
    return list(loads(dumps(freeze(made))))


def growing(calls: int) -> list[Receipt]:
    """The receipts of a conversation that gets two messages a call."""
    minter = Minter("run-1")
    messages = FrozenList([])
    found: list[Receipt] = []
    for call in range(1, calls + 1):
        messages = messages.appended({"role": "user", "content": f"message {call}"})
        found.append(minter.mint(Ask("chat", "s", messages, freeze(TOOLS)), minter.basis(call)))
        messages = messages.appended({"role": "assistant", "content": f"answer {call}"})
    return found


def test_they_read_back() -> None:
    """A list of entries gives the receipts that it was made of."""
    receipts = growing(10)
    assert from_stored(entries_of(receipts)) == receipts


def test_an_entry_is_no_larger_for_what_came_before() -> None:
    """The hundredth takes as many bytes as the third, but for its numbers."""
    sizes = [len(dumps(entry)) for entry in entries_of(growing(100))]
    assert max(sizes[2:]) - min(sizes[2:]) < 8
    assert sizes[50] < 450


def test_what_is_read_is_shared() -> None:
    """The parts of all receipts of a run stand in one list, in memory too."""
    receipts = from_stored(entries_of(growing(5)))
    first, last = receipts[0], receipts[-1]
    assert isinstance(first, Receipt) and isinstance(last, Receipt)
    assert last.messages.begins_with(first.messages)


REQUEST = st.builds(
    lambda texts, system, tools, model: ask(
        *texts, system=system, tools=tools, settings={"model": model}
    ),
    st.lists(st.sampled_from("abcd"), max_size=6),
    st.sampled_from([None, "", "s"]),
    st.sampled_from([None, [], TOOLS, TOOLS[:1]]),
    st.sampled_from(["m", "n"]),
)


@given(st.lists(st.tuples(REQUEST, st.sampled_from(["run-1", "run-2"])), max_size=12))
def test_whatever_changes_between_two_calls(requests: list[tuple[Ask, str]]) -> None:
    """Windows that slide, prompts that come and go, tools, another run: all read back."""
    minters = {name: Minter(name) for name in ("run-1", "run-2")}
    receipts = [
        minters[run].mint(request, minters[run].basis(call))
        for call, (request, run) in enumerate(requests, 1)
    ]
    assert from_stored(entries_of(receipts)) == receipts


def test_a_window_that_slides_is_a_reference_too() -> None:
    """Messages that fell out at the front do not make the others new."""
    minter = Minter("run-1")
    one = minter.mint(ask("a", "b", "c", "d"), minter.basis(1))
    other = minter.mint(ask("a", "c", "d", "e"), minter.basis(2))
    kept = stored_form(other, one)["messages"]
    assert kept[:2] == [[0, 1], [2, 2]]
    assert len(kept) == 3


# ------------------------------------------------------------------ what cannot be read


def test_an_unknown_version_is_told() -> None:
    """And so is what leans on it; the next one that stands by itself is read again."""
    receipts = growing(3)
    entries = entries_of(receipts)
    entries[1] = {**entries[1], "version": 9}
    found = from_stored([*entries, stored_form(receipts[0])])
    assert found[0] == receipts[0]
    assert found[1] == Unreadable("unknown-version", receipts[1].root)
    assert found[2] == Unreadable("entry-before-missing", receipts[2].root)
    assert found[3] == receipts[0]


def test_an_entry_taken_out_is_noticed() -> None:
    """The one after it names a root that is not there."""
    receipts = growing(3)
    entries = entries_of(receipts)
    assert from_stored([entries[0], entries[2]])[1] == Unreadable(
        "entry-before-missing", receipts[2].root
    )


@pytest.mark.parametrize(
    ("entry", "cause"),
    [
        (MARK, "redacted"),
        ("[CUT: 70000 characters]", "cut"),
        (None, "damaged"),
        ({}, "damaged"),
        ({"version": 1, "root": "short"}, "damaged"),
    ],
)
def test_what_a_record_left_of_one_is_told(entry: Any, cause: str) -> None:
    """Masked, cut, or something else altogether."""
    assert from_stored([entry]) == [Unreadable(cause)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("messages", None),
        ("messages", [[0, 99]]),
        ("messages", [["AAAA", 1]]),
        ("params", None),
        ("slots", MARK),
        ("call", "one"),
        ("run", ["only"]),
        ("made", 1),
    ],
)
def test_a_field_that_does_not_fit_is_no_receipt(name: str, value: Any) -> None:
    """Nothing is raised and nothing is guessed; the root is still known."""
    receipt = growing(1)[0]
    (found,) = from_stored([{**stored_form(receipt), name: value}])
    assert isinstance(found, Unreadable)
    assert found.cause in {"damaged", "redacted"}
    assert found.root == receipt.root == root_of(stored_form(receipt))


LEAF = st.none() | st.integers() | st.text()


@given(st.recursive(LEAF, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_anything_else_is_unreadable(value: Any) -> None:
    """Whatever stands in the list."""
    assert isinstance(from_stored([freeze(value)])[0], Unreadable)
