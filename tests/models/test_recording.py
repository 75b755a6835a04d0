"""Promise: two asks are compared part by part, and a file that is no recording is told of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.errors import CallerError, ModelError, OutsideError
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, Piece, StopPiece, TextPiece, ToolCallPiece, UsagePiece
from saywhy.models.recording import (
    ask_tree,
    checked,
    error_of,
    error_tree,
    fingerprint,
    first_difference,
    piece_of,
    piece_tree,
    records_in,
)
from saywhy.values import UNDEFINED, freeze, same

BASE: dict[str, Any] = {
    "task": "chat",
    "system": "be brief",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
    "settings": {"temperature": 0, "stop": ["x"]},
}


def changed(**parts: Any) -> dict[str, Any]:
    return {key: value for key, value in {**BASE, **parts}.items() if value is not None}


@pytest.mark.parametrize(
    ("asked", "part", "text"),
    [
        (changed(system="be long"), "system", 'recorded was "be brief", asked is "be long"'),
        (changed(system=None), "system", 'recorded was "be brief", asked is nothing'),
        (changed(task="voice"), "task", 'recorded was "chat", asked is "voice"'),
        (
            changed(messages=[BASE["messages"][0], {"role": "assistant", "content": "no"}]),
            "messages[1].content",
            'recorded was "yes", asked is "no"',
        ),
        (
            changed(messages=BASE["messages"][:1]),
            "messages[1]",
            'recorded was {"role": "assistant", "content": "yes"}, asked is nothing',
        ),
        (
            changed(messages=[*BASE["messages"], user_message("more")]),
            "messages[2]",
            'recorded was nothing, asked is {"role": "user", "content": "more"}',
        ),
        (changed(tools=[]), "tools", "recorded was nothing, asked is []"),
        (
            changed(settings={"temperature": False, "stop": ["x"]}),
            "settings.temperature",
            "recorded was 0, asked is false",
        ),
        (
            changed(settings={"temperature": 0, "stop": ["y"]}),
            "settings.stop[0]",
            'recorded was "x", asked is "y"',
        ),
        (
            changed(settings={"temperature": 0, "stop": ["x"], "model": "m"}),
            "settings.model",
            'recorded was nothing, asked is "m"',
        ),
        (changed(task="voice", system="x"), "task", 'recorded was "chat", asked is "voice"'),
    ],
)
def test_the_first_difference(asked: dict[str, Any], part: str, text: str) -> None:
    """By the order in which a model reads an ask, with both sides."""
    found = first_difference(BASE, asked)
    assert found is not None
    assert (found.part, found.text()) == (part, text)


def test_long_texts_are_shown_where_they_part() -> None:
    """Not their beginnings, which are the same."""
    one, other = ({"system": "x" * 500 + word + "y" * 500} for word in ("old", "new"))
    found = first_difference(one, other)
    assert found is not None
    assert found.text() == (
        f'recorded was …"{"x" * 20}old{"y" * 37}"…, asked is …"{"x" * 20}new{"y" * 37}"…'
    )
    cut = first_difference({"system": "x" * 100}, {"system": "x" * 90})
    assert cut is not None
    assert cut.text() == f'recorded was …"{"x" * 30}", asked is …"{"x" * 20}"'


def test_what_is_the_same() -> None:
    """The order of keys, and 0 in place of 0.0, make no difference."""
    assert first_difference(BASE, dict(reversed(BASE.items()))) is None
    assert first_difference(BASE, changed(settings={"stop": ["x"], "temperature": 0.0})) is None
    assert fingerprint(BASE) == fingerprint(dict(reversed(BASE.items())))
    assert fingerprint(BASE) != fingerprint(changed(system="x"))


def test_an_ask_without_parts_says_so() -> None:
    """No system text is not an empty one, no tools are not an empty list."""
    assert ask_tree(Ask("chat", stream=True)) == {"task": "chat", "messages": []}
    assert ask_tree(Ask("chat", "", tools=[])) == {
        "task": "chat",
        "system": "",
        "messages": [],
        "tools": [],
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
pieces = st.one_of(
    st.builds(TextPiece, st.text()),
    st.builds(UsagePiece, st.integers(0), st.integers(0)),
    st.builds(
        ToolCallPiece,
        st.text(),
        st.text(),
        st.dictionaries(st.text(max_size=4), json_values, max_size=3),
    ),
    st.builds(StopPiece, st.sampled_from(["stop", "tool_calls", "length", "error"]), st.text()),
)


@given(pieces)
def test_pieces_survive(piece: Piece) -> None:
    """Whatever is in them."""
    assert piece_of(piece_tree(piece, 1.5)) == piece


def test_values_that_json_lacks_survive() -> None:
    """The arguments of a call are values of a conversation."""
    piece = ToolCallPiece("1", "t", freeze({"a": UNDEFINED, "b": float("nan")}))
    again = piece_of(piece_tree(piece, 0))
    assert isinstance(again, ToolCallPiece)
    assert same(freeze(again.arguments), piece.arguments)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (
            ModelError("a", code="server", provider="p", status_code=503, retry_after=2.0),
            ModelError,
        ),
        (ModelError("b"), ModelError),
        (CallerError("c", hint="h"), CallerError),
        (OutsideError("d"), ModelError),
        (ConnectionError("e"), ModelError),
    ],
)
def test_errors_come_back_as_what_they_are_to_a_caller(error: Exception, kind: type[Any]) -> None:
    """One that may pass may pass when it is replayed."""
    again = error_of(error_tree(error))
    assert type(again) is kind
    assert error_tree(again) == {**error_tree(error), "type": kind.__name__}


GOOD = '{"number": 0, "ask": {}, "pieces": [], "ended": "stop"}\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD + "{oops\n", "{0}:2: no JSON: Expecting property name enclosed in double quotes"),
        (GOOD + "[" * 5000 + "\n", "{0}:2: no JSON: maximum recursion depth"),
        ("[]\n", "{0}:1: an object, not list"),
        (GOOD.replace("0", '"x"'), '{0}:1: "number" is str, not int'),
        ('{"number": 1}\n', '{0}:1: "ask" is NoneType, not dict'),
        (GOOD.replace("[]", '[{"type": "song"}]'), "{0}:1: pieces[0]: Invalid value 'song'"),
    ],
)
def test_a_file_that_is_no_recording(tmp_path: Path, text: str, problem: str) -> None:
    """The line is named."""
    path = tmp_path / "talk.jsonl"
    path.write_text(text)
    with pytest.raises(CallerError) as error:
        records_in(path, 10_000)
    assert str(error.value).startswith(problem.format(path))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """It is missing, too large, or a folder."""
    path = tmp_path / "talk.jsonl"
    with pytest.raises(CallerError, match="there is no recording"):
        records_in(path, 100)
    path.write_text(GOOD * 10)
    with pytest.raises(CallerError, match="has more than 100 bytes"):
        records_in(path, 100)
    with pytest.raises(CallerError, match=r"cannot be read: .*Is a directory"):
        records_in(tmp_path, 10_000)


def test_half_a_last_line_is_left_out(tmp_path: Path) -> None:
    """Whoever wrote it was killed; the rest counts, in the order of the numbers."""
    path = tmp_path / "talk.jsonl"
    path.write_text(GOOD.replace("0", "5") + "\n" + GOOD + '{"number": 7, "as')
    assert [record["number"] for record in records_in(path, 10_000)] == [0, 5]


def test_a_list_that_is_no_recording() -> None:
    """The entry is named."""
    with pytest.raises(CallerError) as error:
        checked([{"number": 0, "ask": {}, "pieces": [], "ended": "stop"}, 7])
    assert str(error.value) == "recording[1]: an object, not int"
