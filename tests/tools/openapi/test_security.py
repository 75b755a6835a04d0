"""Promise: credentials become expressions on variables that a note names; no secret is made up."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of
from saywhy.tools.openapi.names import tool_id, variable_name
from saywhy.tools.openapi.operations import import_openapi

SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "Bearer"},
    "my-basic": {"type": "http", "scheme": "basic"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "key"},
    "digest": {"type": "http", "scheme": "digest"},
    "tls": {"type": "mutualTLS"},
    "oauth": {"type": "oauth2", "flows": {}},
    "linked": {"$ref": "#/components/securitySchemes/header"},
}


def tool(security: Any, root: Any = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    document = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://a.example"}],
        "paths": {"/x": {"get": {} if security is None else {"security": security}}},
        "components": {"securitySchemes": SCHEMES},
    }
    if root is not None:
        document["security"] = root
    (imported,) = import_openapi(document)
    assert imported.definition is not None
    assert list(problems_of(imported.definition, Place())) == []
    return imported.definition, imported.notes


@pytest.mark.parametrize(
    ("name", "block", "notes"),
    [
        (
            "bearer",
            {"type": "bearer", "token": "{{bearer}}"},
            ("credentials: give the global variable bearer",),
        ),
        (
            "my-basic",
            {
                "type": "basic",
                "username": "{{my_basic_user}}",
                "password": "{{my_basic_password}}",
            },
            ("credentials: give the global variables my_basic_user and my_basic_password",),
        ),
        (
            "header",
            {"type": "apikey", "location": "header", "name": "X-Key", "value": "{{header}}"},
            ("credentials: give the global variable header",),
        ),
        (
            "query",
            {"type": "apikey", "location": "query", "name": "key", "value": "{{query}}"},
            ("credentials: give the global variable query",),
        ),
        (
            "linked",
            {"type": "apikey", "location": "header", "name": "X-Key", "value": "{{linked}}"},
            ("credentials: give the global variable linked",),
        ),
        (
            "oauth",
            {"type": "bearer", "token": "{{oauth}}"},
            (
                "credentials: give the global variable oauth",
                "oauth: an access token is sent; getting and renewing it is up to you",
            ),
        ),
    ],
)
def test_schemes(name: str, block: dict[str, Any], notes: tuple[str, ...]) -> None:
    """Each scheme that an HTTP tool can serve has its block."""
    definition, found = tool([{name: []}])
    assert (definition["implementation"]["authentication"], found) == (block, notes)


@pytest.mark.parametrize("name", ["cookie", "digest", "tls", "missing"])
def test_other_schemes(name: str) -> None:
    """One that it cannot serve is named."""
    definition, notes = tool([{name: []}])
    assert "authentication" not in definition["implementation"]
    assert notes == (f"no credentials: {name} cannot be expressed",)


def test_choices() -> None:
    """The first way that can be expressed is taken; nothing at all is a way too."""
    definition, _ = tool([{"tls": []}, {"query": []}, {"bearer": []}])
    assert definition["implementation"]["authentication"]["name"] == "key"
    assert "authentication" not in tool([{}])[0]["implementation"]


def test_two_at_once() -> None:
    """Two schemes together stand at the implementation and at the tool."""
    definition, _ = tool([{"bearer": [], "query": []}])
    assert definition["implementation"]["authentication"]["type"] == "bearer"
    assert definition["authentication"]["type"] == "apikey"


def test_whole_description() -> None:
    """What holds for all operations holds unless one says otherwise, even that it needs none."""
    assert tool(None, [{"bearer": []}])[0]["implementation"]["authentication"]["type"] == "bearer"
    assert "authentication" not in tool([], [{"bearer": []}])[0]["implementation"]


def test_names() -> None:
    """Names of a description as the flow language can have them."""
    assert [variable_name(one) for one in ("a b-c", "2x", "--")] == ["a_b_c", "_2x", "value"]
    assert [tool_id(one) for one in ("a b/c", "x/{id}", "?")] == ["a_b_c", "x_id", ""]
