"""Promise: a tool is found by id, then by name, and no id is used twice."""

from __future__ import annotations

import pytest

from saywhy.errors import DefinitionError, Place
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool, tool_from_definition

LOCAL = {"type": "local", "function": "work"}


def defined(identity: str, name: str = "") -> Tool:
    raw = {"id": identity, "name": name or identity, "implementation": LOCAL}
    return tool_from_definition(raw, Place("t.json", 5, 1, f"/{identity}"))


def test_tools_are_listed_in_order() -> None:
    """As they were given, each once."""
    registry = Registry([defined("a"), defined("b")])
    assert [tool.id for tool in registry] == ["a", "b"]
    assert len(registry) == 2


def test_ids_come_before_names() -> None:
    """A name that is also somebody's id leads to that id; of two equal names the first counts."""
    registry = Registry([defined("one", "two"), defined("two", "three"), defined("four", "three")])
    assert [registry.find(name).id for name in ("one", "two", "three", "four")] == [  # type: ignore[union-attr]
        "one",
        "two",
        "two",
        "four",
    ]
    assert registry.find("five") is None
    assert "three" in registry
    assert "five" not in registry


def test_an_id_used_twice() -> None:
    """Both places are named."""
    with pytest.raises(DefinitionError) as caught:
        Registry([defined("a"), defined("a")])
    assert str(caught.value) == (
        't.json:5:1  /a: error: two tools have the id "a"\n'
        "    the other one is at t.json:5:1; rename one of them"
    )


def test_hints_for_unknown_names() -> None:
    """A slip of the keys is recognised."""
    registry = Registry([defined("charge-card", "Charge")])
    assert registry.hint("charge-cart") == 'did you mean "charge-card"?'
    assert registry.hint("zzz") == "check the tool's id, or add its definition"
    assert Registry().hint("x") == "check the tool's id, or add its definition"
