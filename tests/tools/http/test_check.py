"""Promise: a mistake in the definition of an HTTP tool is found with its place and a way out."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place, Problem
from saywhy.tools.check import problems_of

CLOSED = {"type": "object", "properties": {"q": {}}, "additionalProperties": False}
FINE = {"url": "https://a.example/b/{id}", "method": "POST"}


def found(keys: dict[str, Any] | None = None, **more: Any) -> list[Problem]:
    implementation = {"type": "http", **FINE, **more}
    raw = {"id": "Bird", "implementation": implementation, **(keys or {})}
    return list(problems_of(raw, Place(pointer="/0")))


def test_nothing_to_find() -> None:
    """A definition that uses every key rightly."""
    block = {"secret": "s", "fields": ["a.b"], "algorithm": "SHA-512", "encoding": "base64"}
    problems = found(
        {"apiKey": "{{cargo.key}}", "parameters": {"type": "object", "properties": {"id": {}}}},
        pathParams=["id"],
        queryParams=["q"],
        useQueryParams=False,
        customQuery="a={q}",
        arrayFormat="brackets",
        contentType="text/xml; charset=utf-8",
        headers={"X-A": 1, "X-B": "{{ cargo.b }}", "X-C": None},
        defaultHeaders={},
        authHeaders={},
        userAgent="me",
        basicAuth={"username": "u", "password": "p"},
        apiKeyHeader={"name": "X", "value": "v"},
        hashAuth={**block, "location": "argument"},
        authentication={"type": "bearer", "token": "t"},
        acceptStatus=[400, 404],
        retryDelay=0,
        idempotencyHeader=False,
    )
    assert problems == []


@pytest.mark.parametrize(
    ("more", "message", "pointer", "hint"),
    [
        (
            {"url": "ftp://a.example/{id}"},
            '`url` must begin with http:// or https://, not "ftp://a.example/{id}"',
            "url",
            "write the whole address; `{{cargo.base}}/path` takes its beginning from the flow",
        ),
        ({"url": "https:///x"}, "`url` names no host", "url", "https://api.example.com/path"),
        (
            {"url": "https://u:p@a.example/"},
            "`url` holds a user name or password",
            "url",
            'write "basicAuth": {"username": …, "password": …}',
        ),
        (
            {"url": "https://a.example/{{ 1 + }}"},
            'not an expression: something is missing after "+"',
            "url",
            "one JavaScript expression may stand here, like `cargo.base`",
        ),
        (
            {"headers": {"X": "{{ a b }}"}},
            'not an expression: unexpected "b"',
            "headers/X",
            "one JavaScript expression may stand here, like `cargo.base`",
        ),
        (
            {"pathParams": "id"},
            '`pathParams` must be a list of parameters, not "id"',
            "pathParams",
            'write "pathParams": ["id"]',
        ),
        (
            {"queryParams": [1]},
            "`queryParams` must be a list of parameters, not a list",
            "queryParams",
            'write "queryParams": ["id"]',
        ),
        (
            {"acceptStatus": ["404"]},
            "`acceptStatus` must be a list of HTTP statuses, not a list",
            "acceptStatus",
            'write "acceptStatus": [400, 404]: answers with these are results as well',
        ),
        (
            {"arrayFormat": "coma"},
            '`arrayFormat` must be repeat, comma or brackets, not "coma"',
            "arrayFormat",
            'did you mean "comma"?',
        ),
        (
            {"idempotencyHeader": True},
            "`idempotencyHeader` must be the name of a header or false, not true",
            "idempotencyHeader",
            "false sends no key; without the key it is Idempotency-Key",
        ),
        (
            {"customQuery": {}},
            "`customQuery` must be text, not an object",
            "customQuery",
            'write "format=json&v=2"',
        ),
        ({"userAgent": 1}, "`userAgent` must be text, not 1", "userAgent", "put it in quotes"),
        (
            {"retryDelay": -1},
            "`retryDelay` must be a number from 0, not -1",
            "retryDelay",
            "milliseconds; leave it out for 1, 2, 4 … seconds",
        ),
        (
            {"headers": ["X-A: 1"]},
            "`headers` must be an object, not a list",
            "headers",
            'write {"X-Tenant": "acme"}',
        ),
        (
            {"headers": {"X A": "1"}},
            '"X A" cannot be the name of a header',
            "headers/X A",
            "letters, digits and dashes",
        ),
        (
            {"authHeaders": {"X": {}}},
            "the header X must be text, not an object",
            "authHeaders/X",
            "one header is one line",
        ),
        (
            {"basicAuth": "ann:pw"},
            '`basicAuth` must be an object, not "ann:pw"',
            "basicAuth",
            'write {"username": …, "password": …}',
        ),
        (
            {"basicAuth": {"username": "ann"}},
            "`basicAuth` has no `password`",
            "basicAuth",
            'add "password": …',
        ),
        (
            {"apiKeyHeader": {"name": "X\n", "value": "v"}},
            '"X\n" cannot be the name of a header',
            "apiKeyHeader/name",
            "letters, digits and dashes",
        ),
        (
            {"hashAuth": {"fields": ["a"]}},
            "`hashAuth` has no `secret`",
            "hashAuth",
            'add "secret": …',
        ),
        (
            {"hashAuth": {"secret": "s", "fields": ["a"], "algorithm": "sha255"}},
            '`algorithm` must be sha256, sha1 or sha512, not "sha255"',
            "hashAuth/algorithm",
            'did you mean "sha256"?',
        ),
        (
            {"hashAuth": {"secret": "s", "fields": ["a"], "encoding": "b64"}},
            '`encoding` must be hex or base64, not "b64"',
            "hashAuth/encoding",
            'did you mean "base64"?',
        ),
        (
            {"hashAuth": {"secret": "s", "fields": "amount"}},
            '`fields` of a signature must be a list of arguments, not "amount"',
            "hashAuth/fields",
            'write ["order.id", "amount"]; the values are joined by | and signed',
        ),
        (
            {"authentication": {"type": "beerer", "token": "t"}},
            '`authentication` is of the unknown type "beerer"',
            "authentication/type",
            'did you mean "bearer"?',
        ),
        (
            {"authentication": {"token": "t"}},
            "`authentication` is of the unknown type nothing",
            "authentication",
            "use bearer, basic, apikey, hmac",
        ),
        (
            {"authentication": "bearer"},
            '`authentication` must be an object, not "bearer"',
            "authentication",
            'write {"type": "bearer", "token": …}',
        ),
    ],
)
def test_errors(more: dict[str, Any], message: str, pointer: str, hint: str) -> None:
    """What could not work, or would do something else than it says."""
    problems = found(**more)
    assert [problem.message for problem in problems] == [message]
    assert problems[0].place.pointer == f"/0/implementation/{pointer}"
    assert problems[0].severity == "error"
    assert problems[0].hint == hint


def test_an_expression_is_shown() -> None:
    """The text is quoted and the spot in it marked."""
    problem = found(url="https://a.example/{{ 1 + }}")[0]
    assert (problem.excerpt, problem.span) == ("https://a.example/{{ 1 + }}", (24, 25))


@pytest.mark.parametrize(
    ("keys", "more", "message", "hint", "severity"),
    [
        (
            {"parameters": {"type": "object", "properties": {"ide": {}}}},
            {},
            "no parameter of the tool fills {id} in `url`",
            'did you mean "ide"?',
            "warning",
        ),
        (
            {
                "parameters": {
                    "type": "object",
                    "properties": {"q": {}},
                    "additionalProperties": False,
                }
            },
            {},
            "no parameter of the tool fills {id} in `url`",
            "declare id among the parameters",
            "error",
        ),
        (
            {"parameters": {"q": {"type": "string"}}},
            {},
            "no parameter of the tool fills {id} in `url`",
            "declare id among the parameters",
            "warning",
        ),
        (
            {},
            {"pathParams": ["idd"]},
            "`pathParams` names idd, but `url` has no {idd}",
            'did you mean "id"?',
            "warning",
        ),
        (
            {},
            {"contentType": "application/jsn"},
            'the content type "application/jsn" is unknown; the body is sent as JSON',
            'did you mean "application/json"?',
            "warning",
        ),
    ],
)
def test_doubts(
    keys: dict[str, Any], more: dict[str, Any], message: str, hint: str, severity: str
) -> None:
    """What is probably not meant is a warning; what cannot be filled is an error."""
    problems = found(keys, **more)
    assert [(one.message, one.hint, one.severity) for one in problems] == [
        (message, hint, severity)
    ]


def test_credentials_of_the_tool_itself() -> None:
    """They are judged where they stand."""
    problems = found({"apiKey": 5, "hashAuth": {"secret": "s"}})
    assert [(one.message, one.place.pointer) for one in problems] == [
        ("`apiKey` must be text, not 5", "/0/apiKey"),
        ("`hashAuth` has no `fields`", "/0/hashAuth"),
    ]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://a.example/", True),
        ("https://a.example/", False),
        ("http://localhost:8080/", False),
        ("http://127.0.0.1/", False),
        ("{{cargo.base}}/", False),
    ],
)
def test_credentials_in_the_open(url: str, told: bool) -> None:
    """A key that would travel unencrypted is worth a warning."""
    problems = found({"apiKey": "k"}, url=url)
    message = "`apiKey` is sent to an http:// address, where anybody on the way can read it"
    assert [one.message for one in problems] == [message] * told
    assert all(one.severity == "warning" for one in problems)
    signed = {"type": "hmac", "secret": "s", "fields": ["a"]}
    assert found(url=url) == found({"authentication": signed}, url=url) == []
