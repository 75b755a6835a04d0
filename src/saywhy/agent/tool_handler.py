"""Handlers that ask for a pydantic model instead of a mapping of arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from saywhy.tools.schema import path_text, refusal


def with_model(handler: Callable[..., Any]) -> Callable[..., Any]:
    """`handler`, given the model that its first parameter is annotated with; else as it is.

    Arguments that the model does not take raise `ValueError`, naming each and why.
    """
    model = _model_of(handler)
    if model is None:
        return handler
    if inspect.iscoroutinefunction(handler):

        @wraps(handler)
        async def later(arguments: Mapping[str, Any], **context: Any) -> Any:
            return await handler(_made(model, arguments), **context)

        return later

    @wraps(handler)
    def call(arguments: Mapping[str, Any], **context: Any) -> Any:
        return handler(_made(model, arguments), **context)

    return call


def _model_of(handler: Callable[..., Any]) -> Any:
    """The pydantic model that the first parameter is annotated with, or None."""
    try:
        parameters = list(inspect.signature(handler, eval_str=True).parameters.values())
    except (TypeError, ValueError, NameError):  # silent, or speaks of what only type checkers know
        return None
    if not parameters:
        return None
    annotation = parameters[0].annotation
    is_model = isinstance(annotation, type) and hasattr(annotation, "model_validate")
    return annotation if is_model else None


def _made(model: Any, arguments: Mapping[str, Any]) -> Any:
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        found = [f"{path_text(item['loc'])} {item['msg']}" for item in error.errors()]
        raise ValueError(refusal(found)) from None
