"""Promise: a tool is found by id, then by name, and a library is read with all its problems."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import DefinitionError, Place
from saywhy.tools.registry import Registry, registry_from_definitions

LOCAL = {"type": "local", "function": "work"}


def defined(identity: str, name: str = "") -> dict[str, Any]:
    return {"id": identity, "name": name or identity, "implementation": LOCAL}


@pytest.mark.parametrize("wrap", [list, lambda items: {"tools": items}])
def test_both_forms_of_a_library(wrap: Any) -> None:
    """A list of tools, or an object with that list as `tools`."""
    registry = registry_from_definitions(wrap([defined("a"), defined("b")]))
    assert [tool.id for tool in registry] == ["a", "b"]
    assert len(registry) == 2


def test_ids_come_before_names() -> None:
    """A name that is also somebody's id leads to that id; of two equal names the first counts."""
    registry = registry_from_definitions(
        [defined("one", "two"), defined("two", "three"), defined("four", "three")]
    )
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
        registry_from_definitions(
            [defined("a"), defined("a")], lambda pointer: Place("t.json", 5, 1, pointer)
        )
    assert str(caught.value) == (
        't.json:5:1  /1: error: two tools have the id "a"\n'
        "    the other one is at t.json:5:1; rename one of them"
    )


def test_all_problems_of_all_tools() -> None:
    """One broken tool does not hide the next; the places are those the loader gives."""
    with pytest.raises(DefinitionError) as caught:
        registry_from_definitions(
            {"tools": [{"id": "a"}, defined("b"), 3]},
            lambda pointer: Place("t.json", len(pointer), 1, pointer),
        )
    assert [(str(p.place), p.place.pointer, p.message) for p in caught.value.problems] == [
        ("t.json:8:1", "/tools/0", "tool a has no `implementation`"),
        ("t.json:8:1", "/tools/2", "a tool is an object, not 3"),
    ]


@pytest.mark.parametrize("raw", ["x", None, {}, {"tools": {}}])
def test_what_is_no_library(raw: Any) -> None:
    """Anything else is refused with what to write instead."""
    with pytest.raises(DefinitionError) as caught:
        registry_from_definitions(raw)
    (problem,) = caught.value.problems
    assert problem.message == "a tool library is a list of tools"
    assert problem.hint == 'write [{"id": …}, …] or {"tools": [{"id": …}, …]}'


def test_hints_for_unknown_names() -> None:
    """A slip of the keys is recognised."""
    registry = registry_from_definitions([defined("charge-card", "Charge")])
    assert registry.hint("charge-cart") == 'did you mean "charge-card"?'
    assert registry.hint("zzz") == "check the tool's id, or add its definition"
    assert Registry().hint("x") == "check the tool's id, or add its definition"
