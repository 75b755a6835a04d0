"""Promise: a host's own function is asked with as many arguments as it takes."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.models.callback import Callback, provider_of
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, Provider, question, reply_of
from saywhy.models.scripted import ScriptedModel
from saywhy.values import freeze

REQUEST = freeze({"task": "detect_flow", "flows": [1]})
DETECTION = question("detect_flow", "sys", "user", "{}", REQUEST)
PLAIN = question("voice", "sys", "user")
HINT = "async def model"


def asked(function: Any, ask: Ask) -> str:
    return asyncio.run(reply_of(provider_of(function), ask)).text


@pytest.mark.parametrize(
    ("function", "for_detection", "for_voice"),
    [
        (lambda a, b: f"{a},{b}", "sys,user", "sys,user"),
        (lambda a, b, c=None: f"{b},{c}", "user,{}", "user,None"),
        (lambda a, b, c=None, d=None: f"{c},{d and d['flows']}", "{},[1]", "None,None"),
        (lambda a, b, c: f"{b},{c}", "user,{}", "user,None"),
        (lambda a, b, c, d: f"{c},{d and d['flows']}", "{},[1]", "None,None"),
        (lambda *all: str(len(all)), "4", "3"),
        (lambda a, b, **more: f"{a}{more}", "sys{}", "sys{}"),
    ],
    ids=["two", "three", "four", "three needed", "four needed", "any number", "keywords"],
)
def test_it_gets_as_many_arguments_as_it_takes(
    function: Any, for_detection: str, for_voice: str
) -> None:
    """The form and the structured request go only to functions with places for them."""
    assert asked(function, DETECTION) == for_detection
    assert asked(function, PLAIN) == for_voice


def test_async_functions_and_objects_are_awaited() -> None:
    """A coroutine function, an object with an async call, a lambda that hands one on."""

    async def function(system: str, user: str) -> str:
        await asyncio.sleep(0)
        return user.upper()

    class Model:
        async def __call__(self, system: str, user: str) -> str:
            return system

    assert asked(function, PLAIN) == "USER"
    assert asked(Model(), PLAIN) == "sys"
    assert asked(lambda *all: function(*all[:2]), PLAIN) == "USER"  # not async itself


def test_a_plain_function_runs_beside_the_loop() -> None:
    """One that waits holds nobody up: it is called in another thread."""
    threads: list[int] = []

    def function(system: str, user: str) -> str:
        threads.append(threading.get_ident())
        return ""

    asked(function, PLAIN)
    assert threads != [threading.get_ident()]


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_an_iterator_that_is_empty_is_a_failure_at_once(kind: str) -> None:
    """`next` of a list of replies that are used up: no future can carry what it raises."""
    replies = iter(["one"])

    def function(system: str, user: str) -> str:
        return next(replies)

    async def later(system: str, user: str) -> str:
        return next(replies)

    model = function if kind == "plain" else later

    async def twice() -> None:
        asking = provider_of(model)
        assert (await reply_of(asking, PLAIN)).text == "one"
        await asyncio.wait_for(reply_of(asking, PLAIN), 5)

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        asyncio.run(twice())


def test_the_request_is_a_copy_of_the_hosts_own() -> None:
    """What a host does to it changes nothing of ours."""

    def function(system: str, user: str, schema: str, request: dict[str, Any]) -> str:
        request["flows"].append(2)
        return ""

    asked(function, DETECTION)
    assert freeze({"task": "detect_flow", "flows": [1]}) == DETECTION.request


def test_what_is_no_text_is_refused() -> None:
    """An object, bytes or nothing is the caller's mistake, said in words."""
    said, as_json = "return what the model said", r"return JSON as text: json\.dumps"
    for given, hint in ((None, said), ({"flowName": "Pay"}, as_json), (b"text", said)):
        kind = type(given).__name__
        with pytest.raises(CallerError, match=f"gave {kind}, not text; {hint}"):
            asked(lambda system, user, given=given: given, PLAIN)


def test_what_cannot_be_asked_is_refused_at_once() -> None:
    """No function, or one with fewer than two places."""
    with pytest.raises(CallerError, match="a function or a provider, not str") as caught:
        provider_of("gpt")  # pyright: ignore[reportArgumentType]
    assert HINT in caught.value.hint
    with pytest.raises(CallerError, match="takes 1 arguments by position"):
        Callback(lambda system: system)
    with pytest.raises(CallerError, match="needs 5 arguments by position"):
        Callback(lambda a, b, c, d, e: "")


def test_a_provider_stays_what_it_is() -> None:
    """It is not wrapped."""
    model = ScriptedModel([])
    assert isinstance(model, Provider)
    assert provider_of(model) is model


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"tools": [{"name": "now"}]}, "cannot be given tools"),
        (
            {"messages": [user_message("a"), user_message("b")]},
            "cannot be told what was said before",
        ),
    ],
)
def test_two_texts_are_no_conversation(more: dict[str, Any], told: str) -> None:
    """Nothing is left out in silence: a provider that takes all of it is asked for."""
    ask = Ask("chat", **{"messages": [user_message("a")], **more})
    with pytest.raises(CallerError, match=told) as caught:
        asked(lambda system, user: "x", ask)
    assert "async def ask(self, ask: saywhy.Ask)" in caught.value.hint
    assert asked(lambda system, user: system + user, Ask("chat", messages=ask.messages[:1])) == "a"
