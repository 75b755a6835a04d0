"""What a spoken answer becomes, and when the model's word is not taken."""

from __future__ import annotations

import pytest

from saywhy.chart.outcome import Answer, Need
from saywhy.flows.spoken import MAX_SAID, TASK, cleaned, cleaning, prompt
from tests.flows.conftest import flow, say, world_of


def asked(question: str, said: str) -> Need:
    need = cleaning(question, said, field="x")
    assert need is not None
    return need


def test_the_question_in_words() -> None:
    """It has no form: the answer is the text itself."""
    need = asked("How much?", "uhm five")
    assert (need.name, need.args["field"]) == (TASK, "x")
    made = prompt(world_of(flow(say("x"))), need.args)
    assert made.user == "Question:\nHow much?\n\nAnswer as heard:\nuhm five"
    assert (made.schema, made.request) == (None, None)
    assert "never give back the one in the question" in made.system


@pytest.mark.parametrize("said", ["", "x" * (MAX_SAID + 1)])
def test_nothing_and_very_much_is_not_cleaned(said: str) -> None:
    """It is stored as it was said."""
    assert cleaning("How much?", said) is None


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (Answer(" five "), "five"),
        (Answer("  "), "uhm five"),
        (Answer("{}"), "uhm five"),
        (Answer("[]"), "uhm five"),
        (Answer(None), "uhm five"),
        (Answer(error="line down"), "uhm five"),
    ],
)
def test_the_models_text_or_the_words(answer: Answer, kept: str) -> None:
    """Trimmed; an empty one, JSON with nothing in it and a failure are none."""
    assert cleaned(asked("How much?", "uhm five"), answer) == kept


@pytest.mark.parametrize(
    ("question", "said", "text", "is_taken"),
    [
        ("Is it ada@example.com?", "no bob at example", "bob@example.com", True),
        ("Is it ada@example.com?", "no it is a d a", "ada@example.com", False),
        ("Is it ada@example.com?", "no it is a d a", "ADA@EXAMPLE.COM", False),
        ("Is it ada@example.com?", "yes ada@example.com", "ada@example.com", True),
        ("Is it +1 (555) 010-9988?", "ending in 88", "555 010 9988", False),
        ("Is it +1 (555) 010-9988?", "555 010 9989", "5550109989", True),
        ("Is it 5550109988?", "555 010 9988 yes", "5550109988", True),
        ("Call 911?", "nine one one", "911", True),
        ("How old?", "twenty", "20", True),
    ],
)
def test_an_echo_of_the_question_loses(question: str, said: str, text: str, is_taken: bool) -> None:
    """An address or a phone number out of the question that nobody said."""
    assert cleaned(asked(question, said), Answer(text)) == (text if is_taken else said)
