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


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{guidance}} {{message}}", "G How much?"),
        ("{{ message }}\n({{flowPrompt}})", "How much?\n(Do it)"),
        ("{{message}}", "How much?"),
        ("{{message}} {{message}}", "How much? How much?"),
        ("{{other}} {{message}}", "{{other}} How much?"),
    ],
)
def test_a_template_says_where_everything_stands(template: str, text: str) -> None:
    """Every placeholder that is known is filled, wherever and however often it stands."""
    config = {"mode": "template", "template": template, "guidanceMessages": {"general": "G"}}
    assert around(config) == text


def test_what_guidance_says_is_not_filled_in_again() -> None:
    """A guidance that looks like a template, and a name that does, are text."""
    config = {
        "mode": "template",
        "template": "{{guidance}} {{message}}",
        "guidanceMessages": {"general": "{{message}} of {{flowName}}"},
    }
    assert around(config, flow="{{message}}") == "{{message}} of {{message}} How much?"


@pytest.mark.parametrize(
    ("messages", "language", "text"),
    [
        ({"es": {"general": "ES"}, "en": {"general": "EN"}}, "es-MX", "ES"),
        ({"pt_BR": {"general": "BR"}}, "pt-br", "BR"),
        ({"general": "ALL", "es": {"general": "ES"}}, "es", "ES"),
        ({"general": "ALL", "es": {"general": "ES"}}, "de", "ALL"),
        ({"general": "ALL", "es": {"payment": "ES"}}, "es", "ALL"),
        ({"es": {"general": "{{flowPrompt}}/{{flowName}}/{{x}}"}}, "es", "Do it/Desk/{{x}}"),
        ({"es": {"general": "ES"}}, "en", "Processing Do it - You can also 'cancel flow' or"),
        ({"es": {"general": "ES"}}, "de", "Do it wird bearbeitet - Sie können auch"),
        ({"payment": "PAY"}, "fr", "Do it : c'est en cours"),
    ],
)
def test_texts_by_language_or_for_all(messages: dict[str, Any], language: str, text: str) -> None:
    """The text of the language, else the one for all, else the library's own in the language."""
    assert around({"guidanceMessages": messages}, language=language).startswith(text)


@pytest.mark.parametrize(
    ("flow", "selector", "text"),
    [
        ("Desk", "auto", "GEN"),
        ("MoneyTransfer", "auto", "PAY"),
        ("financial-advice", "auto", "PAY"),
        ("Desk", "payment", "PAY"),
        ("PaymentDesk", "general", "GEN"),
    ],
)
def test_the_selector(flow: str, selector: str, text: str) -> None:
    """`auto` goes by the name of the root flow, the others by nothing."""
    texts = {"general": "GEN", "payment": "PAY"}
    config = {"contextSelector": selector, "guidanceMessages": texts}
    assert around(config, flow=flow) == f"{text}\n\nHow much?"


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
    ("config", "problem", "hint"),
    [
        (
            {"mode": "around"},
            'guidance mode "around" is not append, prepend, template or none',
            "",
        ),
        (
            {"contextSelector": "x"},
            'guidance contextSelector "x" is not general, payment or auto',
            "",
        ),
        ({"enable": False}, 'guidance has no key "enable"', 'did you mean "enabled"?'),
        ({"colour": 1}, 'guidance has no key "colour"', "there are enabled, mode, template"),
        ({"enabled": "no"}, "guidance enabled is True or False, not 'no'", ""),
        ({"separator": None}, "guidance separator is text, not NoneType", ""),
        ({"template": 3}, "guidance template is text, not int", ""),
        (
            {"mode": "template", "template": "{{guidance}} {{mesage}}"},
            "the guidance template would leave out the question",
            "write {{message}} where it belongs",
        ),
        ({"guidanceMessages": "G"}, "guidanceMessages is an object, not str", '{"general": "…"'),
        (
            {"guidanceMessages": {"generic": "G"}},
            'guidanceMessages has no place for "generic"',
            "or such an object for each language",
        ),
        (
            {"guidanceMessages": {"es": {"generic": "G"}}},
            'guidanceMessages has no place for "es.generic"',
            "",
        ),
        (
            {"guidanceMessages": {"es": {"general": 1}}},
            'guidanceMessages: "es.general" is text, not int',
            "",
        ),
        (
            {"guidanceMessages": {"spanish!": {"general": "G"}}},
            'guidanceMessages has no place for "spanish!"',
            "",
        ),
    ],
)
def test_a_setting_that_does_not_exist_is_refused(
    config: dict[str, Any], problem: str, hint: str
) -> None:
    """A mistake in the configuration is found when the engine is made, and says what would do."""
    with pytest.raises(CallerError) as caught:
        Guidance.of(config)
    assert str(caught.value) == problem
    assert hint in caught.value.hint
