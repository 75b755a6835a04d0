"""`saywhy draw`: the picture of a set of flows, and of one."""

from __future__ import annotations

from pathlib import Path

from .conftest import PAY, Run, write


def test_one_flow(run: Run, pay: str) -> None:
    """Steps with their texts, a diamond for a CASE, an arrow for each way that is really taken."""
    done = run("draw", pay, "--flow", "Pay")
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "flowchart TD",
        '  n0[/"ask<br/>How much?"/]',
        '  n1["fee<br/>Number(amount) / 10"]',
        '  n2{"tell"}',
        '  n3["high<br/>Fee {{fee}}."]',
        '  n4["low<br/>No fee."]',
        '  n5[/"who<br/>Who gets it?"/]',
        '  n6["done<br/>{{amount}} for {{payee}}."]',
        '  nend(["end"])',
        "  n0 --> n1",
        "  n1 --> n2",
        '  n2 -->|"condition: fee #62; 5"| n3',
        '  n2 -->|"default"| n4',
        "  n3 --> n5",
        "  n4 --> n5",
        "  n5 --> n6",
        "  n6 --> nend",
    ]


def test_several_flows(run: Run, folder: Path, pay: str) -> None:
    """Each flow in a box; FLOW steps lead to the boxes, also to those nobody knows yet."""
    steps = [
        {"id": "call", "type": "FLOW", "value": "Pay"},
        {"id": "odd", "type": "FLOW", "value": "{{next}}", "callType": "replace"},
        {"id": "never", "type": "SAY", "value": "x"},
    ]
    other = write(folder / "other.json", [{"id": "o", "name": "Other", "steps": steps}])
    lines = run("draw", pay, other).lines
    assert '  subgraph f0["Pay"]' in lines
    assert '  subgraph f1["Other"]' in lines
    assert '  f1_0 -.->|"call"| f0' in lines
    assert '  o0(["{{next}}"])' in lines
    assert '  f1_1 -.->|"replace"| o0' in lines
    assert "    f1_1 --> f1_2" not in lines
    assert lines.count("  end") == 2


def test_a_flow_that_is_not_there(run: Run, pay: str) -> None:
    """An unknown name is misuse, and the nearest one is offered."""
    done = run("draw", pay, "--flow", "Pya")
    assert (done.code, done.out) == (2, "")
    assert done.err == 'saywhy: no flow has the id or name "Pya"\n    did you mean "Pay"?\n'


def test_files_with_mistakes(run: Run, folder: Path, pay: str) -> None:
    """What can be read is drawn, what cannot is told; without any flow nothing is drawn."""
    broken = write(folder / "broken.json", "[")
    some = run("draw", pay, broken)
    assert some.code == 1
    assert some.err.startswith("broken.json:1:2: error: ")
    assert '  subgraph f0["Pay"]' in some.lines
    none = run("draw", broken)
    assert (none.code, none.out) == (1, "")


def test_odd_texts_cannot_break_the_picture(run: Run, folder: Path) -> None:
    """Quotes and brackets of a text are written so that mermaid reads them as text."""
    flow = {**PAY[0], "name": 'A "b"', "steps": [{"id": "s", "type": "SAY", "value": '"] --> x'}]}
    lines = run("draw", write(folder / "odd.json", [flow])).lines
    assert '  subgraph f0["A #34;b#34;"]' in lines
    assert '    f0_0["s<br/>#34;] --#62; x"]' in lines


def test_the_options_of_the_other_commands(run: Run, folder: Path, pay: str) -> None:
    """What fits `check` and `chat` fits here; it changes nothing, and a mistake in it is told."""
    write(folder / "globals.json", {"limit": 5})
    (folder / "own.py").write_text("def fee(amount): return 1\n")
    more = ["--functions", "own", "--globals", "globals.json", "--cargo", "globals.json"]
    assert run("draw", pay, *more) == run("draw", pay)
    wrong = run("draw", pay, "--functions", "owm")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("saywhy: there is no module owm\n")
