"""A response mapping: compiled once, applied to one answer after the other.

Applying it does no I/O and reads no clock. It changes neither data nor arguments, and never raises
anything but `MappingError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from saywhy.errors import MappingError, StateValueError
from saywhy.expr.javascript import Placement
from saywhy.tools.mapping.kinds import At, step_of
from saywhy.tools.mapping.outline import outline
from saywhy.tools.mapping.run import Failed, Run, tree_of
from saywhy.values import Value, freeze, raw, seal

_NOTHING: Final[Mapping[str, Any]] = {}


class Mapped(NamedTuple):
    """What a mapping made of an answer, and what of it did not work out."""

    value: Value
    warnings: tuple[str, ...] = ()
    told: Mapping[str, Any] | None = None
    """For the record: the `fields` with where each comes from, the paths of `fallbacks` taken,
    what was `chosen` of lists: left out, or put in order."""


class ResponseMapping:
    """A compiled mapping. It holds nothing of any answer and may be shared by all."""

    __slots__ = ("_step", "config", "outline")

    def __init__(self, config: Any) -> None:
        self.config: Final = config
        self._step = step_of(config, At(""))
        self.outline: Final = outline(config)

    def apply(
        self,
        data: Value,
        args: Any = _NOTHING,
        *,
        now_ms: float = 0.0,
        functions: Mapping[str, Callable[..., Any]] = _NOTHING,
        names: Mapping[str, Value] = _NOTHING,
        engine: Placement | None = None,
    ) -> Mapped:
        """The mapped value, frozen. Raises `MappingError`.

        `args` is what `$args` names, `now_ms` the moment it is, `functions` what `custom` and
        expressions may call, `names` what expressions may read besides the data, such as `cargo`.
        """
        run = Run(raw(freeze(args)), now_ms=now_ms, functions=functions, names=names, engine=engine)
        try:
            value = seal(self._step(run, tree_of(freeze(data))))
        except StateValueError as error:
            raise MappingError(str(error)) from None
        except Failed as error:
            raise MappingError(str(error)) from None
        told: dict[str, Any] = {"fields": self.outline} if self.outline else {}
        if run.fallbacks:
            told["fallbacks"] = list(run.fallbacks)
        if run.chosen:
            told["chosen"] = list(run.chosen)
        return Mapped(value, tuple(run.warnings), told)


def compile_mapping(config: Any) -> ResponseMapping:
    """The mapping `config`, ready to be applied. Raises `MappingError` for one nested too deeply.

    Whatever else is wrong with it is found by `saywhy check`; here it does the least harm.
    """
    return ResponseMapping(config)


def map_response(
    config: Any,
    data: Value,
    args: Any = _NOTHING,
    *,
    now_ms: float = 0.0,
    functions: Mapping[str, Callable[..., Any]] = _NOTHING,
) -> Value:
    """`data` mapped by `config`, for a mapping that is used once. Raises `MappingError`."""
    return compile_mapping(config).apply(data, args, now_ms=now_ms, functions=functions).value
