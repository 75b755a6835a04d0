"""`saywhy check`: all problems in one run, and what programs get to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .conftest import PAY, Run, write


def step(**keys: Any) -> dict[str, Any]:
    return {"id": "s", **keys}


def flow(name: str, *steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    common = {"id": name, "name": name, "version": "1.0", "description": f"Does {name}"}
    return {**common, "steps": list(steps), **keys}


def line_of(path: str, text: str) -> int:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_nothing_wrong(run: Run, pay: str) -> None:
    """Figures, and exit code 0."""
    done = run("check", pay)
    assert (done.code, done.err) == (0, "")
    assert done.out == "checked 1 flow, 1 primary, 7 steps, 0 tools: 0 errors, 0 warnings\n"


def test_every_mistake_in_one_run(run: Run, folder: Path) -> None:
    """Each mistake of several files is one message with file, line, column and what to try."""
    no_json = write(folder / "no.json", '[\n  {"id": "a",\n   "name" "A"}\n]\n')
    no_yaml = write(folder / "no.yaml", "- id: a\n  steps: [\n  name: A\n")
    wrong = write(
        folder / "wrong.json",
        [
            {"id": "bare", "name": "bare", "version": "1.0", "description": "No steps"},
            flow("odd", step(type="ASK", value="hi")),
            flow("tools", step(type="CALL-TOOL", tool="chrage", variable="x")),
            flow("broken", step(type="SET", variable="x", value="1 +* 2")),
        ],
    )
    tools = write(
        folder / "tools.json",
        [
            {
                "id": "charge",
                "name": "Charge",
                "description": "Charges",
                "parameters": {"type": "object", "properties": {}},
                "implementation": {"type": "local", "function": "chareg"},
            }
        ],
    )
    write(folder / "host.py", "def charge(arguments):\n    return 1\n")
    done = run("check", no_json, no_yaml, wrong, tools, "--functions", "host:charge")
    assert done.code == 2  # a function is no set of functions

    done = run("check", no_json, no_yaml, wrong, tools, "--functions", "host")
    assert done.code == 1
    for file, line, message in [
        (no_json, 3, 'error: not valid JSON: found " where ":" after the key is wanted'),
        (no_yaml, 4, "error: not valid YAML: expected ',' or ']'"),
        (wrong, 2, "error: the flow has no steps"),
        (wrong, line_of(wrong, '"ASK"'), 'error: unknown step type "ASK"'),
        (wrong, line_of(wrong, '"chrage"'), 'error: no tool has the id "chrage"'),
        (wrong, line_of(wrong, "1 +* 2"), 'error: not an expression: unexpected "+"'),
        (tools, line_of(tools, "chareg"), 'error: no approved function is called "chareg"'),
    ]:
        found = [text for text in done.lines if text.startswith(f"{file}:{line}:")]
        assert any(message in text for text in found), f"{file}:{line} {message}\n{done.out}"
    assert done.out.count('did you mean "charge"?') == 2
    assert "one JavaScript expression may stand here, like `fee + 2`" in done.out
    assert "use one of SAY, SAY-GET, SET," in done.out
    assert done.lines[-1].startswith("checked ")
    assert "Traceback" not in done.out + done.err


def test_a_file_that_is_missing(run: Run) -> None:
    """A path that is not there is a finding like any other."""
    done = run("check", "nowhere.json")
    assert done.code == 1
    assert "nowhere.json: error: cannot read this file: no such file or directory" in done.out


def test_warnings_alone_are_no_failure(run: Run, folder: Path) -> None:
    """Exit code 0 where only warnings were found."""
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": PAY[0]["steps"]}])
    done = run("check", path)
    assert (done.code, "warning" in done.out) == (0, True)


def test_functions_that_nobody_handed_over(run: Run, folder: Path) -> None:
    """Without --functions a call is a note; with it an unknown one is an error."""
    path = write(folder / "a.json", [flow("a", step(type="SAY", value="{{shout('hi')}}"))])
    write(folder / "house.py", "def whisper(text):\n    return text\n")
    without = run("check", path)
    assert (without.code, "note: " in without.out) == (0, True)
    with_functions = run("check", path, "--functions", "house")
    assert with_functions.code == 1
    assert "shout" in with_functions.out


def test_globals_and_cargo(run: Run, folder: Path) -> None:
    """Names in the files of globals are known to the check."""
    path = write(folder / "a.json", [flow("a", step(type="SAY", value="{{house}}"))])
    unknown = write(folder / "none.yaml", "other: 1\n")
    known = write(folder / "globals.yaml", "house: Saywhy\n")
    assert run("check", path, "--globals", unknown, "--functions", "json").code == 1
    assert run("check", path, "--globals", known, "--cargo", known).code == 0


def test_json(run: Run, folder: Path) -> None:
    """Problems as data: severity, place, hint."""
    path = write(folder / "a.json", [flow("a", step(type="ASK", value="hi"))])
    done = run("check", path, "--json")
    report = json.loads(done.out)
    assert (done.code, report["valid"], report["figures"]["flows"]) == (1, False, 1)
    found = next(one for one in report["problems"] if one["severity"] == "error")
    assert found["place"]["file"] == path
    assert found["place"]["line"] == line_of(path, "ASK")
    assert found["hint"]


def test_texts_that_are_missing_in_a_language(run: Run, folder: Path) -> None:
    """With --languages: file, line, column and step of each; as data as well."""
    steps = [step(type="SAY", value="hi"), step(type="SAY", value="{{flowName}}")]
    path = write(folder / "a.json", [flow("a", *steps)])
    assert run("check", path).out.endswith("0 errors, 0 warnings\n")
    done = run("check", path, "--languages", "en, es")
    column = Path(path).read_text("utf-8").splitlines()[line_of(path, "hi") - 1].index('"hi"') + 1
    assert done.code == 0
    assert done.lines[0].startswith(f"{path}:{line_of(path, 'hi')}:{column}  /0/steps/0/value: ")
    assert done.lines[0].endswith("warning: no `value_es` for users who speak es")
    assert done.lines[1].strip() == "they will see `value`"
    assert done.lines[-1].endswith("0 errors, 1 warning")
    report = json.loads(run("check", path, "--languages", "es", "--json").out)
    (found,) = [one for one in report["problems"] if one["severity"] == "warning"]
    assert (found["flow"], found["step"], found["place"]["column"]) == ("a", "s", column)
    plain = run("check", path, "--languages", "es", "--plain-language", "es")
    assert "users who" not in plain.out
    assert '"e" is no language' in run("check", path, "--plain-language", "e").err


def test_a_language_that_nobody_knows(run: Run, folder: Path) -> None:
    """What the engine would say in it is noted; what is no language is refused."""
    path = write(folder / "a.json", [flow("a", step(type="SAY", value="{{flowName}}"))])
    done = run("check", path, "--languages", "it")
    assert "messages/it: note: no sentences of the engine's own in it" in done.out
    wrong = run("check", path, "--languages", "en;es")
    assert wrong.code == 2
    assert '"en;es" is no language' in wrong.err


def test_colours_only_at_a_terminal(run: Run, folder: Path) -> None:
    """What is piped holds no escape codes."""
    path = write(folder / "a.json", [flow("a", step(type="ASK"))])
    assert "\x1b" not in run("check", path).out
