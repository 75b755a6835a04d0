"""`saywhy functions`: the standard functions, each with what its example gives."""

from __future__ import annotations

import json

from saywhy.helpers import CATALOGUE

from .conftest import Run


def test_all_of_them_by_group(run: Run) -> None:
    """Call, what it gives and its example; each function once, each group above its own."""
    done = run("functions")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "Reading answers\n\n"
        "  matchesChoice(text, choices)\n"
        "    Whether one of the choices stands in the answer, as a whole word or words in a row.\n"
        "    matchesChoice('savings, please', ['savings', 'checking'])\n"
        "    → true\n\n"
    )
    signatures = [line.strip() for line in done.lines if line.startswith("  ") and line[2] != " "]
    assert signatures == [helper.signature for helper in CATALOGUE]
    assert [line for line in done.lines if line and line[0] != " "] == [
        "Reading answers",
        "Saying values",
        "Checks",
        "The caller",
    ]


def test_some_of_them_in_full(run: Run) -> None:
    """With a name, what surprises is told as well."""
    done = run("functions", "readPhone", "validatePhone")
    assert done.code == 0
    assert "    `four one five, five five five, oh one two three` is `4155550123`." in done.out
    assert done.out.count("    → ") == 2
    assert "Checks\n\n  validatePhone(text, acceptInternational = false)\n" in done.out


def test_a_name_that_is_none(run: Run) -> None:
    """It is refused, with the one that was meant."""
    done = run("functions", "readPhon")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        'saywhy: no standard function is called readPhon\n    did you mean "readPhone"?\n'
    )
    assert "saywhy functions lists them all" in run("functions", "zzzzzz").err


def test_for_programs(run: Run) -> None:
    """`--json` is a list of objects, the value of the example among them."""
    found = json.loads(run("functions", "--json").out)
    assert [one["name"] for one in found] == [helper.name for helper in CATALOGUE]
    assert json.loads(run("functions", "last4", "--json").out) == [
        {
            "name": "last4",
            "group": "Saying values",
            "signature": "last4(text)",
            "summary": "The last four digits, such as a card's; nothing where there are fewer "
            "than four.",
            "details": "",
            "example": "last4('4111 1111 1111 1234')",
            "value": "1234",
        }
    ]
