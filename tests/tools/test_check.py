"""Promise: every problem of a tool definition is reported with its place and a way out."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of
from saywhy.tools.wording import below

LOCAL = {"type": "local", "function": "work"}
PLACE = Place(file="pay.tools.json", line=7, pointer="/0")


def defined(**keys: Any) -> dict[str, Any]:
    return {"id": "Work", "name": "Work", "implementation": LOCAL, **keys}


@pytest.mark.parametrize(
    ("definition", "message", "pointer", "hint"),
    [
        ("Work", 'a tool is an object, not "Work"', "/0", "write {"),
        ([], "a tool is an object, not a list", "/0", "write {"),
        (None, "a tool is an object, not nothing", "/0", "write {"),
        (
            {"implementation": LOCAL},
            "the tool has neither `id` nor `name`",
            "/0",
            "give it an `id`",
        ),
        (defined(id=7), "`id` must be text, not 7", "/0/id", "put it in quotes"),
        (
            defined(description=["x"]),
            "`description` must be text, not a list",
            "/0/description",
            "put it in quotes",
        ),
        (
            defined(parameters="a"),
            '`parameters` of tool Work must be an object, not "a"',
            "/0/parameters",
            'write {"type": "object"',
        ),
        (
            defined(parameters={"a": "string"}),
            'parameter a of tool Work must be a schema, not "string"',
            "/0/parameters/a",
            'write {"type": "string"}',
        ),
        (
            defined(parameters={"a": {}}, required=True),
            "`required` of tool Work must be a list, not true",
            "/0/parameters",
            'write "required"',
        ),
        (
            defined(schema={"type": "object", "properties": {"a": {"type": "text"}}}),
            "the parameters of tool Work are no JSON schema: "
            "\"text\" is not valid under any of the schemas listed in the 'anyOf' keyword "
            "(at properties.a.type)",
            "/0/schema",
            "types are string, number",
        ),
        ({"id": "Work"}, "tool Work has no `implementation`", "/0", 'write {"type": "local"'),
        (
            {"id": "Work", "implementation": "work"},
            "`implementation` of tool Work must be an object",
            "/0/implementation",
            'write {"type": "local"',
        ),
        (
            defined(implementation={"type": "locl"}),
            'tool Work is of the unknown type "locl"',
            "/0/implementation/type",
            'did you mean "local"?',
        ),
        (
            defined(implementation={}),
            "the implementation of tool Work has no `type`",
            "/0/implementation",
            "a tool is local, http, mock or mcp",
        ),
        (
            defined(implementation={"type": "local"}),
            "the local tool Work has no `function`",
            "/0/implementation",
            "name the approved function",
        ),
        (
            defined(implementation={"type": "local", "function": 3}),
            "`function` of tool Work must be text, not 3",
            "/0/implementation",
            "name the approved function",
        ),
        (
            defined(implementation={"type": "http", "url": ""}),
            "the http tool Work has no `url`",
            "/0/implementation",
            "give the address",
        ),
        (
            defined(implementation={"type": "http", "url": "https://a.example", "method": "PSOT"}),
            "the method PSOT is unknown",
            "/0/implementation/method",
            'did you mean "POST"?',
        ),
        (
            defined(implementation={**LOCAL, "timeout": "5s"}),
            '`timeout` of tool Work must be a number above 0, not "5s"',
            "/0/implementation/timeout",
            "milliseconds",
        ),
        (
            defined(implementation={**LOCAL, "timeout": 0}),
            "`timeout` of tool Work must be a number above 0, not 0",
            "/0/implementation/timeout",
            "milliseconds",
        ),
        (
            defined(implementation={**LOCAL, "retries": 1.5}),
            "`retries` of tool Work must be a whole number from 0, not 1.5",
            "/0/implementation/retries",
            "0 calls the tool once",
        ),
        (
            defined(implementation={**LOCAL, "thread": "no"}),
            '`thread` of tool Work must be true or false, not "no"',
            "/0/implementation/thread",
            "false runs the function on the event loop",
        ),
        (
            defined(security=[]),
            "`security` of tool Work must be an object, not a list",
            "/0/security",
            'write {"rateLimit"',
        ),
        (
            defined(security={"rateLimit": 3}),
            "`rateLimit` of tool Work must be an object, not 3",
            "/0/security/rateLimit",
            'write {"requests": 10',
        ),
        (
            defined(security={"rateLimit": {"requests": 0.5, "window": 1}}),
            "`requests` of the rate limit of tool Work must be a number from 1, not 0.5",
            "/0/security/rateLimit",
            "the window is in milliseconds",
        ),
        (
            defined(security={"rateLimit": {"requests": 1}}),
            "`window` of the rate limit of tool Work must be a number from 1, not nothing",
            "/0/security/rateLimit",
            "the window is in milliseconds",
        ),
        (
            defined(effect="read"),
            '`effect` of tool Work must be reads, repeatable or once, not "read"',
            "/0/effect",
            'did you mean "reads"?',
        ),
        (
            defined(effect=1),
            "`effect` of tool Work must be reads, repeatable or once, not 1",
            "/0/effect",
            "`reads` changes nothing",
        ),
    ],
)
def test_problem(definition: Any, message: str, pointer: str, hint: str) -> None:
    """One mistake gives one problem, in words, with its place and what to try."""
    (problem,) = problems_of(definition, PLACE)
    assert problem.message == message
    assert problem.place == Place(file="pay.tools.json", line=7, pointer=pointer)
    assert hint in problem.hint
    assert problem.severity == "error"


def test_all_problems_at_once() -> None:
    """An author fixes a definition in one go."""
    definition = {
        "id": 1,
        "parameters": 2,
        "implementation": {"type": "local", "retries": -1},
        "effect": "x",
    }
    assert [problem.message for problem in problems_of(definition, Place())] == [
        "`id` must be text, not 1",
        "`parameters` of tool 1 must be an object, not 2",
        "the local tool 1 has no `function`",
        "`retries` of tool 1 must be a whole number from 0, not -1",
        '`effect` of tool 1 must be reads, repeatable or once, not "x"',
    ]


@pytest.mark.parametrize("returns", [{"type": "text"}, "object"])
def test_a_broken_returns_is_a_warning(returns: Any) -> None:
    """`returns` never changes what a tool does, so it stops nobody."""
    (problem,) = problems_of(defined(returns=returns), PLACE)
    assert problem.severity == "warning"
    assert problem.message.startswith("`returns` of tool Work is no JSON schema: ")
    assert problem.hint == "results are not checked against it"


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (
            defined(
                parameters={"type": "object", "properties": {"a": {}, "b": {}}},
                implementation={**LOCAL, "args": ["a", "b"]},
            ),
            "`args` of tool Work is not read: its function gets one object",
        ),
        (
            defined(parameters={"a": {}, "b": {}}, implementation={**LOCAL, "args": ["b", "a"]}),
            "`args` of tool Work is not read: its function gets a, b",
        ),
    ],
)
def test_args_that_nobody_reads(definition: dict[str, Any], message: str) -> None:
    """An order written beside the function is told where the function is called otherwise."""
    (problem,) = problems_of(definition, PLACE)
    assert (problem.severity, problem.message) == ("warning", message)
    assert problem.place.pointer == "/0/implementation/args"


@pytest.mark.parametrize(
    "definition",
    [
        defined(),
        defined(
            parameters={"a": {}, "b": {}},
            required=["b"],
            implementation={**LOCAL, "args": ["b"]},
        ),
        defined(parameters={}, security={}, effect="once", returns={"type": "object"}),
        defined(parameters={"type": "object", "properties": {"a": {"type": "string"}}}),
        defined(parameters={"a": {"type": "string"}, "b": {"required": True}}, required=["a"]),
        defined(implementation={"type": "mock"}, anything="else"),
        defined(implementation={"type": "mcp", "server": {"command": ["s"]}, "tool": "t"}),
        defined(implementation={"type": "http", "url": "https://example.com", "method": "get"}),
        defined(implementation={**LOCAL, "timeout": 1, "retries": 0, "thread": False}),
        {"name": "Work", "implementation": LOCAL},
    ],
)
def test_good_definitions_have_no_problem(definition: dict[str, Any]) -> None:
    """What can be used is not complained about; unknown keys are the author's own."""
    assert list(problems_of(definition, PLACE)) == []


def test_pointers_escape_what_they_must() -> None:
    """A key with a slash is one part of a pointer."""
    assert below(Place(pointer="/0"), "a/b", "c~d").pointer == "/0/a~1b/c~0d"
