"""Promise: arguments reach the address encoded, and none can change what is called."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.http.address import (
    Unfit,
    custom_query,
    joined,
    pairs_of,
    placeholders_in,
    query_text,
    with_path,
)

BASE = "https://a.example"


@pytest.mark.parametrize(
    ("path", "arguments", "address", "left"),
    [
        ("/b/{id}", {"id": 7, "x": 1}, "/b/7", {"x": 1}),
        ("/b/{kind}/{id}", {"kind": "water bird", "id": 7}, "/b/water%20bird/7", {}),
        ("/b/{id}", {"id": "a/b?c#d&e%"}, "/b/a%2Fb%3Fc%23d%26e%25", {}),
        ("/b/{id}/{id}", {"id": "é"}, "/b/%C3%A9/%C3%A9", {}),
        ("/b/{id}", {"id": "..."}, "/b/...", {}),
        ("/b/{id}", {"id": False}, "/b/false", {}),
        ("/b/{id}", {"id": 0}, "/b/0", {}),
        ("/b?of={who}", {"who": "a&b=c"}, "/b?of=a%26b%3Dc", {}),
        ("/b/{{id}}", {"id": 1}, "/b/{{id}}", {"id": 1}),
        ("/b", {"id": 1}, "/b", {"id": 1}),
    ],
)
def test_paths(path: str, arguments: dict[str, Any], address: str, left: dict[str, Any]) -> None:
    """Filled, percent-encoded, and taken out of the arguments."""
    assert with_path(BASE + path, arguments, ()) == BASE + address
    assert arguments == left


@pytest.mark.parametrize("given", [{}, {"id": None}, {"id": ""}])
def test_missing(given: dict[str, Any]) -> None:
    """Nothing is as bad as an empty text: it would call the folder above."""
    with pytest.raises(Unfit) as raised:
        with_path(BASE + "/b/{id}", dict(given), ["id"])
    assert raised.value.message == "Missing required path parameter: id"
    assert raised.value.hint == "give `id` in the step's args; it stands in the tool's address"


@pytest.mark.parametrize("value", [".", ".."])
def test_dots(value: str) -> None:
    """No percent sign keeps a server from reading `..` as the folder above."""
    with pytest.raises(Unfit, match=f'Path parameter id must not be "{value}"'):
        with_path(BASE + "/b/{id}", {"id": value}, ())


@pytest.mark.parametrize(
    ("array_format", "query"),
    [
        ("repeat", "t=a&t=b+c"),
        ("comma", "t=a%2Cb+c"),
        ("brackets", "t%5B%5D=a&t%5B%5D=b+c"),
    ],
)
def test_lists(array_format: str, query: str) -> None:
    """In each of the formats; null in a list is left out."""
    assert query_text(pairs_of({"t": ["a", None, "b c"]}, array_format)) == query


def test_queries() -> None:
    """Null is left out, an empty text stays, objects are JSON."""
    given = {"a": None, "b": "", "c": {"x": [1]}, "d": "é&", "e": True}
    assert query_text(pairs_of(given)) == "b=&c=%7B%22x%22%3A%5B1%5D%7D&d=%C3%A9%26&e=true"


def test_custom_queries() -> None:
    """As written, with arguments encoded; a missing one is empty."""
    assert custom_query("f=json&q={q}&n={none}", {"q": "a&b"}) == "f=json&q=a%26b&n="


@pytest.mark.parametrize(
    ("url", "queries", "address"),
    [
        ("/a", ["x=1", "", "?y=2"], "/a?x=1&y=2"),
        ("/a?z=0", ["x=1"], "/a?z=0&x=1"),
        ("/a#top", ["x=1"], "/a?x=1"),
        (" /a ", [], "/a"),
    ],
)
def test_joining(url: str, queries: list[str], address: str) -> None:
    """One question mark, then ampersands; what stands behind # is no part of a request."""
    assert joined(url, queries) == address


def test_placeholders() -> None:
    """In order, each once; expressions are none."""
    assert placeholders_in("/{a}/{b.c}/{a}/{{ d }}/{1}") == ["a", "b.c"]
