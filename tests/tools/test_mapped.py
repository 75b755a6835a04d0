"""Promise: a tool's answer reaches the flow as its mapping says, or as it is, with a warning."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.expr.javascript import JavaScript
from saywhy.testing.clock import FakeClock
from saywhy.testing.stub_server import StubServer
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.mapped import Surroundings
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool, tool_from_definition
from saywhy.values import same

ANSWER = {"page": {"total": 3, "items": [{"n": 1}, {"n": 2}]}, "none": None}


def tool(mapping: Any, **implementation: Any) -> Tool:
    given = {"type": "mock", "mockResponse": ANSWER, **implementation}
    return tool_from_definition(
        {"id": "Birds", "name": "Birds", "implementation": {**given, "responseMapping": mapping}}
    )


def called(
    one: Tool,
    args: dict[str, Any] | None = None,
    *,
    surroundings: Surroundings | None = None,
    functions: dict[str, Any] | None = None,
    http: HttpSettings | None = None,
) -> ToolAnswer:
    clock = FakeClock() if http is None else SystemClock()

    async def run() -> ToolAnswer:
        client = HttpClient(http) if http is not None else None
        try:
            return await call_tool(
                Registry([one]),
                "Birds",
                args or {},
                CallContext(),
                functions=functions or {},
                limiter=MemoryLimiter(clock),
                clock=clock,
                http=client,
                surroundings=surroundings or Surroundings(),
            )
        finally:
            if client is not None:
                await client.close()

    return asyncio.run(run())


def test_a_mock_is_mapped() -> None:
    """What a mock holds goes through the mapping, with arguments and the time of the call."""
    one = tool(
        {
            "type": "object",
            "mappings": {
                "total": "page.total",
                "asked": "$args.q",
                "year": {"path": ".", "transform": {"type": "currentYear"}},
            },
        }
    )
    answer = called(one, {"q": "x"})
    assert answer.fault is None
    assert same(answer.value, {"total": 3, "asked": "x", "year": 2026})
    assert answer.warnings == ()


def test_no_mapping_no_change() -> None:
    """Null as a mapping is none."""
    assert same(called(tool(None)).value, ANSWER)


def test_a_local_tool_is_not_mapped() -> None:
    """The function of a local tool answers what the flow gets."""
    one = tool("page.total", type="local", function="work")
    assert same(called(one, functions={"work": lambda args: ANSWER}).value, ANSWER)


def test_a_strict_mapping_fails_the_call() -> None:
    """The fault names tool, key, path and what was there; the call may not be repeated."""
    one = tool({"type": "object", "strict": True, "mappings": {"sum": "page.sum"}})
    answer = called(one)
    assert answer.value is None
    assert answer.fault_message == (
        "The answer of tool Birds does not fit its mapping: object mapping: "
        'key "sum": nothing stands at "page.sum"; page has total, items'
    )
    assert answer.fault_name == "MappingError"
    assert "give a fallback" in answer.fault_hint
    assert len(answer.attempts) == 1
    assert not answer.may_have_happened  # a mock only reads


def test_a_strict_mapping_of_a_tool_that_acts() -> None:
    """The call was made: the fault says that its effect may have happened."""
    definition = dict(tool({"type": "object", "strict": True, "mappings": {"a": "gone"}}).raw)
    one = tool_from_definition({**definition, "effect": "once"})
    answer = called(one)
    assert answer.fault_message is not None
    assert answer.may_have_happened


def test_too_large_a_result_keeps_the_answer() -> None:
    """A mapping that hits a limit is given up, with a warning; a strict one fails the call."""
    blown = {"type": "array", "source": "page.items", "itemMapping": "$args"}
    text = {"q": "x" * 6_000_000}
    answer = called(tool(blown), text)
    assert same(answer.value, ANSWER)
    assert answer.warnings == (
        "the answer stays as it is: the result would be larger than 10000000 characters and values",
    )
    strict = called(tool({**blown, "strict": True}), text)
    assert strict.fault_name == "MappingError"


def test_warnings_survive_json() -> None:
    """An answer with warnings is the same after it was stored."""
    answer = called(tool({"path": "page.total", "transform": {"type": "split"}}))
    assert answer.warnings == ("split needs a `delimiter`",)
    assert ToolAnswer.from_json(answer.to_json()) == answer


def test_what_an_expression_may_read() -> None:
    """Names of the conversation come from outside; the given engine evaluates, apart if asked."""
    evaluated: list[str] = []

    class Engine(JavaScript):
        def evaluate(self, source: str, *rest: Any, **more: Any) -> Any:
            evaluated.append(source)
            return super().evaluate(source, *rest, **more)

    async def apart(work: Any) -> Any:
        evaluated.append("apart")
        return work()

    one = tool({"type": "object", "mappings": {"a": "{{cargo.id + page.total}}"}})
    around = Surroundings(lambda: {"cargo": {"id": 4}}, Engine(), apart)
    assert same(called(one, surroundings=around).value, {"a": 7})
    assert evaluated == ["apart", "cargo.id + page.total"]


@pytest.mark.parametrize(
    ("headers", "body", "value"),
    [
        ({"content-type": "application/json"}, '{"page": {"total": 3}}', 3),
        ({"content-type": "text/plain"}, "page.total", "page.total"),
        ({"content-type": "application/xml"}, "<page><total>3</total></page>", "3"),
    ],
)
def test_answers_of_a_server(headers: dict[str, str], body: str, value: Any) -> None:
    """JSON is mapped, and XML as data; a text stays what it is."""
    with StubServer([{"method": "GET", "path": "/b", "headers": headers, "body": body}]) as server:
        http = HttpSettings(allow_private=("127.0.0.1",))
        one = tool("page.total", type="http", url=f"{server.base}/b", method="GET")
        answer = called(one, http=http)
    assert answer.fault is None, answer.fault
    assert answer.value == value
