"""Promise: a rule sees a result with everything about it, and what it read is known."""

from __future__ import annotations

import pytest

from saywhy.agent.instructions.context import InstructionContext, content_as_data
from saywhy.errors import CallerError
from saywhy.values import FrozenDict


def test_what_is_not_given() -> None:
    """There is no error, no time passed, and the arguments are empty."""
    ctx = InstructionContext("pong", "ping")
    assert (ctx.content, ctx.tool_id, ctx.error, ctx.latency_ms) == ("pong", "ping", None, 0)
    assert ctx.input == {}


def test_an_error_has_a_code_even_where_none_is_known() -> None:
    """`ctx.error.code` may always be asked for once there is an error."""
    ctx = InstructionContext("", "t", error={"message": "gone"})
    assert ctx.error.code is None
    assert ctx.error.message == "gone"
    known = InstructionContext("", "t", error={"code": "TIMEOUT", "message": "gone"})
    assert known.error["code"] == "TIMEOUT"


def test_each_condition_has_its_own_notes() -> None:
    """`watched` shares the values, not the looks."""
    ctx = InstructionContext({"a": 1, "b": 2}, "t", input={"q": "x"})
    one, other = ctx.watched(), ctx.watched()
    _ = one.content.a, other.content.b, other.input.q
    assert [look.path for look in one.looks()] == ["content.a"]
    assert [look.path for look in other.looks()] == ["content.b", "input.q"]
    assert ctx.looks() == ()


def test_values_of_a_state_can_be_handed_in() -> None:
    """Frozen values come out as dicts and lists; they stay as they were."""
    state = FrozenDict({"a": {"b": [1]}})
    ctx = InstructionContext(state, "t")
    assert isinstance(ctx.content, dict)
    assert ctx.content.a.b[0] == 1
    assert state == {"a": {"b": [1]}}


def test_cannot_be_changed() -> None:
    """A context is a value."""
    with pytest.raises(AttributeError):
        InstructionContext({}, "t").content = 1  # type: ignore[misc]


def test_an_error_is_a_mapping() -> None:
    """Another kind of error is refused, with an example."""
    with pytest.raises(CallerError, match="the error of a context is a mapping, not 'boom'"):
        InstructionContext({}, "t", error="boom")  # type: ignore[arg-type]


def test_shows_what_it_holds() -> None:
    """For a log or a failing test."""
    assert repr(InstructionContext({"a": 1}, "t")) == (
        "InstructionContext(content={'a': 1}, tool_id='t', error=None, latency_ms=0, input={})"
    )


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": [1]}', {"a": [1]}),
        ("7", 7),
        ("null", None),
        ("pong", "pong"),
        ("", ""),
        ('{"a": ', '{"a": '),
        ("[" * 100_000, "[" * 100_000),
        ("[" * 900 + "]" * 900, "[" * 900 + "]" * 900),
        ('{"a":' * 300 + "1" + "}" * 300, '{"a":' * 300 + "1" + "}" * 300),
        ("[[],{}]" + " " * 9, [[], {}]),
        ("[" + "[],[[]]," * 300 + "1]", [[], [[]]] * 300 + [1]),
    ],
)
def test_a_tools_text_as_data(text: str, data: object) -> None:
    """JSON is read, anything else is text, however it is made."""
    assert content_as_data(text) == data
