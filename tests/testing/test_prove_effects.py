"""The proof of effects: it holds, and it finds each fault that is planted.

With `SAYWHY_NIGHTLY=1` it is the whole proof, with every scene.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from saywhy.cli.main import main
from saywhy.errors import CallerError
from saywhy.testing.prove.effects import Proof, prove_effects
from saywhy.testing.prove.scenes import SCENES
from saywhy.testing.prove.seam import PLANTS
from tests.amount import examples

pytestmark = pytest.mark.slow

ALL = [scene.name for scene in SCENES]
FEW = ["once", "once-reconciled", "repeatable-slow", "http-once", "http-repeatable"]


def numbers(proof: Proof, scene: str) -> dict[str, int]:
    return dict(proof.verdict.numbers[scene])


def test_killed_on_both_sides_of_each_commit_and_act() -> None:
    """Every accepted message ends; nothing is lost or done twice; what is unknown is settled."""
    scenes = ALL if examples(0, 1) else FEW
    proof = prove_effects(seeds=0, loop_seconds=0, scenes=scenes)
    assert proof.verdict.wrong == []
    assert proof.kills["boundaries"] >= 16 * len(scenes)
    once, reconciled = numbers(proof, "once"), numbers(proof, "once-reconciled")
    assert once["unknown"] == once["settled"] > 0  # the kills did hit the call
    assert reconciled["unknown"] == 0
    slow = numbers(proof, "repeatable-slow")
    assert slow["same key"] > 0
    over_http, by_key = numbers(proof, "http-once"), numbers(proof, "http-repeatable")
    assert over_http["unknown"] == over_http["settled"] > 0
    assert by_key["same key"] > 0
    for row in (once, reconciled, slow, over_http, by_key):
        assert (row["lost"], row["other key"], row["wrong"]) == (0, 0, 0)
        assert row["effects"] == row["conversations"]
        assert row["accepted"] == row["ended"]


def test_killed_between_an_undo_and_the_call_after_it() -> None:
    """Wherever a correction is cut off: one call, its undo and the call after it, each once."""
    proof = prove_effects(seeds=0, loop_seconds=0, scenes=["corrected"])
    assert proof.verdict.wrong == []
    assert proof.kills["boundaries"] >= 30
    row = numbers(proof, "corrected")
    assert row["effects"] == 3 * row["conversations"]
    assert row["unknown"] == row["settled"] > 0
    assert (row["lost"], row["other key"], row["wrong"]) == (0, 0, 0)
    assert row["accepted"] == row["ended"]


def test_killed_in_an_agent() -> None:
    """A flow that calls an agent that pays and calls a flow that asks the user: one of each."""
    scenes = ["agent", "agent-both"] if examples(0, 1) else ["agent"]
    proof = prove_effects(seeds=0, loop_seconds=0, scenes=scenes)
    assert proof.verdict.wrong == []
    assert proof.kills["boundaries"] >= 36 * len(scenes)
    row = numbers(proof, "agent")
    assert row["effects"] == 2 * row["conversations"]
    assert row["unknown"] == row["settled"] > 0
    assert (row["lost"], row["other key"], row["wrong"]) == (0, 0, 0)
    assert row["accepted"] == row["ended"]


def test_killed_at_random() -> None:
    """At points that only chance knows, in several conversations of all kinds at once."""
    seeds, kills = examples(1, 3), examples(15, 200)
    proof = prove_effects(seeds=seeds, kills=kills, loop_seconds=0, boundaries=False)
    assert proof.verdict.wrong == []
    assert proof.kills == {f"seed {seed}": kills for seed in range(1, seeds + 1)}
    assert proof.verdict.total("conversations") > kills // 3
    assert proof.verdict.total("accepted") == proof.verdict.total("ended")


def test_a_crash_loop_makes_progress() -> None:
    """Killed every 50 to 300 ms, it goes on all the same."""
    seconds = examples(4, 60)
    proof = prove_effects(seeds=0, boundaries=False, loop_seconds=seconds)
    assert proof.verdict.wrong == []
    assert proof.kills["loop"] > seconds
    assert len(proof.progress) == examples(2, 6)
    assert all(proof.progress)


@pytest.mark.parametrize(
    ("plant", "scene", "found"),
    [
        ("repeat-once", "once", r"once-\d+:2:\d+:\w+ was called again, though charge-once acts"),
        ("forget-result", "once-waiting", r"was called after its result was on record"),
        ("ask-again", "agent-both", r"the model was asked 2:\d+ again, though its answer was on"),
        ("new-key", "repeatable", r"charge-by-key for repeatable was called under 2 keys: "),
        ("forget-turn", "reads", r"reads-\d+: m2 was acknowledged and is lost"),
        ("leave-unknown", "once", r"is listed as unknown, and nobody settled it"),
        ("repeat-once", "http-once", r"was called again, though http-charge-once acts once"),
        ("new-key", "http-repeatable", r"http-charge-by-key for \S+ was called under 2 keys: "),
    ],
)
def test_a_planted_fault_is_found(
    plant: str, scene: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says what was broken and where, and its exit code is 1."""
    limits = ["--seeds", "0", "--seconds", "0", "--scene", scene]
    assert main(["prove", "effects", *limits, "--plant", plant]) == 1
    told = capsys.readouterr()
    assert re.search(found, told.out)
    assert told.out.endswith("the proof does not hold\n")
    assert re.fullmatch(r"boundaries: \d+ kills, [1-9]\d* rules broken\n", told.err)


def test_every_plant_is_tried() -> None:
    """No fault can be planted that no test plants."""
    marks = test_a_planted_fault_is_found.pytestmark  # type: ignore[attr-defined]
    planted = {case[0] for mark in marks for case in mark.args[1]}
    assert planted == set(PLANTS)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table, how many were killed, and whether it holds; the files stay where they are wanted."""
    store = tmp_path / "kept.db"
    command = ["prove", "effects", "--seeds", "1", "--kills", "6", "--seconds", "0"]
    options = ["--no-boundaries", "--scene", "say", "--scene", "reads", "--store", str(store)]
    assert main([*command, *options]) == 0
    heading, *rows, blank, killed, verdict = capsys.readouterr().out.splitlines()
    names = "step effect conversations accepted ended lost calls effects same key other key"
    assert heading.split() == [*names.split(), "unknown", "settled", "wrong"]
    assert [row.split()[0] for row in rows][-1] == "all"
    assert (blank, killed, verdict) == ("", "6 processes were killed", "the proof holds")
    kept = {path.name for path in tmp_path.iterdir()}
    assert {"kept-seed-1.db", "kept-seed-1.ledger", "kept-undisturbed.db"} <= kept


@pytest.mark.parametrize(
    ("given", "told", "hint"),
    [
        ({"plant": "repeat-one"}, "no fault is called 'repeat-one'", 'did you mean "repeat-once"?'),
        ({"scenes": ["onse"]}, "no scene is called 'onse'", 'did you mean "once"?'),
        ({"store": Path("/no/such/p.db")}, "there is no folder /no/such", "make it first"),
    ],
)
def test_what_does_not_exist(given: dict[str, object], told: str, hint: str) -> None:
    """A fault or a scene of no known name is refused before anything runs."""
    with pytest.raises(CallerError, match=told) as refusal:
        prove_effects(**given)  # type: ignore[arg-type]
    assert refusal.value.hint == hint
