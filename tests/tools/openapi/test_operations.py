"""Promise: every operation becomes a tool that passes the check, or a note says why it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, DefinitionError, Place
from saywhy.flows.load import read_document
from saywhy.tools.check import problems_of
from saywhy.tools.openapi.operations import Imported, import_openapi

SHOP = Path(__file__).parent.parent.parent / "cases" / "openapi" / "shop.yaml"


def shop(**options: Any) -> dict[str, Imported]:
    document = read_document(SHOP.read_text(encoding="utf-8"), str(SHOP))
    assert document.problems == ()
    return {one.id: one for one in import_openapi(document.value, **options)}


def api(paths: Any, **more: Any) -> list[Imported]:
    servers = [{"url": "https://a.example"}]
    return import_openapi({"openapi": "3.1.0", "servers": servers, "paths": paths, **more})


def one(operation: dict[str, Any], method: str = "get", **more: Any) -> Imported:
    made = api({"/x": {method: operation}}, **more)
    assert len(made) == 1
    return made[0]


def definition(imported: Imported) -> dict[str, Any]:
    assert imported.definition is not None
    return imported.definition


def test_all_pass_the_check() -> None:
    """Every definition of a whole description has no problem."""
    for imported in shop().values():
        if imported.definition is not None:
            assert list(problems_of(imported.definition, Place())) == []
    assert [name for name, imported in shop().items() if imported.definition is None] == [
        "batch",
        "post_image",
    ]


def test_query() -> None:
    """Parameters of the query, lists in the style that is asked for, limits of 3.0 as in JSON."""
    made = definition(shop()["listOrders"])
    assert (made["name"], made["description"]) == ("List the orders", "List   the orders")
    assert made["effect"] == "reads"
    assert made["parameters"] == {
        "type": "object",
        "properties": {
            "status": {"type": "array", "items": {"type": "string", "enum": ["open", "sent"]}},
            "limit": {"type": "integer", "exclusiveMinimum": 0},
            "filter": {"type": "object"},
        },
        "additionalProperties": False,
    }
    assert made["implementation"] == {
        "type": "http",
        "method": "GET",
        "url": "https://eu.shop.example/v2/orders",
        "headers": {"tenant": "{{tenant}}"},
        "arrayFormat": "comma",
        "queryParams": ["status", "limit", "filter"],
        "authentication": {"type": "bearer", "token": "{{token}}"},
    }
    assert shop()["listOrders"].notes == (
        "region in the server's address is eu, its default",
        "the header tenant is required: give the global variable tenant",
        "filter is an object; it is written into the address as JSON",
        "the cookie visit is not sent",
        "credentials: give the global variable token",
        "#/components/schemas/Order holds itself; inside itself any value passes",
    )


def test_body() -> None:
    """A JSON body is merged into the parameters, over all its parts, without what is read only."""
    made = definition(shop()["createOrder"])
    assert list(made["parameters"]["properties"]) == ["sku", "secret", "count", "state", "parts"]
    assert made["parameters"]["required"] == ["sku", "count"]
    properties = made["parameters"]["properties"]
    assert properties["sku"] == {"type": "string"}
    assert properties["count"] == {"type": "integer", "exclusiveMaximum": 10}
    assert properties["state"] == {"type": ["string", "null"], "enum": ["a", "b", None]}
    assert properties["parts"] == {"type": "array", "items": {}}
    assert made["effect"] == "once"
    assert made["description"] == "Create an order."
    assert made["implementation"]["idempotencyHeader"] == "Idempotency-Key"
    assert made["implementation"]["headers"]["X-Version"] == "2"
    assert "contentType" not in made["implementation"]
    answered = json.dumps(made["returns"])
    assert '"id"' in answered
    assert '"secret"' not in answered, "what is only written is not in the result"
    notes = shop()["createOrder"].notes
    assert "the body is sent as application/json; application/xml would do as well" in notes
    assert (
        "Idempotency-Key carries the key of the call; is a repeat recognised? then: repeatable"
        in notes
    )


def test_path_and_form() -> None:
    """Parameters of the path are required; an optional body requires nothing; `x-effect` wins."""
    imported = shop()["put_orders_id"]
    made = definition(imported)
    assert imported.operation == "PUT /orders/{id}"
    assert made["effect"] == "repeatable"
    assert made["parameters"] == {
        "type": "object",
        "properties": {
            "note": {"type": ["string", "null"]},
            "id": {"type": "string", "description": "the order"},
        },
        "required": ["id"],
        "additionalProperties": False,
    }
    assert made["implementation"]["contentType"] == "application/x-www-form-urlencoded"
    assert made["implementation"]["pathParams"] == ["id"]
    assert "id is in the body and in the address; it goes to the address only" in imported.notes


def test_same_id_twice() -> None:
    """The second operation of an id gets another; what is odd about it is listed."""
    imported = shop()["getOrder_2"]
    assert imported.operation == "DELETE /orders/{id}"
    assert imported.notes[0] == "another operation is called getOrder as well"
    assert "x-effect is reads, repeatable or once, not never" in imported.notes
    assert "it is deprecated" in imported.notes
    assert definition(imported)["effect"] == "once"


def test_files() -> None:
    """A binary part is a file as the HTTP tools take one."""
    imported = shop()["setPicture"]
    made = definition(imported)
    assert made["implementation"]["contentType"] == "multipart/form-data"
    file = made["parameters"]["properties"]["file"]
    assert (list(file["properties"]), file["description"]) == (
        ["filename", "contentType", "content", "base64"],
        "the picture",
    )
    assert 'file is a file: {"filename": …, "content": … or "base64": …}' in imported.notes
    assert "id stands in the address and is not described; any text passes" in imported.notes
    assert made["parameters"]["required"] == ["file", "id"]


def test_left_out() -> None:
    """A body that no arguments can make is left out, and the note says which."""
    assert "left out: the body is array" in shop()["batch"].notes
    assert "left out: no tool can send a body of type image/png" in shop()["post_image"].notes


def test_xml() -> None:
    """Text and XML are given whole, as `body`."""
    made = definition(shop()["soap"])
    assert made["parameters"] == {
        "type": "object",
        "properties": {"body": {"type": "string"}},
        "required": ["body"],
    }
    assert made["implementation"]["contentType"] == "text/xml"
    assert "returns" not in made


def test_several_shapes() -> None:
    """With `oneOf` the properties of all shapes are there and none is required."""
    imported = shop()["pay"]
    assert definition(imported)["parameters"] == {
        "type": "object",
        "properties": {"card": {"type": "string"}, "account": {"type": "string"}},
    }
    assert "#/components/schemas/Nowhere leads nowhere" in imported.notes


def test_server_addresses() -> None:
    """An address without a host is filled up by `base`, else by a place that never answers."""
    relative = "no server has a whole address: write it into `url`, or import with --base"
    assert relative in shop()["soap"].notes
    assert definition(shop()["soap"])["implementation"]["url"] == "https://example.invalid/old/soap"
    based = shop(base="https://my.example/api/")["soap"]
    assert definition(based)["implementation"]["url"] == "https://my.example/api/soap"
    assert relative not in based.notes


def test_only() -> None:
    """Some operations, by id or by tag."""
    assert list(shop(only=["orders"])) == ["listOrders", "createOrder"]
    assert list(shop(only=["pay", "soap"])) == ["soap", "pay"]
    with pytest.raises(CallerError, match="no operation has the id or tag ordes") as refusal:
        shop(only=["ordes"])
    assert refusal.value.hint == 'did you mean "orders"?'
    with pytest.raises(CallerError) as refusal:
        shop(only=["zzz"])
    assert refusal.value.hint.startswith("there are: listOrders, createOrder, getOrder, ")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "an OpenAPI description is an object"),
        ({"swagger": "2.0"}, "this is Swagger 2.0; OpenAPI 3.0 and 3.1 can be read"),
        ({"openapi": "4.0.0"}, "this is OpenAPI 4.0.0"),
        ({"flows": []}, "this is no OpenAPI description"),
        ({"openapi": "3.1.0"}, "the description has no `paths`"),
    ],
)
def test_other_documents(document: Any, message: str) -> None:
    """What is no OpenAPI 3 description is refused by name."""
    with pytest.raises(DefinitionError) as refusal:
        import_openapi(document, place=Place("api.json"))
    assert refusal.value.problems[0].message == message
    assert refusal.value.problems[0].place == Place("api.json")


@pytest.mark.parametrize(
    ("operation", "note"),
    [
        ({"parameters": [{"$ref": "other.yaml#/a"}]}, "other.yaml#/a is in another file"),
        ({"parameters": [{"$ref": "#/nowhere/0"}]}, "#/nowhere/0 leads nowhere"),
        ({"parameters": [{"$ref": "#/x-loop"}]}, "a reference leads in a circle"),
        (
            {"parameters": [{"name": "a", "in": "query", "schema": {"type": "colour"}}]},
            "what its arguments are does not compile and is left out",
        ),
        (
            {
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"type": "colour"}}}}
                }
            },
            "what its result is does not compile and is left out",
        ),
        (
            {
                "parameters": [
                    {
                        "name": "a",
                        "in": "query",
                        "style": "pipeDelimited",
                        "schema": {"type": "array"},
                    }
                ]
            },
            "the list a is written with commas, not in the style pipeDelimited",
        ),
        ({"parameters": [{"name": "a", "in": "body"}]}, "a is unknown"),
        (
            {"parameters": [{"name": "X-Later", "in": "header", "schema": {}}]},
            "the header X-Later is not sent; `headers` may hold it",
        ),
    ],
)
def test_what_cannot_be_expressed(operation: dict[str, Any], note: str) -> None:
    """A broken part costs itself and a note, not the operation."""
    imported = one(operation, **{"x-loop": {"$ref": "#/x-loop"}})
    assert any(found.startswith(note) for found in imported.notes)
    assert list(problems_of(definition(imported), Place())) == []


def test_bounded() -> None:
    """A description that grows without end when references are followed is cut."""
    schemas: dict[str, Any] = {"L0": {"type": "string"}}
    for level in range(1, 30):
        inner = {"$ref": f"#/components/schemas/L{level - 1}"}
        schemas[f"L{level}"] = {"type": "object", "properties": {"a": inner, "b": inner}}
    schema = {"$ref": "#/components/schemas/L29"}
    imported = one(
        {"parameters": [{"name": "q", "in": "query", "schema": schema}]},
        components={"schemas": schemas},
    )
    assert "a schema is very large; its inner parts are left out" in imported.notes
    assert len(json.dumps(imported.definition)) < 1_000_000
