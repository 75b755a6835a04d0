"""Names tell by their words whether a value is sensitive."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.trace.masking.sensitive import SensitiveNames, gives_away, words_of
from saywhy.values import UNDEFINED


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("userAPIKey_2", ("user", "api", "key")),
        ("X-Auth-Token", ("x", "auth", "token")),
        ("reset_token", ("reset", "token")),
        ("monkey", ("monkey",)),
        ("HTTPServer", ("http", "server")),
        ("straßeNr", ("straße", "nr")),
        ("12", ()),
        ("", ()),
    ],
)
def test_words(name: str, words: tuple[str, ...]) -> None:
    """A name falls into words at capitals, digits and signs."""
    assert words_of(name) == words


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "userPassword",
        "password_confirmation",
        "PASSWORD2",
        "newpassword",
        "token",
        "accessToken",
        "authtoken",
        "signature",
        "xSignature",
        "secret",
        "client_secret",
        "clientSecretValue",
        "key",
        "apiKey",
        "API_KEY",
        "apikey",
        "myapikey",
        "private-key",
        "authorization",
        "Authorization",
        "credentials",
        "passphrase",
        "Set-Cookie",
        "contraseña",
    ],
)
def test_sensitive_names(name: str) -> None:
    """Passwords, tokens, signatures, keys and secrets are recognised however they are spelled."""
    assert name in SensitiveNames()


@pytest.mark.parametrize(
    "name",
    [
        "monkey",
        "keyboard",
        "turkey",
        "keyName",
        "tokenType",
        "tokenizer",
        "secretary",
        "assignature",
        "primaryKey",
        "sort_key",
        "publicKey",
        "amount",
        "passenger",
        "cookies",
        "",
        "0",
    ],
)
def test_harmless_names(name: str) -> None:
    """Names that only resemble sensitive ones stay open."""
    assert name not in SensitiveNames(open=["assignature"])


def test_extra_names_cover_longer_ones() -> None:
    """A host's own name also covers longer names that contain its words."""
    names = SensitiveNames(["ssn", "date of birth"])
    assert "ssn" in names
    assert "userSsn" in names
    assert "ssn_last4" in names
    assert "dateOfBirth" in names
    assert "lesson" not in names
    assert "birthDate" not in names


def test_open_names_are_never_masked() -> None:
    """A name that a host declared open is open, exactly as written."""
    names = SensitiveNames(open=["key"])
    assert "key" not in names
    assert "apiKey" in names


def test_it_forgets_names_it_need_not_remember() -> None:
    """Any number of names may be asked for; what is remembered stays bounded."""
    names = SensitiveNames()
    for number in range(3 * SensitiveNames.LIMIT):
        assert f"field{'x' * (number % 7)}{number}" not in names
    assert "password" in names
    assert len(names.harmless) <= SensitiveNames.LIMIT


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("password", "x", True),
        ("pin_token", 1234, True),
        ("credentials", {"user": "a"}, True),
        ("hasToken", True, False),
        ("token", None, False),
        ("token", UNDEFINED, False),
        ("token", "", False),
        ("maxTokens", 4096, False),
        ("tokens", ["a"], True),
    ],
)
def test_what_gives_something_away(name: str, value: Any, hidden: bool) -> None:
    """Flags, nothing at all and counts of tokens are no secrets."""
    assert gives_away(name, value) is hidden
