"""A Python function as a tool: what it takes is read from its signature, what it is from its docs.

The definition is data like any other, so wrappers and `check` work on it; the function comes along.
Calling it is `local`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from typing import Any, Final, overload

from saywhy.errors import CallerError
from saywhy.tools.effect import Effect
from saywhy.tools.keywords import refuse_unknown
from saywhy.tools.signature import KeywordFunction, describe_function

TIMEOUT_MS: Final = 5_000.0
OWN: Final = ("name", "description", "schema", "effect", "timeout_ms", "retries")
"""What `tool` takes besides the further keys of a definition."""


class FunctionTool:
    """A function with the definition of a tool. Calling it calls the function, as ever."""

    def __init__(self, raw: Mapping[str, Any], function: KeywordFunction) -> None:
        self.raw = raw
        self.function = function
        update_wrapper(self, function.function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.raw['id']}>"

    def changed(self, raw: Mapping[str, Any], /) -> FunctionTool:
        """The same function under another definition."""
        return FunctionTool(raw, self.function)


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, Any] | None = None,
    effect: Effect = "once",
    timeout_ms: float = TIMEOUT_MS,
    retries: int = 0,
    **keys: Any,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, Any] | None = None,
    effect: Effect = "once",
    timeout_ms: float = TIMEOUT_MS,
    retries: int = 0,
    **keys: Any,
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Makes a tool of a function: `@tool`, or `@tool(effect="reads")`.

    Name, parameters with their types and defaults, and the first line of the docstring make up the
    definition. Arguments arrive converted to the annotated types; a parameter called `context` gets
    the `CallContext`. With a `schema` the signature is not read, and arguments arrive by name as
    they are. `keys` are further keys of a tool definition: `approval`, `returns`, `cache`,
    `security` and whatever else a tool file may hold.
    """
    made = partial(
        tool_of,
        name=name,
        description=description,
        schema=schema,
        effect=effect,
        timeout_ms=timeout_ms,
        retries=retries,
        **keys,
    )
    return made if function is None else made(function)


def tool_of(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, Any] | None = None,
    effect: Effect = "once",
    timeout_ms: float = TIMEOUT_MS,
    retries: int = 0,
    **keys: Any,
) -> FunctionTool:
    """The tool that `tool` makes of a function."""
    if not callable(function):
        raise CallerError(
            f"a tool is made of a function, not of {type(function).__name__}",
            hint='@tool(name="charge") names it',
        )
    keyword = KeywordFunction(function, convert=schema is None)
    title, summary = describe_function(function)
    identity = name or title
    refuse_unknown(keys, identity, OWN)
    definition: dict[str, Any] = {
        "id": identity,
        "name": identity,
        "description": summary if description is None else description,
        "parameters": schema if schema is not None else keyword.schema(),
        "effect": effect,
        "implementation": {
            "type": "local",
            "function": title,
            "timeout": timeout_ms,
            "retries": retries,
        },
    }
    return FunctionTool(definition | keys, keyword)
