"""Sentences of the library, by language."""

from __future__ import annotations

import pytest

from saywhy.flows.phrases import BUILT_IN, Phrases


def test_a_sentence_is_filled_with_its_values() -> None:
    """Placeholders become the values that belong to them."""
    phrases = Phrases()
    assert phrases.say("flow_init", "en", flowPrompt="Pay a bill") == "Processing Pay a bill"


def test_an_empty_value_leaves_its_placeholder() -> None:
    """A value that is missing shows, rather than vanishing from the sentence."""
    assert Phrases().say("flow_init", "en", flowPrompt="") == "Processing {{flowPrompt}}"


def test_zero_is_a_value() -> None:
    """Nothing left to do is said with a number."""
    assert Phrases().say("cmd_status_steps", "en", count=0) == "Steps remaining: 0"


@pytest.mark.parametrize("language", ["fr", None, "xx"])
def test_a_language_without_sentences_speaks_english(language: str | None) -> None:
    """No conversation falls silent for want of a translation."""
    assert Phrases().say("flow_completed_generic", language) == "Flow completed."


def test_a_host_replaces_a_language_and_english_fills_what_it_lacks() -> None:
    """A registry replaces ours for its language; a missing id is said in built-in English."""
    phrases = Phrases({"es": {"flow_completed_generic": "¡Listo!"}})
    assert phrases.say("flow_completed_generic", "es") == "¡Listo!"
    assert phrases.say("cmd_help_question", "es") == "Current Question:"
    assert phrases.say("cmd_help_question", "en") == "Current Question:"


def test_built_in_languages_have_the_same_sentences() -> None:
    """A sentence added in one built-in language is added in all."""
    assert set(BUILT_IN["en"]) == set(BUILT_IN["es"])
