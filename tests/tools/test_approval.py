"""Promise: an approval is for one tool with one set of arguments, and its condition fails safe."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.approval import (
    DAY_MS,
    Approval,
    approval_of,
    digest_of,
    duration_ms,
    wants_approval,
)
from saywhy.tools.call import Approved


@pytest.mark.parametrize(
    ("given", "ms"),
    [
        (1500, 1500.0), ("90s", 90_000.0), ("15m", 900_000.0), ("2 h", 7_200_000.0),
        ("1d", DAY_MS), ("0.5m", 30_000.0), ("0s", None), (0, None), (-1, None), (True, None),
        ("soon", None), ("15", None), (None, None), (float("inf"), None),
    ],
)  # fmt: skip
def test_stretches_of_time(given: Any, ms: float | None) -> None:
    """Milliseconds, or a number with its unit; whatever else is none."""
    assert duration_ms(given) == ms


def test_what_a_definition_says() -> None:
    """True asks always and waits a day; false and nothing ask never."""
    assert approval_of({"approval": True}) == Approval("", DAY_MS, "")
    assert approval_of({"approval": False}) is None
    assert approval_of({}) is None
    given = {"when": "args.n > 1", "expires": "1h", "by": "treasury"}
    assert approval_of({"approval": given}) == Approval("args.n > 1", 3_600_000.0, "treasury")


@pytest.mark.parametrize(
    ("when", "wanted"),
    [
        ("", True), ("args.n > 100", True), ("args.n > 900", False), ("{{args.n > 100}}", True),
        ("cargo.limit < args.n", True), ("args.tags", True), ("args.none", False),
        ("args.n / 0 - args.n / 0", False), ("nonsense(", True), ("ghost.n", True),
    ],
)  # fmt: skip
def test_conditions(when: str, wanted: bool) -> None:
    """Truth as in JavaScript; a condition that cannot be evaluated asks."""
    names: dict[str, Any] = {"cargo": {"limit": 200}}
    arguments = {"n": 500, "tags": [], "none": None}
    assert wants_approval(Approval(when), arguments, names, None, 0.0) is wanted


def test_the_digest_is_of_tool_and_arguments() -> None:
    """The order of names does not matter; tool, values and salt do."""
    one = digest_of("Charge", {"a": 1, "b": {"x": [1, 2], "y": 2}}, "salt")
    assert one == digest_of("Charge", {"b": {"y": 2, "x": [1, 2]}, "a": 1}, "salt")
    others = {
        digest_of("Refund", {"a": 1, "b": {"x": [1, 2], "y": 2}}, "salt"),
        digest_of("Charge", {"a": "1", "b": {"x": [1, 2], "y": 2}}, "salt"),
        digest_of("Charge", {"a": 1, "b": {"x": [2, 1], "y": 2}}, "salt"),
        digest_of("Charge", {"a": 1, "b": {"x": [1, 2], "y": 2}}, "other"),
    }
    assert len(others | {one}) == 5


def test_a_call_waits_for_its_approval(call: Any, define: Any) -> None:
    """It is not made and comes to no journal; with the right digest it is made."""
    made: list[Any] = []
    journaled: list[str] = []

    async def around(make: Any) -> Any:
        journaled.append("asked")
        return await make()

    tool = define(approval={"when": "args.n > 1"})
    waits = call(made.append, {"n": 2}, tool=tool, around=around)
    assert waits.fault_message == "Work has to be approved first"
    assert (waits.refused, waits.attempts, made, journaled) == (True, (), [], [])
    assert waits.to_approve == {"n": 2}

    word = Approved(digest_of("Work", {"n": 2}, "s"), "s")
    assert call(made.append, {"n": 3}, tool=tool, around=around, approved=word).refused
    assert not call(made.append, {"n": 2}, tool=tool, around=around, approved=word).refused
    assert not call(made.append, {"n": 1}, tool=tool, around=around).refused
    assert (made, journaled) == ([{"n": 2}, {"n": 1}], ["asked", "asked"])
    assert not call(made.append, {"n": 5}, tool=tool, resumed=True).refused


def test_refused_calls_come_to_no_journal(call: Any, define: Any) -> None:
    """Neither wrong arguments nor the limit leave a row; a resumed call is not counted again."""
    journaled: list[str] = []

    async def around(make: Any) -> Any:
        journaled.append("asked")
        return await make()

    schema = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    assert call(len, {}, tool=define(schema), around=around).refused
    assert journaled == []
    assert not call(len, {"a": 1}, tool=define(schema), around=around).refused
    assert journaled == ["asked"]
    assert not call(len, {}, tool=define(schema), around=around, resumed=True).refused
