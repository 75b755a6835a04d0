"""Promise: `saywhy replay` needs a store alone; its exit code tells whether anything differs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from saywhy import Agent, ScriptedModel, SqliteStore
from saywhy.cli.main import main
from tests.runtime.replay.conftest import PAYING, Outside, engine_of, flow_of, say

CHANGED = {**PAYING, "steps": [*PAYING["steps"][:3], say("tell", "It costs {{fee.value}}.")]}


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two conversations, in the current folder."""
    path = tmp_path / "saywhy.db"
    async with engine_of(Outside(), store=SqliteStore(path)) as engine:
        for name in ("c1", "c2"):
            for text in ("Pay", "Bob", "80"):
                await engine.take_turn(name, text)
    monkeypatch.chdir(tmp_path)
    return path


def flows(path: Path, flow: dict[str, Any]) -> str:
    file = path.parent / "new.flows.json"
    file.write_text(json.dumps([flow]), encoding="utf-8")
    return str(file)


def test_one_conversation(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The outcome with how much was compared, and the exit code 0."""
    assert main(["replay", "c1"]) == 0
    assert "c1: same (3 turns, " in capsys.readouterr().out


def test_all_conversations_and_their_count(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bounded by --limit, with a count in the end."""
    assert main(["replay"]) == 0
    told = capsys.readouterr().out
    assert "c2: same" in told
    assert "2 conversations: 2 the same, 0 different, 0 not replayable" in told
    assert main(["replay", "--limit", "1"]) == 0
    captured = capsys.readouterr()
    assert "1 conversation: 1 the same" in captured.out
    assert "these are the first 1" in captured.err


def test_changed_flows(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first difference with its cause, and the exit code 1."""
    assert main(["replay", "c1", "--flows", flows(store, CHANGED)]) == 1
    told = capsys.readouterr().out
    assert "c1: different" in told
    assert "because   the flow was changed: SAY tell" in told
    assert "reply is  It costs 8." in told


def test_json(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One conversation is an object, all of them are a list with counts."""
    assert main(["replay", "c1", "--json", "--flows", flows(store, CHANGED)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["outcome"] == "different"
    assert told["difference"]["step"] == "Pay/tell"
    assert main(["replay", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["different"], told["notReplayable"]) == (2, 0, 0)


def test_without_a_piece(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`why --without` runs the turn again, and refuses what cannot be taken away."""
    assert main(["why", "--session", "c1", "--without", "message:3"]) == 0
    assert "without message:3, turn 3: another reply" in capsys.readouterr().out
    assert main(["why", "--session", "c1", "--without", "message:3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["changed"] is True
    assert told["replyWithout"] == "How much?"
    assert main(["why", "--session", "c1", "--without", "decision:Pay/x"]) == 2
    assert "cannot be taken away" in capsys.readouterr().err


def test_a_conversation_nobody_knows(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The near name is told."""
    assert main(["replay", "c3"]) == 2
    assert "c3" in capsys.readouterr().err


def test_one_that_does_not_say_what_it_ran_with(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error says what to do then."""

    def nothing(document: Any) -> str:
        return ""

    monkeypatch.setattr("saywhy.cli.replay.setting_in", nothing)
    assert main(["replay", "c1"]) == 2
    told = capsys.readouterr().err
    assert "what c1 ran with is not in this store" in told
    assert "engine.replay" in told


def test_a_trace_file_cannot_be_run_again(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused, and no other conversation is answered about in its place."""
    assert main(["export", "--session", "c1", "--out", "c1.jsonl"]) == 0
    capsys.readouterr()
    assert main(["why", "--file", "c1.jsonl", "--without", "message:3"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "a trace file has not what it ran with" in captured.err
    assert main(["why", "--file", "c1.jsonl", "--store", str(store)]) == 2
    assert "leave --session and --store out" in capsys.readouterr().err


def test_what_cannot_be_run_to_its_end_proves_nothing_of_new_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A masked answer stops the run: with --flows that is no success, without them it is told."""
    asks = {"id": "n", "type": "SAY-GET", "variable": "number", "value": "Number?", "pii": True}
    flow = {**PAYING, "steps": [asks, say("tell", "Noted, {{number.length}} digits.")]}
    monkeypatch.chdir(tmp_path)

    async def talk() -> None:
        async with engine_of(Outside(), flows=[flow], store=SqliteStore("saywhy.db")) as engine:
            for text in ("Pay", "4417992"):
                await engine.take_turn("c1", text)

    asyncio.run(talk())
    assert main(["replay", "c1"]) == 0
    assert "c1: not replayable" in capsys.readouterr().out
    assert main(["replay", "c1", "--flows", flows(tmp_path / "saywhy.db", flow)]) == 1


def test_nothing_to_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store without conversations, a folder, and no store at all are no success."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SAYWHY_STORE", raising=False)
    assert main(["replay"]) == 2
    assert "there is no store saywhy.db" in capsys.readouterr().err
    assert main(["replay", "--store", str(tmp_path)]) == 2
    assert f"{tmp_path} is a folder" in capsys.readouterr().err

    async def begun() -> None:
        async with SqliteStore("saywhy.db"):
            pass

    asyncio.run(begun())
    assert main(["replay"]) == 2
    assert "there is no conversation in this store" in capsys.readouterr().err


def test_a_model_for_what_other_flows_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is asked where a request is another one; it needs --flows, and a name that there is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.json").write_text('[{"reply": "9"}]', encoding="utf-8")
    (tmp_path / "crew.py").write_text(
        "from saywhy import Agent, ScriptedModel\n"
        'agents = [Agent(ScriptedModel([{"reply": "18"}]), name="clerk")]\n',
        encoding="utf-8",
    )
    step = {"id": "help", "type": "AGENT", "agent": "clerk", "variable": "told"}
    was = flow_of({**step, "value": "{{2 * 9}}"}, say("tell", "It is {{told}}."))
    new = flow_of({**step, "value": "{{3 * 3}}"}, say("tell", "It is {{told}}."))

    async def talked() -> None:
        clerk = Agent(ScriptedModel([{"reply": "18"}]), name="clerk")
        store = SqliteStore(tmp_path / "saywhy.db")
        async with engine_of(Outside(), [was], agents=[clerk], store=store) as engine:
            await engine.take_turn("c1", "Pay")

    asyncio.run(talked())
    given = ["replay", "c1", "--agents", "crew.py:agents"]
    assert main([*given, "--model", "scripted:answers.json"]) == 2
    assert "add --flows FILE, or leave it out" in capsys.readouterr().err
    others = ["--flows", flows(tmp_path / "saywhy.db", new)]
    assert main([*given, *others, "--model", "scripted:gone.json"]) == 2
    assert "--model scripted:gone.json" in capsys.readouterr().err
    assert main([*given, *others, "--model", "scripted:answers.json"]) == 1
    told = capsys.readouterr().out
    assert "reply is  It is 9." in told
    assert "assumed" not in told
    assert main([*given, *others]) == 1
    assert "assumed: model:" in capsys.readouterr().out
