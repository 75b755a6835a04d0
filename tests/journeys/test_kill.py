"""A conversation whose program is killed: it goes on where it was, and its record is the same."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from saywhy.cli.demo.child import ChatProcess
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.trace.trace import Trace
from saywhy.values import dumps, loads_raw

CASES = Path(__file__).parent.parent / "cases" / "journeys"
WORDS = ("Trip", "Bern", "Rome", "two", "2", "yes", "3", "Ann", "help", "yes")
FINAL = "Booked for Ann: 335, ticket T-1."
SESSION = "journey"
TOOL_SECONDS = 5
"""How long a tool may take: nobody waits for its end."""
TIME = 1_600_000_000_000
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Journey:
    """The conversation in one folder, as a chat of its own at a time."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "journey.db"
        self.till = folder / "till.jsonl"
        self.replies: list[str] = []
        (folder / "cargo.json").write_text('{"bagPrice": 5}', encoding="utf-8")
        files = ["trip.flows.yaml", "trip.tools.yaml"]
        program = [sys.executable, "-m", "saywhy", "chat", *files, "--functions", "trip_host"]
        options = ["--no-guidance", "--store", str(self.store), "--session", SESSION]
        self.command = [*program, *options, "--cargo", str(folder / "cargo.json")]

    def chat(self, **environment: str) -> ChatProcess:
        return ChatProcess(self.command, CASES, {"TILL": str(self.till), **environment})

    def killed_in(self, tool: str, turn: int) -> None:
        """Play up to a turn, and kill the chat in the midst of a tool's work."""
        with self.chat(HOLD=tool) as chat:
            for number in range(1, turn):
                self.say(chat, number)
            chat.send(WORDS[turn - 1], f"m-{turn}")
            self.wait_until_held(tool)
            chat.kill()

    def wait_until_held(self, tool: str) -> None:
        """Come back when the tool is at work."""
        deadline = time.monotonic() + 30
        while not self.till.with_name("held").exists():
            assert time.monotonic() < deadline, f"{tool} was not called"
            time.sleep(0.01)

    def say(self, chat: ChatProcess, number: int) -> None:
        """The words of one turn, counted from 1."""
        said = chat.say(WORDS[number - 1], f"m-{number}")
        assert said["error"] is None, said
        self.replies.append(said["response"])

    def charges(self) -> list[str]:
        """What was charged, under which key; its mark is another one for each journey."""
        charged = self.till.read_text(encoding="utf-8").splitlines()
        return [re.sub(r"(:\d+:\d+):[0-9a-f]{12}\b", r"\1", each) for each in charged]

    def trace(self) -> Trace:
        return asyncio.run(trace_of(self.store))


async def trace_of(store: Path) -> Trace:
    async with Engine(validate_on_init=False, store=SqliteStore(store)) as engine:
        return await engine.trace(SESSION)


def comparable(trace: Trace) -> list[Any]:
    """What was recorded and said, without times and made-up ids."""
    documents = [loads_raw(dumps(one)) for one in (*trace, *trace.messages())]
    return [timeless(document) for document in documents]


def timeless(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: timeless(value) for key, value in tree.items() if key != "at"}
    if isinstance(tree, list):
        return [timeless(value) for value in tree]
    if isinstance(tree, str):
        return UUID.sub("(id)", tree)
    return "(time)" if isinstance(tree, int | float) and tree > TIME else tree


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    """The conversation as it goes when nothing happens."""
    journey = Journey(tmp_path_factory.mktemp("undisturbed"))
    with journey.chat() as chat:
        for number in range(1, len(WORDS) + 1):
            journey.say(chat, number)
    return journey


def test_the_conversation(undisturbed: Journey) -> None:
    """Ten turns, with a refused answer, a sub-flow, a command, two tools; one charge."""
    assert undisturbed.replies[-1] == FINAL
    assert len(undisturbed.charges()) == 1
    assert len({commit.kind for commit in undisturbed.trace()}) >= 6


@pytest.mark.parametrize("rest", range(1, len(WORDS) + 1))
def test_killed_at_one_rest(undisturbed: Journey, tmp_path: Path, rest: int) -> None:
    """Killed once while it waits: the same words, the same record, one charge."""
    journey = Journey(tmp_path)
    with journey.chat() as chat:
        for number in range(1, rest + 1):
            journey.say(chat, number)
        chat.kill()
    with journey.chat() as chat:
        assert chat.start["resumed"]
        assert chat.start["reply"] == journey.replies[-1]
        for number in range(rest + 1, len(WORDS) + 1):
            journey.say(chat, number)
    same_journey(journey, undisturbed)


def test_killed_at_every_rest(undisturbed: Journey, tmp_path: Path) -> None:
    """Killed after every single turn: still the same words, the same record, one charge."""
    journey = Journey(tmp_path)
    for number in range(1, len(WORDS) + 1):
        with journey.chat() as chat:
            journey.say(chat, number)
            chat.kill()
    same_journey(journey, undisturbed)


def test_killed_in_a_call_that_only_reads(undisturbed: Journey, tmp_path: Path) -> None:
    """The turn goes on at the call, which is made again; the message needs not be sent again."""
    journey = Journey(tmp_path)
    journey.killed_in("price", turn=3)
    with journey.chat() as chat:
        assert chat.start["reply"] == undisturbed.replies[2]
        journey.replies.append(chat.start["reply"])
        for number in range(4, len(WORDS) + 1):
            journey.say(chat, number)
    assert journey.replies == undisturbed.replies
    assert len(journey.charges()) == 1


def test_killed_in_a_call_that_acts_once(tmp_path: Path) -> None:
    """Nobody knows whether the charge took place, so it is not made again, and the user is told."""
    journey = Journey(tmp_path)
    journey.killed_in("charge", turn=len(WORDS))
    with journey.chat() as chat:
        again = chat.say(WORDS[-1], f"m-{len(WORDS)}")
    assert again["repeated"]
    assert "it is not known yet whether it happened" in again["response"]
    assert len(journey.charges()) == 1


def test_interrupted_in_a_call(undisturbed: Journey, tmp_path: Path) -> None:
    """Ctrl-C in the middle of a turn ends the program cleanly; the turn goes on next time."""
    journey = Journey(tmp_path)
    process = subprocess.Popen(
        journey.command,
        cwd=CASES,
        env={**os.environ, "TILL": str(journey.till), "HOLD": "price"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        process.stdin.write("".join(f"{word}\n" for word in WORDS[:3]))
        process.stdin.flush()
        journey.wait_until_held("price")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert time.monotonic() - began < TOOL_SECONDS - 1
    assert process.returncode == 0
    assert told.endswith(f"left; the conversation {SESSION} is kept in {journey.store}\n")
    assert "Traceback" not in told
    with journey.chat() as chat:
        assert chat.start["reply"] == undisturbed.replies[2]


def same_journey(journey: Journey, undisturbed: Journey) -> None:
    assert journey.replies == undisturbed.replies
    assert journey.charges() == undisturbed.charges()
    assert comparable(journey.trace()) == comparable(undisturbed.trace())


def test_the_comparison_can_fail(undisturbed: Journey) -> None:
    """Two records that differ in one value are told apart; times and ids are not compared."""
    one = [{"at": 1.5, "value": {"a": 1}, "tx": "0b7e3c1a-1111-4222-8333-abcdefabcdef"}]
    later = [{"at": 2.5, "value": {"a": 1}, "tx": "1b7e3c1a-1111-4222-8333-abcdefabcdef"}]
    assert timeless(one) == timeless(later)
    assert timeless(one) != timeless([{**one[0], "value": {"a": 2}}])
    recorded = comparable(undisturbed.trace())
    assert recorded != recorded[:-1]
