"""The sentence that tells the way out, around a question."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.flows.guidance import Guidance
from saywhy.flows.phrases import Phrases


def around(config: dict[str, Any] | None, *, flow: str = "Desk", language: str = "en") -> str:
    pieces = Guidance.of(config).around(
        [["How much?", 7]], flow=flow, prompt="Do it", language=language, phrases=Phrases()
    )
    return "".join(text for text, _ in pieces)


def test_by_default_guidance_comes_first() -> None:
    """A question follows the way out, with a blank line between."""
    way_out = "Processing Do it - You can also 'cancel flow' or request 'help'."
    assert around(None) == f"{way_out}\n\nHow much?"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"enabled": False}, "How much?"),
        ({"mode": "none"}, "How much?"),
        (
            {"mode": "append", "separator": " | ", "guidanceMessages": {"general": "G"}},
            "How much? | G",
        ),
        (
            {"guidanceMessages": {"en": {"general": "EN"}, "es": {"general": "ES"}}},
            "EN\n\nHow much?",
        ),
        (
            {
                "mode": "template",
                "template": "[{{message}}] {{guidance}} ({{flowName}})",
                "guidanceMessages": {"general": "G"},
            },
            "[How much?] G (Desk)",
        ),
        ({"mode": "template", "guidanceMessages": {"general": "G"}}, "How much?\n\nG"),
    ],
)
def test_modes(config: dict[str, Any], text: str) -> None:
    """Each mode puts the guidance where it says; a template without text appends."""
    assert around(config) == text


def test_a_flow_about_money_has_a_guidance_of_its_own() -> None:
    """The selector `auto` looks at the root flow's name."""
    config = {"guidanceMessages": {"general": "GEN", "payment": "PAY"}}
    assert around(config, flow="PaymentDesk") == "PAY\n\nHow much?"
    assert around({**config, "contextSelector": "general"}, flow="PaymentDesk").startswith("GEN")


def test_the_question_keeps_the_commit_it_came_from() -> None:
    """What guidance adds is ours; the question's own stretch still points at its step."""
    pieces = Guidance.of(None).around(
        [["How much?", 7]], flow="Desk", prompt="Do it", language="en", phrases=Phrases()
    )
    assert ["How much?", 7] in pieces
    assert {commit for _, commit in pieces} == {0, 7}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"mode": "around"}, 'guidance mode "around" is not append, prepend, template or none'),
        ({"contextSelector": "x"}, 'guidance contextSelector "x" is not general, payment or auto'),
        ({"enable": False}, 'guidance has no key "enable"'),
    ],
)
def test_a_setting_that_does_not_exist_is_refused(config: dict[str, Any], problem: str) -> None:
    """A typing mistake in the configuration is found when the engine is made."""
    with pytest.raises(CallerError, match=problem):
        Guidance.of(config)
