"""Whether somebody agreed."""

from __future__ import annotations

import pytest

from saywhy.flows.corrections.consent import wants_it


@pytest.mark.parametrize(
    ("text", "language", "agreed"),
    [
        ("yes", "en", True),
        ("Yes, please!", "en", True),
        ("ok", "en", True),
        ("no", "en", False),
        ("No thanks.", "en", False),
        ("never mind", "en", False),
        ("sí", "es", True),
        ("Sí, por favor", "es-MX", True),
        ("no, gracias", "es", False),
        ("não", "pt", False),
        ("d'accord", "fr", True),
        ("nein", "de", False),
        ("yes", "de", True),
        ("maybe", "en", None),
        ("", "en", None),
        ("yes but what does that mean for my bill", "en", None),
        ("note", "en", None),
    ],
)
def test_plain_words_count(text: str, language: str, agreed: bool | None) -> None:
    """Yes and no in the user's language or in English; a sentence is neither."""
    assert wants_it(text, language) is agreed
