"""Which agent is meant: an agent, a call of a model, any other runner, or what makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from saywhy.cli.blame import place_of, said
from saywhy.cli.given import load_named
from saywhy.errors import CallerError, SaywhyError

if TYPE_CHECKING:
    from saywhy.runtime.agents.runner import Runner

USAGE: Final = "saywhy agent takes FILE.py:NAME or MODULE:NAME"
USUAL: Final = "agent"
"""What is meant where a file is named alone."""
MAKES: Final = "agent = Agent(model, …), an Agent.create(…), or a function that gives one of them"


async def found_runner(spec: str, model: Any = None) -> Runner[Any]:
    """The runner behind `FILE.py:NAME`, with `model` in place of its own unless that is None.

    Raises `CallerError` for what cannot be talked to, and `DefinitionError` for an agent that is
    wrong.
    """
    spec = f"{spec}:{USUAL}" if spec.endswith(".py") else spec
    found: Any = load_named(spec, "", "agent", f"{USAGE}, like shop.py:agent")
    if not (_is_builder(found) or _is_runner(found)) and callable(found):
        make: Any = found
        found, model = await _called(spec, make, model)
    if _is_builder(found):
        found = (found if model is None else found.asking(model)).build()
        model = None
    if not _is_runner(found):
        kind = type(found).__name__
        raise CallerError(f"{spec} is {kind}, which cannot be talked to", hint=MAKES)
    return _asking(spec, found, model)


def _is_runner(found: object) -> bool:
    from saywhy.runtime.agents.runner import Runner

    return isinstance(found, Runner)


def _is_builder(found: object) -> bool:
    from saywhy.runtime.agents.fluent import Steps

    return isinstance(found, Steps)


def _asking(spec: str, runner: Runner[Any], model: Any) -> Runner[Any]:
    if model is None and not hasattr(runner, "definition"):
        return runner  # made of others, which are asked as they were made
    try:
        return runner.asking(model, streaming=True)
    except CallerError as error:
        raise CallerError(f"{spec}: {error}", hint=error.hint) from None


async def _called(spec: str, make: Callable[..., Any], model: Any) -> tuple[Any, Any]:
    """What a function gives, and the model if it did not take it. It may be `async`."""
    takes = _takes(spec, make, model, "--model openai:NAME, or --script FILE")
    try:
        made = make(model=model) if takes else make()
        if inspect.isawaitable(made):
            made = await made
    except SaywhyError:
        raise
    except Exception as error:
        raise CallerError(f"{spec} failed: {said(error)}", place=place_of(error)) from error
    return made, None if takes else model


def made_by(spec: str, make: Callable[..., Any], model: Any = None) -> Any:
    """What a plain function gives, called with `model` where it takes one. Raises `CallerError`."""
    if inspect.iscoroutinefunction(make):
        raise CallerError(f"{spec} is an async function", hint="name a plain one, or an Agent")
    takes = _takes(spec, make, model, "--model where that is an option, or an Agent that has one")
    try:
        return make(model=model) if takes else make()
    except SaywhyError:
        raise
    except Exception as error:
        raise CallerError(f"{spec} failed: {said(error)}", place=place_of(error)) from error


def _takes(spec: str, make: Callable[..., Any], model: Any, hint: str) -> bool:
    """Whether it is called with the model. Raises where it cannot be called without one."""
    needs, takes = _model_wanted(spec, make)
    if needs and model is None:
        raise CallerError(f"{spec} needs a model", hint=hint)
    return takes and model is not None


def _model_wanted(spec: str, make: Callable[..., Any]) -> tuple[bool, bool]:
    """Whether it needs a model, and whether it takes one. Raises where it needs anything else."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return False, False
    needed = [one.name for one in parameters if one.default is one.empty and _is_plain(one)]
    if needed and needed != ["model"]:
        hint = "give its parameters defaults; only `model` may be without one"
        raise CallerError(f"{spec} needs {', '.join(needed)}", hint=hint)
    return bool(needed), any(one.name == "model" for one in parameters)


def _is_plain(parameter: inspect.Parameter) -> bool:
    return parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
