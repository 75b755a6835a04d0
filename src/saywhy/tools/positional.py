"""Do values given one after the other fit the annotations of a function?

For functions that expressions call. A function without annotations takes whatever it is given.
How tools check named arguments is `arguments`; carrying a call out is for others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from saywhy.tools.arguments import json_view, plain
from saywhy.tools.schema import SchemaCheck, compile_schema, describe
from saywhy.tools.signature import model_of, schema_of
from saywhy.values import UNDEFINED

_BY_POSITION: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class Positional:
    """The parameters of a function, ready to judge the arguments of a call."""

    __slots__ = ("_check", "_least", "_named", "_rest")

    def __init__(self, named: Sequence[inspect.Parameter], rest: str, check: SchemaCheck) -> None:
        self._named = tuple(named)
        self._rest = rest
        """Name of `*values`; empty where there is none."""
        self._check = check
        self._least = sum(parameter.default is parameter.empty for parameter in named)

    def fitted(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as the function gets them: what is undefined counts as not given.

        At the end it is left out; before others it becomes the default, else None.
        """
        given = list(args)
        while given and given[-1] is UNDEFINED:
            given.pop()
        for number, value in enumerate(given):
            if value is UNDEFINED:
                given[number] = self._default(number)
        return given

    def _default(self, number: int) -> Any:
        if number >= len(self._named):
            return None
        default = self._named[number].default
        return None if default is inspect.Parameter.empty else default

    def fault_in(self, args: Sequence[Any]) -> str:
        """What does not fit, told without any value; empty when all does."""
        if len(args) < self._least:
            return f"{self._named[len(args)].name} is missing"
        if len(args) > len(self._named) and not self._rest:
            most = len(self._named)
            return f"it takes {most} argument{'s' * (most != 1)}, not {len(args)}"
        named = {
            parameter.name: plain(value)
            for parameter, value in zip(self._named, args, strict=False)
            if value is not parameter.default
        }
        if self._rest:
            named[self._rest] = [plain(value) for value in args[len(self._named) :]]
        return "; ".join(self._errors(named))

    def _errors(self, named: dict[str, Any]) -> list[str]:
        try:
            if self._check.is_valid(named):
                return []
            errors = list(self._check.iter_errors(named))
        except ValueError:  # something in it is no JSON: a date, a lone surrogate, NaN
            errors = list(self._check.iter_errors(json_view(named)))
        return [describe(error) for error in errors]


def positional_of(function: Callable[..., Any]) -> Positional | None:
    """What the annotations of `function` ask for; None where it has none that say anything.

    Made once for each function: that costs a thousand times what looking at arguments does.
    """
    try:
        return _remembered(function)
    except TypeError:  # not hashable
        return _read(function)


def _read(function: Callable[..., Any]) -> Positional | None:
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except Exception:  # written in C, or an annotation names what is not there at run time
        return None
    named = [parameter for parameter in parameters.values() if parameter.kind in _BY_POSITION]
    rest = [each for each in parameters.values() if each.kind is each.VAR_POSITIONAL]
    if all(each.annotation is each.empty for each in (*named, *rest)):
        return None
    schema = _schema(function, named, rest)
    return Positional(named, rest[0].name if rest else "", compile_schema(schema))


_remembered = lru_cache(maxsize=512)(_read)


def _schema(
    function: Callable[..., Any], named: list[inspect.Parameter], rest: list[inspect.Parameter]
) -> Mapping[str, Any]:
    fields = [_optional(each.name, _annotation_of(each)) for each in named]
    fields += [_optional(each.name, list[_annotation_of(each)]) for each in rest]
    return schema_of(model_of(function, fields))


def _optional(name: str, annotation: Any) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=None, annotation=annotation)


def _annotation_of(parameter: inspect.Parameter) -> Any:
    """The annotation, or Any where none is given or none that JSON can be compared with."""
    from pydantic import TypeAdapter

    if parameter.annotation is parameter.empty:
        return Any
    try:
        TypeAdapter(parameter.annotation).json_schema()
    except Exception:  # a class of the host's own; pydantic has many ways to say so
        return Any
    return parameter.annotation
