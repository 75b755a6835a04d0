"""The payment service for tests: it counts, and goes wrong as planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy.testing.faults import Fault, Faults
from saywhy.testing.ledger import Ledger
from saywhy.testing.payments import EFFECT, PaymentStub
from saywhy.tools.invocation import CallContext

ARGS = {"what": "rent", "amount": 80}


def context(key: str = "k1") -> CallContext:
    return CallContext(session_id="s", key=key, tool="charge")


@pytest.fixture
def stub(tmp_path: Path) -> PaymentStub:
    """A service with an empty ledger."""
    return PaymentStub(Ledger(tmp_path / "ledger"))


def kinds(stub: PaymentStub) -> list[str]:
    return [entry.kind for entry in stub.ledger.entries()]


def test_it_acts_each_time(stub: PaymentStub) -> None:
    """Whoever asks twice pays twice; that is what the proofs count."""
    assert [stub.charge(ARGS, context()) for _ in range(2)] == [{"receipt": "R-80"}] * 2
    assert kinds(stub) == ["call", "effect"] * 2
    facts = stub.ledger.entries("effect")[0].facts
    assert facts == {"tool": "charge", "session": "s", "what": "rent", "amount": 80}


def test_it_knows_a_key_again(stub: PaymentStub) -> None:
    """The same key gets the same receipt without another act; another key acts."""
    receipts = [stub.charge_by_key(ARGS, context(key)) for key in ("k1", "k1", "k2")]
    assert receipts == [{"receipt": "R-80"}] * 3
    assert kinds(stub) == ["call", "effect", "call", "known", "call", "effect"]


def test_it_says_what_became_of_a_call(stub: PaymentStub) -> None:
    """For `reconcile`: done with its receipt, or not done."""
    assert stub.look_up(ARGS, context()) == {"status": "not_done"}
    stub.charge(ARGS, context())
    assert stub.look_up(ARGS, context()) == {"status": "done", "result": {"receipt": "R-80"}}
    assert [entry.facts["acted"] for entry in stub.ledger.entries("looked")] == [False, True]


@pytest.mark.parametrize("name", ["charge_busy", "charge_by_key_busy"])
def test_it_may_be_busy(stub: PaymentStub, name: str) -> None:
    """The first call under a key is turned away, and did nothing."""
    charge: Any = getattr(stub, name)
    with pytest.raises(ConnectionError, match="ECONNREFUSED: the service is busy"):
        charge(ARGS, context())
    assert kinds(stub) == ["call", "raised"]
    assert charge(ARGS, context()) == {"receipt": "R-80"}


def test_faults_between_the_call_and_the_act(tmp_path: Path) -> None:
    """The network sends the act twice; the service notes both."""
    faults = Faults([Fault(action="duplicate", at=EFFECT), Fault(action="fail", at="call")])
    stub = PaymentStub(Ledger(tmp_path / "ledger"), faults=faults)
    charge = stub.functions()["charge"]
    with pytest.raises(ConnectionError, match="as planned"):
        charge(ARGS, context())
    charge(ARGS, context())
    assert kinds(stub) == ["call", "effect", "effect"]
    assert faults.passed == ["call", "call", "effect"]
