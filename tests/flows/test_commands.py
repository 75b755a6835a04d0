"""Universal commands, word by word."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.cursor import Cursor
from saywhy.chart.machine import open_frame
from saywhy.chart.outcome import Call
from saywhy.flows.commands import ORDER, WORDS, detect, help_text, status_text, steps_left
from saywhy.flows.world import Options, World
from saywhy.values import freeze
from tests.flows.conftest import ask, engine_of, flow, run, say, talk, world_of

ALL = frozenset(ORDER)


@pytest.mark.parametrize(
    ("language", "command", "word"),
    [
        (language, command, word)
        for language, words in WORDS.items()
        for command, synonyms in words.items()
        for word in synonyms
    ],
)
def test_every_word_is_a_command(language: str, command: str, word: str) -> None:
    """Alone, in any case, with spaces around; in a sentence with a word for flow behind it."""
    assert detect(f"  {word.upper()} ", language, ALL) == command
    noun = {"en": "workflow", "es": "flujo"}[language]
    assert detect(f"please {word} {noun} now", language, ALL) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "exit",
        "cancelled",
        "cancel it",
        "cancel flowers",
        "recancel flow",
        "I want to cancel",
        "helping",
        "what flows",
        "cancelar",
    ],
)
def test_other_words_are_answers(text: str) -> None:
    """A sentence is a command only where it names the flow."""
    assert detect(text, "en", ALL) is None


@pytest.mark.parametrize("text", ["cancel flow!", "(cancel flow)", "so: cancel flow, please"])
def test_punctuation_is_no_letter(text: str) -> None:
    """Words end where letters end."""
    assert detect(text, "en", ALL) == "cancel"


def test_languages_without_words_use_english() -> None:
    """So does none."""
    assert detect("cancel", "fr", ALL) == "cancel"
    assert detect("cancel", "", ALL) == "cancel"
    assert detect("cancel", "es", ALL) is None


def test_only_what_is_enabled_is_understood() -> None:
    """A command that is switched off is an answer."""
    assert detect("cancel", "en", frozenset({"help"})) is None
    assert detect("help", "en", frozenset({"help"})) == "help"


MAIN = flow(run("Sub"), say("a"))
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


def test_a_frame_at_its_end_has_no_steps_left() -> None:
    """A frame of a flow that is not known here has none that could be counted."""
    world = world_of(MAIN, SUB)
    frame = standing(world).top
    frame.at = None
    assert steps_left(world.charts, frame) == 0
    frame.at, frame.chart = "/steps/0", "nobody"
    assert steps_left(world.charts, frame) == 0


async def test_an_engine_understands_what_it_is_told_to() -> None:
    """All commands, some, or none; guidance goes with the last of them."""
    main = flow(ask("x", "q"), say("got {{x}}"))
    settings: dict[str, Any] = {"guidance": {"enabled": True}}
    some = engine_of(main, commands=["help"], **settings)
    session = await talk(some, "Main")
    assert session.response == (
        "Processing Main - You can also 'cancel flow' or request 'help'.\n\nq"
    )
    assert (await talk(some, "cancel", session=session)).response == "got cancel"
    helped = (await talk(some, "help", session=session)).response
    assert helped is not None
    assert helped.startswith("Flow Help")
    none = engine_of(main, commands=False, **settings)
    session = await talk(none, "Main")
    assert session.response == "q"
    assert (await talk(none, "help", session=session)).response == "got help"
