"""`saywhy agent`: conversations that are kept, in a file of the session or in one of the user's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import Run, write
from .conftest import ASK, script


def test_a_session(run: Run) -> None:
    """--session keeps what was said between two starts of the program."""
    options = ["agent", "shop.py", "--session", "kept.json", "--script"]
    run(*options, script("Hello Ann."), "--message", "I am Ann")
    done = run(*options, script("You are Ann."), stdin="Who am I?\n")
    assert done.out == "You are Ann.\n"
    assert done.err == "the conversation with shop goes on; the last answer was:\nHello Ann.\n"
    kept = json.loads(Path("kept.json").read_text(encoding="utf-8"))
    words = [one["content"] for one in kept["history"] if one["role"] == "user"]
    assert words == ["I am Ann", "Who am I?"]
    assert [path.name for path in Path().glob("*.part")] == []


def test_a_question_is_kept(run: Run) -> None:
    """A run that asks a person rests in the file; the next start takes the answer."""
    options = ["agent", "shop.py", "--session", "kept.json", "--script"]
    done = run(*options, script(ASK), "--message", "send it")
    assert (done.code, done.out, done.err) == (0, "? Which town?\n", "")
    done = run(*options, script("To Rome, then."), stdin="/why\nRome\n")
    assert done.err == "the conversation with shop goes on; it asks:\nWhich town?\n"
    assert done.out.startswith("Turn 1 (")
    assert done.out.endswith("To Rome, then.\n")


def test_a_failed_run_is_not_kept(run: Run) -> None:
    """A run that fails leaves the file as it was."""
    options = ["agent", "shop.py", "--session", "kept.json", "--script"]
    run(*options, script("Hello."), "--message", "hi")
    before = Path("kept.json").read_bytes()
    assert run(*options, script({"raise": "full"}), "--message", "again").code == 1
    assert Path("kept.json").read_bytes() == before


def test_save_load_and_reset(run: Run) -> None:
    """/save keeps a conversation, /reset forgets it, /load takes it up again."""
    answers = script("Hello Ann.", "Who?", "Ann.")
    lines = "I am Ann\n/save ann.json\n/reset\nWho am I?\n/load ann.json\nWho am I?\n"
    done = run("agent", "shop.py", "--script", answers, stdin=lines)
    assert done.out.splitlines() == [
        *("Hello Ann.", "kept in ann.json", "everything said is forgotten", "Who?"),
        *("the conversation in ann.json goes on", "Ann."),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "bad.json: this checkpoint is no JSON of ours: "),
        ("{}", "bad.json: this is no checkpoint of an agent: agent.checkpoint() makes one"),
    ],
)
def test_files_that_are_none(run: Run, folder: Path, text: str, told: str) -> None:
    """A file that is no conversation is told, and the conversation stays as it is."""
    write(folder / "bad.json", text)
    done = run("agent", "shop.py", "--script", script("Hello."), stdin="/load bad.json\nhi\n")
    assert done.out == "Hello.\n"
    assert told in done.err
    done = run("agent", "shop.py", "--script", script("x"), "--session", "bad.json", stdin="hi\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"saywhy: {told}")
    assert (folder / "bad.json").read_text(encoding="utf-8") == text


def test_a_file_of_another_agent(run: Run) -> None:
    """What another agent said is not taken for this one's."""
    run("agent", "shop.py:call", "--session", "kept.json", "--message", "hi")
    done = run("agent", "shop.py", "--script", script("x"), "--session", "kept.json", stdin="hi\n")
    assert done.code == 2
    assert 'this checkpoint is of the agent "call", and this one is "shop"' in done.err
