"""Promise: receipts of one run are minted in a step each, and are those of minting from scratch."""

from __future__ import annotations

import gc
import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.agent.receipts.canon import Salt
from saywhy.agent.receipts.mint import Minter, mint
from saywhy.agent.receipts.receipt import Basis, Receipt
from saywhy.errors import CallerError
from saywhy.models.provider import Ask
from saywhy.values import FrozenDict, FrozenList, freeze
from tests.agent.receipts.conftest import TOOLS, ask, hashes


def minted(request: Ask, run_id: str = "run-1") -> Receipt:
    return mint(request, Basis(run_id, 1))


def differing(one: Receipt, other: Receipt) -> list[str]:
    """Names of what differs between two receipts."""
    found = [
        f"{name}[{at}]"
        for name in ("messages", "tools")
        for at, (had, has) in enumerate(zip(getattr(one, name), getattr(other, name), strict=True))
        if had != has
    ]
    found += [name for name in ("system", "params") if getattr(one, name) != getattr(other, name)]
    found += [name for name in one.slots if one.slots[name] != other.slots.get(name)]
    return sorted({*found, *(["root"] if one.root != other.root else [])})


def test_each_hash_is_what_the_form_says() -> None:
    """A message, a tool, the prompt and the settings, each in its own domain; the root over all."""
    request, salt = ask("hi"), Salt("run-1")
    receipt = minted(request)
    assert receipt.messages[0].hash == salt.of("message", request.messages[0])
    assert request.tools
    assert [part.hash for part in receipt.tools or ()] == [salt.of("tool", t) for t in TOOLS]
    assert receipt.system
    assert (receipt.system.hash, receipt.system.chars) == (salt.of("system", "Be brief."), 9)
    assert receipt.params.hash == salt.of("params", request.settings)
    start = salt.of("slot", "system")
    assert receipt.slots["system"] == salt.of("slot", start + receipt.system.hash)


def test_one_character_changes_its_part_its_slot_and_the_root() -> None:
    """And nothing else."""
    one, other = minted(ask("a", "b", "c")), minted(ask("a", "B", "c"))
    assert differing(one, other) == ["messages", "messages[1]", "root"]


def test_the_order_of_tools_changes_only_tools() -> None:
    """Messages, prompt and settings keep their hashes."""
    one, other = minted(ask("a")), minted(ask("a", tools=[TOOLS[1], TOOLS[0], TOOLS[2]]))
    assert differing(one, other) == ["root", "tools", "tools[0]", "tools[1]"]
    assert {part.hash for part in one.tools or ()} == {part.hash for part in other.tools or ()}


def test_no_system_prompt_is_not_an_empty_one() -> None:
    """Nor are no tools an empty list of them."""
    empty, none = minted(ask("a", system="")), minted(ask("a", system=None))
    assert (none.system, none.root == empty.root) == (None, False)
    assert set(empty.slots) - set(none.slots) == {"system"}
    without, of_none = minted(ask("a", tools=[])), minted(ask("a", tools=None))
    assert (of_none.tools, list(without.tools or ())) == (None, [])
    assert set(without.slots) - set(of_none.slots) == {"tools"}
    assert without.root != of_none.root


def test_two_runs_share_no_hash() -> None:
    """The same request twice, in two runs: nothing on one receipt is on the other."""
    one, other = minted(ask("hi", "you"), "run-1"), minted(ask("hi", "you"), "run-2")
    assert hashes(one).isdisjoint(hashes(other))


def test_the_signal_is_no_part_of_a_request() -> None:
    """A live object among the settings is neither hashed nor counted."""
    plain = ask("a", settings={"model": "m"})
    live = Ask(
        "chat", plain.system, plain.messages, plain.tools, {"model": "m", "signal": object()}
    )
    assert minted(live) == minted(plain)


def test_every_setting_counts() -> None:
    """Temperature, limit, stop words and the form of the answer change the params, alone."""
    one = minted(ask("a", settings={"model": "m", "max_tokens": 1}))
    other = minted(ask("a", settings={"model": "m", "max_tokens": 2}))
    assert differing(one, other) == ["params", "root"]


def test_nan_in_a_message_is_refused() -> None:
    """Even where it hides in a plain object, in which it would be written as null."""
    request = Ask("chat", None, [{"role": "user", "content": "x", "weight": math.nan}])
    with pytest.raises(CallerError, match="nan has no canonical form"):
        minted(request)


def test_a_basis_of_another_run_is_refused() -> None:
    """A receipt never names a run that it is not salted with."""
    with pytest.raises(CallerError, match='of run "b" cannot be minted with the salt of run "a"'):
        Minter("a").mint(ask("x"), Basis("b", 1))


# ------------------------------------------------------------------ one after the other

CHANGE = st.one_of(
    st.tuples(st.just("add"), st.text(max_size=3)),
    st.tuples(st.just("drop"), st.integers(0, 9)),
    st.tuples(st.just("alter"), st.integers(0, 9)),
    st.tuples(st.just("copy"), st.just(0)),
    st.tuples(st.just("back"), st.integers(1, 9)),
)


def changed(messages: FrozenList, how: str, what: Any) -> FrozenList:
    """A list of messages as some step may leave it."""
    items = list(messages)
    if how == "add":
        return messages.appended({"role": "user", "content": what})
    if how == "copy":
        return freeze([dict(item) for item in items])
    if how == "back":
        return FrozenList(messages.raw[: max(0, len(items) - what)])
    if items:
        at = what % len(items)
        items[at : at + 1] = [] if how == "drop" else [{"role": "user", "content": f"new {what}"}]
    return freeze(items)


@given(st.lists(CHANGE, max_size=25))
def test_whatever_happens_to_the_list_the_receipt_is_the_same(changes: list[Any]) -> None:
    """Of a minter that has seen all calls before, and of one that sees only this call."""
    minter = Minter("run-1")
    messages = FrozenList([])
    kept: list[tuple[Receipt, Receipt]] = []
    for call, (how, what) in enumerate(changes, 1):
        messages = changed(messages, how, what)
        request = Ask("chat", "Be brief.", messages, freeze(TOOLS), freeze({"model": "m"}))
        kept.append((minter.mint(request, minter.basis(call)), mint(request, Basis("run-1", call))))
    assert all(one == other for one, other in kept)


def test_an_object_that_was_changed_is_hashed_again() -> None:
    """A plain message is nobody's promise: the same object with other words is another message."""
    minter = Minter("run-1")
    message = {"role": "user", "content": "before"}
    one = minter.mint(Ask("chat", None, [message]), minter.basis(1))
    message["content"] = "after"
    other = minter.mint(Ask("chat", None, [message]), minter.basis(2))
    assert one.messages[0] != other.messages[0]


def test_a_branch_of_the_history_is_no_continuation() -> None:
    """Two lists grown from one message: the other one's message is not taken for this one's."""
    minter = Minter("run-1")
    start = FrozenList([]).appended({"role": "user", "content": "a"})
    left = start.appended({"role": "user", "content": "left"})
    right = start.appended({"role": "user", "content": "right"})
    for messages in (left, right, left, start):
        request = Ask("chat", None, messages)
        assert minter.mint(request, Basis("run-1", 1)) == mint(request, Basis("run-1", 1))


def test_a_message_more_is_a_few_hashes_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own, the chain's and the root's; prompt, tools and settings are kept."""
    minter = Minter("run-1")
    request = ask(*["m"] * 500)
    minter.mint(request, minter.basis(1))
    counted: list[str] = []
    real = Salt.hash

    def counting(self: Salt, domain: Any, data: bytes) -> str:
        counted.append(domain)
        return real(self, domain, data)

    monkeypatch.setattr(Salt, "hash", counting)
    messages: Any = request.messages
    for call in range(2, 5):
        messages = messages.appended({"role": "user", "content": "more"})
        grown = Ask("chat", request.system, messages, request.tools, request.settings)
        minter.mint(grown, minter.basis(call))
        assert counted == ["message", "slot", "root"]
        counted.clear()


def test_a_list_put_together_anew_is_not_hashed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """New descriptions of the same texts and schemas; one that says true for 1 is another."""
    minter = Minter("run-1")
    schema = freeze({"type": "object", "minimum": 1})

    def request(schema: Any) -> Ask:
        tools = [FrozenDict({"name": f"t{n}", "input_schema": schema.raw}) for n in range(5)]
        return Ask("chat", None, freeze([]), FrozenList([tool.raw for tool in tools]))

    one = minter.mint(request(schema), minter.basis(1))
    monkeypatch.setattr(minter._tools, "_part", None)  # nothing can be hashed
    other = minter.mint(request(schema), minter.basis(2))
    assert other.tools is one.tools
    monkeypatch.undo()
    third = minter.mint(request(freeze({"type": "object", "minimum": True})), minter.basis(3))
    assert third.tools is not None and one.tools is not None
    assert all(had.hash != has.hash for had, has in zip(one.tools, third.tools, strict=True))


def test_receipts_share_their_parts() -> None:
    """A thousand receipts of a growing conversation take memory for what was added, no more."""
    minter = Minter("run-1")
    messages = FrozenList([])
    settings, tools = freeze({"model": "m"}), freeze(TOOLS)

    def receipts(calls: int) -> tuple[list[Receipt], int]:
        nonlocal messages
        gc.collect()
        tracemalloc.start()
        found: list[Receipt] = []
        for call in range(1, calls + 1):
            messages = messages.appended({"role": "user", "content": "x"})
            found.append(
                minter.mint(Ask("chat", "s", messages, tools, settings), minter.basis(call))
            )
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return found, size

    first, few = receipts(500)
    second, more = receipts(500)
    assert more < 1.3 * few
    assert second[-1].messages.begins_with(first[0].messages)


def test_a_minter_elsewhere_shares_with_the_receipt_before() -> None:
    """After resuming in another process, parts that are the same are those of the record."""
    one = minted(ask("a", "b"))
    other = mint(ask("a", "b", "c"), Basis("run-1", 2), one)
    assert other.messages.begins_with(one.messages)
    unlike = mint(ask("x", "b", "c"), Basis("run-1", 2), one)
    assert not unlike.messages.begins_with(one.messages)


def test_a_secret_salt_is_named_in_the_basis() -> None:
    """So that whoever verifies knows that it takes one; the secret itself is nowhere."""
    receipt = mint(ask("a"), Basis("run-1", 1), secret_salt="hush hush")
    assert receipt.basis.keyed_by == "host"
    assert hashes(receipt).isdisjoint(hashes(minted(ask("a"))))
    assert b"hush" not in receipt.to_json()
