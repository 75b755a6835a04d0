"""Promise: what a tool read is answered from memory for a while, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from saywhy.testing.clock import FakeClock
from saywhy.tools import cache as module
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.guards import Guards
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition


class Shop:
    """A tool that counts how often it is really asked, and an engine's guards around it."""

    def __init__(self, answer: Any = None, **keys: Any) -> None:
        self.asked: list[Any] = []
        self.answer = answer
        self.clock = FakeClock()
        self.guards = Guards()
        implementation = {"type": "local", "function": "look", **keys.pop("implementation", {})}
        self.tool = tool_from_definition(
            {
                "id": "look",
                "effect": "reads",
                "implementation": implementation,
                "cache": {"ttl": "1m", **keys.pop("cache", {})},
                **keys,
            }
        )

    def look(self, arguments: dict[str, Any]) -> Any:
        self.asked.append(dict(arguments))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if self.answer is not None else {"n": len(self.asked)}

    def call(
        self, arguments: Mapping[str, Any] | None = None, user: str = "ann", **options: Any
    ) -> ToolAnswer:
        return asyncio.run(
            call_tool(
                Registry([self.tool]),
                "look",
                arguments or {},
                CallContext(user_id=user),
                functions={"look": self.look},
                limiter=MemoryLimiter(self.clock),
                clock=self.clock,
                guards=self.guards,
                **options,
            )
        )


def test_the_same_question_is_answered_from_memory() -> None:
    """The second answer is the first one, is marked as cached, and was no attempt."""
    shop = Shop()
    first, second = shop.call({"q": "tea"}), shop.call({"q": "tea"})
    assert first.value == second.value == {"n": 1}
    assert (first.cached, len(first.attempts)) == (False, 1)
    assert (second.cached, second.attempts) == (True, ())
    assert len(shop.asked) == 1


def test_arguments_in_another_order_are_the_same_question() -> None:
    """What counts are the arguments, not how they were written; another value is another call."""
    shop = Shop()
    shop.call({"a": 1, "b": {"c": 2, "d": 3}})
    assert shop.call({"b": {"d": 3, "c": 2}, "a": 1}).cached
    assert not shop.call({"a": 1, "b": {"c": 2, "d": 4}}).cached
    assert not shop.call({"a": "1", "b": {"c": 2, "d": 3}}).cached


def test_each_user_has_answers_of_their_own() -> None:
    """Without `shared` nobody gets what another user was told; with it everybody does."""
    shop = Shop()
    shop.call(user="ann")
    assert not shop.call(user="bob").cached
    shared = Shop(cache={"shared": True})
    shared.call(user="ann")
    assert shared.call(user="bob").cached


def test_an_answer_is_good_for_its_time_by_the_clock_of_the_engine() -> None:
    """Right before the time is up it is given again, from then on the tool is asked."""
    shop = Shop(cache={"ttl": 1000})
    shop.call()
    shop.clock.advance(0.999)
    assert shop.call().cached
    shop.clock.advance(0.001)
    assert not shop.call().cached
    assert shop.call().cached


def test_failures_are_asked_for_again() -> None:
    """An error is never an answer to be kept."""
    shop = Shop(RuntimeError("down"))
    assert shop.call().fault_message == "down"
    shop.answer = {"ok": True}
    assert shop.call().value == {"ok": True}
    assert shop.call().cached


def test_the_answer_used_longest_ago_makes_room() -> None:
    """A cache has an end: `size` answers of one tool."""
    shop = Shop(cache={"size": 2})
    for word in ("tea", "milk"):
        shop.call({"q": word})
    shop.call({"q": "tea"})
    shop.call({"q": "salt"})
    assert len(shop.guards.cache) == 2
    assert shop.call({"q": "tea"}).cached
    assert not shop.call({"q": "milk"}).cached


def test_large_answers_make_room_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor may the answers of one tool take up more than so many bytes; one alone is not kept."""
    monkeypatch.setattr(module, "MAX_BYTES", 250)
    shop = Shop("x" * 100)
    for word in ("a", "b", "c"):
        shop.call({"q": word})
    assert len(shop.guards.cache) == 2
    shop.answer = "x" * 300
    shop.call({"q": "d"})
    assert not shop.call({"q": "d"}).cached
    assert shop.call({"q": "c"}).cached


def test_texts_that_a_flow_put_into_the_definition_count() -> None:
    """Two requests that differ in their address only are two questions."""
    shop = Shop()
    shop.call(filled={"/implementation/url": "https://a.example"})
    assert not shop.call(filled={"/implementation/url": "https://b.example"}).cached
    assert shop.call(filled={"/implementation/url": "https://a.example"}).cached


def test_what_is_kept_is_mapped_anew() -> None:
    """The answer is kept as it came, for its mapping may read what differs from call to call."""
    implementation = {
        "type": "mock",
        "mockResponse": {"price": 3},
        "responseMapping": {"type": "template", "template": "{{$args.name}}: {{price}}"},
    }
    shop = Shop(implementation=implementation, cache={"ttl": "1m"})
    first, second = shop.call({"name": "tea"}), shop.call({"name": "tea"})
    assert (first.value, second.value, second.cached) == ("tea: 3", "tea: 3", True)


def test_what_a_function_changed_in_its_arguments_is_kept_along() -> None:
    """A call that is answered from memory has the same effects on variables as one that is made."""
    shop = Shop()
    shop.look = lambda arguments: arguments["list"].append(4)  # pyright: ignore[reportAttributeAccessIssue]
    first, second = shop.call({"list": [1]}), shop.call({"list": [1]})
    assert second.cached
    assert first.arguments_after == second.arguments_after == {"list": [1, 4]}


def test_a_call_taken_up_after_a_crash_is_looked_up_in_the_journal() -> None:
    """The journal knows what came of it, whatever the cache holds."""
    shop = Shop()
    shop.call()
    heard: list[str] = []

    async def around(call: Any) -> ToolAnswer:
        heard.append("asked")
        return await call()

    assert shop.call(around=around).cached
    assert heard == []
    assert not shop.call(around=around, resumed=True).cached
    assert heard == ["asked"]
