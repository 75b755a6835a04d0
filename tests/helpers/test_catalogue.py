"""Promise: every standard function is listed, works in flows, and is there only when asked for."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

import saywhy.helpers
from saywhy import Engine
from saywhy.errors import CallerError
from saywhy.helpers import CATALOGUE, STANDARD_FUNCTIONS, amount_in_answer, read_money_amount
from saywhy.helpers.examples import text_of_value, value_of
from saywhy.marks import is_quick
from saywhy.testing import FakeClock

NAMES = """
matchesChoice pickChoice isAnswer isAgentRequest isOtherRequest isSpelledFragment isAmountAnswer
amountInAnswer readMoneyAmount isMoneyAmount readEmail readPhone readInternationalPhone
readIdentifier normalizeAndFindCapture matchInputs amountToSpeech dateToWords last4 maskEmail
urlToSpeech textWithUrlToSpeech anythingElse goodbye validateDigits validatePhone validateEmail
validateCardNumber validateExpiration validateOTP callerTextNumber textDestination
callerIsInternational
"""
MOMENT = 1_796_040_000_000.0  # 30 November 2026, noon
CODE = "413418"


def flow(*values: Any, **variables: Any) -> dict[str, Any]:
    """A flow that says each of the texts."""
    steps = [{"id": f"s{n}", "type": "SAY", "value": value} for n, value in enumerate(values)]
    return {
        "id": "main",
        "name": "Main",
        "prompt": "main",
        "description": "Says things",
        "version": "1.0",
        "steps": steps,
        "variables": variables,
    }


def engine_of(definition: dict[str, Any], **options: Any) -> Engine:
    functions = {**STANDARD_FUNCTIONS, **options.pop("functions", {})}
    clock = FakeClock(MOMENT)
    return Engine(flows=[definition], functions=functions, clock=clock, **options)


async def said(engine: Engine, cargo: dict[str, Any] | None = None) -> tuple[str, Any]:
    session = engine.init_session("ann")
    session.cargo.update(cargo or {})
    session = await engine.update_activity("Main", session)
    return session.response or "", session


def test_every_name_is_there() -> None:
    """The names of the catalogue, in its order, and no other."""
    assert list(STANDARD_FUNCTIONS) == NAMES.split()
    assert [helper.name for helper in CATALOGUE] == list(STANDARD_FUNCTIONS)


def test_python_has_them_under_its_own_spelling() -> None:
    """`readEmail` is `read_email`, and so on for all."""
    public = {getattr(saywhy.helpers, name) for name in saywhy.helpers.__all__ if name[0].islower()}
    assert set(STANDARD_FUNCTIONS.values()) == public


async def test_nothing_is_registered_by_itself() -> None:
    """An engine that was handed none has none."""
    bare = Engine(flows=[flow("{{last4('1234')}}!")], clock=FakeClock(MOMENT))
    assert (await said(bare))[0] == "{{last4('1234')}}!"
    assert (await said(engine_of(flow("{{last4('1234')}}!"))))[0] == "1234!"


@pytest.mark.parametrize("helper", CATALOGUE, ids=lambda helper: helper.name)
async def test_the_example_gives_the_same_in_a_flow(helper: Any) -> None:
    """What the list shows is what a conversation would get; the examples do not fail there."""
    engine = engine_of(flow("{{JSON.stringify([" + helper.example + "])}}"))
    engine_text = (await said(engine))[0]
    if helper.name not in {"dateToWords", "validateExpiration"}:  # their examples are of 2023
        assert engine_text == text_of_value([value_of(helper)]).replace('": ', '":').replace(
            ', "', ',"'
        ).replace(", [", ",[")
    assert helper.summary.endswith(".")
    assert helper.signature.startswith(f"{helper.name}(")
    assert "context" not in helper.signature


@pytest.mark.parametrize("helper", CATALOGUE, ids=lambda helper: helper.name)
async def test_an_undefined_argument_is_no_error(helper: Any) -> None:
    """A variable that nobody has set is an answer that nobody has given."""
    declared = flow("{{typeof " + helper.name + "(nothing)}}", nothing={"type": "string"})
    text, _ = await said(engine_of(declared))
    assert text in {"boolean", "string", "object"}


async def test_a_right_code_is_used_up_in_cargo() -> None:
    """`validateOTP(code, cargo)` changes cargo, at the time of the engine's clock."""
    digest = hashlib.sha256(CODE.encode()).hexdigest()
    engine = engine_of(flow("{{validateOTP('" + CODE + "', cargo)}}"))
    text, session = await said(engine, {"otpHash": digest, "otpTimestamp": MOMENT - 1000, "x": 1})
    assert text == "true"
    assert session.cargo == {"x": 1, "otpVerified": True, "otpVerifiedAt": MOMENT}
    assert session.cargo["otpVerifiedAt"] == MOMENT


@pytest.mark.parametrize(
    ("age", "code", "failure", "kept"),
    [
        (600_000, "000000", "mismatch", True),
        (600_001, CODE, "expired", False),
        (0, "", "missing", True),
    ],
)
async def test_a_refused_code_says_why_in_a_variable(
    age: float, code: str, failure: str, kept: bool
) -> None:
    """The reason stands in the object that was handed in, also one of the flow's own."""
    digest = hashlib.sha256(CODE.encode()).hexdigest()
    box = {"otpHash": digest, "otpTimestamp": MOMENT - age}
    definition = flow(
        "{{validateOTP('" + code + "', box)}} {{box.otpFailure}} {{'otpHash' in box}}",
        box={"type": "object", "value": box},
    )
    text, _ = await said(engine_of(definition))
    assert text == f"false {failure} {str(kept).lower()}"


async def test_a_tool_may_be_one_of_them() -> None:
    """As a local tool `validateOTP` gets the clock's time and changes cargo too."""
    digest = hashlib.sha256(CODE.encode()).hexdigest()
    definition = flow("{{result}}")
    definition["steps"].insert(
        0,
        {
            "id": "check",
            "type": "CALL-TOOL",
            "tool": "validate-otp",
            "variable": "result",
            "args": {"otp": CODE, "container": "{{cargo}}"},
        },
    )
    tool = {
        "id": "validate-otp",
        "name": "Validate",
        "description": "Checks a code",
        "parameters": {"otp": {"type": "string"}, "container": {"type": "object"}},
        "implementation": {
            "type": "local",
            "function": "validateOTP",
            "args": ["otp", "container"],
        },
    }
    engine = engine_of(definition, tools=[tool])
    text, session = await said(engine, {"otpHash": digest, "otpTimestamp": MOMENT - 5})
    assert text == "true"
    assert session.cargo == {"otpVerified": True, "otpVerifiedAt": MOMENT}


async def test_the_time_is_that_of_the_conversation() -> None:
    """A card that ends this month is good, and this year's days are said without the year."""
    text, _ = await said(
        engine_of(
            flow(
                "{{validateExpiration('11', '26')}} {{validateExpiration('10', '26')}} "
                "{{dateToWords('2026-12-01', 'en')}} {{dateToWords('2027-12-01', 'es')}}"
            )
        )
    )
    assert text == (
        "true false Tuesday, December first miércoles primero de diciembre de dos mil veintisiete"
    )


def test_they_only_compute_but_for_patterns_of_the_author() -> None:
    """All are called on the spot; the one that runs an author's pattern has a time limit."""
    slow = [name for name, function in STANDARD_FUNCTIONS.items() if not is_quick(function)]
    assert slow == ["normalizeAndFindCapture"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"currency": "DOLLARS"},
            "'DOLLARS' is no currency: write a code of three letters, such as USD",
        ),
        (
            {"intent": "paying"},
            "no intent is called 'paying': write one of "
            "payment, transfer, deposit, withdrawal, refund, or none",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    """What the author wrote wrongly is told, with what to write."""
    with pytest.raises(CallerError) as caught:
        read_money_amount("80", options)
    assert str(caught.value) == message


async def test_such_a_refusal_reaches_the_author() -> None:
    """In an expression it is an error that names what is wrong."""
    catching = (
        "{{(() => { try { return matchInputs('80', [{name: 'a', kind: 'date'}]) } "
        "catch (e) { return e.message } })()}}"
    )
    text, _ = await said(engine_of(flow(catching)))
    assert text == (
        "input 'a' is of kind 'date': write one of email, phone, amount, number, digits, "
        "identifier, choice, yes-no, text"
    )


def test_the_table_of_amounts_in_the_docs_is_right() -> None:
    """Each row of the page says what the two readers of amounts give."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "helpers.md"
    rows = re.findall(r"^\| `(.+?)` \|(.*?)\|(.*?)\|(.*?)\|(.*?)\|$", page.read_text("utf-8"), re.M)
    rows = [row for row in rows if not any("`" in cell for cell in row[1:])]
    assert len(rows) >= 5
    usd: dict[str, Any] = {"currency": "USD"}
    bare = {**usd, "cardinals": True}
    for text, *cells in rows:
        given = [amount_in_answer(text)]
        given += [
            read_money_amount(text, one) for one in (usd, bare, {**bare, "intent": "payment"})
        ]
        assert [cell.strip() for cell in cells] == ["" if x is None else str(x) for x in given], (
            text
        )
