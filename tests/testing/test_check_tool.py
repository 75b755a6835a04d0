"""Promise: a tool that breaks a promise is caught, whichever it is; one that keeps all passes."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from saywhy import CallerError, tool
from saywhy.testing import StubClient, StubServer, check_tool
from saywhy.tools.tool import tool_from_definition

SHAPE = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


def caught(given: Any, **options: Any) -> str:
    """What `check_tool` says of it."""
    arguments: dict[str, Any] = {"good": [{"amount": 80}], **options}
    with pytest.raises(AssertionError) as error:
        asyncio.run(check_tool(given, **arguments))
    return str(error.value)


class Till:
    """Charges, recognised by their key unless it is forgetful."""

    def __init__(self, *, forgetful: bool = False) -> None:
        self.charges: dict[str, float] = {}
        self.forgetful = forgetful

    def tool(self, **keys: Any) -> Any:
        @tool(effect="repeatable", returns=SHAPE, timeout_ms=200, **keys)
        async def charge(amount: float, context: Any) -> dict[str, Any]:
            if amount > 1000:
                await asyncio.sleep(30)
            if amount > 500:
                raise ValueError("too much")
            key = f"{context.key}/{len(self.charges)}" if self.forgetful else context.key
            self.charges[key] = amount
            return {"id": 7}

        return charge


def test_a_tool_that_keeps_its_promises() -> None:
    """Every promise is tried, and the tool is really called."""
    till = Till()
    asyncio.run(
        check_tool(
            till.tool(),
            good=[{"amount": 80}, {"amount": 3.5}],
            bad=[{"amount": None, "to": "x"}],
            failing=[{"amount": 501}],
            slow={"amount": 2000},
            probe=lambda: len(till.charges),
        )
    )
    assert len(till.charges) == 2 + 2 + 2  # taken, compared with `returns`, called twice by key


def test_a_tool_that_acts_twice_for_one_key() -> None:
    """What counts is what the probe sees."""
    till = Till(forgetful=True)
    assert caught(till.tool(), probe=lambda: len(till.charges)) == (
        "acts_once_for_a_key: What is `repeatable` acts once for one key, however often it is "
        "called with it.\n    the probe saw 3 after the first call, 4 after the second one with "
        "the same key"
    )


def test_a_probe_that_sees_nothing() -> None:
    """It would find no double charge either."""
    text = caught(Till().tool(), probe=lambda: 0)
    assert text.endswith("the probe saw 0 before and after: it shows no effect")


def test_what_says_it_reads() -> None:
    """It answers the same twice, and the probe sees nothing."""
    seen: list[float] = []

    @tool(effect="reads")
    def look(amount: float) -> int:
        """Looks."""
        seen.append(amount)
        return len(seen)

    @tool(effect="reads")
    def sneak(amount: float) -> str:
        """Looks, and leaves a trace."""
        seen.append(amount)
        return "ok"

    assert caught(look).endswith("with {'amount': 80} it answered 2, then 3")
    assert "the probe saw 3 before, and 5 after" in caught(sneak, probe=lambda: len(seen) - 1)


def test_a_schema_that_takes_anything() -> None:
    """What is wrong is worked out from the schema, and handed in."""

    def pay(arguments: dict[str, Any]) -> str:
        return "paid"

    definition: dict[str, Any] = {
        "id": "pay",
        "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
        "implementation": {"type": "local", "function": "pay"},
    }
    functions = {"pay": pay}
    asyncio.run(check_tool(definition, good=[{"amount": 80}], functions=functions))
    text = caught(definition, bad=[{"amount": -1}], functions=functions)
    assert text == (
        "refuses_what_it_should: Wrong arguments are refused by the schema, before anything is "
        "done.\n    its schema takes {'amount': -1}"
    )


def test_an_answer_of_another_shape() -> None:
    """`returns` is a promise."""

    @tool(returns=SHAPE)
    def pay(amount: float) -> dict[str, str]:
        """Pays."""
        return {"id": "seven"}

    assert caught(pay).endswith(
        "with {'amount': 80}: The answer of tool pay does not match its `returns`: "
        "id must be a whole number, not text"
    )


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({1, 2}, "with {'amount': 80} it failed: Tool pay gave no usable answer: "),
        (float("nan"), "the answer is "),
        ({"a": [float("inf")]}, "the answer.a[0] is "),
    ],
)
def test_an_answer_that_json_cannot_hold(answer: Any, text: str) -> None:
    """A set, bytes, what is not a number: none of them survives being stored."""

    def pay(amount: float) -> Any:
        return answer

    assert text in caught(pay)


def test_an_error_that_looks_like_success() -> None:
    """`success: false` is an answer, so a flow would go on with it."""

    def pay(amount: float) -> dict[str, bool]:
        return {"success": amount < 500}

    assert caught(pay, failing=[{"amount": 501}]).endswith(
        "with {'amount': 501} it answered {'success': False}"
    )
    text = caught(pay, failing=[{"amount": "x"}])
    assert "it was not even called: Tool argument validation failed" in text


def test_good_arguments_that_are_not_taken() -> None:
    """The error of the tool is told."""

    def pay(amount: float) -> None:
        raise RuntimeError("no connection")

    assert caught(pay) == (
        "takes_what_it_should: Good arguments are taken, and the answer is data that JSON can "
        "hold.\n    with {'amount': 80} it failed: no connection"
    )


def test_a_time_limit_that_nothing_keeps() -> None:
    """A function that runs on the event loop cannot be ended, so it ends late."""

    @tool(timeout_ms=50, implementation={"type": "local", "function": "pay", "timeout": 50,
                                         "thread": False})  # fmt: skip
    def pay(amount: float) -> str:
        """Pays, in its own time."""
        if amount > 100:
            time.sleep(0.2)
        return "paid"

    assert caught(pay, slow={"amount": 101}).endswith(
        "a time-out after 0.05 s was expected, and there came: the answer 'paid'"
    )


def test_an_http_tool_with_a_server_behind_it() -> None:
    """Any kind of tool can be checked, an entry of a registry as well."""
    made = tool_from_definition(
        {
            "id": "fee",
            "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
            "implementation": {
                "type": "http",
                "url": "https://api.example.com/fee",
                "method": "GET",
                "timeout": 200,
            },
        }
    )
    with StubServer() as server:
        server.on("GET", "/fee", query="amount=80", body={"fee": 8})
        server.on("GET", "/fee", query="amount=-1", status=422, body={"error": "negative"})
        server.on("GET", "/fee", query="amount=0", delay_ms=2_000)
        asyncio.run(_checked(made, server))


async def _checked(made: Any, server: StubServer) -> None:
    http = StubClient(server.base)
    try:
        await check_tool(
            made, good=[{"amount": 80}], failing=[{"amount": -1}], slow={"amount": 0}, http=http
        )
    finally:
        await http.close()


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (len, {}, "a tool is a function or a definition, not builtin_function_or_method"),
        (Till().tool(), {"good": []}, "check_tool needs good arguments"),
        (
            Till().tool(),
            {},
            "charge says it is repeatable; without a probe nobody sees how often it acted",
        ),
    ],
)
def test_what_cannot_be_checked(given: Any, options: dict[str, Any], message: str) -> None:
    """A check that could not fail is refused."""
    arguments: dict[str, Any] = {"good": [{"amount": 80}], **options}
    with pytest.raises(CallerError) as error:
        asyncio.run(check_tool(given, **arguments))
    assert error.value.message == message
