"""A form whose program is killed in the midst of it: the draft, the question and the hold stay."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from saywhy.cli.demo.child import ChatProcess
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.trace.trace import Trace
from tests.journeys.test_kill import Journey, comparable

WORDS = (
    "Transfer",
    "80 dollars to Ann, 2025550143",  # the number fits two inputs
    "the reference",
    "hm, why do you ask?",
    "what for?",  # yielded: the program answers
    "202 555 0199",
    "4711",
    "no, the amount is 90",
    "yes",
)
FINAL = "Sent 90 to Ann: T-1."
SESSION = "form"


class FormJourney(Journey):
    """The conversation with the form in one folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        files = ["form.flows.yaml", "trip.tools.yaml"]
        program = [sys.executable, "-m", "saywhy", "chat", *files, "--functions", "trip_host"]
        options = ["--no-guidance", "--store", str(self.store), "--session", SESSION]
        self.command = [*program, *options]

    def say(self, chat: ChatProcess, number: int) -> None:
        said = chat.say(WORDS[number - 1], f"m-{number}")
        assert said["error"] is None, said
        self.replies.append(said["response"])

    def trace(self) -> Trace:
        async def read() -> Trace:
            async with Engine(validate_on_init=False, store=SqliteStore(self.store)) as engine:
                return await engine.trace(SESSION)

        return asyncio.run(read())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> FormJourney:
    """The conversation as it goes when nothing happens."""
    journey = FormJourney(tmp_path_factory.mktemp("undisturbed"))
    with journey.chat() as chat:
        for number in range(1, len(WORDS) + 1):
            journey.say(chat, number)
    return journey


def test_the_conversation(undisturbed: FormJourney) -> None:
    """A tie, an answer nobody can read, one that is yielded, a correction; one charge."""
    replies: list[Any] = undisturbed.replies
    assert replies[1] == "Is 2025550143 the phone or the reference?"
    assert replies[3] == "I did not understand that.\n\nTheir phone?"
    assert replies[4] is None
    assert replies[5].startswith("Resuming Send money\n\nSo far: amount 80 USD, payee Ann")
    assert replies[7] == "90 dollars to Ann, +12025550199, 2025550143.\n\nShall I send it?"
    assert replies[-1] == FINAL
    assert len(undisturbed.charges()) == 1


def test_killed_in_mid_form(undisturbed: FormJourney, tmp_path: Path) -> None:
    """Killed at a tie, behind a miss, once it has yielded, in the review: nothing is different."""
    journey = FormJourney(tmp_path)
    rests = (2, 4, 5, 8, len(WORDS))
    for first, last in zip((0, *rests), rests, strict=False):
        with journey.chat() as chat:
            for number in range(first + 1, last + 1):
                journey.say(chat, number)
            chat.kill()
    assert journey.replies == undisturbed.replies
    assert journey.charges() == undisturbed.charges()
    assert comparable(journey.trace()) == comparable(undisturbed.trace())


def test_no_file_holds_the_code(undisturbed: FormJourney) -> None:
    """What was sensitive stands nowhere once the conversation is over."""
    held = b"".join(path.read_bytes() for path in undisturbed.store.parent.glob("journey.db*"))
    assert b"Transfer" in held
    assert b"4711" not in held


def test_killed_while_it_hands_over(tmp_path: Path) -> None:
    """Nobody knows whether the submission acted: the form is held, and it is not made again."""
    journey = FormJourney(tmp_path)
    with journey.chat(HOLD="charge") as chat:
        for number in range(1, len(WORDS)):
            journey.say(chat, number)
        chat.send(WORDS[-1], f"m-{len(WORDS)}")
        journey.wait_until_held("charge")
        chat.kill()
    with journey.chat() as chat:
        again = chat.say(WORDS[-1], f"m-{len(WORDS)}")
        more = chat.say("yes", "m-more")
    assert again["repeated"]
    assert "it is not known yet whether it happened" in again["response"]
    assert "It is not known yet" in more["response"]
    assert len(journey.charges()) == 1
    stands = [commit.facts["form"] for commit in journey.trace() if "form" in commit.facts]
    assert (stands[-1]["completion"], stands[-1]["recovery"]) == ("open", "unknown-action hold")
