"""What a FORM step asks for, read from what its author wrote.

Nothing is judged here: a form with faults is read as far as it goes, and `checks.forms` says what
is wrong with it. How answers are read is `readers`', what a running form keeps is `record`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.model import Node
from saywhy.expr.numbers import value_text
from saywhy.flows.languages import chosen
from saywhy.flows.read_flow import list_of, object_of
from saywhy.values import freeze

KINDS: Final = (
    "text",
    "name",
    "choice",
    "yes-no",
    "amount",
    "number",
    "digits",
    "identifier",
    "date",
    "phone",
    "email",
)
"""What an input may be. A text or a name is what is left of an answer; the others have a form."""

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-]+")


class Choice(msgspec.Struct, frozen=True):
    """One of the values of a `choice`, and the words that mean it."""

    value: Any
    words: tuple[str, ...]


class Input(msgspec.Struct, frozen=True):
    """One value that a form collects."""

    name: str
    kind: str
    raw: Mapping[str, Any]
    """Every key as the author wrote it."""
    place: int
    """Its number in `inputs`, from 0."""
    required: bool = True

    def label(self, language: str) -> str:
        """What people call it: the author's label, else its name in words."""
        return self.text("label", language) or words_of_name(self.name)

    def text(self, key: str, language: str) -> str:
        """A text of the input in a language, else the plain one; empty where there is none."""
        found = chosen(self.raw, key, language)
        return found if isinstance(found, str) else ""

    def words(self, key: str, language: str) -> tuple[str, ...]:
        """A list of words of the input: those of the language and the plain ones."""
        return _words(self.raw, key, language)

    def choices(self, language: str) -> tuple[Choice, ...]:
        """The values it may have, in the author's order."""
        return tuple(_choice(one, language) for one in list_of(self.raw.get("choices")))

    @property
    def money(self) -> Mapping[str, Any]:
        """The profile of an amount: `currency`, `cardinals`, `intent`; often empty."""
        return object_of(self.raw.get("money"))

    @property
    def digits(self) -> Mapping[str, Any]:
        """How many digits there are, and what else a keypad is told."""
        return object_of(self.raw.get("digits"))


class Form(msgspec.Struct, frozen=True):
    """A FORM step."""

    variable: str
    inputs: tuple[Input, ...]
    raw: Mapping[str, Any]
    patience: int = 1
    """Answers that nobody could read which are asked for again before the form yields."""

    def input(self, name: str) -> Input | None:
        """The input of this name."""
        return next((one for one in self.inputs if one.name == name), None)

    @property
    def keeps_draft(self) -> bool:
        """Whether what was collected is kept when the form yields."""
        return self.raw.get("onYield") != "drop"


def form_of(node: Node) -> Form:
    """The form of a FORM node."""
    return read_form(node.spec)


def read_form(raw: Mapping[str, Any]) -> Form:
    """A FORM step as written, without what cannot be an input at all."""
    inputs = [
        _input(one, place)
        for place, one in enumerate(list_of(raw.get("inputs")))
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    ]
    patience = raw.get("maxRetries", 1)
    is_count = isinstance(patience, int) and not isinstance(patience, bool)
    return Form(str(raw.get("variable") or "form"), tuple(inputs), raw, patience if is_count else 1)


def sensitive_inputs(raw: Mapping[str, Any]) -> list[str]:
    """The names of the inputs of a step that may be sensitive; none for a step that is no form."""
    if raw.get("type") != "FORM":
        return []
    return [entry.name for entry in read_form(raw).inputs if entry.raw.get("pii")]


def _input(raw: dict[str, Any], place: int) -> Input:
    kind = raw.get("kind")
    return Input(
        raw["name"],
        kind if isinstance(kind, str) else "text",
        raw,
        place,
        raw.get("required") is not False,
    )


def _choice(given: Any, language: str) -> Choice:
    if not isinstance(given, dict):
        return Choice(given, (value_text(freeze(given)),))
    value = given.get("value")
    return Choice(value, (*_words(given, "words", language), value_text(freeze(value))))


def words_of_name(name: str) -> str:
    """`orderNumber` and `order_number` as people say it: `order number`."""
    return " ".join(_HUMP.sub(" ", name).lower().split())


def _words(raw: Mapping[str, Any], key: str, language: str) -> tuple[str, ...]:
    """The words under a key: those of the language first, then the plain ones."""
    own, plain = chosen(raw, key, language), raw.get(key)
    return tuple(dict.fromkeys([*_texts(own), *_texts(plain)]))


def _texts(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    return tuple(one for one in list_of(given) if isinstance(one, str))
