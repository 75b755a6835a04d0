"""`saywhy narrative`: which conversation, in which form, how long, in which language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def played(run: Run, pay: str) -> None:
    """A finished conversation `first`, and a newer one `second` that waits for an answer."""
    run("chat", pay, "--no-guidance", "--session", "first", stdin="Pay\n80\nAnn\n")
    run("chat", pay, "--no-guidance", "--session", "second", stdin="Pay\n20\n")


@pytest.mark.usefixtures("played")
def test_the_newest_conversation(run: Run) -> None:
    """Without options: every turn of the newest conversation, which is named beside it."""
    done = run("narrative")
    assert (done.code, done.err) == (0, "conversation second\n")
    told = done.out.splitlines()
    assert told[0].startswith("Turn 1 (")
    assert '  1.1  The user said "Pay".' in told
    assert '  2.2  The answer is amount = "20".' in told
    assert told[-1] == '  Reply: "No fee.⏎⏎Who gets it?"'


@pytest.mark.usefixtures("played")
def test_one_turn_as_markdown_in_spanish(run: Run) -> None:
    """--session, --turn, --format and --language choose."""
    done = run(
        "narrative", "--session", "first", "--turn", "2", "--format", "markdown", "--language", "es"
    )
    assert done.err == ""
    assert done.out.startswith("### Turno 2 (")
    assert '- **2.1** El usuario dijo "80".' in done.out


@pytest.mark.usefixtures("played")
def test_json_in_two_ways(run: Run) -> None:
    """--json is --format json."""
    done = run("narrative", "--session", "first", "--json")
    assert done.out == run("narrative", "--session", "first", "--format", "json").out
    assert [turn["turn"] for turn in json.loads(done.out)] == [1, 2, 3]
    whole = run("narrative", "--session", "first", "--json", "--all")
    assert json.loads(whole.out) == json.loads(done.out)


@pytest.mark.usefixtures("played")
def test_a_budget(run: Run) -> None:
    """What does not fit is left out, and it says so; a budget that is too small is refused."""
    done = run("narrative", "--session", "first", "--budget", "60")
    assert done.out.startswith("(Turn")
    assert len(done.out.encode()) <= 240
    refused = run("narrative", "--session", "first", "--budget", "3")
    assert refused.code != 0
    assert "a narrative needs a budget of 50 tokens at least, not 3" in refused.err


@pytest.mark.usefixtures("played")
def test_everything(run: Run) -> None:
    """--all is written as it is told, and goes with no limit."""
    done = run("narrative", "--session", "first", "--all")
    assert done.out == run("narrative", "--session", "first").out
    refused = run("narrative", "--all", "--turn", "1")
    assert "--all leaves nothing out" in refused.err


@pytest.mark.usefixtures("played")
def test_a_trace_file(run: Run, tmp_path: Path) -> None:
    """--file reads an exported record, without any store."""
    file = str(tmp_path / "first.trace.jsonl")
    run("export", "--session", "first", "--out", file)
    assert run("narrative", "--file", file).out == run("narrative", "--session", "first").out


@pytest.mark.usefixtures("played")
def test_what_there_is_not(run: Run) -> None:
    """A turn and a language that are not there are refused, with those that are."""
    done = run("narrative", "--session", "first", "--turn", "9")
    assert "turn 9 is not in this trace" in done.err
    assert "it holds turns 1 to 3" in done.err
    assert 'there is no narrative in "xx"' in run("narrative", "--language", "xx").err
