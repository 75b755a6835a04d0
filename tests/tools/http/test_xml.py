"""Promise: XML becomes data a mapping can walk through, and no document can do harm."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.http.xml import MAX_DEPTH, MAX_ELEMENTS, XmlError, data_of


@pytest.mark.parametrize(
    ("document", "data"),
    [
        ("<a/>", {"a": ""}),
        ("<a> text </a>", {"a": "text"}),
        ("<a><b>1</b><c>2</c></a>", {"a": {"b": "1", "c": "2"}}),
        ("<a><b>1</b><b>2</b><b/></a>", {"a": {"b": ["1", "2", ""]}}),
        ('<a id="7">x<b/></a>', {"a": {"@id": "7", "b": "", "#text": "x"}}),
        ('<s:a xmlns:s="u" xmlns="v" s:k="1"><s:b>x</s:b></s:a>', {"a": {"@k": "1", "b": "x"}}),
        ("<a><![CDATA[<&>]]></a>", {"a": "<&>"}),
        ("<a>&lt;&#233;</a>", {"a": "<é"}),
        ("<!-- c --><a><?x y?><b>1</b></a>", {"a": {"b": "1"}}),
    ],
)
def test_data(document: str, data: dict[str, Any]) -> None:
    """Children, attributes, texts, lists; no prefixes."""
    assert data_of(document) == data


def test_encodings() -> None:
    """The document says how it is encoded."""
    assert data_of('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>'.encode("latin-1")) == {
        "a": "é"
    }


BOMB = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;">]><a>&y;</a>'
LEAK = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (BOMB, "it has a DOCTYPE, and answers with one are not read"),
        (LEAK, "it has a DOCTYPE, and answers with one are not read"),
        ("<a>" * 101, f"it is nested deeper than {MAX_DEPTH} elements"),
        (f"<a>{'<b/>' * MAX_ELEMENTS}</a>", f"it has more than {MAX_ELEMENTS} elements"),
        ("<a><b></a>", "mismatched tag: line 1, column 8"),
        ("<a>&x;</a>", "undefined entity: line 1, column 3"),
        ("no xml", "syntax error: line 1, column 0"),
        ("", "no element found: line 1, column 0"),
    ],
)
def test_refused(document: str, problem: str) -> None:
    """Entities, endless nesting, masses of elements, and what is no XML."""
    with pytest.raises(XmlError) as raised:
        data_of(document)
    assert str(raised.value) == problem
