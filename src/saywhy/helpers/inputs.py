"""Which inputs does an answer fill? Each kind of input is one row of a table.

A value beside the name of its input belongs there. What fits several inputs alike belongs to none
of them: it is a tie, and the flow asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.errors import CallerError
from saywhy.helpers.amounts import Amount, amounts_in, as_number
from saywhy.helpers.choices import picked
from saywhy.helpers.emails import emails_in
from saywhy.helpers.identifiers import Reading, identifiers_in
from saywhy.helpers.money import money_in
from saywhy.helpers.options import flag_of, options_of, word_of
from saywhy.helpers.phones import international_in, phones_in
from saywhy.helpers.words import FILLERS, NOISE, fold, listed, plain_words, text_of, tokens_of

MOST_INPUTS: Final = 50

_YES: Final = listed(
    """yes yeah yep yup sure ok okay correct right affirmative absolutely definitely
    si claro correcto afirmativo vale dale exacto exactamente"""
)
_NO: Final = listed("no nope nah negative incorrect wrong negativo incorrecto tampoco never nunca")
_WORDS_OF_YES_NO: Final = (
    _YES
    | _NO
    | FILLERS
    | listed(
        """that's thats is it it's i do don't want not that the way a all of course go ahead
    eso es esta bien asi por supuesto desde luego lo quiero no de acuerdo"""
    )
)
_CLEAR: Final = frozenset({"email", "yes-no", "choice"})
"""Kinds whose values say of themselves what they are; digits of another kind give way to them."""


class _Value(msgspec.Struct, frozen=True):
    """What one input would take, from which characters."""

    name: str
    kind: str
    value: Any
    start: int
    end: int
    named: bool = False

    def meets(self, other: _Value) -> bool:
        """Whether both were read from the same characters, in part."""
        return self.start < other.end and other.start < self.end


def match_inputs(
    answer: Any = None, inputs: Any = None, asked: Any = "", language: Any = ""
) -> dict[str, Any]:
    """Which inputs the answer fills: `values` by name, and `ties` that the flow has to ask about.

    An input is `{name, kind}` with the options of its kind: `email`; `phone` (`international`,
    `country`); `amount` (`money`: the options of `readMoneyAmount`); `number`; `digits` (`digits`:
    `min`, `max`); `identifier` (`min`, `max`, `digits`, `letters`); `choice` (`choices`); `yes-no`;
    `text`. Its `name`, `label` and `words` said before a value give it to that input. `asked` is
    the name of the input that was asked for: what fits it and others alike is its own. A tie is
    `{options: [{name, value}, …]}`. A `text` takes the whole answer where nothing else was read.
    """
    text = text_of(answer)
    given = [one for one in _list_of(inputs)[:MOST_INPUTS] if isinstance(one, Mapping)]
    own, first = text_of(language), text_of(asked)
    found = [value for one in given for value in _values_of(one, text, own)]
    found = _named(found, given, text)
    found = [one for one in found if not _gives_way(one, found)]
    values, ties = _dealt(found, first)
    if not found:
        values, ties = _whole(given, text, first)
    return {"values": values, "ties": ties}


def is_answer(text: Any = None, input: Any = None, language: Any = "") -> bool:
    """Whether the text says anything, and for an input whether it holds one value of its kind.

    `um`, `…` and nothing are no answers. `input` is a kind such as `email`, or an input as
    `matchInputs` takes it.
    """
    said = text_of(text)
    if not any(word not in NOISE for word in plain_words(said)):
        return False
    if input is None:
        return True
    entry = input if isinstance(input, Mapping) else {"kind": text_of(input)}
    found = match_inputs(said, [{**entry, "name": "it"}], "it", language)
    return bool(found["values"])


def _list_of(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


# ------------------------------------------------------------------ kinds


def _emails(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    return emails_in(text, language)


def _phones(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    if flag_of(entry, "international") or word_of(entry, "country"):
        return international_in(text, word_of(entry, "country"), language)
    return phones_in(text, language)


def _amounts(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    money = entry.get("money")
    found: Sequence[Amount]
    if isinstance(money, Mapping):
        found = money_in(text, money, language)
    else:
        found = [one for one in amounts_in(text, language) if not one.refused]
        found = [one for one in found if one.codes is not None] or found
    return _placed(text, found)


def _numbers(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    found = [one for one in amounts_in(text, language) if one.codes is None and not one.refused]
    return _placed(text, found)


def _placed(text: str, found: Sequence[Amount]) -> list[Reading]:
    tokens = tokens_of(text)
    return [
        Reading(as_number(one.value), tokens[one.start].start, tokens[one.end - 1].end)
        for one in found
    ]


def _digits(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    bounds = options_of(entry.get("digits")) or entry
    return identifiers_in(text, {"min": 1, **bounds, "digits": True}, language)


def _identifiers(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    return identifiers_in(text, entry, language)


def _choices(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    """The choice that was named; for an object its `value`."""
    offered = _list_of(entry.get("choices"))
    at = picked(text, offered)
    if at is None:
        return []
    choice = offered[at]
    return [Reading(choice.get("value") if isinstance(choice, Mapping) else choice, -1, -1)]


def _yes_no(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    said = yes_or_no(text)
    return [] if said is None else [Reading(said, -1, -1)]


def _nothing(entry: Mapping[str, Any], text: str, language: str) -> list[Reading]:
    """A text is what the others leave."""
    return []


_Reader = Callable[[Mapping[str, Any], str, str], list[Reading]]

KINDS: Final[Mapping[str, _Reader]] = {
    "email": _emails,
    "phone": _phones,
    "amount": _amounts,
    "number": _numbers,
    "digits": _digits,
    "identifier": _identifiers,
    "choice": _choices,
    "yes-no": _yes_no,
    "text": _nothing,
}
"""Kind of an input → how its values are found."""


def yes_or_no(text: str) -> bool | None:
    """What an answer that says nothing else means; None for both and for neither."""
    words = plain_words(text)
    if not words or any(word not in _WORDS_OF_YES_NO for word in words):
        return None
    # "No, sí" takes itself back; "no, that's right" does not.
    denies = any(word in _NO | {"don't", "not"} for word in words)
    agrees = any(word in _YES for word in words)
    if agrees and denies:
        return None
    return True if agrees else False if denies else None


# ------------------------------------------------------------------ dealing out


def _values_of(entry: Mapping[str, Any], text: str, language: str) -> list[_Value]:
    name, kind = word_of(entry, "name"), word_of(entry, "kind") or "text"
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise CallerError(f"input {name!r} is of kind {kind!r}: write one of {known}")
    return [
        _Value(name, kind, one.value, one.start, one.end)
        for one in KINDS[kind](entry, text, language)
    ]


def _named(found: list[_Value], given: Sequence[Mapping[str, Any]], text: str) -> list[_Value]:
    """Values behind the name of an input are that one's, and no other's."""
    labels = [
        (match.end(), word_of(entry, "name"))
        for entry in given
        for label in _labels_of(entry)
        for match in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", fold(text))
    ]
    result: list[_Value] = []
    for one in found:
        owner = _owner(one, found, labels)
        if owner == one.name:
            result.append(msgspec.structs.replace(one, named=True))
        elif not owner or not any(other.name == owner and other.meets(one) for other in found):
            result.append(one)
    return result


def _owner(one: _Value, found: Sequence[_Value], labels: Sequence[tuple[int, str]]) -> str:
    """The input whose name stands before a value, with no other value in between."""
    ends = [other.end for other in found if 0 <= other.end <= one.start]
    before = max(ends, default=0)
    near = [(end, name) for end, name in labels if before <= end <= one.start]
    return max(near)[1] if near else ""


def _labels_of(entry: Mapping[str, Any]) -> list[str]:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\-]+", " ", word_of(entry, "name")).strip()
    words = [text_of(one) for one in _list_of(entry.get("words"))]
    labels = [name, word_of(entry, "label"), *words]
    return [fold(label) for label in dict.fromkeys(labels) if label]


def _gives_way(one: _Value, found: Sequence[_Value]) -> bool:
    """Whether what was read is part of something that is clearly another input's, or its own input
    was named beside another value."""
    if one.named:
        return False
    return any(
        other.named
        if other.name == one.name
        else other.meets(one) and (other.named or _is_clearer(other, one))
        for other in found
    )


def _is_clearer(other: _Value, one: _Value) -> bool:
    """An address is no number, and the 415 of a telephone number is no amount."""
    if other.kind in _CLEAR and one.kind not in _CLEAR:
        return True
    return other.end - other.start > one.end - one.start and (
        other.start <= one.start and one.end <= other.end
    )


def _dealt(found: Sequence[_Value], asked: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One value for each input that has just one; what is left over is tied."""
    values: dict[str, Any] = {}
    ties: list[dict[str, Any]] = []
    for group in _groups(found):
        options = _options(group)
        own = [one for one in options if one["name"] == asked]
        chosen = options[0] if len(options) == 1 else own[0] if len(own) == 1 else None
        if chosen is None:
            ties.append({"options": options})
        else:
            values[chosen["name"]] = chosen["value"]
    return values, ties


def _groups(found: Sequence[_Value]) -> list[list[_Value]]:
    """Values that cannot all hold: of one input, or read from the same words."""
    groups: list[list[_Value]] = []
    for one in found:
        joined = [group for group in groups if any(_collides(one, other) for other in group)]
        merged = [*(value for group in joined for value in group), one]
        groups = [group for group in groups if group not in joined] + [merged]
    return groups


def _collides(one: _Value, other: _Value) -> bool:
    return one.name == other.name or one.meets(other) or (one.start < 0 and other.start < 0)


def _options(group: Sequence[_Value]) -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = []
    for one in group:
        option = {"name": one.name, "value": one.value}
        if option not in options:
            options.append(option)
    return options


def _whole(
    given: Sequence[Mapping[str, Any]], text: str, asked: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The whole answer for a text, where nothing else was read."""
    said = text.strip()
    names = [word_of(one, "name") for one in given if (word_of(one, "kind") or "text") == "text"]
    if not names or not any(word not in NOISE for word in plain_words(said)):
        return {}, []
    if asked in names or len(names) == 1:
        return {asked if asked in names else names[0]: said}, []
    return {}, [{"options": [{"name": name, "value": said} for name in names]}]
