"""The demo: it runs in an empty folder, charges once, and its last reply can be explained."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from saywhy import served_all
from saywhy.cli.demo.clerk import clerk
from saywhy.cli.demo.play import PAUSE_SECONDS

LONGEST_SECONDS = 45
"""A minute, less what a slow machine may add."""
PLACE = re.compile(r"payment\.flows\.json:\d+$")


def saywhy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder, with a home of its own."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    environment.pop("SAYWHY_STORE", None)
    return subprocess.run(
        [sys.executable, "-m", "saywhy", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "empty"
    path.mkdir()
    return path


@pytest.fixture(scope="module")
def played(folder: Path) -> str:
    """What the demo printed."""
    done = saywhy(folder, "demo")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def after(text: str, heading: str) -> str:
    return text.partition(heading)[2]


def test_the_story(played: str) -> None:
    """Asked, interrupted, corrected, killed, taken up, confirmed twice, charged once."""
    for earlier, later in itertools.pairwise(STORY):
        assert later in after(played, earlier), f"{later!r} does not come after {earlier!r}"


STORY = (
    "you:     pay\nsaywhy:  Who gets the money?",
    "you:     Ann\nsaywhy:  How much?",
    "you:     fees\nsaywhy:  Switched to our fees",
    "Up to 50 it costs 2, above that a tenth.",
    "Resuming pay somebody",
    "How much?",
    "you:     60\nsaywhy:  Sending 60 costs 6, a tenth of it.",
    "Send 60 to Ann, 66 in all? Say confirm.",
    "you:     no, the amount is 80\nsaywhy:  Sending 80 costs 8, a tenth of it.",
    "Send 80 to Ann, 88 in all? Say confirm.",
    "kill -9: the program is gone",
    "saywhy:  Send 80 to Ann, 88 in all? Say confirm.",
    "you:     confirm\nsaywhy:  Sent 80 to Ann, receipt R-8000.",
    "you:     confirm\nsaywhy:  Sent 80 to Ann, receipt R-8000.",
    "the same reply, nothing done again",
    "Charges in the ledger: 1",
    "Why was that said?",
    "An agent: a model in a loop with tools",
    "you:     Did R-8000 arrive?\nsaywhy:  Ann has the 80. The fee was 8.",
    "you:     why a fee?\nsaywhy:  It was more than 50, and above that the fee is a tenth.",
    "What the model was handed can be shown, and is verified.",
    "Ask yourself: saywhy why",
)


async def test_the_clerk() -> None:
    """The model is handed the rule behind the id that the tool gave, and asked only for words."""
    agent = clerk()
    talk = agent.conversation()
    found = await talk.run("Did R-8000 arrive?")
    assert found.follow_ups[0].params == {"rule": "fee_7c1e90b2"}
    await talk.run("why a fee?")
    [served] = served_all(talk.trace)
    assert served.verdict == "verified"
    assert served.view is not None
    assert "above that a tenth" in served.view.messages[-1]["content"]


def test_it_is_plain_text_and_explains_each_line(played: str) -> None:
    """Without a terminal there are no escape codes; each thing said has a note."""
    assert "\x1b" not in played
    assert played.count("         . ") >= 7


def test_it_stays_under_a_minute_at_a_terminal(played: str) -> None:
    """There each line waits to be read; all of them together still take less than a minute."""
    begun = [line for line in played.splitlines() if line and not line.startswith("         ")]
    noted = [line for line in played.splitlines() if line.startswith("         . ")]
    assert (len(begun) + len(noted)) * PAUSE_SECONDS < LONGEST_SECONDS


def test_nothing_is_left_behind(folder: Path, played: str) -> None:
    """The folder is as empty as before."""
    assert played
    assert list(folder.iterdir()) == []


def check_explanation(text: str) -> None:
    """The condition with its values, the tool result, the user's words: each with its line."""
    assert '"Sent 80 to Ann, receipt R-8000.' in text
    for cause in (
        'CASE "done" of Pay chose `fee > 5` (fee = 8)',
        'fee = 8 is the result of tool fee-for({"amount": 80})',
        'amount = "80" comes from what the user said in turn 5: "no, the amount',
        'the user said in turn 2: "Ann"',
    ):
        (line,) = [line for line in text.splitlines() if cause in line]
        assert PLACE.search(line), line
    assert 'a correction: it took the place of "60"' in text


def test_why_in_the_demo(played: str) -> None:
    """The demo ends with the reasons of its last reply."""
    check_explanation(after(played, "Why was that said?"))


@pytest.mark.usefixtures("played")
def test_why_after_the_demo(folder: Path) -> None:
    """So does `saywhy why`, run afterwards in the same folder."""
    done = saywhy(folder, "why")
    assert done.returncode == 0, done.stderr
    assert "this is the last demo's conversation" in done.stderr
    check_explanation(done.stdout)


def test_again_in_a_store(folder: Path, played: str) -> None:
    """--store keeps the conversation; a second run tells the same story under another name."""
    elsewhere = folder.parent / "kept"
    elsewhere.mkdir()
    first = saywhy(elsewhere, "demo", "--store", "kept.db")
    second = saywhy(elsewhere, "demo", "--store", "kept.db")
    assert first.stdout == second.stdout
    assert first.stdout.startswith(played.partition("Ask yourself")[0])
    assert (elsewhere / "kept.db").exists()
    for session in ("demo", "demo-2"):
        done = saywhy(elsewhere, "why", "--store", "kept.db", "--session", session)
        check_explanation(done.stdout)
