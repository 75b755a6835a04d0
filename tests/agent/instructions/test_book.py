"""Promise: a state holds names, and each name stands for one rule or tool, in every process."""

from __future__ import annotations

from saywhy.agent.instructions.agent_rule import define_instruction
from saywhy.agent.instructions.book import RuleBook
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import AgentTool, define_tool


def tool_of(id: str, text: str) -> AgentTool:
    return define_tool(id, text, {}, lambda arguments: text)


R1, R2, R3 = (LLMInstruction("r", text=text) for text in "123")
ONE = define_instruction("a", tools=[tool_of("x", "one")], on_tool_result=[R1, R2], priority=2)
TWO = define_instruction("a", tools=[tool_of("x", "two")], on_tool_result=[R3], priority=1)
OFF = define_instruction("off", active_when=lambda d: False, tools=[tool_of("y", "y")])
BOOK = RuleBook([ONE, TWO, OFF])


def test_names_are_unique() -> None:
    """Also where two instructions or two rules share an id."""
    found = BOOK.evaluate({})
    assert BOOK.names_of(found) == ["a#2", "a"]
    assert BOOK.rule_names_of(found) == ["a#2/r", "a/r", "a/r#2"]
    assert BOOK.rules(BOOK.rule_names_of(found)) == (R3, R1, R2)
    assert BOOK.all_rules == (R1, R2, R3)


def test_a_name_of_an_older_version_is_passed_over() -> None:
    """A conversation begun with other instructions goes on."""
    assert BOOK.rules(["gone/r", "a/r"]) == (R1,)
    assert BOOK.tool("x", ["gone"]) is None


def test_a_tool_is_that_of_an_active_instruction() -> None:
    """The first active one wins; what is only registered is not to be had."""
    two, one = BOOK.tool("x", ["a#2", "a"]), BOOK.tool("x", ["a", "a#2"])
    assert two is not None
    assert one is not None
    assert (two.description, one.description) == ("two", "one")
    assert BOOK.tool("y", ["a", "a#2"]) is None
    assert BOOK.tool("x", []) is None
    assert BOOK.tool_ids == ("x", "y")


def test_tools_as_a_model_is_shown_them() -> None:
    """Name, description and schema; of two with one id the one that is offered."""
    assert BOOK.descriptions_of(BOOK.evaluate({})) == [
        {"name": "x", "description": "two", "input_schema": {}}
    ]
    one, other = (BOOK.descriptions_of(BOOK.evaluate({}))[0] for _ in range(2))
    assert one is other


def test_one_object_listed_twice() -> None:
    """Both entries mean that object."""
    book = RuleBook([OFF, ONE, ONE])
    found = book.evaluate({})
    names = book.rule_names_of(found)
    assert book.rules(names) == (R1, R2, R1, R2)
