"""Promise: in a conversation, a mapping reads cargo, leaves its warnings in the trace, and a strict
one that fails is a failed call."""

from __future__ import annotations

from typing import Any

from tests.flows.conftest import Lines, engine_of, flow, say, talk, use

ANSWER = {"page": {"total": 3}, "cargo": "the answer's own"}

PATTERN = {"type": "replace", "pattern": "(\\d)", "replacement": "<$1>"}


def birds(mapping: Any) -> dict[str, Any]:
    return {
        "id": "birds",
        "name": "birds",
        "parameters": {"type": "object", "properties": {}},
        "implementation": {"type": "mock", "mockResponse": ANSWER, "responseMapping": mapping},
    }


def warned(session: Any) -> list[str]:
    return [warning for commit in session.commits for warning in commit.warnings]


async def test_a_mapping_reads_the_conversation() -> None:
    """Cargo, the user and the language are those of the session, whatever the answer holds."""
    engine = engine_of(
        flow(
            {"id": "c", "type": "SET", "variable": "x", "value": "cargo.shop = {id: 7}"},
            use("birds", variable="r"),
            say("{{r.id}} {{r.total}} {{r.user}} {{r.language}} {{r.own}}"),
        ),
        tools=[
            birds(
                {
                    "type": "object",
                    "mappings": {
                        "id": "{{cargo.shop.id}}",
                        "total": "{{page.total + cargo.shop.id}}",
                        "user": "{{userId}}",
                        "language": "{{language}}",
                        "own": "{{$.cargo}}",
                    },
                }
            )
        ],
    )
    session = await talk(engine, "Main")
    assert session.response == f"7 10 {session.user_id} en the answer's own"
    assert warned(session) == []


async def test_warnings_stand_in_the_trace_and_in_the_log() -> None:
    """What did not work out is on the step that made the call."""
    log = Lines()
    mapping = {"path": "page.total", "transform": {"type": "custom", "function": "add"}}
    engine = engine_of(
        flow(use("birds", variable="r"), say("{{r}}")),
        tools=[birds(mapping)],
        functions={"add": lambda value, args: value + "!"},
        logger=log,
    )
    session = await talk(engine, "Main")
    assert session.response == "3"
    (warning,) = warned(session)
    assert warning.startswith(
        "response mapping of birds: add raised TypeError: unsupported operand"
    )
    assert [line for line in log.lines if "response mapping of birds" in line]


async def test_a_strict_mapping_is_a_failed_call() -> None:
    """`onFail` runs, and the variable says what was missing."""
    mapping = {"type": "object", "strict": True, "mappings": {"sum": "page.sum"}}
    step = use("birds", variable="r") | {"onFail": {"id": "f", "type": "SAY", "value": "no: {{r}}"}}
    engine = engine_of(flow(step, say("on")), tools=[birds(mapping)])
    session = await talk(engine, "Main")
    assert session.response == (
        "no: The answer of tool birds does not fit its mapping: object mapping: "
        'key "sum": nothing stands at "page.sum"; page has total\n\non'
    )
    assert len(session.last_turn_tool_calls) == 1


async def test_isolated_expressions() -> None:
    """Where expressions run in processes of their own, those of mappings do too."""
    mapping = {
        "type": "object",
        "mappings": {"n": "{{page.total * 2}}", "t": {"path": "page.total", "transform": PATTERN}},
    }
    engine = engine_of(
        flow(use("birds", variable="r"), say("{{r.n}} {{r.t}}")),
        tools=[birds(mapping)],
        expressions="isolated",
    )
    session = await talk(engine, "Main")
    await engine.close()
    assert session.response == "6 <3>"
