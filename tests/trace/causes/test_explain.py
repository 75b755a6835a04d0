"""How a chain is laid out as a text."""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.errors import Place
from saywhy.trace.causes.chain import Cause, Chain, Link
from saywhy.trace.causes.why import why
from saywhy.trace.trace import Trace


def test_places_stand_in_one_column(payment: Any) -> None:
    """Where each line comes from can be read down the right side, however long the lines are."""
    text = why(payment.trace).text()
    columns = {line.index("  P") for line in text.splitlines() if ".json" in line and "  P" in line}
    assert len(columns) == 1


def test_long_lines_are_broken_before_the_places(payment: Any) -> None:
    """In a narrow text a sentence goes on in the next line, further in; places stay in line."""
    narrow = why(payment.trace).text(width=75).splitlines()
    assert [line for line in narrow if len(line) > 75] == []
    at = next(i for i, line in enumerate(narrow) if "because CASE" in line)
    assert narrow[at : at + 2] == [
        '    because CASE "check-fee" of Pay chose `fee.total   Pay.flows.json:40',
        "        > 5` (fee.total = 8)",
    ]


def test_folders_are_shown_where_they_fit(payment: Any) -> None:
    """A place is the path as it was loaded, so that it can be opened; in a narrow text its name."""
    charts = [
        msgspec.structs.replace(
            chart,
            nodes={
                name: msgspec.structs.replace(
                    node, place=("some/folder/" + node.place[0], *node.place[1:])
                )
                for name, node in chart.nodes.items()
                if node.place
            },
        )
        for chart in payment.charts
    ]
    chain = why(Trace(payment.commits, charts, payment.messages))
    assert chain.text(width=140).splitlines()[1].endswith("  some/folder/Charge.flows.json:10")
    assert chain.text(width=100).splitlines()[1].endswith("  Charge.flows.json:10")


def chain_of(*causes: Cause, links: list[tuple[int, int, str]]) -> Chain:
    for number, cause in enumerate(causes):
        cause.id = number
    return Chain(list(causes), [Link(one, other, kind) for one, other, kind in links])  # type: ignore[arg-type]


def test_a_cause_is_explained_where_it_is_nearest() -> None:
    """What two causes share is written out once, near the target; the other place points there."""
    chain = chain_of(
        Cause(0, "target", "the target"),
        Cause(0, "value", "a = 1", name="a"),
        Cause(0, "value", "b = 2", name="b"),
        Cause(0, "value", "c = 3 was set", name="c"),
        Cause(0, "value", "d = 4 was set", name="d"),
        links=[(0, 1, "read"), (1, 2, "read"), (2, 3, "read"), (0, 3, "read"), (3, 4, "read")],
    )
    assert chain.text().splitlines() == [
        "the target",
        "  a = 1",
        "    b = 2",
        "      c (explained below)",
        "  c = 3 was set",
        "    d = 4 was set",
    ]


def test_a_circle_is_written_once() -> None:
    """Causes that lead back to themselves end there."""
    chain = chain_of(
        Cause(0, "target", "the target"),
        Cause(0, "value", "a = 1", name="a"),
        Cause(0, "value", "b = 2", name="b"),
        links=[(0, 1, "read"), (1, 2, "read"), (2, 1, "read")],
    )
    assert chain.text().splitlines() == [
        "the target",
        "  a = 1",
        "    b = 2",
        "      a (explained above)",
    ]


def test_answers_are_told_in_the_line_that_names_them() -> None:
    """A tool's result has no line of its own: what it was asked with stands beneath the value."""
    chain = chain_of(
        Cause(0, "target", "fee = 8 is the result of tool fee(80)", name="fee"),
        Cause(0, "answer", "tool fee(80) gave 8", "tool", marks=("result of fee: cut",)),
        Cause(0, "value", "amount = 80", "authored", name="amount", place=Place("f.json", 3)),
        links=[(0, 1, "answer"), (1, 2, "read")],
    )
    first, second = chain.text().splitlines()
    assert first == "fee = 8 is the result of tool fee(80) [result of fee: cut]"
    assert second.split() == ["amount", "=", "80", "f.json:3"]


def test_more_causes_than_were_followed() -> None:
    """A text that is not the whole says so."""
    chain = chain_of(Cause(0, "target", "the target"), links=[])
    chain.left_out = 3
    assert chain.text().splitlines()[-1] == (
        "  ... and 3 more causes, not followed because a limit was reached"
    )
