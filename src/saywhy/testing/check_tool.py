"""A public attempt to catch a tool out, for whoever writes one.

It calls the tool for real, so hand in one that may be called: with a stub server behind it, a test
account, a temporary folder. What a tool does after a crash no call can show; see `prove`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from saywhy.errors import CallerError
from saywhy.testing.tool_promises import TOOL_CHECKS, Bench, Check, bare
from saywhy.tools.function_tool import FunctionTool, tool_of
from saywhy.tools.http.client import HttpClient
from saywhy.tools.tool import Tool, tool_from_definition


async def check_tool(
    tool: Tool | FunctionTool | Callable[..., Any] | Mapping[str, Any],
    *,
    good: Sequence[Mapping[str, Any]],
    bad: Sequence[Mapping[str, Any]] = (),
    failing: Sequence[Mapping[str, Any]] = (),
    slow: Mapping[str, Any] | None = None,
    probe: Callable[[], Any] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    http: HttpClient | None = None,
) -> None:
    """Raise `AssertionError` for the first promise that does not hold, naming it.

    `tool` is a function, a definition, or an entry of a registry. `good` arguments must be taken,
    `bad` ones refused by the schema, `failing` ones must end in an error; `slow` ones must take
    longer than the tool's time limit. `probe` looks at what the tool changes, such as the number of
    charges: the same before and after means that nothing was done. It may be `async`. A tool that
    says it is `repeatable` cannot be checked without.
    """
    made = _tool(tool)
    if not good:
        raise CallerError("check_tool needs good arguments", hint='good=[{"amount": 80}]')
    if made.effect == "repeatable" and probe is None:
        raise CallerError(
            f"{made.name} says it is repeatable; without a probe nobody sees how often it acted",
            hint="probe=lambda: len(charges)",
        )
    bench = Bench(
        bare(made),
        tuple(good),
        tuple(bad),
        tuple(failing),
        slow,
        probe,
        dict(functions or {}),
        http,
    )
    for check in TOOL_CHECKS:
        await check_promise(check, bench)


async def check_promise(check: Check, bench: Bench) -> None:
    """Try one promise."""
    try:
        await check(bench)
    except AssertionError as error:
        promise = (check.__doc__ or check.__name__).strip()
        raise AssertionError(f"{check.__name__}: {promise}\n    {error}") from error


def _tool(given: Tool | FunctionTool | Callable[..., Any] | Mapping[str, Any]) -> Tool:
    if isinstance(given, Tool):
        return given
    if isinstance(given, FunctionType):
        given = tool_of(given)
    if isinstance(given, FunctionTool):
        return tool_from_definition(given.raw, function=given.function)
    if isinstance(given, Mapping):
        return tool_from_definition(given)
    raise CallerError(f"a tool is a function or a definition, not {type(given).__name__}")
