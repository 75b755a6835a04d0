"""What a response mapping took, left out and put in order, as a cause."""

from __future__ import annotations

from typing import Any

from saywhy import Trace
from saywhy.trace.causes.chain import Cause
from tests.faults.playing import had

STOCK: dict[str, Any] = {
    "takes": {"item": "string"},
    "gives": {"shop": {"number": 4}},
    "mapping": {
        "type": "jsonPath",
        "mappings": {
            "number": {"path": "shop.number"},
            "where": {"path": "place.name", "fallback": "nowhere"},
        },
    },
}
DESK: dict[str, Any] = {
    "system": "You help.",
    "tools": ["stock"],
    "script": [
        {"when": {"last": "nowhere"}, "reply": "There are 4, nowhere."},
        {"when": {"user": "lamp"}, "tool_calls": [{"name": "stock", "arguments": {"item": "x"}}]},
    ],
}


async def traced(**application: Any) -> Trace:
    """The record of a dialogue."""
    played = await had(application)
    await played.close()
    return played.trace


def one(trace: Trace, name: str) -> Cause:
    [cause] = trace.why().find(name)
    return cause


async def test_a_tool_that_an_agent_calls_alone() -> None:
    """Its mapping and the fallback it took are in the chain, as for a step of a flow."""
    trace = await traced(
        agents={"desk": DESK}, tools={"stock": STOCK}, alone="desk", turns=["lamp"]
    )
    told = "the response mapping of stock takes number from shop.number, where from place.name"
    assert one(trace, "mapping:stock").sentence == told
    assert one(trace, "default:stock/place.name").root == "default"


async def test_what_became_of_a_list() -> None:
    """That items were left out or put in order is told, and is a sign."""
    rows = [{"name": "a", "price": 3}, {"name": "b", "price": 1}, {"name": "c", "price": 2}]
    mapping = {
        "type": "array",
        "source": "rows",
        "filter": {"field": "price", "operator": "greaterThan", "value": 1},
        "sort": {"field": "price"},
        "limit": 1,
    }
    call = {"id": "call", "type": "CALL-TOOL", "tool": "rows", "args": {}, "variable": "found"}
    tell = {"id": "tell", "type": "SAY", "value": "{{found[0].name}}"}
    tool = {"takes": {}, "gives": {"rows": rows}, "mapping": mapping}
    trace = await traced(
        flows={"Best": {"steps": [call, tell]}}, tools={"rows": tool}, turns=["Best"]
    )
    cause = one(trace, "mapping:rows")
    assert cause.sentence == "the response mapping of rows takes the whole from rows"
    assert cause.details == (
        "it kept 2 of 3 items by its filter",
        "it ordered 2 items by price",
        "it kept 1 of 2 items by its limit",
    )
    assert cause.signs == ("chose among",)
