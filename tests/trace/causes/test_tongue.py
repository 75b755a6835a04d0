"""In which language a text is."""

from __future__ import annotations

import pytest

from saywhy.trace.causes.tongue import tongue


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The parcel is on its way to you.", "en"),
        ("Das Paket ist noch nicht da, bitte warten Sie.", "de"),
        ("El paquete no está en la tienda, es para usted.", "es"),
        ("O pacote não está em casa, é para você.", "pt"),
        ("Le colis est avec vous, pas dans les magasins.", "fr"),
        ("OK", ""),
        (None, ""),
    ],
)
def test_small_words_tell_the_language(text: str | None, code: str) -> None:
    """Two small words of one language and fewer of all others tell it."""
    assert tongue(text) == code
