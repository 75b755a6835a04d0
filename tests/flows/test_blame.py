"""Promise: one line of the log tells enough of a failed expression to mend it, and no value."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.flows.blame import type_of
from saywhy.flows.evaluate import say_text
from saywhy.values import UNDEFINED, BigInt, Date, NonFinite, freeze
from tests.flows.conftest import flow, say, scope_at, world_of

VALUES = {"amount": "80", "xs": [1, 2], "user": {"name": "Ann"}, "note": None, "e": ""}


def bad() -> None:
    raise LookupError("no such thing")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("ammount * 2", 'ReferenceError: ammount is not defined; did you mean "amount"?'),
        ("flowNam", 'ReferenceError: flowNam is not defined; did you mean "flowName"?'),
        ("zzz + 1", "ReferenceError: zzz is not defined"),
        ("amount.toFixed(2)", 'TypeError: not a function at "toFixed"; amount is text'),
        ("xs.foo()", 'TypeError: not a function at "foo"; xs is a list of 2'),
        (
            "user.phone.prefix + xs.length",
            "TypeError: cannot read property 'prefix' of undefined; "
            "user.phone is undefined, xs is a list of 2",
        ),
        (
            "xs[5].name",
            "TypeError: cannot read property 'name' of undefined; xs[5] is undefined",
        ),
        ("note.length", "TypeError: cannot read property 'length' of null; note is null"),
        ("1 +", 'SyntaxError: something is missing after "+"'),
        ("bad()", "LookupError: no such thing"),
        (
            "(() => { throw new RangeError(xs) })()",
            "RangeError: 1,2; xs is a list of 2",
        ),
    ],
)
def test_the_line_of_a_failed_expression(source: str, told: str) -> None:
    """Kind, message, the word it is about, a name that is close, the types of what was read."""
    here = world_of(flow(say("x")), functions={"bad": bad})
    scope = scope_at(here, **VALUES)
    assert say_text(here, scope, f"{{{{{source}}}}}") == ""
    assert scope.warnings[-1] == f"{{{{{source}}}}} in Main at /0/steps/0: {told}"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "null"),
        (UNDEFINED, "undefined"),
        (True, "true or false"),
        ("a", "text"),
        ("", "empty text"),
        (1, "a number"),
        (1.5, "a number"),
        (NonFinite("NaN"), "a number"),
        ([1], "a list of 1"),
        ({"a": 1}, "an object"),
        (BigInt(1), "a BigInt"),
        (Date(0), "a date"),
    ],
)
def test_types_in_words(value: Any, told: str) -> None:
    """Types are named as flow authors name them."""
    assert type_of(freeze(value)) == told
