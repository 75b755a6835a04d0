"""Scenario files: what is read, what is found in folders, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, DefinitionError
from saywhy.testing.scenario_file import find_scenario_files, load_scenario, load_scenarios
from saywhy.values import UNDEFINED

FLOW = {"id": "a", "name": "A", "steps": []}
TURN = {"role": "user", "content": "hi", "expect": {"response": None}}


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


def problems_of(path: Path) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        load_scenarios(path)
    return [problem.render() for problem in caught.value.problems]


def test_a_scenario_is_read(tmp_path: Path) -> None:
    """All keys arrive, tagged values as what they stand for."""
    path = write(
        tmp_path / "one.json",
        {
            "id": "one",
            "title": "First",
            "covers": ["say"],
            "quirk": "odd",
            "flows": [FLOW],
            "cargo": {"gone": {"$undefined": True}},
            "turns": [{**TURN, "start": {"flow": "A"}, "wait_ms": 5, "roundtrip": True}],
        },
    )
    scenario = load_scenario(path)
    assert (scenario.id, scenario.title, scenario.tags) == ("one", "First", ("say",))
    assert scenario.quirk == "odd"
    assert scenario.cargo == {"gone": UNDEFINED}
    assert scenario.flows == (FLOW,)
    (turn,) = scenario.turns
    assert turn.entry() == {"role": "user", "content": "hi", "start": {"flow": "A"}}
    assert (turn.wait_ms, turn.roundtrip) == (5, True)


def test_yaml_and_several_in_a_file(tmp_path: Path) -> None:
    """A file may be YAML and hold a list; scenarios without an id get one from file and place."""
    path = tmp_path / "both.yaml"
    path.write_text(
        "- id: first\n  turns: [{content: hi, expect: {response: null}}]\n"
        "- turns: [{content: ho, expect: {response: null}}]\n",
        encoding="utf-8",
    )
    assert [one.id for one in load_scenarios(path)] == ["first", "both#1"]
    with pytest.raises(CallerError, match="holds 2 scenarios"):
        load_scenario(path)


def test_paths_are_relative_to_the_scenario(tmp_path: Path) -> None:
    """Files may be named under `files`, or stand among flows and tools."""
    document = {
        "files": ["../a.json"],
        "flows": ["b.yaml", FLOW],
        "tools": "t.json",
        "turns": [TURN],
    }
    scenario = load_scenario(write(tmp_path / "in" / "s.json", document))
    folder = tmp_path / "in"
    assert scenario.files == (folder / "../a.json", folder / "b.yaml", folder / "t.json")
    assert scenario.flows == (FLOW,)
    assert scenario.tools == ()


def test_definitions_as_an_object(tmp_path: Path) -> None:
    """`{"flows": […]}` is the same as the list inside."""
    document = {"flows": {"flows": [FLOW]}, "turns": [TURN]}
    assert load_scenario(write(tmp_path / "s.json", document)).flows == (FLOW,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turns": [{**TURN, "expect": {"respons": "x"}}]}, 'error: "respons" is no key'),
        ({"turns": [{**TURN, "expects": {}}]}, 'error: "expects" is no key of a scenario here'),
        ({"cargoo": {}}, 'error: "cargoo" is no key of a scenario here'),
        ({"engine": {"guidanse": {}}}, 'error: "guidanse" is no key of a scenario here'),
        ({"turns": []}, "error: a scenario needs a list of turns"),
        ({"turns": ["hi"]}, "error: a turn is an object"),
        ({"turns": [{"content": "hi"}]}, "error: no turn of this scenario expects anything"),
        ({"covers": "say"}, 'error: "covers" must be a list'),
        ({"globals": []}, 'error: "globals" must be an object'),
    ],
)
def test_what_could_not_fail_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    """A misspelt key, or nothing expected, is a problem with a place and what to write."""
    path = write(tmp_path / "s.json", {"id": "s", "flows": [FLOW], "turns": [TURN], **change})
    told = problems_of(path)
    assert any(f"{message}" in one and one.startswith(f"{path}:") for one in told), told
    assert all("\n    " in one for one in told)


def test_a_role_that_is_misspelt(tmp_path: Path) -> None:
    """One message with its place, not a difference in each turn."""
    path = write(tmp_path / "s.json", {"turns": [{**TURN, "role": "usr"}]})
    (told,) = problems_of(path)
    assert told == (
        f'{path}:4:4  /turns/0/role: error: no turn has the role "usr"\n    did you mean "user"?'
    )


@pytest.mark.parametrize("given", ["yess", "false", 1, [True]])
def test_a_switch_is_true_or_false(tmp_path: Path, given: Any) -> None:
    """Anything else would count as true, whatever was meant."""
    path = write(tmp_path / "s.json", {"turns": [{**TURN, "roundtrip": given}]})
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "roundtrip" in text)
    (told,) = problems_of(path)
    assert told == (
        f"{path}:{line}:4  /turns/0/roundtrip: error: "
        f'"roundtrip" must be true or false, not {json.dumps(given)}\n'
        '    write "roundtrip": true, or leave it out'
    )
    off = write(tmp_path / "off.json", {"turns": [{**TURN, "roundtrip": False}]})
    assert load_scenario(off).turns[0].roundtrip is False


@pytest.mark.parametrize("name", ["wait_ms", "silence_ms"])
@pytest.mark.parametrize("given", ["5 s", True, -1])
def test_a_pause_is_a_number(tmp_path: Path, name: str, given: Any) -> None:
    """Of milliseconds, none below zero."""
    path = write(tmp_path / "s.json", {"turns": [{"expect": {"response": None}, name: given}]})
    (told,) = problems_of(path)
    assert f'"{name}" must be a number of milliseconds, not {json.dumps(given)}\n' in told


def test_silence_says_nothing(tmp_path: Path) -> None:
    """A turn of silence with words in it is told where they belong."""
    turn = {"content": "hi", "silence_ms": 5, "expect": {"response": None}}
    (told,) = problems_of(write(tmp_path / "s.json", {"turns": [turn]}))
    assert 'a turn of silence has no "content"' in told
    assert 'say it in a turn of its own, or "wait_ms"' in told
    turn["content"] = None
    (only,) = load_scenario(write(tmp_path / "only.json", {"turns": [turn]})).turns
    assert (only.silence_ms, only.wait_ms) == (5, 0)


def test_a_scenario_without_turns_is_not_passed_over(tmp_path: Path) -> None:
    """`turns` misspelt is told, in a list, in a file of its own and in a folder."""
    broken = {"id": "b", "flows": [FLOW], "turn": [TURN]}
    listed = write(tmp_path / "list.json", [{"turns": [TURN]}, broken, "what"])
    told = problems_of(listed)
    assert [one.partition(": ")[2].splitlines() for one in told] == [
        ['error: "turn" is no key of a scenario here', '    did you mean "turns"?'],
        ["error: a scenario needs a list of turns", '    write "turns": [{ … }]'],
        ["error: a scenario is an object", '    write {"flows": […], "turns": [{ … }]}'],
    ]
    alone = write(tmp_path / "alone.json", broken)
    write(tmp_path / "flows.json", {"flows": [FLOW], "tools": []})
    write(tmp_path / "flow.json", [FLOW])
    assert "a scenario needs a list of turns" in problems_of(alone)[1]
    assert find_scenario_files([tmp_path]) == [alone, listed]


def test_misspelt_keys_are_guessed(tmp_path: Path) -> None:
    """The nearest key is offered, with line and column of the wrong one."""
    path = write(tmp_path / "s.json", {"turns": [{**TURN, "expect": {"respons": "x"}}]})
    (told,) = problems_of(path)
    assert told.startswith(f"{path}:7:5  /turns/0/expect/respons: error:")
    assert 'did you mean "response"?' in told


def test_keys_of_ones_own_are_left_alone(tmp_path: Path) -> None:
    """A key that resembles none of ours is a note of the author's."""
    path = write(tmp_path / "s.json", {"reviewed_by": "Ann", "turns": [TURN]})
    assert load_scenario(path).turns


def test_all_problems_of_a_file_in_one_go(tmp_path: Path) -> None:
    """Two scenarios with a problem each give two problems."""
    bad = {"turns": [{**TURN, "wait": 1}]}
    assert len(problems_of(write(tmp_path / "s.json", [bad, bad]))) == 2


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    """A broken file is one problem with its place."""
    path = tmp_path / "s.json"
    path.write_text('{"turns": [}', encoding="utf-8")
    (told,) = problems_of(path)
    assert told.startswith(f"{path}:1:12: error:")


def test_a_file_without_scenarios(tmp_path: Path) -> None:
    """A file that was named and holds something else is a mistake."""
    (told,) = problems_of(write(tmp_path / "flows.json", [FLOW]))
    assert "there is no scenario in this file" in told


def test_folders(tmp_path: Path) -> None:
    """A folder stands for the scenarios below it; flow files are passed over, broken ones kept."""
    one = write(tmp_path / "b" / "one.json", {"turns": [TURN]})
    two = write(tmp_path / "a.json", [{"turns": [TURN]}])
    write(tmp_path / "flows.json", [FLOW])
    write(tmp_path / ".hidden" / "no.json", {"turns": [TURN]})
    (tmp_path / "notes.txt").write_text("turns")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert find_scenario_files([tmp_path]) == [two, one, broken]
    assert find_scenario_files([one, tmp_path]) == [one, two, broken]


def test_nothing_to_run(tmp_path: Path) -> None:
    """A folder without scenarios, and a path that is not there, are errors."""
    write(tmp_path / "flows.json", [FLOW])
    with pytest.raises(CallerError, match="there is no scenario below"):
        find_scenario_files([tmp_path])
    with pytest.raises(CallerError, match="there is no file or folder nowhere"):
        find_scenario_files(["nowhere"])
