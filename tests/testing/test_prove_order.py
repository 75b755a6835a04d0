"""The proof of order: it holds, and it finds the fault that is planted."""

from __future__ import annotations

import pytest

from saywhy.cli.main import main
from saywhy.testing.prove.order import prove_order
from tests.amount import examples

pytestmark = pytest.mark.slow


def test_two_processes_race_for_one_conversation() -> None:
    """Ten clients send each message three times: one turn each, in order, nothing done twice."""
    messages = examples(2, 20)
    processes = 0
    for seed in range(5):  # on a busy machine one of the two may be done before the other's turn
        proof = prove_order(messages=messages, seed=seed)
        assert proof.wrong == []
        assert (proof.messages, proof.turns, proof.effects) == (10 * messages,) * 3
        assert proof.delivered == 30 * messages
        processes = max(processes, proof.processes)
        if processes == 2:
            break
    assert processes == 2


def test_the_command_and_its_plant(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the messages' own ids each copy is another message, and that is found."""
    sizes = ["--clients", "2", "--copies", "2", "--messages", "1"]
    assert main(["prove", "order", *sizes]) == 0
    heading, numbers, *rest = capsys.readouterr().out.splitlines()
    names = ["messages", "delivered", "turns", "effects", "processes", "wrong"]
    assert heading.split() == names
    assert numbers.split()[:4] == ["2", "4", "2", "2"]
    assert rest == ["", "the proof holds"]
    assert main(["prove", "order", *sizes, "--plant", "new-ids"]) == 1
    told = capsys.readouterr().out
    assert "c1-1 has 0 turns" in told
    assert told.endswith("the proof does not hold\n")
