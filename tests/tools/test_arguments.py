"""Promise: a tool gets arguments that fit its schema, or is not called and hears every misfit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from saywhy.tools.arguments import (
    certain,
    complete,
    generate,
    json_view,
    matched,
    plain,
    refusal,
    validate,
)
from saywhy.tools.schema import describe, path_text
from saywhy.tools.tool import Tool, tool_from_definition
from saywhy.values import UNDEFINED, BigInt, Date, NonFinite, freeze, loads, same, untagged

CASES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent.parent / "cases" / "tools" / "arguments.json").read_text("utf-8")
)


def tool(**schema: Any) -> Tool:
    return tool_from_definition(
        {
            "id": "Work",
            "parameters": {"type": "object", **schema},
            "implementation": {"type": "local", "function": "work"},
        }
    )


def flat(parameters: dict[str, Any], **keys: Any) -> Tool:
    implementation = {"type": "local", "function": "work"}
    return tool_from_definition(
        {"id": "Work", "parameters": parameters, "implementation": implementation, **keys}
    )


def about(case: dict[str, Any]) -> str:
    return case["about"]


@pytest.mark.parametrize("case", CASES["generated"], ids=about)
def test_generated(case: dict[str, Any]) -> None:
    """Arguments nobody wrote come from variables, then from the user's words."""
    made = tool(properties=case["properties"], required=case.get("required", []))
    variables = loads(json.dumps(case["variables"]))
    found = matched(made, variables, case["input"])
    assert same(found, case["gives"])
    last_resort = {"userInput": case["input"].strip()}
    assert same(generate(made, variables, case["input"]), case["gives"] or last_resort)


@pytest.mark.parametrize("case", CASES["completed"], ids=about)
def test_completed(case: dict[str, Any]) -> None:
    """Nulls take the default of their type."""
    made = tool(properties=case["properties"])
    assert same(complete(made, untagged(case["args"])), case["gives"])


@pytest.mark.parametrize("case", CASES["refused"], ids=about)
def test_refused(case: dict[str, Any]) -> None:
    """Every error is named with its path, in any order."""
    errors = validate(tool(**case["schema"]), loads(json.dumps(case["args"])))
    assert sorted(errors) == sorted(case["gives"])


def test_the_refusal_names_all() -> None:
    """One text holds every error."""
    made = tool(properties={"a": {"type": "number"}}, required=["a", "b"])
    assert refusal(sorted(validate(made, {"a": "x"}), reverse=True)) == (
        "Tool argument validation failed: "
        'root must have the property "b", a must be a number, not text'
    )


def test_no_value_appears_in_a_refusal() -> None:
    """What was given may be secret, so only its kind is named."""
    made = tool(
        properties={"card": {"type": "string", "pattern": "^x", "maxLength": 3, "enum": []}}
    )
    assert "4111" not in refusal(validate(made, {"card": "4111111111111111"}))


def test_defaults_are_not_shared() -> None:
    """Two calls never get the same list."""
    made = tool(properties={"a": {"type": "array"}})
    first, second = complete(made, {"a": None}), complete(made, {"a": None})
    first["a"].append(1)
    assert second == {"a": []}


def test_flat_parameters_are_checked_on_demand_only() -> None:
    """Older definitions describe parameters without binding anybody, unless a model reads them."""
    made = flat({"a": {"type": "number"}, "b": {"type": "string"}}, required=["b"])
    assert validate(made, {"a": ""}) == []
    assert sorted(validate(made, {"a": ""}, strict=True)) == [
        "a must be a number, not empty text",
        'root must have the property "b"',
    ]


def test_half_a_character_can_be_checked() -> None:
    """A lone surrogate is text like any other."""
    made = tool(properties={"a": {"type": "string", "minLength": 1, "pattern": "^.$"}})
    assert validate(made, {"a": "\ud800"}) == []


def test_hostile_patterns_end_soon() -> None:
    """A pattern that can go back for ever is given up, and the argument refused."""
    made = tool(properties={"a": {"pattern": r"^(?=(a+))(a|a)*\1b$"}})
    began = time.monotonic()
    (error,) = validate(made, {"a": "a" * 500})
    assert error in (
        "a takes too long to be compared with its pattern",
        r"a must match the pattern ^(?=(a+))(a|a)*\1b$",
    )
    assert time.monotonic() - began < 2


def test_a_pattern_that_takes_too_long_says_so() -> None:
    """The reason is named when the limit was hit."""
    made = tool(properties={"a": {"pattern": r"(a|a)*\1b"}})
    assert validate(made, {"a": "a" * 2000}) == ["a takes too long to be compared with its pattern"]


def test_plain_gives_what_a_function_may_change() -> None:
    """A copy of Python's own types: no frozen wrappers, no undefined, numbers for big integers."""
    given = freeze({"o": {"l": [1, UNDEFINED, BigInt(2)], "u": UNDEFINED}, "d": Date(0), "t": "x"})
    copy = plain(given)
    assert copy == {"o": {"l": [1, None, 2]}, "d": Date(0), "t": "x"}
    assert type(copy) is dict
    assert type(copy["o"]["l"]) is list
    copy["o"]["l"].append(3)
    assert len(given["o"]["l"]) == 3


def test_plain_reaches_into_objects_kept_frozen() -> None:
    """An object that looks like one of the tags of stored values is unwrapped as well."""
    assert plain(freeze({"o": {"$date": "x"}})) == {"o": {"$date": "x"}}
    assert type(plain(freeze({"o": {"$date": "x"}}))["o"]) is dict


def test_json_view() -> None:
    """A plain tree as a browser would write it."""
    tree = {"d": [Date(0), Date(float("nan"))], "n": NonFinite("inf"), "s": "\ud800"}
    assert json_view(tree) == {"d": ["1970-01-01T00:00:00.000Z", None], "n": None, "s": "?"}


def test_paths_read_like_code() -> None:
    """The whole is called root."""
    assert path_text([]) == "root"
    assert path_text(["a", 0, "b", 1, 2]) == "a[0].b[1][2]"
    assert path_text([0, "a"]) == "[0].a"


def test_a_rule_without_words_of_its_own_is_named() -> None:
    """An error of a keyword we have no sentence for still says which rule was broken."""

    class Kind:
        name = "unheardOf"
        value = 1

    class Error:
        kind = Kind()
        instance = "secret"
        instance_path = ("a",)

    assert describe(Error()) == "a breaks the rule `unheardOf`"  # type: ignore[arg-type]


def test_words_that_no_listed_value_is_are_not_read_off() -> None:
    """A sentence is no city where the cities are listed: whoever asks a model asks for it."""
    made = tool(properties={"city": {"type": "string", "enum": ["Rome", "Oslo"]}})
    assert certain(made, {}, "somewhere warm please") == {}
    assert certain(made, {}, " Rome ") == {"city": "Rome"}
    assert generate(made, {}, "somewhere warm") == {"userInput": "somewhere warm"}
