"""The standard functions: what each is called in expressions, what it is for, and an example.

Nothing registers them: a host hands them to its engine, with its own. What they do stands in the
modules they come from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from saywhy.helpers import (
    amounts,
    capture,
    choices,
    codes,
    emails,
    identifiers,
    inputs,
    moments,
    money,
    phones,
    requests,
    speech,
    spelling,
    wording,
)
from saywhy.marks import CONTEXT, quick

EXAMPLE_TIME: Final = 1_700_000_000_000.0
"""The time at which the examples are evaluated: 14 November 2023."""


@dataclass(frozen=True, slots=True)
class Helper:
    """One standard function."""

    name: str
    """What expressions call it."""
    function: Callable[..., Any]
    group: str
    example: str
    """An expression that can be evaluated as it stands."""

    @property
    def signature(self) -> str:
        """The call as the author of a flow writes it, with the defaults of what may be left out."""
        parameters = inspect.signature(self.function).parameters.values()
        named = [_parameter(one) for one in parameters if one.name != CONTEXT]
        return f"{self.name}({', '.join(named)})"

    @property
    def summary(self) -> str:
        """Its first paragraph, in one line."""
        text = inspect.getdoc(self.function) or ""
        return " ".join(text.partition("\n\n")[0].split())

    @property
    def details(self) -> str:
        """What stands below the first paragraph, a line for each paragraph."""
        text = (inspect.getdoc(self.function) or "").partition("\n\n")[2]
        return "\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _parameter(parameter: inspect.Parameter) -> str:
    name = _camel(parameter.name)
    if parameter.default is None:
        return name
    return f"{name} = {_shown(parameter.default)}"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _shown(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else repr(default)


READING: Final = "Reading answers"
SAYING: Final = "Saying values"
CHECKING: Final = "Checks"
CALLING: Final = "The caller"

_ANSWERS: Final = (
    (
        "matchesChoice",
        choices.matches_choice,
        "matchesChoice('savings, please', ['savings', 'checking'])",
    ),
    ("pickChoice", choices.pick_choice, "pickChoice('the second one', ['savings', 'checking'])"),
    ("isAnswer", inputs.is_answer, "isAnswer('um...')"),
    ("isAgentRequest", requests.is_agent_request, "isAgentRequest('let me talk to someone')"),
    ("isOtherRequest", requests.is_other_request, "isOtherRequest('none of these')"),
    ("isSpelledFragment", spelling.is_spelled_fragment, "isSpelledFragment('B as in boy')"),
    ("isAmountAnswer", amounts.is_amount_answer, 'isAmountAnswer("I\'d like to pay eighty")'),
    ("amountInAnswer", amounts.amount_in_answer, "amountInAnswer('twelve fifty please')"),
    (
        "readMoneyAmount",
        money.read_money_amount,
        "readMoneyAmount('pay eighty', {currency: 'USD', cardinals: true, intent: 'payment'})",
    ),
    ("isMoneyAmount", money.is_money_amount, "isMoneyAmount('80 euros', {currency: 'USD'})"),
    ("readEmail", emails.read_email, "readEmail('john dot doe at gmail dot com')"),
    (
        "readPhone",
        phones.read_phone,
        "readPhone('four one five, five five five, oh one two three')",
    ),
    (
        "readInternationalPhone",
        phones.read_international_phone,
        "readInternationalPhone('+34 600 123 456')",
    ),
    (
        "readIdentifier",
        identifiers.read_identifier,
        "readIdentifier('A as in alpha B one two three')",
    ),
    (
        "normalizeAndFindCapture",
        capture.normalize_and_find_capture,
        "normalizeAndFindCapture('415-555-0123', "
        "[{variable: 'cell', regex: '[0-9]{10}', normalizer: '[^0-9]'}])",
    ),
    (
        "matchInputs",
        inputs.match_inputs,
        "matchInputs('80 dollars from ann@example.com', "
        "[{name: 'from', kind: 'email'}, {name: 'sum', kind: 'amount'}])",
    ),
)

_SPOKEN: Final = (
    ("amountToSpeech", speech.amount_to_speech, "amountToSpeech(12.5, 'en', true)"),
    ("dateToWords", moments.date_to_words, "dateToWords('2023-11-30', 'en')"),
    ("last4", codes.last4, "last4('4111 1111 1111 1234')"),
    ("maskEmail", emails.mask_email, "maskEmail('john.doe@example.com')"),
    ("urlToSpeech", speech.url_to_speech, "urlToSpeech('https://www.shop.com/big-sale?x=1', 'en')"),
    (
        "textWithUrlToSpeech",
        speech.text_with_url_to_speech,
        "textWithUrlToSpeech('Visite https://tienda.com/mi_cuenta.', 'es')",
    ),
    ("anythingElse", wording.anything_else, "anythingElse('es')"),
    ("goodbye", wording.goodbye, "goodbye('en')"),
)

_CHECKS: Final = (
    ("validateDigits", codes.validate_digits, "validateDigits('413418', 6, 6)"),
    ("validatePhone", phones.validate_phone, "validatePhone('(415) 555-0123')"),
    ("validateEmail", emails.validate_email, "validateEmail('john@example')"),
    ("validateCardNumber", codes.validate_card_number, "validateCardNumber('4111 1111 1111 1111')"),
    ("validateExpiration", codes.validate_expiration, "validateExpiration('10', '23')"),
    (
        "validateOTP",
        codes.validate_otp,
        "(box => [validateOTP('123456', box), box.otpFailure])({otpTimestamp: 0, otpHash: 'x'})",
    ),
)

_CALLER: Final = (
    (
        "callerTextNumber",
        phones.caller_text_number,
        "callerTextNumber({callerId: '+1 415 555 0123'})",
    ),
    (
        "textDestination",
        phones.text_destination,
        "textDestination({otp_cell_number: '4155550199'})",
    ),
    (
        "callerIsInternational",
        phones.caller_is_international,
        "callerIsInternational({callerId: '+34600123456'})",
    ),
)

_SLOW: Final = frozenset({"normalizeAndFindCapture"})
"""Runs patterns of the author's, so its time is limited like that of any function."""


def _listed() -> Iterator[Helper]:
    for group, rows in (
        (READING, _ANSWERS),
        (SAYING, _SPOKEN),
        (CHECKING, _CHECKS),
        (CALLING, _CALLER),
    ):
        for name, function, example in rows:
            marked = function if name in _SLOW else quick(function)
            yield Helper(name, marked, group, example)


CATALOGUE: Final = tuple(_listed())
"""Every standard function as a `Helper`, in the order in which they are listed."""

STANDARD_FUNCTIONS: Final = {helper.name: helper.function for helper in CATALOGUE}
"""The standard functions by the names that expressions call them, for `Engine(functions=…)`."""
