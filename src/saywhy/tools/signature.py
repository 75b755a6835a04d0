"""What a Python function says about itself: its parameters as a schema, its summary, its context.

`KeywordFunction` adapts a function with named parameters to the way object-style tools are called:
with one object. Carrying the call out, its thread and its time limit are `local`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from saywhy.errors import CallerError
from saywhy.marks import CONTEXT, is_quick, quick
from saywhy.tools.schema import path_text, refusal


def describe_function(function: Callable[..., Any]) -> tuple[str, str]:
    """Name of a function and the first line of its docstring."""
    name = getattr(function, "__name__", None) or type(function).__name__
    return name, (inspect.getdoc(function) or "").partition("\n")[0].strip()


class KeywordFunction:
    """A function with named parameters, callable with one object of arguments.

    With `convert`, arguments are turned into the annotated types (a date, an enum, a model of the
    host's own); what cannot be turned raises `ValueError` saying which argument and why.
    """

    def __init__(self, function: Callable[..., Any], *, convert: bool = True) -> None:
        self.function = function
        self.is_async = is_async(function)
        if is_quick(function):
            quick(self)
        parameters = inspect.signature(function, eval_str=True).parameters
        self.takes_context = CONTEXT in parameters
        fields = [p for name, p in parameters.items() if name != CONTEXT]
        self._model = model_of(function, fields) if convert else None
        self._names = {f"p{number}": field.name for number, field in enumerate(fields)}

    def schema(self) -> dict[str, Any]:
        """The parameters as a JSON schema of type object."""
        if self._model is None:
            raise CallerError("the schema of this function was given, not read from its signature")
        return schema_of(self._model)

    def __call__(self, arguments: Mapping[str, Any], *, context: Any = None) -> Any:
        named = self._converted(arguments) if self._model is not None else dict(arguments)
        if self.takes_context:
            named[CONTEXT] = context
        return self.function(**named)

    def _converted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        from pydantic import ValidationError

        assert self._model is not None
        try:
            made = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ValueError(_refusal_of(error)) from None
        names = self._names
        return {names[key]: value for key, value in made if key in made.model_fields_set}


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling `function` gives something to await."""
    if isinstance(function, KeywordFunction):
        return function.is_async
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - asked of its type, not whether it is callable
    )


def model_of(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> Any:
    """A pydantic model with one field for each of the parameters."""
    from pydantic import ConfigDict, Field, create_model

    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise CallerError(
                f"{describe_function(function)[0]} takes `{parameter}`, which a schema cannot name",
                hint="name each parameter, or hand in `schema`",
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise CallerError(
                f"{describe_function(function)[0]} takes `{parameter.name}` by position only",
                hint="remove the `/` from the signature: tools are called by name",
            )
        annotation = Any if parameter.annotation is parameter.empty else parameter.annotation
        default = ... if parameter.default is parameter.empty else parameter.default
        # Numbered fields with the name as alias: a parameter may be called `copy` or `_id`.
        fields[f"p{number}"] = (annotation, Field(default, alias=parameter.name))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(describe_function(function)[0], __config__=config, **fields)


def schema_of(model: Any) -> dict[str, Any]:
    """The JSON schema of such a model, in the names that the parameters have."""
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        """Without the titles made up from field names: ours are numbers."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    schema: dict[str, Any] = model.model_json_schema(by_alias=True, schema_generator=Untitled)
    schema.pop("title", None)
    return schema


def _refusal_of(error: Any) -> str:
    return refusal(f"{path_text(item['loc'])} {item['msg']}" for item in error.errors())
