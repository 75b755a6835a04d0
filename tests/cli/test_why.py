"""`saywhy why`: which conversation, which reply, and what is said when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run, write


@pytest.fixture
def played(run: Run, pay: str) -> None:
    """A finished conversation `first`, and a newer one `second` that waits for an answer."""
    run("chat", pay, "--no-guidance", "--session", "first", stdin="Pay\n80\nAnn\n")
    run("chat", pay, "--no-guidance", "--session", "second", stdin="Pay\n20\n")


def places_in(text: str) -> set[str]:
    """Every `pay.json:LINE` that stands at the end of a line."""
    return {line.split()[-1] for line in text.splitlines() if "pay.json:" in line}


def causes(text: str, *expected: tuple[str, str]) -> None:
    """Each expected cause stands in a line, in this order, with its place in that line."""
    lines = iter(text.splitlines())
    for cause, place in expected:
        assert any(cause in line and place in line for line in lines), f"{cause} {place}\n{text}"


@pytest.mark.usefixtures("played")
def test_the_last_reply_of_the_newest(run: Run) -> None:
    """Without options: the newest conversation and its last reply, with files and lines."""
    done = run("why")
    assert (done.code, done.err) == (0, "conversation second\n")
    causes(
        done.out,
        ('"No fee.⏎⏎Who gets it?" (turn 2)', ""),
        ('"No fee." was said by SAY "low" of Pay', "pay.json:"),
        ('CASE "tell" of Pay chose default', "pay.json:22"),
        ("`fee > 5` was false (fee = 2)", ""),
        ('amount is what the user said in turn 2: "20"', "pay.json:10"),
    )


@pytest.mark.usefixtures("played")
def test_another_conversation_and_turn(run: Run) -> None:
    """--session and --turn choose."""
    done = run("why", "--session", "first", "--turn", "2")
    assert done.err == ""
    causes(
        done.out,
        ('"Fee 8.⏎⏎Who gets it?" (turn 2)', ""),
        ('said by SAY "high" of Pay', "pay.json:"),
        ("chose `fee > 5` (fee = 8)", "pay.json:22"),
    )


@pytest.mark.usefixtures("played")
def test_a_variable(run: Run) -> None:
    """--variable asks for a variable instead of a reply."""
    done = run("why", "--session", "first", "--variable", "fee")
    causes(
        done.out,
        ("fee = 8", ""),
        ('amount is what the user said in turn 2: "80"', "pay.json:"),
    )


@pytest.mark.usefixtures("played")
def test_json(run: Run) -> None:
    """The chain as data: causes, links, roots."""
    (chain,) = run("why", "--session", "first", "--json").data
    assert chain["conversation"] == "first"
    assert chain["causes"][0]["sentence"].startswith('"80 for Ann."')
    words = [one["sentence"] for one in chain["causes"] if one.get("root") == "words"]
    assert any('"Ann"' in sentence for sentence in words)


@pytest.mark.usefixtures("played")
def test_json_tells_what_the_text_tells(run: Run) -> None:
    """The same flows, steps and places: the engine's own ones are not named."""
    text = run("why", "--session", "first").out
    (chain,) = run("why", "--session", "first", "--json").data
    assert {each["flow"] for each in chain["causes"] if "flow" in each} == {"Pay"}
    shown = {each["place"]["line"] for each in chain["causes"] if "place" in each}
    assert places_in(text) == {f"pay.json:{line}" for line in shown}
    start = next(each for each in chain["causes"] if each["kind"] == "start")
    named = {"ref", "score", "ranked_for"}
    assert set(start) == {"id", "kind", "sentence", "commit", "turn", *named}
    assert start["sentence"] in text


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--session", "frist"], 'there is no conversation "frist" in this store'),
        (["--session", "frist"], 'did you mean "first"?'),
        (["--session", "xyz"], "there are: first, second"),
        (["--turn", "9"], "turn 9"),
        (["--variable", "feee"], '"feee"'),
        (["--variable", "feee"], 'did you mean "fee"?'),
    ],
)
def test_what_is_not_there(run: Run, options: list[str], told: str) -> None:
    """A conversation, turn or variable that does not exist is named, with what is near."""
    done = run("why", *options)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("played")
def test_a_store_is_only_read(run: Run, folder: Path) -> None:
    """Asking changes no byte of the file and leaves no other behind."""
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    assert run("why").code == 0
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


def test_no_store(run: Run, folder: Path) -> None:
    """Nothing here, and no file is made by asking."""
    done = run("why")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("saywhy: there is no store saywhy.db\n    saywhy chat FILES begins")
    assert list(folder.iterdir()) == []


def test_a_conversation_without_a_reply(run: Run, pay: str) -> None:
    """A conversation in which nothing was said has nothing to explain."""
    run("chat", pay, "--session", "mute", stdin="hello\n")
    done = run("why", "--session", "mute")
    assert (done.code, done.out) == (2, "")
    assert json.dumps(done.err)


@pytest.mark.usefixtures("played")
def test_names_to_take_away(run: Run) -> None:
    """They are listed where they are asked for, and each can be handed to --without."""
    of = ("--session", "first")
    plain, listed = run("why", *of), run("why", *of, "--refs")
    assert listed.lines[: len(plain.lines)] == plain.lines
    heading, *names = listed.lines[len(plain.lines) :]
    assert heading == "--without takes:"
    assert '  message:1  the user said in turn 1: "Pay"' in names
    assert len(names) == 3
    for line in names:
        assert run("why", *of, "--without", line.split()[0]).code == 0
    wrong = run("why", "--without", "messages:1")
    assert "saywhy why --refs lists what a reply has of it" in wrong.err


def test_a_failed_call_is_told(run: Run, folder: Path) -> None:
    """`--error` says what went wrong, not only where."""
    (folder / "bank_closed.py").write_text(
        "def pay(args):\n    raise RuntimeError('the bank is closed')\nfunctions = {'pay': pay}\n"
    )
    call = {"id": "call", "type": "CALL-TOOL", "tool": "pay", "args": {}, "variable": "r"}
    flows = write(folder / "f.json", [{"id": "pay", "name": "Pay", "steps": [call]}])
    local = {"type": "local", "function": "pay"}
    tool = {"id": "pay", "name": "pay", "description": "pays", "implementation": local}
    tools = write(folder / "t.json", [tool | {"parameters": {"type": "object"}}])
    run("chat", flows, tools, "--functions", "bank_closed:functions", stdin="Pay\n")
    done = run("why", "--error")
    assert done.code == 0, done.err
    assert done.lines[0].startswith('CALL-TOOL "call" of Pay failed: the bank is closed (turn 1)')


def test_a_warning_is_told(run: Run, folder: Path) -> None:
    """Where nothing failed, the newest step that went on all the same, with what it met."""
    steps = [{"id": "a", "type": "SET", "variable": "fee", "value": "cargo.plan.fee"}]
    flows = write(folder / "f.json", [{"id": "sum", "name": "Sum", "steps": steps}])
    run("chat", flows, stdin="Sum\n")
    done = run("why", "--error")
    assert done.code == 0, done.err
    assert done.lines[0].startswith('SET "a" of Sum (turn 1)')
    assert done.lines[1].startswith("  with a warning: ")
    assert "TypeError: cannot read property 'fee' of undefined" in " ".join(done.out.split())


@pytest.mark.usefixtures("played")
def test_options_of_a_run_need_one(run: Run) -> None:
    """What only --without takes is not passed over in silence."""
    done = run("why", "--model", "scripted:m.json")
    assert done.code == 2
    assert "nothing is run here" in done.err
    assert "add --without REF" in done.err


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize("option", ["variable", "part", "argument", "decision", "missing"])
def test_an_empty_question(run: Run, option: str) -> None:
    """It asks about nothing, and is not taken for an option that was left out."""
    done = run("why", f"--{option}", "")
    assert (done.code, done.out) == (2, "")
    assert f"saywhy: --{option} is empty: what it asks about is not said\n" in done.err


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize("words", [["why", "--variable"], ["why-not"], ["forget"]])
def test_a_long_argument_is_not_repeated_in_full(run: Run, words: list[str]) -> None:
    """An error tells its beginning, and what is wrong with it."""
    done = run(*words, "x" * 100_000)
    assert done.code in (1, 2)
    assert "xxxxx" in done.err
    assert len(done.err) < 2000
