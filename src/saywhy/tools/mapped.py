"""Where a tool's response mapping meets its answer.

Only data is mapped (JSON, XML read as data, what a mock holds); a text is handed on as it is. An
answer that does not fit stays as it is too, with a warning, unless the mapping is strict.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from saywhy.errors import MappingError
from saywhy.expr.javascript import Placement
from saywhy.tools.mapping import Mapped, ResponseMapping, compile_mapping
from saywhy.tools.tool import Tool
from saywhy.values import Value


def _no_names() -> Mapping[str, Value]:
    return {}


class Surroundings(NamedTuple):
    """What a mapping may use of the conversation around the call."""

    names: Callable[[], Mapping[str, Value]] = _no_names
    """Gives what expressions may read besides the answer, such as `cargo`."""
    engine: Placement | None = None
    """Where expressions are evaluated; None: here."""
    apart: Callable[[Callable[[], Any]], Awaitable[Any]] | None = None
    """Runs what may wait for another process; None: here."""


ALONE: Final = Surroundings()

_compiled: WeakKeyDictionary[Tool, ResponseMapping] = WeakKeyDictionary()
"""Mappings as they were compiled when the first answer of their tool came."""


async def map_answer(
    tool: Tool,
    value: Value,
    args: Any,
    *,
    functions: Mapping[str, Callable[..., Any]],
    now_ms: float,
    surroundings: Surroundings = ALONE,
) -> Mapped:
    """What the flow gets of an answer. Raises `MappingError` where the mapping is strict."""
    config = tool.implementation.raw.get("responseMapping")
    if config is None:
        return Mapped(value)
    try:
        mapping = _mapping_of(tool, config)
        apply = partial(
            mapping.apply,
            value,
            args,
            now_ms=now_ms,
            functions=functions,
            names=surroundings.names(),
            engine=surroundings.engine,
        )
        return apply() if surroundings.apart is None else await surroundings.apart(apply)
    except MappingError as error:
        if error.is_strict or _is_strict(config):
            raise
        text = f"the answer stays as it is: {error.message}"
        return Mapped(value, (text,))


def _mapping_of(tool: Tool, config: Any) -> ResponseMapping:
    mapping = _compiled.get(tool)
    if mapping is None:
        mapping = _compiled[tool] = compile_mapping(config)
    return mapping


def _is_strict(config: Any) -> bool:
    return isinstance(config, Mapping) and config.get("strict") is True
