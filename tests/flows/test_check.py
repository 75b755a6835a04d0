"""Promise: every problem is found in one run, in its place, with what to try; nothing else is.

The rules stand in `tests/cases/check/*.json`, one case each. `steps` is short for one flow called
pay in the file f.yaml, its steps beginning at line 5. All problems of a case are listed, in order.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import Problem
from saywhy.flows.check import check_library
from saywhy.flows.load import load_definitions, load_files

FOLDER = Path(__file__).parent.parent / "cases/check"
HEAD = ["- id: pay", "  name: Pay", "  version: '1.0'", "  steps:"]


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['about']}")
        for path in sorted(FOLDER.glob("*.json"))
        for case in json.loads(path.read_text("utf-8"))
    ]


def check(case: dict[str, Any], folder: Path) -> tuple[Problem, ...]:
    files: dict[str, Any] = case.get("files") or {
        "f.yaml": [*HEAD, *("  " + line for line in case["steps"])]
    }
    for name, content in files.items():
        text = "\n".join(content) if isinstance(content, list) else json.dumps(content)
        (folder / name).write_text(text, "utf-8")
    names = {key: case.get(key) for key in ("functions", "globals", "cargo", "languages")}
    if "plain_language" in case:
        names["plain_language"] = case["plain_language"]
    if "globals" not in case:
        names["globals"] = []
    return check_library(load_files([folder / name for name in files]), **names)


@pytest.mark.parametrize("case", cases())
def test_each_rule_finds_what_it_should_and_no_more(case: dict[str, Any], tmp_path: Path) -> None:
    """Severity, message, line, column and hint of every problem of the case."""
    found = check(case, tmp_path)
    listing = "\n".join(problem.render() for problem in found)
    assert len(found) == len(case["problems"]), listing
    for problem, wanted in zip(found, case["problems"], strict=True):
        assert problem.severity == wanted["severity"], listing
        assert wanted["message"] in problem.message, listing
        assert wanted.get("hint", "") in problem.hint.replace(f"{tmp_path}/", ""), listing
        where = (problem.place.line, problem.place.column)
        assert where == (wanted["line"], wanted["column"]), listing
        assert problem.place.file == str(tmp_path / wanted.get("file", problem.place.file))
        for key in ("excerpt", "span", "known_names"):
            if key in wanted:
                value = getattr(problem, key)
                assert (list(value) if isinstance(value, tuple) else value) == wanted[key]


@pytest.mark.parametrize(("flows", "is_too_deep"), [(20, False), (21, True)])
def test_calls_too_deep(flows: int, is_too_deep: bool) -> None:
    """A chain of calls that needs more frames than there may be is an error where it begins."""
    steps = [{"id": "go", "type": "FLOW", "value": f"f{number + 1}"} for number in range(flows)]
    steps[-1] = {"id": "end", "type": "END"}
    chain = [
        {"id": f"f{number}", "name": f"F{number}", "version": "1", "steps": [step]}
        for number, step in enumerate(steps)
    ]
    found = [(p.message, p.place.pointer) for p in check_library(load_definitions(chain))]
    message = "flows call one another 21 deep from here, 20 are the limit"
    assert found == ([(message, "/0/steps/0")] if is_too_deep else [])


def test_problems_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    """First the files as they were named, then lines and columns."""
    bad = "- {id: a, name: A, steps: [{id: x, type: OPS}]}\n- {id: b, steps: []}\n"
    for name in ("b.yaml", "a.yaml"):
        (tmp_path / name).write_text(bad, "utf-8")
    found = check_library(load_files([tmp_path / "b.yaml", tmp_path / "a.yaml"]))
    places = [(Path(p.place.file).name, p.place.line, p.place.column) for p in found]
    assert places == sorted(places, key=lambda place: (place[0] != "b.yaml", *place[1:]))
    assert {place[0] for place in places} == {"a.yaml", "b.yaml"}


def test_a_file_that_gave_nothing_stands_before_what_misses_it(tmp_path: Path) -> None:
    """The cause before its consequences, in whatever order the files were named."""
    call = {"id": "go", "type": "FLOW", "value": "Pay"}
    uses = tmp_path / "a.json"
    uses.write_text(json.dumps([{"id": "a", "name": "A", "steps": [call]}]))
    broken, partly, missing = (tmp_path / name for name in ("b.json", "c.json", "d.json"))
    broken.write_text('[{"id": "pay", "name": "Pay" "steps": []}]')
    partly.write_text(json.dumps([{"id": "c", "name": "C", "steps": [5]}]))
    library = load_files([uses, broken, partly, missing])
    problems = check_library(library)
    files = [Path(problem.place.file).name for problem in problems]
    assert files == sorted(files, key=["b.json", "d.json", "a.json", "c.json"].index)
    told = [problem.message for problem in problems]
    assert told.index("cannot read this file: no such file or directory") < told.index(
        'no flow has the id or name "Pay"'
    )


def test_checking_changes_nothing() -> None:
    """The library is as it was, and a second check says the same."""
    library = load_definitions([{"id": "f", "steps": [{"type": "CASE", "branches": {"x": {}}}]}])
    before = repr(library)
    assert check_library(library) == check_library(library)
    assert repr(library) == before


def test_a_place_without_a_file_is_written_once() -> None:
    """Flows handed over as data have pointers for places."""
    (problem,) = check_library(load_definitions([{"id": "f", "name": "F", "version": "1"}]))
    assert problem.render().splitlines() == [
        "/0/steps: error: the flow has no steps or `steps` is not a list",
        '    write "steps": [ {…}, … ]',
    ]


def test_a_problem_is_written_with_its_line_marked(tmp_path: Path) -> None:
    """Place, severity, what is wrong, where in the line, what to try and what is known."""
    steps = [
        "- {id: a, type: SAY-GET, variable: amount, value: x}",
        "- {id: b, type: SAY, value: 'twice {{ ammount * 2 }}'}",
    ]
    (problem,) = check({"steps": steps}, tmp_path)
    assert problem.render().replace(f"{tmp_path}/", "").splitlines() == [
        "f.yaml:6:41  /0/steps/1/value: error: "
        'no variable named "ammount" can be set by this point',
        "    twice {{ ammount * 2 }}",
        "             ^^^^^^^",
        '    did you mean "amount"?',
        "    known here: amount",
    ]
