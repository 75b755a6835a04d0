"""Promise: of what a text model writes only what was offered and declared gets through."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.errors import InvalidReply, ModelError
from saywhy.host import (
    Dropped,
    FlowChoice,
    FlowOption,
    ParameterChoice,
    ParameterOption,
    build_detect_flow_request,
    build_parameter_stage,
    decode_detect_flow_reply,
    decode_flow_llm,
    decode_parameters_llm,
)
from saywhy.host.reading import check_parameters, declared_value

TICKET = FlowOption(
    "open-ticket",
    "Ticket",
    "Opens a ticket",
    (
        ParameterOption("kind", "", enum=("Fraud", "Lost card")),
        ParameterOption("days", "", "number"),
        ParameterOption("note"),
        ParameterOption("owner", internal=True),
    ),
)
HOURS = FlowOption("hours", "Hours")
FLOWS = [TICKET, HOURS]


# ------------------------------------------------------------------ the JSON in a reply

PLAIN = '{"flowName":"Ticket","parameters":{"days":3}}'


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        f"  {PLAIN}\n",
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```\nHope that helps.",
        f"Sure! {PLAIN} Hope {{it}} helps.",
        f"I look at {{the list}} first. {PLAIN}",
        f'{{"thought": "a card was lost"}}\n{PLAIN}',
        '{"flowName": "Ticket", "parameters": {"days": 3, "note": null}}',
        json.loads(PLAIN),
    ],
)
def test_the_object_is_found_among_words_and_fences(reply: Any) -> None:
    """Fences, words around it and other braces do not hide the object that was asked for."""
    choice = decode_detect_flow_reply(FLOWS, reply)
    assert (choice.flow, choice.parameters) == (TICKET, {"days": 3})


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("I do not know.", "I do not know."),
        ("", "(empty)"),
        ("{", "{"),
        ("} {", "} {"),
        ('{"flowName": "Tick', '{"flowName": "Tick'),
        ('["Ticket"]', '["Ticket"]'),
        ("{flowName: 'Ticket'}", "{flowName: 'Ticket'}"),
        ("two\nlines", "two lines"),
        ("x" * 201, "x" * 200 + " …"),
    ],
)
def test_a_reply_without_an_object_is_an_error(reply: str, shown: str) -> None:
    """The error shows the beginning of the reply, keeps all of it, and says what to do."""
    for decode in (decode_detect_flow_reply, decode_flow_llm):
        with pytest.raises(InvalidReply) as raised:
            decode(FLOWS, reply)
        assert str(raised.value) == f"Invalid JSON response from AI: {shown}"
        assert raised.value.reply == reply
        assert raised.value.hint.startswith("hand the JSON schema of the call to the model")
        assert isinstance(raised.value, ModelError)
    with pytest.raises(InvalidReply, match="Invalid JSON response from AI: "):
        decode_parameters_llm(TICKET, reply)


def test_hostile_replies_end_in_time() -> None:
    """Depth, size and thousands of braces cost no more than reading them once."""
    began = time.thread_time()
    for reply in ("{" * 200_000 + "}", '{"a":' * 50_000 + "1" + "}" * 50_000, "{x}" * 100_000):
        with pytest.raises(InvalidReply):
            decode_flow_llm(FLOWS, reply)
    assert time.thread_time() - began < 2


def test_half_a_character_pair_is_read() -> None:
    """A lone surrogate, which strict readers refuse, does not lose the reply."""
    choice = decode_detect_flow_reply(
        FLOWS, '{"flowName":"Ticket","parameters":{"note":"a\ud83d"}}'
    )
    assert choice.parameters == {"note": "a\ud83d"}


def test_marks_of_our_own_are_plain_text_here() -> None:
    """A model cannot write a date or NaN in the spelling that stored conversations use."""
    given = {"note": {"$date": "2026-01-01T00:00:00.000Z"}, "days": {"$num": "NaN"}}
    choice = decode_detect_flow_reply(
        FLOWS, json.dumps({"flowName": "Ticket", "parameters": given})
    )
    assert choice.parameters == given


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["kind", "days", "note", "owner", "colour", ""]) | st.text(max_size=3)


@given(st.text() | st.text(alphabet='{}[]":, aflowNme\\\n`', max_size=60))
def test_whatever_a_model_writes_is_read_or_refused(reply: str) -> None:
    """No text of a model ends in another error than the one that says there is no JSON in it."""
    try:
        choice = decode_detect_flow_reply(FLOWS, reply)
    except InvalidReply as error:
        assert error.reply == reply
    else:
        assert choice.flow in (TICKET, HOURS, None)


@given(st.dictionaries(NAMES, ANY_JSON | st.sampled_from(["Fraud", " lost CARD"]), max_size=6))
def test_every_value_is_kept_or_told(given_values: dict[str, Any]) -> None:
    """What a model gave is either kept, under a declared name, or told as dropped; never both."""
    choice = decode_detect_flow_reply(
        FLOWS, json.dumps({"flowName": "Ticket", "parameters": given_values})
    )
    dropped = [one.name for one in choice.dropped]
    assert sorted([*choice.parameters, *dropped]) == sorted(given_values)
    assert choice.parameters.keys() <= {"kind", "days", "note"}
    assert choice.parameters.get("kind", "Fraud") in ("Fraud", "Lost card")


# ------------------------------------------------------------------ the flow


@pytest.mark.parametrize(
    ("said", "flow"),
    [
        ("Ticket", TICKET),
        (" tICKET ", TICKET),
        ("open-ticket", TICKET),
        ("Hours", HOURS),
        ("None", None),
        ("none", None),
        ("null", None),
        ("", None),
        ("  ", None),
        (None, None),
        (7, None),
        (["Ticket"], None),
    ],
)
def test_which_flow_is_meant(said: Any, flow: FlowOption | None) -> None:
    """A name in any case or an exact id; None, null and empty text are no flow, and not unknown."""
    for decode in (decode_detect_flow_reply, decode_flow_llm):
        choice = decode(FLOWS, json.dumps({"flowName": said, "parameters": {}}))
        assert choice.flow is flow
        assert not choice.is_unknown
        assert choice.flow_name == (flow.name if flow else "None")


def test_an_absent_name_is_no_flow() -> None:
    """An object without the key chooses nothing."""
    assert decode_detect_flow_reply(FLOWS, "{}") == FlowChoice()
    assert decode_flow_llm(FLOWS, '{"parameters": {"days": 3}}') == FlowChoice()


def test_a_name_that_was_not_offered_is_kept_for_the_log() -> None:
    """An invented flow starts nothing; the name is told, so that it can be logged."""
    choice = decode_detect_flow_reply(FLOWS, '{"flowName": "Refund", "parameters": {"days": 1}}')
    assert choice == FlowChoice(said="Refund")
    assert choice.is_unknown
    assert decode_flow_llm([], '{"flowName": "Ticket"}').is_unknown


def test_a_request_serves_as_the_list_of_flows() -> None:
    """A host decodes with the request it was handed; internal parameters are not in it."""
    request: Any = build_detect_flow_request("x", [], FLOWS).request
    choice = decode_detect_flow_reply(
        request, '{"flowName": "ticket", "parameters": {"kind": "FRAUD", "owner": "me"}}'
    )
    assert choice.flow_name == "Ticket"
    assert choice.parameters == {"kind": "Fraud"}
    assert choice.dropped == (Dropped("owner", "me", "not declared"),)


# ------------------------------------------------------------------ the parameters


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("", 1, "no name"),
        (" ", 1, "no name"),
        ("colour", "red", "not declared"),
        ("Days", 3, "not declared"),
        ("owner", "me", "internal"),
        ("note", None, "no value"),
        ("kind", "Theft", "not one of its values"),
        ("kind", "", "not one of its values"),
        ("kind", 1, "not one of its values"),
        ("kind", True, "not one of its values"),
        ("kind", ["Fraud"], "not one of its values"),
        ("kind", "Fraud, Lost card", "not one of its values"),
        ("kind", None, "no value"),
    ],
)
def test_what_is_dropped_is_told_with_the_reason(name: str, value: Any, reason: str) -> None:
    """A dropped value reaches nobody, and is told as data; the others stay."""
    choice = decode_detect_flow_reply(
        FLOWS, {"flowName": "Ticket", "parameters": {name: value, "days": 3}}
    )
    assert choice.parameters == {"days": 3}
    (dropped,) = choice.dropped
    assert (dropped.name, dropped.value, dropped.reason) == (name, value, reason)
    assert dropped.text == f'parameter "{name}" dropped: {reason}'


@pytest.mark.parametrize(
    ("said", "declared"),
    [
        ("Fraud", "Fraud"),
        ("  fRAUD ", "Fraud"),
        ("LOST  CARD", "Lost card"),
        ("lost\tcard", "Lost card"),
        ("lostcard", "Lost card"),
    ],
)
def test_a_declared_value_keeps_its_spelling(said: str, declared: str) -> None:
    """Case and spaces do not matter; what comes out is what the author declared."""
    assert check_parameters(TICKET, {"kind": said}) == ({"kind": declared}, ())


def test_spaces_decide_between_values_that_differ_in_them_alone() -> None:
    """Where two declared values differ by a space, the one as written is taken."""
    option = ParameterOption("x", enum=("A B", "AB"))
    assert declared_value(option, "ab") == "AB"
    assert declared_value(option, "a  b") == "A B"
    assert declared_value(ParameterOption("x", enum=("A  B", "A B")), "A B") == "A B"


@pytest.mark.parametrize("given", [[], "days=3", 7, [["days", 3]]])
def test_parameters_that_are_no_object_are_dropped_as_a_whole(given: Any) -> None:
    """A list or a text in place of the parameters gives none."""
    choice = decode_detect_flow_reply(FLOWS, {"flowName": "Ticket", "parameters": given})
    assert choice.parameters == {}
    assert choice.dropped == (Dropped("", given, "no object"),)


@pytest.mark.parametrize(
    "reply", ['{"flowName":"Ticket"}', '{"flowName":"Ticket","parameters":null}']
)
def test_absent_parameters_are_none(reply: str) -> None:
    """A flow may be chosen without parameters, and nothing is reported."""
    assert decode_detect_flow_reply(FLOWS, reply) == FlowChoice(TICKET, "Ticket")


def test_an_empty_enum_allows_any_value() -> None:
    """A list of values without one is no list: nothing could ever be said."""
    flow = FlowOption("a", "A", "", (ParameterOption("x", enum=()),))
    assert check_parameters(flow, {"x": "anything"}) == ({"x": "anything"}, ())


def test_other_values_stay_as_they_are() -> None:
    """Without an `enum` a value is not converted: 3 stays a number, "3" a text, false is said."""
    given = {"days": "3", "note": False}
    assert check_parameters(TICKET, given) == (given, ())


# ------------------------------------------------------------------ stage 2


@pytest.mark.parametrize(
    ("name", "written", "kept"),
    [
        ("note", "12345678901234567890", "12345678901234567890"),
        ("note", "9007199254740991", 9007199254740991),
        ("note", "-12345678901234567890", "-12345678901234567890"),
        ("note", "true", True),
        ("days", "12345678901234567890", 12345678901234567890.0),
    ],
)
def test_a_number_too_long_for_javascript_stays_usable(name: str, written: str, kept: Any) -> None:
    """As text, so that no digit of an order number is lost; as a number where one is declared."""
    reply = f'{{"flowName": "Ticket", "parameters": {{"{name}": {written}}}}}'
    found = decode_detect_flow_reply(FLOWS, reply).parameters[name]
    assert (type(found), found) == (type(kept), kept)


def test_the_parameters_of_stage_2_are_checked_likewise() -> None:
    """Null is what the user has not said; the rest is checked as in a single call."""
    stage: Any = build_parameter_stage("x", [], TICKET).request
    reply = '{"parameters": {"kind": "lost CARD", "days": null, "note": 7, "more": 1}}'
    for flow in (TICKET, stage):
        choice = decode_parameters_llm(flow, reply)
        assert choice.parameters == {"kind": "Lost card", "note": 7}
        assert [(one.name, one.reason) for one in choice.dropped] == [
            ("days", "no value"),
            ("more", "not declared"),
        ]
    assert decode_parameters_llm(TICKET, "{}") == ParameterChoice()


# ------------------------------------------------------------------ handing back


def test_a_choice_becomes_the_reply_an_engine_reads() -> None:
    """What `reply()` writes is decoded to the same choice."""
    choice = decode_detect_flow_reply(FLOWS, PLAIN)
    assert choice.reply(choice.parameters) == PLAIN
    assert decode_detect_flow_reply(FLOWS, choice.reply(choice.parameters)) == choice
    assert choice.reply() == '{"flowName":"Ticket"}'
    assert FlowChoice().reply({}) == '{"flowName":"None","parameters":{}}'
    found = ParameterChoice({"days": 3})
    assert decode_parameters_llm(TICKET, found.reply()) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"flowName": "Pay", "alternative": "track"}, "Track"),
        ({"flowName": "Pay", "alternative": "Pay"}, ""),
        ({"flowName": "Pay", "alternative": "None"}, ""),
        ({"flowName": "Pay", "alternative": None}, ""),
        ({"flowName": "Pay", "alternative": "Ghost"}, ""),
        ({"flowName": "None", "alternative": "Track"}, ""),
    ],
)
def test_a_second_flow_that_fits_as_well(said: dict[str, Any], found: str) -> None:
    """Only beside a first one, and only one that was offered; the reply can be written again."""
    flows = (FlowOption("pay", "Pay"), FlowOption("track", "Track"))
    for decode in (decode_detect_flow_reply, decode_flow_llm):
        choice = decode(flows, said)
        assert (choice.alternative.name if choice.alternative else "") == found
        if found:
            assert decode(flows, choice.reply()) == choice
