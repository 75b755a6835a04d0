"""A program killed in a payment, and a payment that has to be approved: people end the waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from saywhy.trace.causes.why import Reply, why
from saywhy.trace.narrative.story import narrative
from tests.journeys.test_kill import CASES, FINAL, SESSION, WORDS, Journey

FILES = ("trip.flows.yaml", "trip.tools.yaml")
HOST = ("--functions", "trip_host")


def saywhy(journey: Journey, *arguments: str, fails: bool = False) -> str:
    """What the program writes; with `fails` what it complains about."""
    done = subprocess.run(
        [sys.executable, "-m", "saywhy", *arguments, "--store", str(journey.store)],
        cwd=CASES,
        env={**os.environ, "TILL": str(journey.till)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) is fails, done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture
def killed(tmp_path: Path) -> Journey:
    """The program was killed between the charge and its answer, and started again."""
    journey = Journey(tmp_path)
    journey.killed_in("charge", turn=len(WORDS))
    with journey.chat() as chat:
        again = chat.say(WORDS[-1], f"m-{len(WORDS)}")
        assert "it is not known yet whether it happened" in again["response"]
        more = chat.say("is it booked?", "m-later")
        assert more["response"].startswith("It is not known yet whether Charge happened.")
    return journey


def unknown(journey: Journey) -> list[dict[str, Any]]:
    return json.loads(saywhy(journey, "unknown", "list", "--json"))


def test_killed_in_a_payment_and_settled(killed: Journey) -> None:
    """Somebody looks it up: the conversation ends with the right words, and one charge."""
    (one,) = unknown(killed)
    charge = json.loads(killed.till.read_text(encoding="utf-8"))
    assert (one["tool"], one["args"]["name"], one["id"]) == ("Charge", "Ann", charge["key"])
    listed = saywhy(killed, "unknown", "list")
    assert f"key {charge['key']}" in listed
    assert 'Charge({"name": "Ann", "total": 335})' in listed

    ticket = '{"number": "T-1"}'
    settle = ("unknown", "settle", SESSION, *FILES, *HOST, "--done", ticket, "--by", "bob")
    assert FINAL in saywhy(killed, *settle)
    assert unknown(killed) == []
    assert len(killed.charges()) == 1
    trace = killed.trace()
    assert "Of Charge: it was done, said bob at " in narrative(trace)
    assert "it was done, said bob at " in why(trace, Reply()).text(200)
    assert "was decided before by bob" in saywhy(
        killed, "unknown", "settle", SESSION, "--call", one["id"], "--not-done", fails=True
    )


def test_settled_without_the_flows(killed: Journey) -> None:
    """Noted at once, the conversation goes on with its next turn."""
    saywhy(killed, "unknown", "settle", SESSION, "--done", '{"number": "T-9"}')
    with killed.chat() as chat:
        assert str(chat.start["reply"]).startswith("Booked for Ann: 335, ticket T-9.")
    assert len(killed.charges()) == 1


def test_settled_as_not_done(killed: Journey) -> None:
    """The charge is made again, under the key of the first: the till can tell it is one act."""
    saywhy(killed, "unknown", "settle", SESSION, *FILES, *HOST, "--not-done")
    charges = [json.loads(line) for line in killed.till.read_text(encoding="utf-8").splitlines()]
    assert len(charges) == 2
    assert len({charge["key"] for charge in charges}) == 1


def test_words_that_are_no_json(killed: Journey) -> None:
    """The message says how it is written."""
    told = saywhy(killed, "unknown", "settle", SESSION, "--done", "receipt 7", fails=True)
    assert "--done receipt 7 is no JSON" in told
    assert """--done '"receipt 7"'""" in told


@pytest.fixture
def approving(tmp_path: Path) -> Journey:
    """The same trip, where a charge has to be approved."""
    tools = (CASES / "trip.tools.yaml").read_text(encoding="utf-8")
    changed = tools.replace("  effect: once\n", "  effect: once\n  approval: true\n")
    assert changed != tools
    tools_file = tmp_path / "tools.yaml"
    tools_file.write_text(changed, encoding="utf-8")
    journey = Journey(tmp_path)
    journey.command = [str(tools_file) if one == FILES[1] else one for one in journey.command]
    with journey.chat() as chat:
        for number in range(1, len(WORDS) + 1):
            journey.say(chat, number)
        assert journey.replies[-1] == "Charge has to be approved first. I am waiting for that."
        chat.kill()
    return journey


def test_approved_over_a_restart(approving: Journey, tmp_path: Path) -> None:
    """Killed while it waits; approved by another program; charged once."""
    assert not approving.till.exists()
    (one,) = json.loads(saywhy(approving, "approvals", "list", "--json"))
    assert one["args"] == {"name": "Ann", "total": 335}
    approve = ("approvals", "approve", SESSION, one["id"])
    files = (FILES[0], str(tmp_path / "tools.yaml"), *HOST)
    told = saywhy(approving, *approve, *files, "--digest", "00", fails=True)
    assert "is for other arguments than were shown" in told
    said = saywhy(approving, *approve, *files, "--digest", one["digest"], "--by", "eve")
    assert FINAL in said
    assert len(approving.charges()) == 1
    assert "was decided before by eve" in saywhy(approving, *approve, *files, fails=True)
    assert "approved by eve at " in why(approving.trace(), Reply()).text(200)


def test_denied_by_another_program(approving: Journey, tmp_path: Path) -> None:
    """Nothing is charged, and the user is told."""
    (one,) = json.loads(saywhy(approving, "approvals", "list", "--json"))
    files = (FILES[0], str(tmp_path / "tools.yaml"), *HOST)
    deny = ("approvals", "deny", SESSION, one["id"], *files, "--reason", "too far")
    assert "not approved: too far" in saywhy(approving, *deny)
    assert not approving.till.exists()
    assert "nothing waits to be approved" in saywhy(approving, "approvals", "list")
