"""Promise: whatever a person says, no standard function raises, and what it gives holds."""

from __future__ import annotations

import inspect
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from saywhy.helpers import (
    CATALOGUE,
    STANDARD_FUNCTIONS,
    At,
    amount_in_answer,
    caller_is_international,
    caller_text_number,
    is_amount_answer,
    is_money_amount,
    last4,
    mask_email,
    match_inputs,
    matches_choice,
    pick_choice,
    read_email,
    read_identifier,
    read_international_phone,
    read_money_amount,
    read_phone,
    url_to_speech,
    validate_digits,
    validate_email,
    validate_otp,
    validate_phone,
)

WORDS = some.sampled_from(
    """one two three oh double triple hundred thousand forty and point fifty dollars cents euros
    at dot com gmail dash underscore plus my is the a b j o y as in boy de como uno dos tres cero
    doble cien mil con punto arroba guion bajo pesos centavos agent someone talk to other none
    +34 415 555-0123 0123 $80 80% -5 1.234,56 AB-12 #1001 ann@example.com x@y , . ? ¿ ' @ …
    yes no sí not phone email savings checking""".split()  # noqa: SIM905
)
SPOKEN = some.lists(WORDS, max_size=14).map(" ".join)
TEXT = some.one_of(some.text(max_size=80), SPOKEN)
VALUES: Any = some.one_of(
    TEXT,
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(),
    some.lists(TEXT, max_size=3),
    some.dictionaries(some.sampled_from(["callerId", "otpHash", "otpTimestamp", "x"]), TEXT),
)
LANGUAGES = some.sampled_from(["", "en", "es", "es-MX", "fr", "x", "zz_ZZ"])
CHOICES = ["savings", "checking", "yes", "no"]
FORM = [
    {"name": "phone", "kind": "phone"},
    {"name": "email", "kind": "email"},
    {"name": "sum", "kind": "amount"},
    {"name": "count", "kind": "number"},
    {"name": "order", "kind": "identifier"},
    {"name": "account", "kind": "choice", "choices": CHOICES},
    {"name": "agreed", "kind": "yes-no"},
    {"name": "note", "kind": "text"},
]
NOW = At(1_796_040_000_000.0)
QUICK = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize("helper", CATALOGUE, ids=lambda helper: helper.name)
@QUICK
@given(values=some.lists(VALUES, max_size=2))
def test_nothing_that_is_said_raises(helper: Any, values: list[Any]) -> None:
    """Any text, number, list or object, or none at all, as the first arguments."""
    parameters = inspect.signature(helper.function).parameters
    positional = [one for one in parameters.values() if one.kind is not one.KEYWORD_ONLY]
    values = values[: len(positional)]
    if helper.name in {"readMoneyAmount", "isMoneyAmount", "matchInputs", "isAnswer"}:
        values = values[:1]  # what follows is for the author to write rightly
    context = {"context": NOW} if "context" in helper.function.__annotations__ else {}
    helper.function(*values, **context)


@QUICK
@given(TEXT, LANGUAGES)
def test_a_telephone_number_that_is_read_is_valid(text: str, language: str) -> None:
    """What `readPhone` gives passes `validatePhone`, and so abroad with `acceptInternational`."""
    number = read_phone(text, language)
    assert number is None or (validate_phone(number) and validate_digits(number, 10, 10))
    abroad = read_international_phone(text, "", language)
    assert abroad is None or (abroad.startswith("+") and 8 <= len(abroad) <= 16)
    if abroad and len(abroad) > 11:
        assert validate_phone(abroad, True)


@QUICK
@given(TEXT, LANGUAGES)
def test_an_address_that_is_read_is_valid_and_read_again(text: str, language: str) -> None:
    """What `readEmail` gives passes `validateEmail` and is read as itself."""
    address = read_email(text, language)
    assert address is None or (validate_email(address) and read_email(address) == address)


@QUICK
@given(TEXT, LANGUAGES)
def test_what_is_read_says_itself(text: str, language: str) -> None:
    """Numbers and identifiers are read again from their written form."""
    number = read_phone(text, language)
    assert number is None or read_phone(number) == number
    found = read_identifier(text, None, language)
    assert found is None or found == found.upper().strip()
    digits = read_identifier(text, {"digits": True}, language)
    assert digits is None or validate_digits(digits)


@QUICK
@given(TEXT, LANGUAGES)
def test_the_readers_of_amounts_agree(text: str, language: str) -> None:
    """An amount answer has an amount; the options of money take nothing from the older readers."""
    before = amount_in_answer(text, language)
    if is_amount_answer(text, language):
        assert before is not None
    strict = read_money_amount(text, {"currency": "USD"}, language)
    loose = read_money_amount(
        text, {"currency": "USD", "cardinals": True, "intent": "payment"}, language
    )
    assert strict is None or strict == loose
    assert is_money_amount(text, {"currency": "USD"}, language) is (strict is not None)
    for amount in (before, strict, loose):
        assert amount is None or amount >= 0
    assert strict is None or round(strict, 2) == strict
    assert amount_in_answer(text, language) == before


@QUICK
@given(SPOKEN, some.sampled_from(["EUR", "GBP", "CAD", "JPY"]))
def test_no_currency_passes_for_another(text: str, code: str) -> None:
    """An amount that says it is in dollars of the United States is none in another currency."""
    said = f"{text} 80 US dollars"
    assert read_money_amount(said, {"currency": code, "cardinals": True}) is None


@QUICK
@given(some.emails())
def test_a_masked_address_does_not_tell_the_name(address: str) -> None:
    """At most the first letter of the name is left, and nothing of its length."""
    name, _, domain = address.rpartition("@")
    masked = mask_email(address)
    if masked == "***":  # no address as `validateEmail` has it
        return
    assert masked in {f"***@{domain}", f"{name[0]}***@{domain}"}
    assert len(name) == 1 or name not in masked.rpartition("@")[0]


@QUICK
@given(VALUES)
def test_a_mask_gives_no_more_than_it_says(value: Any) -> None:
    """`last4` are four digits or none; what is no address is masked as a whole."""
    assert re.fullmatch(r"([0-9]{4})?", last4(value))
    masked = mask_email(value)
    assert masked in {"", "***"} or masked.split("@")[0].endswith("***")


@QUICK
@given(TEXT)
def test_a_choice_that_is_picked_was_offered(text: str) -> None:
    """It is one of the choices; a choice that is the whole answer is both matched and picked."""
    assert pick_choice(text, CHOICES) in {*CHOICES, None}
    for choice in CHOICES:
        assert pick_choice(choice.upper(), CHOICES) == choice
        assert matches_choice(f"well, {choice}!", [choice])


@QUICK
@given(TEXT, some.sampled_from([one["name"] for one in FORM]), LANGUAGES)
def test_an_answer_fills_inputs_of_the_form_only(text: str, asked: str, language: str) -> None:
    """Each value has an input, none is both filled and tied, and a tie is between at least two."""
    found = match_inputs(text, FORM, asked, language)
    names = {one["name"] for one in FORM}
    assert set(found["values"]) <= names
    for tie in found["ties"]:
        assert len(tie["options"]) > 1
        assert {option["name"] for option in tie["options"]} <= names
    assert found == match_inputs(text, FORM, asked, language)


@QUICK
@given(TEXT, VALUES)
def test_a_code_is_accepted_for_its_hash_alone(code: str, container: Any) -> None:
    """Nothing but a container with the right hash opens, and a refusal says why in it."""
    assert validate_otp(code, container, context=NOW) is False
    if isinstance(container, dict):
        assert container["otpFailure"] in {"missing", "expired", "mismatch"}


@QUICK
@given(VALUES)
def test_the_caller_is_abroad_only_with_a_number(value: Any) -> None:
    """Who has no number that could be texted is not from abroad."""
    cargo = {"callerId": value}
    number = caller_text_number(cargo)
    assert number == "" or validate_phone(number) or number.startswith("+")
    assert caller_is_international(cargo) is number.startswith("+")


@QUICK
@given(
    some.from_regex(
        r"https?://(www\.)?[a-z]{1,8}(\.[a-z]{2,5}){1,2}(/[a-z_-]{1,8}){0,2}", fullmatch=True
    )
)
def test_an_address_of_a_page_is_said_without_signs(url: str) -> None:
    """No sign is left that a voice would stumble over."""
    for language in ("en", "es"):
        assert re.fullmatch(r"[a-z]+( [a-zó]+)*", url_to_speech(url, language))


HOSTILE = (
    "one ", "one at ", "at ", "double ", "$1 ", "a@", "want to ", "a-", "x@x.x ", "1", "+", ".",
    "talk to a ", "b as in ", "not the ", "and ", "https://a.b/", "i'd like to pay ",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_answer_takes_long(piece: str) -> None:
    """However long it is and whatever it repeats: half a second for the slowest function."""
    text = piece * (4000 // len(piece))
    for helper in CATALOGUE:
        STANDARD_FUNCTIONS[helper.name]("one")  # what is loaded once does not count
        began = time.process_time()
        helper.function(text)
        assert time.process_time() - began < 0.5, helper.name
