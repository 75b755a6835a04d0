"""What the engine itself cannot say in a declared language."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.flows.check import declared
from saywhy.flows.checks.speech import Speech, check_speech
from saywhy.flows.commands import CommandWords
from saywhy.flows.guidance import Guidance
from saywhy.flows.phrases import BUILT_IN, Phrases


def speech(
    messages: Any = None, guidance: dict[str, Any] | None = None, words: Any = None
) -> Speech:
    texts = {"guidanceMessages": guidance} if guidance else None
    return Speech(Phrases(messages), Guidance.of(texts), CommandWords(words))


def found(what: Speech | None, *languages: str, plain: str = "en") -> list[tuple[str, ...]]:
    problems = list(check_speech(what, declared(languages), plain))
    return [(one.severity, str(one.place), one.message, one.hint) for one in problems]


def test_the_built_in_languages_lack_nothing() -> None:
    """Nor do their regions; without declared languages nothing is looked for."""
    assert found(speech(), "en", "es", "pt-BR", "fr", "DE") == []
    assert found(speech()) == []


@pytest.mark.parametrize(("what", "severity"), [(speech(), "warning"), (None, "note")])
def test_a_language_we_do_not_speak(what: Speech | None, severity: str) -> None:
    """Sentences and words are English there; where the host's are unknown it is only noted."""
    assert found(what, "it") == [
        (
            severity,
            "messages/it",
            "no sentences of the engine's own in it: it says them in English",
            'messages={"it": {…}} gives them; the reference lists them',
        ),
        (
            severity,
            "command_words/it",
            "no words for the commands in it: the English ones are understood",
            'command_words={"it": {"cancel": […], …}} adds some',
        ),
    ]


def test_every_sentence_that_a_registry_lacks() -> None:
    """Each with its id, and with what users will read instead; other languages do not matter."""
    texts = {name: "x" for name in BUILT_IN["en"] if name not in ("system_ready", "not_valid")}
    registry = {"it": texts, "es": {}}
    words = {"it": {"cancel": ["annulla"]}}
    assert found(speech(registry, words=words), "en", "it-CH") == [
        (
            "warning",
            "messages/it-CH/not_valid",
            "no `not_valid` for users who speak it-CH",
            "they will read: not valid",
        ),
        (
            "warning",
            "messages/it-CH/system_ready",
            "no `system_ready` for users who speak it-CH",
            "they will read: Ready.",
        ),
    ]
    assert len(found(speech(registry), "es")) == len(BUILT_IN["en"])


def test_an_id_that_is_never_said() -> None:
    """Found in every registry, whatever languages are declared."""
    registry = {"es": {**BUILT_IN["es"], "flow_comleted": "x", "hello": "y"}}
    assert found(speech(registry)) == [
        (
            "warning",
            "messages/es/flow_comleted",
            'no sentence has the id "flow_comleted"',
            'did you mean "flow_completed"?',
        ),
        (
            "warning",
            "messages/es/hello",
            'no sentence has the id "hello"',
            "the reference lists the ids there are",
        ),
    ]


@pytest.mark.parametrize(
    ("guidance", "languages", "missing"),
    [
        ({"es": {"general": "Consejo"}}, ("es",), []),
        (
            {"es": {"general": "Consejo"}},
            ("en", "es"),
            [("guidance/en/general", "they will read the engine's own")],
        ),
        ({"general": "Tip"}, ("en",), []),
        ({"general": "Tip"}, ("en", "es"), [("guidance/es/general", "they will read: Tip")]),
        ({"general": "Tip", "es": {"general": "Consejo"}}, ("en", "es-MX"), []),
        (
            {"general": "Tip", "es": {"payment": "Dinero"}},
            ("es",),
            [("guidance/es/general", "they will read: Tip")],
        ),
        ({"en": {"general": "Tip", "payment": ""}, "es": {"general": "Consejo"}}, ("en",), []),
    ],
)
def test_guidance_that_is_missing(
    guidance: dict[str, Any], languages: tuple[str, ...], missing: list[tuple[str, str]]
) -> None:
    """Only what the host worded in some language; a text for all is in the plain language."""
    problems = found(speech(guidance=guidance), *languages)
    assert [(place, hint) for _, place, _, hint in problems] == missing


def test_what_is_no_language_is_refused() -> None:
    """A slip in a list of languages is no language without texts."""
    assert declared(["EN", "pt_br", "en"]) == ("en", "pt-BR")
    with pytest.raises(CallerError, match='"spanish" is no language') as caught:
        declared(["spanish"])
    assert caught.value.hint == "write en, es or pt-BR"
