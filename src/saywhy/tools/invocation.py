"""What every kind of tool is handed, and what it gives back.

A kind of tool is one function from an `Invocation` to an `Outcome`; `call` chooses it. It calls
`record` right before each attempt, never for a call it refuses.
"""

from __future__ import annotations

from asyncio import CancelledError, Task, current_task
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.chart.failure import failure_text
from saywhy.clock import Clock, SystemClock
from saywhy.tools.http.client import HttpClient
from saywhy.tools.tool import Tool

FUNCTION_ERRORS: Final = (Exception, CancelledError, SystemExit)
"""What a function of the host's may raise and has only failed by: it can neither end the program
nor pass for somebody who cancels the turn."""

PLAIN_ERRORS: Final = (*FUNCTION_ERRORS, GeneratorExit)
"""Likewise for one that is called and not awaited: nobody can be closing it."""


def is_running(task: Task[Any] | None) -> bool:
    """Whether a coroutine is going on in its task, instead of being closed from outside."""
    with suppress(RuntimeError):  # no loop runs any more
        return task is not None and current_task() is task
    return False


class CallContext(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, and under which key: what a function learns through its `context` parameter.

    All attempts of one step share `key`; hand it on to whatever can recognise a repeat.
    """

    session_id: str = ""
    user_id: str = ""
    authenticated: bool = False
    """Whether the host says that the user has signed in. spec: flow-engine 6.1"""
    transaction_id: str | None = None
    key: str = ""
    tool: str = ""
    attempt: int = 1
    clock: Clock | None = None
    signal: Any = None
    """The `CancelToken` of the run that calls, where it has one: for what takes long."""
    moment: float | None = None
    """The time an expression is evaluated for; a tool is called at the time of its clock."""

    def now(self) -> float:
        """Milliseconds since 1970 at which the call is made, as the engine's clock has it."""
        if self.moment is not None:
            return self.moment
        return (self.clock or SystemClock()).now()


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """One checked call. `arguments` is a plain copy that the function may change."""

    tool: Tool
    arguments: dict[str, Any]
    context: CallContext
    functions: Mapping[str, Callable[..., Any]]
    clock: Clock
    record: Callable[[], int]
    """Notes an attempt and gives its number, from 1."""
    http: HttpClient | None = None
    filled: Mapping[str, str] | None = None
    """What a flow put in for the expressions of the definition, by JSON pointer."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How it went. With `fault` set there is no value.

    `may_have_happened`: nobody knows whether the effect took place. An error the tool itself
    reported is an answer and leaves no such doubt.
    """

    value: Any = None
    is_data: bool = False
    """Whether the value was read from JSON or XML, so that a response mapping applies to it."""
    fault: str | None = None
    fault_name: str = "Error"
    fault_code: str = ""
    """What the exception had as its `code`."""
    hint: str = ""
    at: str = ""
    refused: bool = False
    may_have_happened: bool = False
    http_status: int | None = None
    arguments: dict[str, Any] | None = None
    """The arguments afterwards, where the tool may have changed them."""


def code_of(error: BaseException) -> str:
    """The `code` of an error that has one, as text: `ENOENT`, `404`, `card_declined`."""
    code = getattr(error, "code", None)
    plain = isinstance(code, str | int) and not isinstance(code, bool)
    return str(code) if plain else ""


DOUBT: Final = "the request was sent; its effect may have happened"
"""The hint where nobody knows what became of a call that went out."""


def refused(message: str, hint: str) -> Outcome:
    """Nothing was sent."""
    return Outcome(fault=message, hint=hint, refused=True)


Kind: TypeAlias = Callable[[Invocation], Awaitable[Outcome]]


def fault_of(error: BaseException) -> tuple[str, str]:
    """Message and name of an error for a conversation: never empty, a `KeyError` readable."""
    # Asked of the class: some errors of Python itself carry the name of something else.
    name = getattr(type(error), "name", None)
    name = name if isinstance(name, str) and name else type(error).__name__
    message = failure_text(error).strip()
    if isinstance(error, KeyError):
        message = f"KeyError: {message}"
    return message or type(error).__name__, name
