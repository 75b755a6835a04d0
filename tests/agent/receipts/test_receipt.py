"""Promise: a receipt is a value of hashes, lengths and labels that goes through JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.agent.receipts.mint import Minter
from saywhy.agent.receipts.receipt import Part, Parts, Receipt
from saywhy.errors import CallerError
from saywhy.models.provider import Ask
from saywhy.values import freeze
from tests.agent.receipts.conftest import ask


def minted(request: Ask, run_id: str = "run-1", **options: bool) -> Receipt:
    minter = Minter(run_id, **options)
    return minter.mint(request, minter.basis(3, 2, "call-llm", "run-0"))


@pytest.mark.parametrize("system", [None, "", "Be brief."])
@pytest.mark.parametrize("tools", [None, [], [{"name": "look"}]])
def test_it_goes_through_json(system: str | None, tools: list[dict[str, str]] | None) -> None:
    """What was written is read back, with absent and empty apart."""
    receipt = minted(ask("hi", "there", system=system, tools=tools))
    again = Receipt.from_json(receipt.to_json())
    assert again == receipt
    assert (again.system is None, again.tools is None) == (system is None, tools is None)
    assert again.basis.resumed_from == "run-0"


def test_the_json_stands_by_itself() -> None:
    """It names the version, how hashes are made, and every part in wire order."""
    tree = json.loads(minted(ask("hi", "you")).to_json())
    assert tree["version"] == 1
    assert tree["basis"] == {
        "run_id": "run-1",
        "call": 3,
        "iteration": 2,
        "step_id": "call-llm",
        "resumed_from": "run-0",
        "algorithm": "hmac-sha256",
        "canon": "json-1",
        "keyed_by": "run",
        "labels": "plain",
    }
    assert [(part["chars"], part["role"]) for part in tree["messages"]] == [
        (2, "user"),
        (3, "user"),
    ]
    assert [part["name"] for part in tree["tools"]] == ["look", "book", "cancel"]
    assert set(tree["slots"]) == {"system", "messages", "tools", "params"}
    assert len(tree["root"]) == 64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "this is no receipt"),
        ("{}", "this is no receipt: 'version'"),
        ("no json", "this is no receipt"),
        ('{"version": 2}', "receipts of version 2 are not known here"),
    ],
)
def test_other_json_is_refused(text: str, message: str) -> None:
    """With what is wrong with it."""
    with pytest.raises(CallerError, match=message):
        Receipt.from_json(text)


# Letters that are no digits of a hash: what a prompt of digits shares with one is chance.
LETTERS = 'ghijklmnopqrstuvwxyz GHIJKLMNOPQRSTUVWXYZ.,!?äöüß漢字🙂\n"\\'
PROMPT = st.text(st.sampled_from(LETTERS), min_size=4)


@given(system=PROMPT, user=PROMPT, answer=PROMPT, argument=PROMPT, description=PROMPT)
def test_it_holds_no_content(
    system: str, user: str, answer: str, argument: str, description: str
) -> None:
    """Labels aside, no four letters of a prompt stand anywhere in its values."""
    call = {"id": "c-1", "name": "look", "arguments": {"q": argument}}
    messages = freeze(
        [
            {"role": "user", "content": user},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": answer, "tool_call_id": "c-1"},
        ]
    )
    tools = freeze([{"name": "look", "description": description, "input_schema": {}}])
    receipt = minted(Ask("chat", system, messages, tools, freeze({"stop": [user]})), "#")
    labels = {"user", "assistant", "tool", "c-1", "look", "call-llm", "run-0", "#", "hmac-sha256"}
    labels |= {"json-1", "run", "plain"}
    values = "\n".join(set(texts_in(json.loads(receipt.to_json()))) - labels)
    for prompt in (system, user, answer, argument, description):
        for at in range(len(prompt) - 3):
            assert prompt[at : at + 4] not in values


def texts_in(tree: object) -> list[str]:
    """Every text that is a value in a JSON tree."""
    if isinstance(tree, str):
        return [tree]
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [text for item in inner for text in texts_in(item)]


def test_strict_labels_are_hashed() -> None:
    """Names of tools and ids of calls are hashes too then; roles stay."""
    messages = freeze([{"role": "tool", "content": "x", "tool_call_id": "call-of-mine"}])
    tools = freeze([{"name": "secret_tool", "description": ""}])
    receipt = minted(Ask("chat", None, messages, tools), strict_labels=True)
    text = receipt.to_json().decode()
    assert "secret_tool" not in text
    assert "call-of-mine" not in text
    assert receipt.messages[0].role == "tool"
    assert receipt.basis.labels == "hashed"
    assert len(receipt.messages[0].tool_call_id) == len((receipt.tools or [])[0].name) == 64


# ------------------------------------------------------------------ parts


def parts(*names: str) -> list[Part]:
    return [Part(name, 1) for name in names]


def test_parts_grow_by_sharing() -> None:
    """Two of one growth share a buffer, and each sees its own length."""
    one = Parts(parts("a"))
    two = one.grown(parts("b"))
    assert (len(one), len(two)) == (1, 2)
    assert two.begins_with(one)
    assert not one.begins_with(two)
    assert one.grown([]) is one


def test_parts_that_grew_twice_part_ways() -> None:
    """Growing an older one copies, so what grew from it first stays as it is."""
    one = Parts(parts("a"))
    two, other = one.grown(parts("b")), one.grown(parts("c"))
    assert (list(two), list(other)) == (parts("a", "b"), parts("a", "c"))
    assert not other.begins_with(one)


def test_parts_read_like_a_tuple() -> None:
    """Indices, slices, comparison with tuples and lists."""
    some = Parts(parts("a", "b", "c")).grown(parts("d"))
    assert (some[0].hash, some[-1].hash, [part.hash for part in some[1:3]]) == (
        "a",
        "d",
        ["b", "c"],
    )
    assert some == tuple(parts("a", "b", "c", "d"))
    assert some != parts("a")
    with pytest.raises(IndexError, match="part 4 of 4"):
        some[4]
