"""Promise: what a server answered becomes a plain value, and nothing more is read into it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.mcp.answer import LONGEST_FAULT, Answered, read_answer


def text(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one} for one in texts]


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], 7, "x", None, False])
def test_structured_content(value: Any) -> None:
    """Structured content is the value, whatever the text says."""
    result = {"content": text('{"b": 2}'), "structuredContent": value}
    assert read_answer(result) == Answered(value, is_data=True)


@pytest.mark.parametrize(
    ("texts", "value", "is_data"),
    [
        ((), None, False),
        (("three",), "three", False),
        (("007",), "007", False),
        (("true",), "true", False),
        (('"quoted"',), '"quoted"', False),
        ((' {"a": 1}',), {"a": 1}, True),
        (("[1, 2]",), [1, 2], True),
        (("{broken",), "{broken", False),
        (("[" * 100_000,), "[" * 100_000, False),
        (('{"a": 1}', "[2]"), [{"a": 1}, [2]], True),
        (('{"a": 1}', "and"), '{"a": 1}\nand', False),
        (("one", "two"), "one\ntwo", False),
        (('{"$date": 5}',), {"$date": 5}, True),
    ],
)
def test_texts(texts: tuple[str, ...], value: Any, is_data: bool) -> None:
    """Objects and lists are read, several of them as a list; all other text stays as it is."""
    assert read_answer({"content": text(*texts)}) == Answered(value, is_data=is_data)


def test_other_content() -> None:
    """Pictures, sounds and resources are data that says what it is, texts among them too."""
    answered = read_answer(
        {
            "content": [
                *text("see"),
                {"type": "image", "mimeType": "image/png", "data": "aGk=", "annotations": {}},
                {"type": "audio", "mimeType": "audio/ogg", "data": "aGk="},
                {"type": "resource_link", "uri": "https://example.com/a", "name": "a"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "A", "_meta": {}}},
                {"type": "hologram", "secret": 1},
            ]
        }
    )
    assert answered.is_data
    assert answered.value == {
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image", "mimeType": "image/png", "data": "aGk="},
            {"type": "audio", "mimeType": "audio/ogg", "data": "aGk="},
            {"type": "resource_link", "uri": "https://example.com/a", "name": "a"},
            {"type": "resource", "uri": "file:///a", "text": "A"},
            {"type": "hologram"},
        ]
    }


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ({"content": text("no money", "left")}, "no money\nleft"),
        ({"content": []}, "the tool failed and did not say why"),
        ({"content": text(" ")}, "the tool failed and did not say why"),
        ({"content": [], "structuredContent": {"code": 3}}, "{'code': 3}"),
        ({"content": text("x" * 9000)}, "x" * LONGEST_FAULT),
    ],
)
def test_errors(result: dict[str, Any], fault: str) -> None:
    """An error that the tool reports is told in its own words, not all of very many."""
    assert read_answer(result | {"isError": True}) == Answered(fault=fault)
