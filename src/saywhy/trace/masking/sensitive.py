"""Which names promise a sensitive value: by the words they are made of, not by their letters.

`monkey` and `keyboard` contain "key", `maxTokens` counts, `hasPassword` is a flag: none gives
anything away. `userAPIKey2`, `reset_token` and `X-Auth-Token` do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from saywhy.values import UNDEFINED

_ANYWHERE: Final = frozenset(
    [
        "password",
        "passwords",
        "passwd",
        "pwd",
        "passphrase",
        "passcode",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "authorization",
        "passwort",
        "contraseña",
    ]
)
"""Words that make any name sensitive: `password_confirmation` as much as `userPassword`."""

_AT_THE_END: Final = frozenset({"token", "tokens", "signature", "key", "keys"})
"""Words that make a name sensitive as its last one: a `tokenType` is no token."""

_RUN_TOGETHER: Final = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "signature",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
)
"""Endings of names written without a break: `authtoken`, `myapikey`."""

_WHOLE: Final = frozenset({"cookie", "setcookie"})

_HARMLESS_KEYS: Final = frozenset(
    ["primary", "foreign", "sort", "group", "partition", "public", "idempotency", "lookup"]
)
"""Words before `key` that make it a name and not a secret."""


LONGEST_NOTED: Final = 24
"""Characters of the longest name that `SensitiveNames.harmless` holds."""


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: `userAPIKey_2` gives user, api, key. Digits fall away."""
    words: list[str] = []
    word = ""
    for i, letter in enumerate(name):
        if word and (not letter.isalpha() or _begins_word(word, letter, name[i + 1 : i + 2])):
            words.append(word.lower())
            word = ""
        if letter.isalpha():
            word += letter
    if word:
        words.append(word.lower())
    return tuple(words)


def _begins_word(word: str, letter: str, following: str) -> bool:
    """Whether a capital starts a new word: in `userName`, and before the last one of `APIKey`."""
    return letter.isupper() and (not word[-1].isupper() or following.islower())


class SensitiveNames:
    """Answers whether a name is sensitive, and remembers it.

    `extra` are more names: `ssn` also covers `userSsn` and `ssn_last4`. `open` are names that look
    sensitive and are not, exactly as written.
    """

    LIMIT = 4096

    def __init__(self, extra: Iterable[str] = (), open: Iterable[str] = ()) -> None:
        self._extra = tuple(words for name in extra if (words := words_of(name)))
        self._open = frozenset(open)
        self._known: dict[str, bool] = {}
        self.harmless: set[str] = set()
        """Names of usual length judged so far and found harmless; who asks often looks here."""

    def __contains__(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            if name.isdecimal():  # a message's number, of which there is always a new one
                return False
            if len(self._known) >= self.LIMIT:  # names inside data may be anything: start afresh
                self._known.clear()
                self.harmless.clear()
            known = self._known[name] = self._judge(name)
            if not known and len(name) <= LONGEST_NOTED:
                self.harmless.add(name)
        return known

    def _judge(self, name: str) -> bool:
        if name in self._open:
            return False
        words = words_of(name)
        return _looks_sensitive(words) or any(_contains(words, extra) for extra in self._extra)


def _looks_sensitive(words: tuple[str, ...]) -> bool:
    if not words:
        return False
    if not _ANYWHERE.isdisjoint(words) or "".join(words) in _WHOLE:
        return True
    if words[-1] in _AT_THE_END:
        return words[-1] not in ("key", "keys") or _HARMLESS_KEYS.isdisjoint(words)
    return words[-1].endswith(_RUN_TOGETHER)


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def gives_away(name: str, value: Any) -> bool:
    """Whether a value under a sensitive name tells anything worth hiding.

    A flag, nothing at all and a count of tokens do not, and they explain a lot.
    """
    if value is None or value is UNDEFINED or value == "" or isinstance(value, bool):
        return False
    return not (isinstance(value, int | float) and name.lower().endswith("tokens"))
