"""What a program would hand over, taken from the command line: functions, data, a model."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from saywhy.cli.blame import place_of, said
from saywhy.errors import (
    CallerError,
    DefinitionError,
    Place,
    Problem,
    SaywhyError,
    did_you_mean,
)
from saywhy.values import untagged

Functions = dict[str, Callable[..., Any]]
T = TypeVar("T")
MOST_NAMES: Final = 10
"""So many names of a module are told where one is not found."""


@dataclass(frozen=True, slots=True)
class Given:
    """None stands for what was not handed over."""

    functions: Functions | None = None
    globals: dict[str, Any] | None = None
    cargo: dict[str, Any] | None = None
    model: Any = None
    agents: Any = None

    @classmethod
    def of(
        cls,
        functions: str | None = None,
        globals: Path | None = None,
        cargo: Path | None = None,
        model: str | None = None,
        agents: str | None = None,
        *,
        asks: bool = True,
    ) -> Given:
        """What the options name. Without `asks` no agent is going to ask its model anything.

        Raises `CallerError` and `DefinitionError`.
        """
        asked = load_model(model) if model else None
        return cls(
            load_functions(functions) if functions else None,
            load_object(globals) if globals else None,
            load_object(cargo) if cargo else None,
            asked,
            load_agents(agents, asked, asks=asks) if agents else None,
        )

    @property
    def agent_names(self) -> tuple[str, ...] | None:
        """What the agents are called; None where none were handed over."""
        if self.agents is None:
            return None
        from saywhy.runtime.agents.hosting import agents_by_name

        return tuple(agents_by_name(self.agents))


def load_functions(spec: str) -> Functions:
    """The functions behind `MODULE:NAME`, searched in the current folder first.

    NAME is a dict from name to function, or a module, class or object whose public functions count;
    without NAME it is the module itself.
    """
    module_name, _, name = spec.partition(":")
    usage = "--functions takes MODULE:NAME"
    if module_name.endswith(".py"):  # the spelling of --model
        written = ".".join(Path(module_name).with_suffix("").parts) + (f":{name}" if name else "")
        hint = f"{usage}, with dots and no .py: {written}"
        raise CallerError(f"--functions {spec}: {module_name} is a file, not a module", hint=hint)
    found = _named(_import(module_name, usage), module_name, name, usage)
    if isinstance(found, list | tuple | set | str):
        what = f"--functions {spec}: this is a {type(found).__name__}, not a dict"
        raise CallerError(what, hint='a dict like {"name": function}')
    functions = _functions_in(found)
    wrong = [key for key, value in functions.items() if not callable(value)]
    if wrong or not functions:
        what = f"{wrong[0]} in it is no function" if wrong else "there is no function in it"
        raise CallerError(f"--functions {spec}: {what}", hint='a dict like {"name": function}')
    return functions


def load_model(spec: str) -> Any:
    """The function or provider behind `FILE.py:NAME` or `MODULE:NAME`, or a model by its name.

    Raises `CallerError` for what is none of these, before a conversation begins.
    """
    from saywhy.models.callback import provider_of

    return _model(spec, provider_of)


def load_asked(spec: str) -> Any:
    """Likewise for an agent, which takes a function of the whole question as well."""
    from saywhy.models.asked import asked_model

    return _model(spec, asked_model)


def _model(spec: str, check: Callable[[Any], Any]) -> Any:
    from saywhy.models.names import USAGE, is_model_name, model_of

    usage = f"--model takes FILE.py:NAME or MODULE:NAME, or a model: {USAGE}"
    named = is_model_name(spec)
    found = spec if named else load_named(spec, "--model ", "function", usage)
    try:
        if named:
            return model_of(spec)
        check(found)
    except CallerError as error:
        raise CallerError(f"--model {spec}: {error}", hint=error.hint) from None
    return found


def load_agents(spec: str, model: Any = None, *, asks: bool = True) -> Any:
    """The agents behind `FILE.py:NAME`: one, a list, or a dict of them by name.

    A function that makes them is called, with `model` where it takes one. Raises `CallerError`.
    """
    from saywhy.cli.agents.found import made_by
    from saywhy.models.scripted import ScriptedModel
    from saywhy.runtime.agents.hosting import agents_by_name

    usage = "--agents takes FILE.py:NAME or MODULE:NAME"
    found = load_named(spec, "--agents ", "agent", usage)
    if inspect.isroutine(found):
        found = made_by(spec, found, ScriptedModel([]) if model is None and not asks else model)
    try:
        agents_by_name(found)
    except CallerError as error:
        raise CallerError(f"--agents {spec}: {error}", hint=error.hint) from None
    return found


def load_named(spec: str, option: str, what: str, usage: str) -> Any:
    """What stands behind `FILE.py:NAME` or `MODULE:NAME`. Raises `CallerError`."""
    module_name, _, name = spec.rpartition(":")
    if not module_name or not name:
        raise CallerError(f"{option}{spec} names no {what}", hint=usage)
    load = _import_file if module_name.endswith(".py") else _import
    return _named(load(module_name, usage), module_name, name, usage)


def _named(found: Any, module_name: str, name: str, usage: str) -> Any:
    """What a dotted name stands for in a module; the module itself without a name."""
    for part in name.split(".") if name else ():
        known = [each for each in dir(found) if not each.startswith("_")]
        if not hasattr(found, part):
            hint = did_you_mean(part, known) or usage + _has(found)
            raise CallerError(f"{module_name} has no {part}", hint=hint)
        found = getattr(found, part)
    return found


def _has(found: Any) -> str:
    """What a module defines itself, for whoever did not find a name in it."""
    if not isinstance(found, ModuleType):
        return ""
    own = [
        name
        for name, value in vars(found).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and not (
            (inspect.isroutine(value) or isinstance(value, type))
            and value.__module__ != found.__name__
        )
    ]
    return f"; it has {', '.join(own[:MOST_NAMES])}" if own else ""


def _functions_in(found: Any) -> Functions:
    if isinstance(found, Mapping):
        return {str(key): value for key, value in found.items()}
    public = getattr(found, "__all__", None) or [
        name for name in dir(found) if not name.startswith("_")
    ]
    members = {name: getattr(found, name) for name in public}
    own = getattr(found, "__name__", "") if isinstance(found, ModuleType) else ""
    return {
        name: value
        for name, value in members.items()
        if callable(value)
        and not isinstance(value, type)
        and (not own or getattr(value, "__module__", own) == own)
    }


def _import(module_name: str, usage: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return _loaded(module_name, partial(importlib.import_module, module_name))
    except ModuleNotFoundError as error:
        hint = f"{usage}; the current folder is searched first"
        raise CallerError(f"there is no module {module_name}", hint=hint) from error


def _import_file(path: str, usage: str) -> ModuleType:
    """The module in a file, which may import those beside it."""
    file = Path(path)
    if not file.is_file():
        raise CallerError(f"there is no file {path}", hint=usage)
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None, "a file that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(file.stem, module)  # as dataclasses in it look for themselves there
    _loaded(path, partial(spec.loader.exec_module, module))
    return module


def _loaded(name: str, load: Callable[[], T]) -> T:
    """What loading gives. `ModuleNotFoundError` is passed on where it is this very module."""
    try:
        return load()
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise
        raise _broken(name, error) from error
    except Exception as error:
        raise _broken(name, error) from error
    except SystemExit as error:
        raise CallerError(f"the module {name} ends the program when imported") from error


def _broken(module_name: str, error: Exception) -> CallerError:
    if isinstance(error, SyntaxError) and error.filename:
        place = Place(error.filename, error.lineno or 0)
        return CallerError(f"{module_name} is no Python: {error.msg}", place=place)
    newest = traceback.extract_tb(error.__traceback__)[-1]
    place = place_of(error) or Place(newest.filename, newest.lineno or 0)
    hint = error.hint if isinstance(error, SaywhyError) else ""
    return CallerError(f"{module_name} cannot be imported: {said(error)}", place=place, hint=hint)


def load_object(path: Path) -> dict[str, Any]:
    """The object in a JSON or YAML file. Raises `DefinitionError`."""
    from saywhy.flows.load import read_document
    from saywhy.flows.read_flow import kind_of

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "not a UTF-8 text").lower()
        problem = Problem(f"cannot read this file: {reason}", Place(str(path)), "check the path")
        raise DefinitionError([problem]) from error
    document = read_document(text, str(path))
    if document.problems:
        raise DefinitionError(document.problems)
    if not isinstance(document.value, dict):
        message = f"an object is wanted here, this is {kind_of(document.value)}"
        raise DefinitionError(
            [Problem(message, document.source.place(""), 'write {"name": value, …}')]
        )
    return untagged(document.value)
