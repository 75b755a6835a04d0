"""The proof of approval: nothing gets through, and the fault that is planted is found."""

from __future__ import annotations

import pytest

from saywhy.cli.main import main
from saywhy.testing.prove.approval import prove_approval
from tests.amount import examples

pytestmark = pytest.mark.slow


def test_nothing_gets_through() -> None:
    """Replayed, duplicated, tampered with, forged, too late: what took effect was approved."""
    rounds = examples(3, 50)
    proof = prove_approval(rounds=rounds)
    assert proof.wrong == []
    found = {one.name: (one.tries, one.refused, one.approved, one.effects) for one in proof.attacks}
    assert found == {
        "replay": (4 * rounds, 4 * rounds, rounds, rounds),
        "duplicate": (9 * rounds, 9 * rounds, rounds, rounds),
        "tamper": (3 * rounds, 3 * rounds, rounds, rounds),
        "forge": (rounds, rounds, 0, 0),
        "expire": (2 * rounds, 2 * rounds, 0, 0),
    }


def test_the_command_and_its_plant(capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody who approves whatever is open is found out."""
    assert main(["prove", "approval", "--rounds", "1"]) == 0
    heading, *rows, blank, verdict = capsys.readouterr().out.splitlines()
    assert heading.split() == ["attack", "tries", "refused", "approved", "effects", "wrong"]
    assert [row.split()[0] for row in rows] == [
        *("replay", "duplicate", "tamper", "forge", "expire"),
    ]
    assert (blank, verdict) == ("", "the proof holds")
    assert main(["prove", "approval", "--rounds", "1", "--plant", "careless"]) == 1
    told = capsys.readouterr().out
    assert "forge: forge-1: [" in told
    assert told.endswith("the proof does not hold\n")
