"""Promise: tools in, tools out: other names, fewer of them, or more that is asked of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy import load_tools, tool
from saywhy.errors import CallerError, DefinitionError
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition
from saywhy.tools.wrappers import (
    approve,
    break_circuit,
    cache,
    drop,
    keep,
    limit,
    prefix,
    rename,
)


def definition(identity: str, **keys: Any) -> dict[str, Any]:
    implementation = {"type": "local", "function": identity}
    return {"id": identity, "name": identity, "implementation": implementation, **keys}


SEARCH = definition("search", effect="reads")
PAY = definition("pay", name="Pay a bill")
BOTH = [SEARCH, PAY]


def ids(tools: Any) -> list[str]:
    return [one["id"] for one in tools]


def test_a_prefix_for_the_ids() -> None:
    """A name for people stays; one that is the id goes with it. The function is the same."""
    search, pay = prefix(BOTH, "shop_")
    assert (search["id"], search["name"]) == ("shop_search", "shop_search")
    assert (pay["id"], pay["name"]) == ("shop_pay", "Pay a bill")
    assert search["implementation"]["function"] == "search"
    assert SEARCH["id"] == "search"


def test_other_names() -> None:
    """By id or by name; what is not named stays."""
    assert ids(rename(BOTH, {"search": "find"})) == ["find", "pay"]
    assert ids(rename(BOTH, {"Pay a bill": "charge"})) == ["search", "charge"]


def test_fewer_tools() -> None:
    """Named, or asked about; keep and drop are each other's opposite."""
    assert ids(keep(BOTH, ["pay"])) == ids(drop(BOTH, ["search"])) == ["pay"]
    assert ids(keep(BOTH, lambda raw: raw.get("effect") == "reads")) == ["search"]
    assert ids(drop(BOTH, "Pay a bill")) == ["search"]


@pytest.mark.parametrize(
    ("wrap", "text"),
    [
        (lambda: keep(BOTH, ["serch"]), 'keep: no tool is called "serch"'),
        (lambda: drop(BOTH, ["serch"]), 'drop: no tool is called "serch"'),
        (lambda: rename(BOTH, {"serch": "x"}), 'rename: no tool is called "serch"'),
        (lambda: approve(BOTH, only=["serch"]), 'approve: no tool is called "serch"'),
        (lambda: limit(BOTH, requests=1, window_ms=1, only="serch"), "limit: no tool is called"),
    ],
)
def test_a_name_that_no_tool_has(wrap: Any, text: str) -> None:
    """A slip would leave a tool unguarded, so it is an error."""
    with pytest.raises(CallerError) as caught:
        wrap()
    assert caught.value.message.startswith(text)
    assert caught.value.hint == 'did you mean "search"?'


def test_approval_for_all_or_for_some() -> None:
    """Only the field is set: what it means is the call's."""
    plain = approve(BOTH, only=["pay"])
    assert "approval" not in plain[0]
    assert plain[1]["approval"] is True
    asked = approve([PAY], when="args.amount > 100", expires="15m", by="treasury")
    assert asked[0]["approval"] == {
        "when": "args.amount > 100",
        "expires": "15m",
        "by": "treasury",
    }


@pytest.mark.parametrize(
    ("own", "added", "both"),
    [
        (True, {"when": "args.a > 1"}, True),
        ({"when": "args.a > 1"}, {}, True),
        ({"when": "args.a > 1"}, {"when": "args.b"}, {"when": "(args.a > 1) || (args.b)"}),
        ({"when": "{{args.a}} > 1"}, {"when": "args.b"}, {"when": "((args.a) > 1) || (args.b)"}),
        ({"when": "args.a // so"}, {"when": "args.b"}, {"when": "(args.a // so\n) || (args.b)"}),
        ({"expires": "2h"}, {"expires": "15m"}, {"expires": "15m"}),
        ({"expires": 1000}, {"expires": "15m"}, {"expires": 1000}),
        ({"by": "ann"}, {"by": "bob"}, {"by": "bob"}),
    ],
)
def test_approval_on_approval_is_never_less(own: Any, added: Any, both: Any) -> None:
    """What the tool asks for by itself it still asks for."""
    assert approve([{**PAY, "approval": own}], **added)[0]["approval"] == both


def test_limits_caches_and_circuits_are_written_into_the_definition() -> None:
    """Beside what stands there already."""
    there = {**SEARCH, "security": {"requiresAuth": True}}
    made = limit([there], requests=5, window_ms=60_000)
    made = cache(made, ttl="5m", size=10, shared=True)
    made = break_circuit(made, failures=3)
    (one,) = made
    assert one["security"] == {
        "requiresAuth": True,
        "rateLimit": {"requests": 5, "window": 60_000},
    }
    assert one["cache"] == {"ttl": "5m", "size": 10, "shared": True}
    circuit = {"failures": 3, "windowMs": 60_000, "openMs": 30_000}
    assert one["implementation"] == {
        "type": "local",
        "function": "search",
        "circuitBreaker": circuit,
    }
    assert tool_from_definition(one).cache is not None
    assert "circuitBreaker" not in there["implementation"]


def test_only_what_reads_can_have_a_cache() -> None:
    """Answering from memory what should act would be the worst kind of success."""
    with pytest.raises(DefinitionError) as caught:
        cache(BOTH, ttl="5m")
    assert "tool pay cannot have a cache: its effect is once" in str(caught.value)


def test_what_a_wrapper_is_asked_for_must_make_sense() -> None:
    """Mistakes are found where they are made."""
    with pytest.raises(CallerError, match="at least 1 request in at least 1 millisecond"):
        limit(BOTH, requests=0, window_ms=1000)
    with pytest.raises(DefinitionError, match="must be a stretch of time"):
        cache([SEARCH], ttl="soon")
    with pytest.raises(DefinitionError, match="`when` of tool pay cannot be read"):
        approve([PAY], when="args.amount >")


def test_values_stay_values() -> None:
    """Tools and registries come out as tools, with everything worked out anew."""
    registry = Registry([tool_from_definition(SEARCH), tool_from_definition(PAY)])
    made = Registry(prefix(limit(registry, requests=2, window_ms=1000, only=["pay"]), "a_"))
    pay = made.find("a_pay")
    assert pay is not None
    assert pay.rate_limit is not None
    assert pay.rate_limit.requests == 2
    assert made.find("a_search") is not None
    assert made.find("search") is None


def test_what_was_loaded_keeps_its_place(tmp_path: Path) -> None:
    """What is wrong with a wrapped tool is still found in its file."""
    file = tmp_path / "shop.tools.json"
    file.write_text(json.dumps([SEARCH, PAY], indent=1), encoding="utf-8")
    wrapped = prefix(load_tools(file), "shop_")
    assert [one.id for one in wrapped] == ["shop_search", "shop_pay"]
    assert str(wrapped[1].place_of("/implementation")).startswith(f"{file}:")
    with pytest.raises(DefinitionError) as caught:
        cache(wrapped, ttl="1m")
    assert str(caught.value.problems[0].place).startswith(str(file))


def test_an_object_with_tools_is_its_tools() -> None:
    """As a file may be written."""
    assert ids(prefix({"tools": BOTH}, "a_")) == ["a_search", "a_pay"]  # pyright: ignore[reportArgumentType]


def test_functions_are_tools() -> None:
    """A function that a wrapper gets becomes a tool, and stays callable."""

    @tool(effect="reads")
    def look(q: str) -> str:
        """Looks something up."""
        return q.upper()

    def pay(amount: float) -> None:
        """Pays."""

    first, second = prefix([look, pay], "my_")  # pyright: ignore[reportArgumentType]
    assert (first.raw["id"], second.raw["id"]) == ("my_look", "my_pay")
    assert first("x") == "X"


def test_a_path_is_no_tool() -> None:
    """Files are read by `load_tools`, which the error says."""
    with pytest.raises(CallerError) as caught:
        prefix("shop.tools.json", "a_")  # pyright: ignore[reportArgumentType]
    assert caught.value.message == "a tool is a definition, not str"
    assert caught.value.hint == "load_tools(path) reads files"
