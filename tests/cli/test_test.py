"""`saywhy test`: what it prints, what it counts, and that a wrong expectation fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import PAY, Run, write

PLAIN = {"guidance": {"enabled": False}}


def scenario(name: str, *expects: dict[str, Any], **keys: Any) -> dict[str, Any]:
    words = ["Pay", "80", "Ann"]
    turns = [
        {"role": "user", "content": word, "expect": expect}
        for word, expect in zip(words, expects, strict=False)
    ]
    return {"id": name, "flows": PAY, "engine": PLAIN, "turns": turns, **keys}


RIGHT = scenario(
    "right",
    {"response": "How much?", "active_flow": "Pay"},
    {"response": "Fee 8.\n\nWho gets it?", "variables": {"fee": 8}},
    {"response": "80 for Ann.", "active_flow": None},
    covers=["fee"],
)


def test_all_pass(run: Run, folder: Path) -> None:
    """The last line counts, and the exit code is 0."""
    write(folder / "tests" / "right.json", RIGHT)
    done = run("test", "tests")
    assert (done.code, done.out, done.err) == (0, "1 passed, 0 failed\n", "")


def test_what_differs_is_shown(run: Run, folder: Path) -> None:
    """Each difference has its turn, what was expected and what came; tags are counted."""
    wrong = scenario(
        "wrong",
        {"response": "How much"},
        {"variables": {"fee": "8"}, "active_flow": "Pay"},
        covers=["fee", "ask"],
    )
    write(folder / "both.json", [RIGHT, wrong])
    done = run("test", "both.json")
    assert done.code == 1
    assert done.out == (
        "FAILED wrong  both.json:92\n"
        "  turn 1, response  both.json:155\n"
        '    expected: "How much"\n'
        '    actual:   "How much?"\n'
        "  turn 2, variables.fee  both.json:162\n"
        '    expected: "8"\n'
        "    actual:   8\n"
        "\n"
        "failed, by tag:\n"
        "  fee: 1 (wrong)\n"
        "  ask: 1 (wrong)\n"
        "1 passed, 1 failed\n"
    )
    quiet = run("test", "both.json", "-q")
    assert quiet.lines[0] == "failed, by tag:"


@pytest.mark.parametrize(
    ("turn", "key", "value"),
    [
        (0, "response", "How much!"),
        (0, "active_flow", "Payy"),
        (1, "variables", {"fee": 9}),
        (2, "active_flow", "Pay"),
    ],
)
def test_breaking_one_value_fails(run: Run, folder: Path, turn: int, key: str, value: Any) -> None:
    """Every kind of expectation can fail."""
    broken = json.loads(json.dumps(RIGHT))
    broken["turns"][turn]["expect"][key] = value
    write(folder / "broken.json", broken)
    done = run("test", "broken.json")
    assert (done.code, done.lines[-1]) == (1, "0 passed, 1 failed")


def test_tags(run: Run, folder: Path) -> None:
    """--tag chooses; each tag adds to the choice."""
    other = scenario("other", {"response": "no"}, covers=["ask"])
    write(folder / "both.json", [RIGHT, other])
    assert run("test", "both.json", "--tag", "fee").lines == ["1 passed, 0 failed"]
    assert run("test", "both.json", "--tag", "fee", "--tag", "ask").lines[-1] == (
        "1 passed, 1 failed"
    )


@pytest.mark.parametrize("others", [[], ["--tag", "ask"]])
def test_a_tag_that_no_scenario_has(run: Run, folder: Path, others: list[str]) -> None:
    """Is misuse, also beside one there is; nothing is run, and the tags there are get named."""
    right = {"response": "x"}
    files = [scenario("one", right, covers=["fee", "ask"]), scenario("two", right, covers=["fee"])]
    write(folder / "both.json", files)
    none = run("test", "both.json", *others, "--tag", "fees")
    assert (none.code, none.out) == (2, "")
    assert none.err == (
        'saywhy: no scenario has the tag "fees"\n    did you mean "fee"? the tags are ask, fee\n'
    )
    write(folder / "none.json", [scenario("bare", {"response": "x"}, covers=[])])
    assert run("test", "none.json", "--tag", "x").err.endswith("    no scenario has a tag\n")


def test_a_tag_that_a_broken_file_may_have(run: Run, folder: Path) -> None:
    """Then the failure of that file is what is told."""
    write(folder / "good.json", [scenario("one", {"response": "x"}, covers=["fee"])])
    (folder / "broken.json").write_text("{")
    done = run("test", "good.json", "broken.json", "--tag", "ask")
    assert (done.code, done.lines[-1]) == (1, "0 passed, 1 failed")


def test_results_for_programs(run: Run, folder: Path) -> None:
    """--json writes each result with its differences."""
    write(folder / "both.json", [RIGHT, scenario("wrong", {"response": None})])
    run("test", "both.json", "--json", "out.json")
    results = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert (results["passed"], results["failed"]) == (1, 1)
    right, wrong = results["results"]
    place = {"file": "both.json", "line": 2}
    assert right == {"id": "right", "tags": ["fee"], "passed": True, "failures": [], **place}
    difference = {"turn": 1, "key": "response", "expected": None, "actual": "How much?"}
    assert wrong["failures"] == [{**difference, "file": "both.json", "line": 155}]


def test_a_broken_file_fails(run: Run, folder: Path) -> None:
    """A scenario that cannot be read is a failure with its place, and the others still run."""
    write(folder / "tests" / "a.json", '{"turns": [}')
    write(folder / "tests" / "b.json", RIGHT)
    write(folder / "tests" / "c.json", scenario("typo", {"respons": "x"}))
    done = run("test", "tests")
    assert done.code == 1
    assert "tests/a.json:1:12: error: " in done.out
    assert 'error: "respons" is no key of a scenario here' in done.out
    assert 'did you mean "response"?' in done.out
    assert done.lines[-1] == "1 passed, 2 failed"


def test_a_file_that_is_missing_is_told_as_such(run: Run, folder: Path) -> None:
    """A scenario whose flows cannot be read says where it stands and what is wrong with them."""
    write(folder / "s.json", {**RIGHT, "flows": ["pya.json"]})
    done = run("test", "s.json")
    assert done.code == 1
    assert done.lines[:3] == [
        "FAILED right  s.json:1",
        "  pya.json: error: cannot read this file: no such file or directory",
        "      check the path",
    ]


def test_results_that_cannot_be_written(run: Run, folder: Path) -> None:
    """The results are told all the same, then what is wrong with the path."""
    write(folder / "right.json", RIGHT)
    done = run("test", "right.json", "--json", "nowhere/out.json")
    assert (done.code, done.out) == (2, "1 passed, 0 failed\n")
    assert done.err == (
        "saywhy: cannot write the results to nowhere/out.json: no such file or directory\n"
        "    check the path after --json\n"
    )


def test_nothing_to_run_is_misuse(run: Run, folder: Path, pay: str) -> None:
    """A folder without scenarios and a path that is not there end with 2 and a reason."""
    empty = run("test", ".")
    assert (empty.code, empty.out) == (2, "")
    assert empty.err.startswith("saywhy: there is no scenario below .\n")
    assert run("test", "nowhere").code == 2
    long = "n" * 300
    assert run("test", long).err == f"saywhy: {long} cannot be read: File name too long\n"


def test_own_functions_globals_and_cargo(run: Run, folder: Path) -> None:
    """What a program would hand over comes from the options; the scenario's own goes before it."""
    flow = {
        "id": "a",
        "name": "A",
        "steps": [{"id": "s", "type": "SAY", "value": "{{shout(house)}} {{cargo.who}} {{tax}}"}],
    }
    turn = {"content": "A", "expect": {"response": "SAYWHY Ann 2"}}
    write(folder / "s.json", {"id": "s", "flows": [flow], "globals": {"tax": 2}, "turns": [turn]})
    write(folder / "g.json", {"house": "Saywhy", "tax": 1})
    write(folder / "c.json", {"who": "Ann"})
    write(folder / "house_t.py", "def shout(text):\n    return text.upper()\n")
    options = ["--functions", "house_t", "--globals", "g.json", "--cargo", "c.json"]
    done = run("test", "s.json", *options)
    assert (done.code, done.out) == (0, "1 passed, 0 failed\n")


def test_what_the_script_gives_is_what_the_model_says(run: Run, folder: Path) -> None:
    """A scenario whose model gives nonsense, or nothing more, fails there and says so."""
    written = scenario("m", {"response": "How much?"}, ai=[{"reply": "x"}])
    written["turns"] = [{"content": "hello", "expect": {}} for _ in range(2)]
    written["turns"][1]["expect"] = {"response": "How much?"}
    write(folder / "m.json", written)
    done = run("test", "m.json")
    assert "Invalid JSON response from AI: x" in done.out
    assert "the script of the model has no answer left for detect_flow" in done.out
    assert (done.code, done.lines[-1]) == (1, "0 passed, 1 failed")


def test_expressions_may_be_isolated(run: Run, folder: Path) -> None:
    """Scenarios come out the same with expressions in processes of their own."""
    write(folder / "right.json", RIGHT)
    done = run("test", "right.json", "--expressions", "isolated")
    assert (done.code, done.out, done.err) == (0, "1 passed, 0 failed\n", "")


def test_a_placement_that_is_none(run: Run, folder: Path) -> None:
    """Another word is refused before anything runs."""
    write(folder / "right.json", RIGHT)
    done = run("test", "right.json", "--expressions", "elsewhere")
    assert done.code == 2
    assert "'elsewhere' is not one of 'in-process', 'isolated'" in done.err
