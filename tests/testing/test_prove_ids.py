"""The proof of identifiers: it holds, and it finds the fault that is planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.cli.main import main
from saywhy.errors import CallerError
from saywhy.testing.ledger import Ledger
from saywhy.testing.prove.ids import IN_ONE, KINDS, prove_ids
from saywhy.testing.prove.seam import IDS_PLANTS
from tests.amount import examples


@pytest.mark.slow
def test_what_a_model_altered_touches_nothing(tmp_path: Path) -> None:
    """Each flipped identifier is refused, each right one acts, whether it is text or a number."""
    count = examples(100, 500)
    proof = prove_ids(identifiers=count, store=tmp_path / "p.db")
    assert proof.wrong == []
    assert sum(row["identifiers"] for row in proof.numbers.values()) == count
    for kind in KINDS:
        row = proof.numbers[kind]
        assert 0 < row["altered"] < row["identifiers"]
        assert row["refused"] == row["altered"]
        assert row["cancelled"] == row["identifiers"] - row["altered"]
    effects = len(Ledger(tmp_path / "p-ids.ledger").entries("effect"))
    assert effects == sum(row["cancelled"] for row in proof.numbers.values())


def test_another_seed_alters_others() -> None:
    """And the same seed the same."""
    first, again, other = (prove_ids(identifiers=IN_ONE, seed=seed).numbers for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("plant", sorted(IDS_PLANTS))
def test_a_planted_fault_is_found(plant: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command says what got through, and its exit code is 1."""
    assert main(["prove", "ids", "--identifiers", "20", "--plant", plant]) == 1
    told = capsys.readouterr().out
    assert "was given by nobody, and it said 'Cancelled.'" in told
    assert "is on record as made" in told
    assert told.endswith("the proof does not hold\n")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A table, and whether it holds."""
    assert main(["prove", "ids", "--identifiers", "30"]) == 0
    heading, text, number, _, verdict = capsys.readouterr().out.splitlines()
    columns = "identifier conversations identifiers altered refused cancelled wrong"
    assert heading.split() == columns.split()
    assert (text.split()[:3], number.split()[:3]) == (["text", "1", "25"], ["number", "1", "5"])
    assert verdict == "the proof holds"


def test_what_makes_no_sense() -> None:
    """An unknown fault, and no identifier at all."""
    with pytest.raises(CallerError, match="no fault is called 'unmark'") as refusal:
        prove_ids(plant="unmark")
    assert refusal.value.hint == 'did you mean "unmarked"?'
    with pytest.raises(CallerError, match="at least one identifier is needed, not 0"):
        prove_ids(identifiers=0)
