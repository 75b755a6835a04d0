"""What a host may want to be told about the answers of its tools."""

from __future__ import annotations

from typing import Any

from saywhy.runtime.diagnostics import Diagnostics
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.tool import Tool, tool_from_definition
from tests.flows.conftest import Lines, ask, engine_of, flow, local_tool, say, talk, use

RETURNS = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


def tool(**keys: Any) -> Tool:
    return tool_from_definition(local_tool("t", **keys))


def test_both_questions_are_off_unless_asked_for() -> None:
    """Silence is the default."""
    silent = Diagnostics(returns=False, failures=False)
    answer = ToolAnswer(value={"success": False, "error": "x"})
    assert silent.warnings(tool(returns=RETURNS), answer) == []
    loud = Diagnostics(returns=True, failures=True)
    assert len(loud.warnings(tool(returns=RETURNS), answer)) == 2


def test_faults_and_unknown_tools_are_no_answers() -> None:
    """What failed is told elsewhere."""
    loud = Diagnostics(returns=True, failures=True)
    assert loud.warnings(tool(returns=RETURNS), ToolAnswer(fault_message="no")) == []
    assert loud.warnings(None, ToolAnswer(value={"success": False})) == []


async def test_an_engine_logs_them_and_hands_the_answer_on() -> None:
    """The flow gets what the tool gave, whatever is said about it."""
    log = Lines()
    engine = engine_of(
        flow(use("t", variable="r"), say("{{r.error}}")),
        tools=[local_tool("t", returns=RETURNS)],
        functions={"t": lambda args: {"success": False, "error": "card 12345 refused"}},
        logger=log,
        validate_tool_returns=True,
        log_tool_failures=True,
    )
    assert (await talk(engine, "Main")).response == "card 12345 refused"
    assert len(log.lines) == 2
    assert "The answer of tool t does not match its `returns`" in log.lines[0]
    assert log.lines[1] == "W Tool t answered a failure (no code): card **** refused"


async def test_sensitive_answers_stay_out_of_the_log() -> None:
    """Also where a tool repeats them in letters."""
    log = Lines()
    engine = engine_of(
        flow(ask("name", pii=True), use("t", args={"name": "{{name}}"}), say("x")),
        tools=[local_tool("t")],
        functions={"t": lambda args: {"success": False, "error": f"no {args['name']} here"}},
        logger=log,
        log_tool_failures=True,
    )
    await talk(engine, "Main", "Rumpelstiltskin")
    assert log.lines == ["W Tool t answered a failure: [REDACTED]"]
