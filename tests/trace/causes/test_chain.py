"""A chain as data."""

from __future__ import annotations

import json
from typing import Any

from saywhy.errors import Place
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.why import why
from saywhy.values import UNDEFINED, freeze


def test_the_chain_as_data(payment: Any) -> None:
    """The same as plain data: causes, links between them, roots by kind, places."""
    chain = why(payment.trace)
    data = json.loads(json.dumps(chain.to_json()))
    assert data["target"] == 0
    assert data["left_out"] == 0
    assert data["marks"] == []
    causes = {cause["id"]: cause for cause in data["causes"]}
    roots = {causes[number]["root"]: causes[number] for number in data["roots"]}
    assert set(roots) == {"words", "tool", "default"}
    assert roots["tool"]["value"] == {"total": 8, "for": "80"}
    assert roots["tool"]["place"] == {
        "file": "Pay.flows.json",
        "line": 30,
        "column": 3,
        "pointer": "/steps/2",
    }
    decision = next(cause for cause in data["causes"] if cause["kind"] == "decision")
    assert decision["read"] == [
        {"name": "fee.total", "value": 8},
        {"name": "limit", "value": 100},
    ]
    assert decision["details"] == ["`fee.total > limit` was false (fee.total = 8, limit = 100)"]
    kinds = {link["kind"] for link in data["links"]}
    assert kinds == {"wrote", "read", "answer", "decision", "caller"}
    for link in data["links"]:
        assert {link["effect"], link["cause"]} <= set(causes)


def test_a_chain_is_printed_as_text(payment: Any) -> None:
    """`print(trace.why())` shows what `text()` gives."""
    chain = payment.trace.why()
    assert str(chain) == chain.text()


def test_every_cause_stands_in_the_chain_once(payment: Any) -> None:
    """A chain is a graph: what caused two things is one cause with two links."""
    chain = why(payment.trace)
    known = [(cause.kind, cause.commit, cause.name, cause.sentence) for cause in chain.causes]
    assert len(known) == len(set(known))
    links = [(link.effect, link.cause, link.kind, link.key) for link in chain.links]
    assert len(links) == len(set(links))
    amount = next(cause for cause in chain.causes if cause.name == "amount")
    assert len([link for link in chain.links if link.cause == amount.id]) == 2


def test_a_cause_as_plain_data() -> None:
    """What a cause does not have is left out; values that JSON lacks are tagged."""
    assert Cause(1, "answer", "said", "words").to_json() == {
        "id": 1,
        "kind": "answer",
        "sentence": "said",
        "root": "words",
    }
    full = Cause(
        2,
        "value",
        "x was never set",
        "unset",
        commit=7,
        turn=3,
        flow="Pay",
        step="ask",
        place=Place("f.json", 4),
        name="x",
        read=((("v1", "y"), freeze([UNDEFINED])),),
        details=("d",),
        marks=("m",),
    )
    assert json.loads(json.dumps(full.to_json())) == {
        "id": 2,
        "kind": "value",
        "sentence": "x was never set",
        "root": "unset",
        "commit": 7,
        "turn": 3,
        "flow": "Pay",
        "step": "ask",
        "name": "x",
        "value": {"$undefined": True},
        "read": [{"name": "y", "value": [{"$undefined": True}]}],
        "place": {"file": "f.json", "line": 4},
        "details": ["d"],
        "marks": ["m"],
    }
