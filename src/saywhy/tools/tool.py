"""What a tool is: a name, what it takes, how it is carried out and what a repeat would do.

A tool is a value without behaviour. `call` carries calls out, each kind of implementation in its
own file; `check` says what is wrong with a definition; `signature` reads Python functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.errors import DefinitionError, Place
from saywhy.tools.approval import Approval, approval_of
from saywhy.tools.breaker import BreakerRule, breaker_of
from saywhy.tools.cache import CacheRule, cache_of
from saywhy.tools.check import problems_of
from saywhy.tools.effect import Effect, effect_of
from saywhy.tools.function_tool import tool_of
from saywhy.tools.known import Spot, spots_of
from saywhy.tools.schema import SchemaCheck, Style, compile_schema, normalise
from saywhy.tools.security import OPEN, Security, security_of
from saywhy.tools.signature import KeywordFunction
from saywhy.values import freeze, thaw

__all__ = [
    "Approval",
    "Effect",
    "Implementation",
    "RateLimit",
    "Reconcile",
    "Tool",
    "tool_from_definition",
    "tool_from_function",
]

TIMEOUT_MS: Final[dict[str, float]] = {"local": 5_000, "http": 20_000, "mcp": 20_000}
RECONCILE_MS: Final = 5_000.0
"""How long a `reconcile` function may take unless the tool says otherwise."""
SHOWN_SCHEMA: Final = "inputSchema"
"""Key of a definition for the schema a model is shown, where calls are not checked against it."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `requests` calls of one tool by one user within any `window_ms`."""

    requests: int
    window_ms: float


@dataclass(frozen=True, slots=True)
class Implementation:
    """How a tool is carried out. `raw` holds what only this kind of tool knows."""

    type: str
    raw: Mapping[str, Any]
    function: str = ""
    timeout_ms: float = 5_000
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Reconcile:
    """The approved function that knows what became of a call which was cut off."""

    function: str
    timeout_ms: float = RECONCILE_MS


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tool:
    """Something a flow or a model may call.

    `effect` says what a repeat would do: `reads` changes nothing, `repeatable` is recognised by
    its key, `once` must not happen twice. `positional_order` is empty for the object style.
    """

    id: str
    name: str
    description: str
    schema: dict[str, Any]
    style: Style
    positional_order: tuple[str, ...]
    implementation: Implementation
    effect: Effect
    checker: SchemaCheck = field(repr=False)
    rate_limit: RateLimit | None = None
    returns: Mapping[str, Any] | None = None
    approval: Approval | None = None
    reconcile: Reconcile | None = None
    security: Security = OPEN
    cache: CacheRule | None = None
    breaker: BreakerRule | None = None
    known: tuple[Spot, ...] = ()
    """Where among the arguments only what was given before will do."""
    function: Callable[..., Any] | None = field(default=None, repr=False)
    """The function itself, where the tool was made of one; else it is looked up by name."""
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    place: Place = field(default_factory=Place)

    @property
    def properties(self) -> Mapping[str, Any]:
        """Parameter name → its schema."""
        return self.schema.get("properties") or {}

    @property
    def shown_schema(self) -> Mapping[str, Any]:
        """The schema of its arguments as a model is shown it: calls may be checked by less."""
        shown = self.raw.get(SHOWN_SCHEMA)
        return shown if isinstance(shown, Mapping) else self.schema

    def changed(self, raw: Mapping[str, Any], /) -> Tool:
        """The tool under another definition. Raises `DefinitionError`."""
        return tool_from_definition(raw, self.place, self.function)

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that must be given."""
        return tuple(self.schema.get("required") or ())


def tool_from_definition(
    raw: Mapping[str, Any],
    place: Place | None = None,
    function: Callable[..., Any] | None = None,
) -> Tool:
    """The tool an author defined; raises `DefinitionError` with everything that is wrong.

    Unknown keys are kept in `raw`. A kind of tool that cannot be called in this version is still a
    tool, so that flows naming it can be loaded and checked.
    """
    place = place or Place()
    errors = [problem for problem in problems_of(raw, place) if problem.severity == "error"]
    if errors:
        raise DefinitionError(errors)
    definition: dict[str, Any] = thaw(freeze(raw))
    schema, style, order = normalise(definition)
    identity = definition.get("id") or definition["name"]
    return Tool(
        id=identity,
        name=definition.get("name") or identity,
        description=definition.get("description") or "",
        schema=schema,
        style=style,
        positional_order=order,
        implementation=_implementation(definition["implementation"]),
        effect=effect_of(definition),
        checker=_checker(schema, style),
        rate_limit=_rate_limit(definition),
        returns=definition.get("returns"),
        approval=approval_of(definition),
        reconcile=_reconcile(definition.get("reconcile")),
        security=security_of(definition),
        cache=cache_of(definition),
        breaker=breaker_of(definition),
        known=spots_of(schema),
        function=function,
        raw=definition,
        place=place,
    )


def _checker(schema: dict[str, Any], style: Style) -> SchemaCheck:
    """The compiled schema. Flat parameters were never checked; theirs may be no schema at all."""
    try:
        return compile_schema(schema)
    except ValueError:
        if style == "object":
            raise
        return compile_schema({"type": "object"})


def _implementation(raw: Mapping[str, Any]) -> Implementation:
    kind = raw["type"]
    return Implementation(
        type=kind,
        raw=raw,
        function=raw.get("function") or "",
        timeout_ms=raw.get("timeout") or TIMEOUT_MS.get(kind, TIMEOUT_MS["local"]),
        retries=int(raw.get("retries") or 0),
    )


def _reconcile(given: Any) -> Reconcile | None:
    if isinstance(given, Mapping):
        return Reconcile(given["function"], given.get("timeout") or RECONCILE_MS)
    return Reconcile(given) if given else None


def _rate_limit(definition: Mapping[str, Any]) -> RateLimit | None:
    limit = (definition.get("security") or {}).get("rateLimit")
    return RateLimit(int(limit["requests"]), limit["window"]) if limit else None


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, Any] | None = None,
    effect: Effect = "once",
    timeout_ms: float = TIMEOUT_MS["local"],
    retries: int = 0,
    rate_limit: RateLimit | None = None,
    returns: Mapping[str, Any] | None = None,
    approval: bool | Mapping[str, Any] = False,
    reconcile: str | Mapping[str, Any] | None = None,
) -> tuple[Tool, KeywordFunction]:
    """A tool made of a Python function, and what to register under the tool's id to run it.

    Names, types and defaults come from the signature, the description from the first line of the
    docstring. Arguments arrive converted to the annotated types. A parameter called `context` is
    ours: it gets the `CallContext`. With `schema` given, the signature is not read and the
    function gets the arguments by name as they are.
    """
    if rate_limit:
        limit = {"requests": rate_limit.requests, "window": rate_limit.window_ms}
        keys: dict[str, Any] = {"security": {"rateLimit": limit}}
    else:
        keys = {}
    optional = {"returns": returns, "approval": approval or None, "reconcile": reconcile}
    keys |= {key: given for key, given in optional.items() if given is not None}
    made = tool_of(
        function,
        name=name,
        description=description,
        schema=schema,
        effect=effect,
        timeout_ms=timeout_ms,
        retries=retries,
        **keys,
    )
    made.raw["implementation"]["function"] = made.raw["id"]
    return tool_from_definition(made.raw), made.function
