"""Promise: one line of the log tells enough of a failed expression to mend it, and no value."""

from __future__ import annotations

import time
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
    ("source", "told"),
    [
        ("throw new Error('x\\nERROR all is lost')", "Error: x⏎ERROR all is lost"),
        ("throw new Error('\\ud800 \\u2028 \\x1b')", "Error: \\ud800 \\u2028 \\u001b"),
        ("const e = new Error(); e.name = 'A\\nB'; throw e", "A⏎B: "),
        ("throw new Error('y'.repeat(9999))", f"Error: {'y' * 997}..."),
    ],
)
def test_an_error_is_one_line_of_the_log(source: str, told: str) -> None:
    """No text of an author's passes for a line of its own, or is one that cannot be written."""
    here = world_of(flow(say("x")))
    scope = scope_at(here)
    say_text(here, scope, f"{{{{(() => {{\n{source} }})()}}}}")
    assert scope.warnings[-1].startswith(f"{{{{(() => {{⏎{source} }})()}}}} in Main")
    assert scope.warnings[-1].partition("steps/0: ")[2].startswith(told)


def test_a_long_error_takes_no_time() -> None:
    """The text of an error is looked through once."""
    here = world_of(flow(say("x")))
    scope = scope_at(here)
    started = time.process_time()
    for _ in range(5):
        say_text(here, scope, "{{(() => { throw new Error('x'.repeat(9999)) })()}}")
    assert time.process_time() - started < 1


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
