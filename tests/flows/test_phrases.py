"""Sentences of the library, by language."""

from __future__ import annotations

import re
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.flows.commands import CommandWords
from saywhy.flows.phrases import BUILT_IN, Phrases
from saywhy.flows.world import Options
from saywhy.values import UNDEFINED

LANGUAGES = ("en", "es", "pt", "fr", "de")
PLACEHOLDER = re.compile(r"\{\{\w+\}\}")
QUOTED = re.compile("[\"'„«] ?([^\"'„“«»{}]+?) ?[\"'“»]")
NAME = re.compile('["„«] ?{{\\w+}} ?["“»]')


def quoted(language: str, phrase: str) -> list[str]:
    """The words that a sentence tells users to say, without the names of flows."""
    return QUOTED.findall(NAME.sub("", BUILT_IN[language][phrase]).replace("l'", ""))


def test_a_sentence_is_filled_with_its_values() -> None:
    """Placeholders become the values that belong to them."""
    phrases = Phrases()
    assert phrases.say("flow_init", "en", flowPrompt="Pay a bill") == "Processing Pay a bill"


@pytest.mark.parametrize("value", ["", None, False, UNDEFINED])
def test_an_empty_value_leaves_its_placeholder(value: Any) -> None:
    """A value that is missing shows, rather than vanishing from the sentence."""
    assert Phrases().say("flow_init", "en", flowPrompt=value) == "Processing {{flowPrompt}}"


def test_zero_is_a_value() -> None:
    """Nothing left to do is said with a number; numbers and truths are said as flows say them."""
    assert Phrases().say("cmd_status_steps", "en", count=0) == "Steps remaining: 0"
    assert Phrases().say("cmd_status_steps", "en", count=2.0) == "Steps remaining: 2"
    assert Phrases().say("cmd_status_steps", "en", count=True) == "Steps remaining: true"


def test_what_a_value_says_is_not_filled_in_again() -> None:
    """A value is text: what looks like a placeholder in it stays."""
    said = Phrases().say("tool_failed", "en", toolName="pay", errorMessage="{{toolName}}?")
    assert said == "pay did not work: {{toolName}}?"


def test_spaces_in_a_placeholder_are_nothing() -> None:
    """A host may write them as in flows."""
    phrases = Phrases({"en": {"flow_init": "Doing {{ flowPrompt }}"}})
    assert phrases.say("flow_init", "en", flowPrompt="it") == "Doing it"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Flow completed."),
        ("es", "Flujo completado."),
        ("pt", "Fluxo concluído."),
        ("fr", "La démarche est terminée."),
        ("de", "Der Vorgang ist abgeschlossen."),
        ("es-MX", "Flujo completado."),
        ("pt_BR", "Fluxo concluído."),
        ("DE", "Der Vorgang ist abgeschlossen."),
        ("xx", "Flow completed."),
        (None, "Flow completed."),
        ("", "Flow completed."),
    ],
)
def test_the_languages_that_are_built_in(language: str | None, text: str) -> None:
    """A region speaks its language; no conversation falls silent for want of a translation."""
    assert Phrases().say("flow_completed_generic", language) == text


def test_a_host_replaces_a_language_and_english_fills_what_it_lacks() -> None:
    """A registry replaces ours for its language; a missing id is said in built-in English."""
    phrases = Phrases({"es": {"flow_completed_generic": "¡Listo!"}})
    assert phrases.say("flow_completed_generic", "es") == "¡Listo!"
    assert phrases.say("cmd_help_question", "es") == "Current Question:"
    assert phrases.say("cmd_help_question", "en") == "Current Question:"
    assert phrases.say("cmd_help_question", "de") == "Aktuelle Frage:"


def test_a_hosts_english_comes_before_ours() -> None:
    """Who words English anew hears it wherever English fills in."""
    phrases = Phrases({"en": {"system_ready": "Go!"}, "it": {"invalid_input": "Di nuovo:"}})
    assert phrases.say("system_ready", "it") == "Go!"
    assert phrases.say("invalid_input", "en") == "Please provide the correct information:"


def test_a_region_of_a_hosts_stands_before_the_language() -> None:
    """What Mexico does not say for itself, Spanish says."""
    phrases = Phrases({"es_mx": {"system_ready": "¡Órale!"}})
    assert phrases.say("system_ready", "es-MX") == "¡Órale!"
    assert phrases.say("system_ready", "es") == "Listo."
    assert phrases.say("cmd_help_question", "es-MX") == "Pregunta Actual:"


@pytest.mark.parametrize("language", LANGUAGES)
def test_built_in_languages_have_the_same_sentences(language: str) -> None:
    """A sentence added in one built-in language is added in all, with the same placeholders."""
    texts = BUILT_IN[language]
    assert list(texts) == list(BUILT_IN["en"])
    for phrase, english in BUILT_IN["en"].items():
        wanted = sorted(set(PLACEHOLDER.findall(english)))
        assert sorted(set(PLACEHOLDER.findall(texts[phrase]))) == wanted, phrase
        assert texts[phrase].strip() != ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_sentence_tells_users_to_say_is_understood(language: str) -> None:
    """Each word in quotes in help, guidance and offers is the command that it stands for."""
    told = {"cmd_help_cancel": "cancel", "cmd_help_status": "status", "cmd_help_help": "help"}
    told |= {"cmd_help_switch": "switch", "cmd_help_continue": "continue"}
    words, every = CommandWords(), Options().commands
    for phrase, command in told.items():
        (word,) = quoted(language, phrase)
        assert words.detect(word, language, every) == command, (phrase, word)
    for phrase in ("flow_help_general", "flow_resumed_with_guidance"):
        found = quoted(language, phrase)
        assert [words.detect(word, language, every) for word in found] == ["cancel", "help"]
    offered = quoted(language, "flow_switch_offer")
    assert [words.detect(word, language, every) for word in offered] == ["switch", "continue"]


def test_what_a_language_lacks() -> None:
    """Sentences that will be said in English; a region borrows from its language."""
    phrases = Phrases({"es": {"flow_init": "x"}, "pt-BR": {}, "it": dict(BUILT_IN["en"])})
    assert len(phrases.lacks("es")) == len(BUILT_IN["en"]) - 1
    assert "flow_init" not in phrases.lacks("es")
    assert [phrases.lacks(one) for one in ("en", "fr", "pt-BR", "it")] == [()] * 4
    assert phrases.lacks("xx") == tuple(BUILT_IN["en"])
    assert [phrases.speaks(one) for one in ("es", "es-MX", "it", "xx")] == [True, True, True, False]


@pytest.mark.parametrize(
    ("registry", "problem"),
    [
        ({"flow_init": "x"}, 'messages: "flow_init" is no language'),
        ({"es": "x"}, 'messages: "es" holds texts by id, not str'),
        ("es", "messages holds texts by language and id, not str"),
        ({5: {}}, 'messages: "5" is no language'),
        ({"es": {"flow_init": None}}, 'messages: "flow_init" in es is a text, not NoneType'),
    ],
)
def test_a_registry_that_is_none_is_refused(registry: Any, problem: str) -> None:
    """A mistake in the shape is found when the engine is made."""
    with pytest.raises(CallerError) as caught:
        Phrases(registry)
    assert str(caught.value) == problem


def test_flows_of_agents_are_named_in_words() -> None:
    """With a capital where the sentence begins with the name; all other values stay."""
    phrases = Phrases({"nl": {"flow_completed": "Klaar: {{flowName}}."}})
    said = phrases.say("flow_execution_error", "en", flowName="(fallback)", errorMessage="(x)")
    assert said == "Your request could not go on: (x)"
    assert phrases.say("flow_completed", "en", flowName="(ask a person)") == (
        "Completed your request."
    )
    assert phrases.say("flow_completed", "nl", flowName="(fallback)") == "Klaar: your request."
    assert phrases.say("flow_completed", "en", flowName="(Pay)") == "Completed (Pay)."
