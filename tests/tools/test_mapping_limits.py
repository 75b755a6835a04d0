"""Promise: whatever a mapping costs is bounded, and what does not end is not started again."""

from __future__ import annotations

import time
from typing import Any

import pytest

from saywhy.errors import MappingError
from saywhy.marks import quick
from saywhy.tools.mapping import compile_mapping, map_response
from saywhy.tools.mapping import scripts as mapping_scripts
from saywhy.tools.mapping.run import MAX_ITEMS, MAX_WARNINGS, Run, TooMuch
from saywhy.tools.mapping.scripts import MATCHES, call_function, expression, pattern_fault, script
from saywhy.values import FrozenDict

ITEMS = [{"n": n} for n in range(1000)]


def run_with(functions: dict[str, Any] | None = None) -> Run:
    return Run({}, now_ms=0.0, functions=functions or {}, names={}, engine=None)


def test_items() -> None:
    """Lists in lists count item by item."""
    inner = {"type": "array", "source": "$args.xs", "itemMapping": "n"}
    mapping = {"type": "array", "itemMapping": inner}
    with pytest.raises(MappingError, match=f"go through more than {MAX_ITEMS} items") as raised:
        map_response(mapping, ITEMS, {"xs": ITEMS})
    assert not raised.value.is_strict


@pytest.mark.parametrize(
    "item",
    [
        "$args",
        "$args.text",
        {"type": "template", "template": "{{$args.text}}"},
        {"type": "object", "mappings": {"a": {"b": "{{$args.text}}"}}},
        {"type": "object", "mappings": {"a": "{{$args.text + 1}}"}},
        {"type": "object", "mappings": {"a": {"b": "x" * 20_000}}},
        {"path": "gone", "fallback": "x" * 20_000},
        {"path": "gone", "fallback": "$args.text"},
        {"path": "n", "transform": {"type": "concat", "prefix": "x" * 20_000}},
    ],
    ids=range(9),
)
def test_size(item: Any) -> None:
    """What each item adds is counted, wherever it comes from."""
    args = {"text": "x" * 20_000}
    with pytest.raises(MappingError, match="larger than 10000000 characters and values"):
        map_response({"type": "array", "itemMapping": item}, ITEMS, args)


def test_a_limit_is_not_caught_on_the_way() -> None:
    """Neither an object nor a list makes a warning of it."""
    item = {"type": "object", "mappings": {"a": {"type": "object", "mappings": {"b": "$args"}}}}
    with pytest.raises(TooMuch):
        map_response({"type": "array", "itemMapping": item}, ITEMS, {"text": "x" * 20_000})


def test_nesting() -> None:
    """Mappings in mappings, and dotted keys, have an end."""
    config: Any = "x"
    for _ in range(51):
        config = {"type": "conditional", "conditions": [], "else": config}
    with pytest.raises(MappingError, match="deeper than 50 levels"):
        compile_mapping(config)
    with pytest.raises(MappingError, match="deeper than 50 levels"):
        compile_mapping({"type": "jsonPath", "mappings": {".".join("a" * 60): {"path": "x"}}})


def test_warnings() -> None:
    """The same warning is told once, and not more than a few of them."""
    run = run_with()
    for number in range(100):
        run.warn("same")
        run.warn(f"other {number}")
    assert len(run.warnings) == MAX_WARNINGS


def test_patterns_that_take_long() -> None:
    """After three that ran out of time none is started, and the time is that of three."""
    began = time.perf_counter()
    mapping = {
        "type": "array",
        "filter": {"field": ".", "operator": "matches", "value": "^(a+)+$"},
    }
    made = compile_mapping(mapping).apply(["a" * 40 + "!"] * 500)
    assert list(made.value) == []
    assert len(made.warnings) == 2
    assert time.perf_counter() - began < 5


def test_functions_that_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not come back is given up, and none is called any more."""
    monkeypatch.setattr(mapping_scripts, "FUNCTION_SECONDS", 0.05)
    calls: list[Any] = []

    def slow(value: Any, args: Any) -> Any:
        calls.append(value)
        time.sleep(0.3)

    mapping = {
        "type": "array",
        "itemMapping": {"path": "n", "transform": {"type": "custom", "function": "slow"}},
    }
    made = compile_mapping(mapping).apply(ITEMS[:5], functions={"slow": slow})
    assert list(made.value) == [0, 1, 2, 3, 4]
    assert calls == [0]
    assert made.warnings == (
        "slow took longer than 50 ms",
        "too much in this mapping ran out of time; nothing further is called",
    )


def test_functions_get_copies() -> None:
    """What a function changes in what it was handed changes nothing else."""

    @quick
    def spoil(value: Any, args: Any) -> Any:
        value["a"] = args["a"] = "spoilt"
        return value

    data, args = {"o": {"a": 1}}, {"a": 2}
    mapping = {"path": "o", "transform": {"type": "custom", "function": "spoil"}}
    assert map_response(mapping, data, args, functions={"spoil": spoil}) == {"a": "spoilt"}
    assert (data, args) == ({"o": {"a": 1}}, {"a": 2})


def test_functions_are_checked_and_named() -> None:
    """Arguments are compared with the annotations; a failure says which function and why."""

    def half(value: int, args: Any) -> float:
        return value / 2

    run = run_with({"half": half})
    assert call_function(run, "half", [4, {}]) == 2
    with pytest.raises(Exception, match="half: value "):
        call_function(run, "half", ["four", {}])


def test_expressions_call_functions_a_number_of_times() -> None:
    """An expression that calls without end fails."""
    run = run_with({"f": quick(lambda n: n + 1)})
    assert expression(run, "f(f(1))", {}) == 3
    with pytest.raises(Exception, match="more than 200 function calls in one expression"):
        expression(run, "Array.from({length: 300}).map((_, i) => f(i)).length", {})


def test_results_of_scripts() -> None:
    """A script gives plain trees; one that raises says what."""
    run = run_with()
    assert script(run, MATCHES, pattern="a", text="cat") is True
    assert expression(run, "({$date: x})", {"x": 1}) == FrozenDict({"$date": 1})
    with pytest.raises(Exception, match="SyntaxError: "):
        script(run, MATCHES, pattern="(", text="cat")
    assert pattern_fault("(") == "expecting ')'"
    assert pattern_fault("a", "g") == ""
