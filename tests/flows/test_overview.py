"""What users are told about the flow they are in."""

from __future__ import annotations

import pytest

from saywhy.chart.cursor import Cursor
from saywhy.chart.machine import open_frame
from saywhy.chart.outcome import Call
from saywhy.flows.offers import Offer
from saywhy.flows.overview import MAX_LISTED, help_text, status_text, steps_left
from saywhy.flows.world import Options, World
from saywhy.values import freeze
from tests.flows.conftest import ask, engine_of, flow, put, run, say, talk, world_of

MAIN = flow(run("Sub"), say("a"), prompt="The main thing", prompt_es="Lo principal")
SUB = flow(ask("x"), say("b"), {"type": "SAY", "value": "c"}, name="Sub")


def standing(world: World) -> Cursor:
    """Main has called Sub, which asks."""
    cursor = Cursor()
    for name, at in (("Main", "/steps/1"), ("Sub", "/steps/0")):
        chart = world.charts.find(name)
        assert chart is not None
        frame = open_frame(cursor, chart, Call(chart.digest, "v1", data={"tx": "12345678-9"}))
        frame.at = at
    cursor.top.data["question"] = "Who?"
    cursor.state.scopes["session"] = {"secrets": ["4711"]}
    return cursor


def test_help_lists_what_is_enabled() -> None:
    """Under the name of the first flow, with the open question."""
    world = world_of(MAIN, SUB, options=Options(commands=frozenset({"help"})))
    text = help_text(world, world.charts, standing(world), "en")
    assert text.startswith('Flow Help - Main\n\nAvailable commands while in this flow:\n• "help"')
    assert "status" not in text
    assert "Current Question:\nWho?" in text


def test_help_without_a_question() -> None:
    """A flow that rests without having asked shows none."""
    world = world_of(MAIN, SUB)
    cursor = standing(world)
    cursor.top.data["question"] = None
    assert "Current Question" not in help_text(world, world.charts, cursor, "en")


def test_help_while_something_is_offered() -> None:
    """The two words that answer the offer are listed as well."""
    world = world_of(MAIN, SUB)
    offer = Offer("other", "Something else", "The main thing")
    assert help_text(world, world.charts, standing(world), "en", offer).splitlines()[2:8] == [
        "Available commands while in this flow:",
        '• "cancel flow" - Exit this flow completely',
        '• "status" - Show current flow information',
        '• "help" - Show this help message',
        '• "switch" - Go to Something else',
        '• "continue" - Go on with The main thing',
    ]


def test_status_counts_and_lists() -> None:
    """Steps to come along the straight way, all frames, and plain values in text form."""
    world = world_of(MAIN, SUB, globals={"g": "global"})
    cursor = standing(world)
    cursor.state.scopes["v1"] = {
        "number": 1.0,
        "yes": True,
        "none": None,
        "empty": "",
        "list": freeze([1]),
        "shipping": "home",
        "pin": "1",
        "otp_code": "2",
        "api_key": "3",
        "code": "4711",
        "note": "the code is 4711",
    }
    assert status_text(world, world.charts, cursor, "en").splitlines() == [
        "📊 **Flow Status**",
        "Flow: Sub",
        "Steps remaining: 3",
        "Stack depth: 2",
        "Transaction: 12345678",
        "",
        "Collected Information",
        "• number: 1",
        "• yes: true",
        "• shipping: home",
    ]


def test_status_without_anything_collected() -> None:
    """Then there is no heading for it."""
    world = world_of(MAIN, SUB)
    assert "Collected" not in status_text(world, world.charts, standing(world), "en")


def test_status_lists_no_more_than_can_be_read() -> None:
    """The first variables stand for the rest."""
    world = world_of(MAIN, SUB)
    cursor = standing(world)
    cursor.state.scopes["v1"] = {f"n{number}": number for number in range(1, 200)}
    lines = status_text(world, world.charts, cursor, "en").splitlines()
    assert len([line for line in lines if line.startswith("•")]) == MAX_LISTED


def test_a_hosts_words_may_name_the_prompt() -> None:
    """`{{flowPrompt}}` is what users know a flow by, in their language."""
    world = world_of(MAIN, SUB)
    words = {"cmd_status_title": "{{flowPrompt}}", "cmd_help_title": "{{flowPrompt}}"}
    phrases = type(world.phrases)({"es": words})
    object.__setattr__(world, "phrases", phrases)
    assert status_text(world, world.charts, standing(world), "es").startswith("Sub\n")
    assert help_text(world, world.charts, standing(world), "es").startswith("Lo principal\n")


def test_a_frame_at_its_end_has_no_steps_left() -> None:
    """A frame of a flow that is not known here has none that could be counted."""
    world = world_of(MAIN, SUB)
    frame = standing(world).top
    frame.at = None
    assert steps_left(world.charts, frame) == 0
    frame.at, frame.chart = "/steps/0", "nobody"
    assert steps_left(world.charts, frame) == 0


CANARY = "canary"
ASKED = flow(
    ask("plan", "plan?"),
    ask("a", "pii?", pii=True),
    ask("b", "pii by condition?", pii="plan == 'gold'"),
    put("c", "a.toUpperCase() + '!'"),
    put("a", "a + a.length"),
    put("d", "'see ' + b"),
    put("e", "d.length + 1"),
    put("passwordHint", "'canary-hint'"),
    put("mysecretary", "'canary-name'"),
    put("key_copy", "api_key"),
    run("Sub", parameters={"copied": "{{b}}"}),
)
INNER = flow(ask("y", "well?"), name="Sub")


@pytest.mark.parametrize("answers", [("canary-1", "canary-2"), ("7", "8")])
async def test_no_sensitive_value_is_ever_listed(answers: tuple[str, str]) -> None:
    """Not under its name, not copied, not after a step has worked on it, not a global variable."""
    engine = engine_of(
        ASKED, INNER, globals={"api_key": "canary-global", "host": "canary-host"}, language="en"
    )
    session = await talk(engine, "Main", "gold", *answers, "status")
    listed = [line for line in (session.response or "").splitlines() if line.startswith("•")]
    assert "• plan: gold" in listed
    hidden = {
        "a",
        "b",
        "c",
        "d",
        "e",
        "copied",
        "passwordHint",
        "mysecretary",
        "key_copy",
        "api_key",
        "host",
    }
    assert not hidden & {line[2:].partition(":")[0] for line in listed}
    assert [line for line in listed if CANARY in line.lower()] == []
