"""Words that mean the same in every form."""

from __future__ import annotations

import pytest

from saywhy.flows.forms.words import pattern, words_of, yes_or_no


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("yes", "en", True),
        ("Yes, please!", "en", True),
        ("ok, go ahead", "en", True),
        ("that's right", "en", True),
        ("no", "en", False),
        ("No, thank you.", "en", False),
        ("do not send it", "en", False),
        ("sí", "es", True),
        ("¡Claro, por favor!", "es", True),
        ("no, gracias", "es", False),
        ("mejor no", "es", False),
        ("yes but make it 90", "en", None),
        ("no, the amount is 90", "en", None),
        ("nobody", "en", None),
        ("yesterday", "en", None),
        ("", "en", None),
        ("sí", "en", None),
        ("sim, por favor", "pt", True),
        ("não, obrigado", "pt", False),
        ("oui, merci", "fr", True),
        ("non", "fr", False),
        ("ja, bitte", "de", True),
        ("nein danke", "de", False),
        ("nein, 90", "de", None),
    ],
)
def test_yes_or_no(text: str, language: str, wanted: bool | None) -> None:
    """Only an answer that says nothing else agrees or refuses."""
    assert yes_or_no(text, language) is wanted


def test_languages() -> None:
    """A region has the words of its language; a language without words has the English ones."""
    assert words_of("es-MX") is words_of("es")
    assert words_of("it") is words_of("en")


def test_whole_words_the_longest_first() -> None:
    """A word inside another one is none, and two words go before one of them."""
    found = pattern(("card", "credit card")).search("my credit card, discard it")
    assert found is not None
    assert found[0] == "credit card"
    assert pattern(("card",)).search("discarded") is None
