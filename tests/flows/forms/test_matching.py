"""Which inputs an answer fills."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.flows.forms.matching import Reading, Slot, Tie, read
from saywhy.flows.forms.model import read_form
from tests.flows.conftest import NOW

MONEY = {"currency": "USD", "cardinals": True, "intent": "payment"}
INPUTS: list[dict[str, Any]] = [
    {"name": "amount", "kind": "amount", "money": MONEY},
    {"name": "to", "kind": "name", "cues": ["to"]},
    {"name": "on", "kind": "date", "label": "day"},
    {"name": "phone", "kind": "phone"},
    {"name": "order_number", "kind": "digits", "digits": {"min": 6, "max": 12}},
    {"name": "method", "kind": "choice", "choices": ["cash", "card"]},
    {"name": "guests", "kind": "number"},
    {"name": "note", "kind": "text"},
]


def answer(
    text: str,
    asked: str = "",
    filled: tuple[str, ...] = (),
    *,
    reviewing: bool = False,
    language: str = "en",
) -> Reading:
    form = read_form({"inputs": INPUTS})
    slots = [Slot(entry, entry.name in filled) for entry in form.inputs]
    return read(slots, text, asked=asked, language=language, now_ms=NOW, reviewing=reviewing)


def fills(*arguments: Any, **keys: Any) -> dict[str, Any]:
    return {fill.name: fill.value for fill in answer(*arguments, **keys).fills}


def test_one_answer_for_several_inputs() -> None:
    """Each takes its own part, and the words of each are known."""
    found = answer("80 dollars to Ann tomorrow", "amount")
    assert {fill.name: (fill.value, fill.words) for fill in found.fills} == {
        "amount": (80, "80 dollars"),
        "on": ("2026-01-02", "tomorrow"),
        "to": ("Ann", "Ann"),
    }
    assert found.rest == ""


def test_the_question_comes_first() -> None:
    """What could be anything is the answer to what was asked."""
    assert fills("2025550143", "order_number") == {"order_number": "2025550143"}
    assert fills("2025550143", "phone") == {"phone": "+12025550143"}
    assert fills("3", "guests") == {"guests": 3}


def test_a_tie() -> None:
    """What nobody asked for and fits two inputs alike belongs to neither."""
    found = answer("2025550143")
    assert found.fills == ()
    assert found.ties == (
        Tie("2025550143", {"phone": "+12025550143", "order_number": "2025550143"}),
    )


def test_no_tie_once_one_is_filled() -> None:
    """Then it can only be the other."""
    assert fills("2025550143", filled=("phone",)) == {"order_number": "2025550143"}


def test_a_large_bare_number_is_hardly_an_amount() -> None:
    """Where other inputs want a number like this, an amount that was asked for does not get it."""
    assert [tie.words for tie in answer("2025550143", "amount").ties] == ["2025550143"]


def test_what_says_what_it_is_goes_before_what_was_asked() -> None:
    """A telephone number in its usual form is none of order."""
    assert fills("(202) 555-0143", "order_number") == {"phone": "+12025550143"}


def test_a_value_beside_its_name() -> None:
    """Before or behind the value, whatever was asked."""
    assert fills("my order number is 2025550143", "phone") == {"order_number": "2025550143"}
    assert fills("4 guests", "amount") == {"guests": 4}
    assert fills("90 for the amount", "guests") == {"amount": 90}


def test_a_bare_number_in_passing_is_nobodys() -> None:
    """`at 5` is neither an amount nor a number that was not asked for."""
    assert fills("tomorrow at 5", "on") == {"on": "2026-01-02"}


def test_filled_inputs_stay_without_a_word_of_correction() -> None:
    """Only a correction, the review, or the input's own name changes what stands there."""
    assert fills("90 dollars", "on", ("amount",)) == {}
    assert fills("no, 90 dollars", "on", ("amount",)) == {"amount": 90}
    assert fills("the amount is 90", "on", ("amount",)) == {"amount": 90}
    assert fills("90 dollars", "", ("amount",), reviewing=True) == {"amount": 90}


def test_changes() -> None:
    """To name an input with a wish to change it asks for it again."""
    assert answer("change the amount", "", ("amount",), reviewing=True).changes == ("amount",)
    assert answer("the day is wrong", "to", ("on",)).changes == ("on",)
    assert answer("no, not the amount", "", ("amount",), reviewing=True).changes == ("amount",)
    assert answer("the amount", "", ("amount",), reviewing=True).changes == ()


def test_a_text_takes_everything() -> None:
    """Whatever stands in it, unless it corrects something by its name."""
    assert fills("dinner for 20 dollars", "note", ("amount",)) == {"note": "dinner for 20 dollars"}
    assert fills("no, the amount is 95", "note", ("amount",)) == {"amount": 95}
    assert fills("note: call me at 5", "to") == {"note": "call me at 5"}


def test_a_name() -> None:
    """What is left and looks like one; no question, no filler, no yes."""
    assert fills("Ann, 80 dollars", "to") == {"to": "Ann", "amount": 80}
    assert fills("my name is Ann Lee", "to") == {"to": "Ann Lee"}
    assert fills("it's for Mary Ann O'Hara", "to") == {"to": "Mary Ann O'Hara"}
    assert fills("Will", "to") == {"to": "Will"}
    for text in ("will you?", "what is that?", "hmm", "yes", "why would you want to know", "x9"):
        assert fills(text, "to") == {}, text


def test_another_currency_is_understood_and_refused() -> None:
    """It is no value, and it is not unreadable either."""
    found = answer("80 euros", "amount")
    assert (found.fills, found.is_empty) == ((), False)
    assert [(one.name, one.words) for one in found.refused] == [("amount", "80 euros")]


def test_what_is_left() -> None:
    """Words that say something and that nobody took; names of inputs and fillers say nothing."""
    assert answer("the amount is 80 please", "amount").rest == ""
    assert answer("80 dollars for my landlord", "amount").rest == "for my landlord"


def test_two_values_for_one_input() -> None:
    """The one behind a correction; none where the user has not decided."""
    assert fills("80, sorry, 90", "amount") == {"amount": 90}
    assert fills("80 or 90", "amount") == {}


def test_two_inputs_of_one_kind() -> None:
    """What was asked for gets the first, the other one the second."""
    form = read_form({"inputs": [{"name": n, "kind": "date"} for n in ("leaving", "returning")]})
    slots = [Slot(entry) for entry in form.inputs]
    found = read(slots, "July 4, July 9", asked="leaving", language="en", now_ms=NOW)
    assert {fill.name: fill.value for fill in found.fills} == {
        "leaving": "2026-07-04",
        "returning": "2026-07-09",
    }


def test_long_answers_are_read_in_part() -> None:
    """What stands far behind is not looked at, so that no answer takes long; a text keeps it."""
    text = "x " * 2_000 + "80 dollars"
    assert fills(text, "amount") == {}
    assert fills(text, "note") == {"note": text}


def test_marks_that_nobody_sees() -> None:
    """A number pasted from a list of contacts has marks around it, and dashes for hyphens."""
    assert fills("\u202a(202) 555\u20110143\u202c", "phone") == {"phone": "+12025550143"}
    assert fills("a\u200bb", "note") == {"note": "a\u200bb"}


@pytest.mark.parametrize(
    "text",
    ["between 5 and 6", "5 to 6", "5 to 6 dollars", "from 5 to 10", "80 or 90 dollars"],
)
def test_a_range_is_no_amount(text: str) -> None:
    """Neither end is meant, so that it is asked again."""
    assert fills(text, "amount") == {}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("80 and 90", "en"),
        ("veinte y cinco", "es"),
        ("siete u ocho", "es"),
        ("7 ou 8", "pt"),
    ],
)
def test_two_values_for_one_input_are_none(text: str, language: str) -> None:
    """Which of them is meant, or whether both are one number, is asked again."""
    assert fills(text, "amount", language=language) == {}


def test_a_second_value_goes_to_another_input() -> None:
    """Where one wants it, the first is not in doubt."""
    form = read_form({"inputs": [{"name": n, "kind": "amount"} for n in ("amount", "fee")]})
    slots = [Slot(entry, filled=False) for entry in form.inputs]
    reading = read(slots, "$80 and $90", asked="amount", language="en", now_ms=NOW)
    assert {fill.name: fill.value for fill in reading.fills} == {"amount": 80, "fee": 90}


@pytest.mark.parametrize(
    ("text", "filled", "meant"),
    [
        ("not 80 but 90", (), 90),
        ("not 80 but 90", ("amount",), 90),
        ("change the amount from 80 to 90", ("amount",), 90),
        ("no, from 80 to 90", ("amount",), 90),
        ("80 dollars to 5", (), 80),
    ],
)
def test_the_new_value_is_meant(text: str, filled: tuple[str, ...], meant: int) -> None:
    """Where an old one is named beside it."""
    assert fills(text, "amount", filled)["amount"] == meant
