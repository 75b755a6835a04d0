"""Masking and cutting: nothing sensitive and nothing too big is kept of a commit."""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from saywhy.chart.commit import (
    Answered,
    Asked,
    Commit,
    Condition,
    Decision,
    FunctionCall,
    Op,
)
from saywhy.trace.masking.redact import CUT_TAG, MARK, REDACTED_TAG, Policy, Redactor
from saywhy.trace.record import encode
from saywhy.values import UNDEFINED, BigInt, Date, FrozenDict, FrozenList, Key, freeze, thaw

CARD = "4111 1111 1111 1111"


def commit(**fields: Any) -> Commit:
    return Commit(
        **{"seq": 1, "turn": 1, "frame": 1, "chart": "c", "flow": "Pay"}
        | {"node": "/steps/0", "kind": "SET"}
        | fields
    )


def everywhere(text: str) -> Commit:
    """A commit with `text` in every place that can hold one."""
    return commit(
        reads=(("cargo", "cards", text),),
        ops=(
            Op("set", ("v1", "a"), freeze({"deep": [{"x": f"is {text}."}]})),
            Op("append", ("v1", "list"), text),
            Op("set", ("cargo", "cards", text), 1),
            Op("set", ("v1", "by"), freeze({text: 1})),
        ),
        decision=Decision(
            "x", (Condition(f"a == '{text}'", True, read=((("v1", "a"), text),), error=text),)
        ),
        asked=Asked("tool", "t", freeze({"n": [text]})),
        answered=Answered("tool", "t", freeze([text]), f"no {text}", freeze({"at": text}).raw),
        calls=(FunctionCall("f", freeze([text]), text, f"bad {text}"),),
        error=f"Error: {text}",
        warnings=(f"careful: {text}",),
        facts={"failure": {"message": text}},
    )


STRUCTURE = {"chart", "flow", "node", "kind", "phase", "to", "name", "label", "branch", "chosen"}
STRUCTURE |= {"error_name", "tags", "selected", "effect", "verb"}
"""Fields that name parts of the program, never data."""


def filled(kind: Any, name: str = "") -> Any:
    """A value of a type with the card number wherever it can hold a text."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is str or kind is Any:
        return "x" if name in STRUCTURE else f"is {CARD}."
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        nested = {field for field, hint in hints.items() if kind in get_args(hint)}
        return kind(
            **{field: filled(hints[field], field) for field in hints if field not in nested}
        )
    if origin is Literal:
        return args[0]
    if origin is dict:
        return {"field": filled(Any, name), CARD: 1}
    if kind == Key:
        return ("v1", "cards", CARD)
    if origin is tuple:
        return tuple(filled(one, name) for one in args if one is not ...)
    if origin in (Union, UnionType):
        return filled(args[0], name)
    return kind()


def test_no_field_of_a_commit_is_forgotten() -> None:
    """Whatever fields commits get: a secret in any of them is masked, evidence of evidence too."""
    given = filled(Commit)
    inner = given.decision.conditions[0]
    outer = Condition("outer", True, parts=(inner,))
    decision = msgspec.structs.replace(given.decision, conditions=(inner, outer))
    given = msgspec.structs.replace(given, decision=decision, secrets=())
    assert encode(given).decode().count(CARD) > 15
    assert CARD not in encode(Redactor(secrets=[CARD]).commit(given)).decode()


def test_a_commit_with_nothing_to_mask_is_itself() -> None:
    """Where there is nothing to hide, the very same commit is kept; it shares its values."""
    given = everywhere("hello")
    assert Redactor().commit(given) is given


def test_a_secret_is_masked_in_every_place() -> None:
    """A text known to be secret stands nowhere in the kept commit, whatever part it was in."""
    kept = Redactor(secrets=[CARD]).commit(everywhere(CARD))
    assert CARD not in encode(kept).decode()
    assert kept.ops[0].value["deep"][0]["x"] == f"is {MARK}."
    assert kept.ops[2].key == ("cargo", "cards", MARK)
    assert kept.reads == (("cargo", "cards", MARK),)
    assert kept.error == f"Error: {MARK}"
    assert REDACTED_TAG in kept.tags


def test_the_commits_own_secrets_are_learnt_and_taken_out() -> None:
    """What a step found to be sensitive is masked in its own commit and in all later ones."""
    redactor = Redactor()
    kept = redactor.commit(msgspec.structs.replace(everywhere(CARD), secrets=(CARD,)))
    assert kept.secrets == ()
    assert CARD not in encode(kept).decode()
    assert CARD not in encode(redactor.commit(everywhere(CARD))).decode()


def test_secrets_are_recognised_inside_json_and_addresses() -> None:
    """Texts are masked as they look inside JSON text and inside an address, too."""
    secret = 'Ann "the boss" Ünal & sons'
    redactor = Redactor(secrets=[secret])
    for text in (
        '{"name":"Ann \\"the boss\\" \\u00dcnal & sons"}',
        "GET /who?name=Ann%20%22the%20boss%22%20%C3%9Cnal%20%26%20sons",
        "name=Ann+%22the+boss%22+%C3%9Cnal+%26+sons&x=1",
    ):
        assert "boss" not in redactor.text(text)


def test_a_secret_that_became_a_number_is_masked() -> None:
    """A PIN that a tool was handed as a number is the same PIN."""
    redactor = Redactor(secrets=["48151", "0.75"])
    assert redactor.value(freeze([48151, 48151.0, BigInt(48151), 4815, 0.75])) == FrozenList(
        [MARK, MARK, MARK, 4815, MARK]
    )


def test_how_long_something_took_is_told() -> None:
    """Also where it happens to be a number that is secret."""
    redactor = Redactor(secrets=["4711"])
    assert redactor.value(freeze({"latencyMs": 4711, "n": 4711})) == freeze(
        {"latencyMs": 4711, "n": MARK}
    )


def test_a_text_is_shown_inside_of_others_as_by_itself() -> None:
    """A question that is repeated; the longest goes first, be it a secret or such a text."""
    known = {"shown": {"Is it Ann?": f"Is it {MARK}?", "yes": MARK}}
    redactor = Redactor(secrets=["Well. Is it Ann? No"], sensitive=known)
    assert redactor.text("Is it Ann?") == f"Is it {MARK}?"
    assert redactor.text("Again: Is it Ann? Say yes.") == f"Again: Is it {MARK}? Say yes."
    assert redactor.text("So: Well. Is it Ann? No") == f"So: {MARK}"
    assert redactor.text("yes") == MARK


def test_short_secrets_are_masked_where_they_are_the_whole_text() -> None:
    """Masking every "no" inside other texts would leave nothing readable; the answer itself is."""
    redactor = Redactor(secrets=["no"])
    assert redactor.text(" no ") == MARK
    assert redactor.text("nobody knows") == "nobody knows"


def test_the_longer_secret_goes_first() -> None:
    """Of two secrets the one that contains the other leaves nothing behind."""
    redactor = Redactor(secrets=["Ann", "Ann Miller"])
    assert redactor.text("for Ann Miller, Ann") == f"for {MARK}, {MARK}"


@pytest.mark.parametrize(
    "given",
    [
        {"password": "hunter2"},
        {"user": {"login": [{"apiKey": "k"}]}},
        {"headers": {"Authorization": "Bearer abc", "X-Auth-Token": 7}},
        {"credentials": {"user": "ann", "word": "x"}},
    ],
)
def test_values_are_masked_by_name_at_every_depth(given: dict[str, Any]) -> None:
    """What stands under a sensitive name is masked whole."""
    kept = encode(Redactor().commit(commit(asked=Asked("tool", "t", given)))).decode()
    assert MARK in kept
    for word in ("hunter2", '"k"', "Bearer", ":7", "ann"):
        assert word not in kept


def test_variables_are_masked_by_their_name() -> None:
    """A variable with a sensitive name is masked where it is written and where it was read."""
    read = Condition("token == x", True, read=((("v1", "token"), "abcdef-1"),))
    given = commit(
        ops=(Op("set", ("v1", "token"), "abcdef-1"), Op("set", ("cargo", "session", "key"), 5)),
        decision=Decision("a", (read,)),
    )
    kept = Redactor().commit(given)
    assert [op.value for op in kept.ops] == [MARK, MARK]
    assert kept.decision is not None
    assert kept.decision.conditions[0].read == ((("v1", "token"), MARK),)


def test_what_was_masked_for_its_name_is_masked_in_copies() -> None:
    """A password that an author copied to another variable or sent on is still a password."""
    redactor = Redactor()
    first = redactor.commit(
        commit(
            ops=(Op("set", ("v1", "copy"), "it is hunter22"),),
            asked=Asked("tool", "login", {"password": "hunter22"}),
        )
    )
    later = redactor.commit(commit(seq=2, error="no user with hunter22"))
    assert "hunter22" not in (encode(first) + encode(later)).decode()


def test_short_values_of_sensitive_names_taint_nothing() -> None:
    """A key named "size" must not mask every "size" of the conversation."""
    redactor = Redactor()
    redactor.commit(commit(asked=Asked("tool", "t", {"key": "size"})))
    assert redactor.text("which size?") == "which size?"


def test_extra_and_open_names() -> None:
    """A policy adds names and takes names out."""
    redactor = Redactor(Policy(names=("iban",), open=("key",)))
    kept = redactor.value(freeze({"iban": "DE02", "userIban": "DE03", "key": "size", "n": 1}))
    assert thaw(kept) == {"iban": MARK, "userIban": MARK, "key": "size", "n": 1}


def test_the_callers_values_are_never_changed() -> None:
    """The state keeps the real value; only the record is masked."""
    tree = {"password": "hunter2", "list": [{"token": "t-1"}, CARD]}
    value = freeze(tree)
    plain = {"args": {"secret": "s"}}
    redactor = Redactor(secrets=[CARD])
    redactor.value(value)
    redactor.value(plain)
    assert thaw(value) == {"password": "hunter2", "list": [{"token": "t-1"}, CARD]}
    assert plain == {"args": {"secret": "s"}}


def test_other_kinds_of_value_pass() -> None:
    """Undefined, dates, big integers and objects that look like tags come through unchanged."""
    value = freeze({"u": UNDEFINED, "d": Date(0), "b": BigInt(1), "t": {"$date": 1}, "n": None})
    assert Redactor(secrets=["nothing"]).value(value) is value


def test_long_texts_are_cut_with_a_note() -> None:
    """A text longer than the limit keeps its beginning and says how long it was."""
    redactor = Redactor(Policy(max_value_bytes=100))
    kept = redactor.commit(commit(ops=(Op("set", ("v1", "a"), "x" * 500),)))
    assert kept.ops[0].value == "x" * 98 + "[CUT: 500 characters]"
    assert CUT_TAG in kept.tags


def test_long_lists_and_objects_are_cut_with_a_note() -> None:
    """A list or an object too big keeps its first parts and says how many are missing."""
    redactor = Redactor(Policy(max_value_bytes=64))
    kept = redactor.value(freeze({"items": list(range(100)), "more": 1, "last": 2}))
    assert isinstance(kept, FrozenDict)
    assert len(kept["items"]) < 12
    assert kept["items"][-1] == f"[CUT: {101 - len(kept['items'])} more items]"
    assert "[CUT: 2 more fields]" in kept


def test_each_value_has_its_own_limit() -> None:
    """Many values in one commit do not push each other out."""
    redactor = Redactor(Policy(max_value_bytes=100))
    given = commit(ops=tuple(Op("set", ("v1", f"a{i}"), "x" * 80) for i in range(10)))
    assert redactor.commit(given) is given


def test_a_secret_across_the_cut_leaves_nothing_behind() -> None:
    """Masking goes before cutting: half a secret at the edge would not be recognised."""
    for before in range(80, 105):
        redactor = Redactor(Policy(max_value_bytes=100), secrets=["hunter22-secret"])
        kept = redactor.value("x" * before + "hunter22-secret" + "y" * 100)
        assert "hunt" not in kept


def test_a_huge_value_costs_no_more_than_its_limit() -> None:
    """The walk stops where the value is cut."""

    big = freeze({"items": [{"name": f"n{i}"} for i in range(200_000)]})
    kept = Redactor(Policy(max_value_bytes=1000)).value(big)
    assert len(kept["items"]) < 200
    assert len(encode(commit(ops=(Op("set", ("v1", "a"), kept),)))) < 4000
