"""Tools, changed as a whole: other names, fewer of them, or more that is asked of each.

A wrapper takes tools and gives tools, so wrappers nest: definitions as data, what `load_tools`
read from files, `Tool` values or a whole `Registry`; what goes in as one kind comes out as the same
kind. A wrapper changes definitions and nothing else; what a definition means is enforced in `call`,
whoever wrote it. With `only`, the tools it does not name pass through unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, Protocol, Self, TypeAlias, TypeVar, cast, runtime_checkable

from saywhy.errors import CallerError, DefinitionError, Place, did_you_mean
from saywhy.expr.template import condition_source
from saywhy.tools.approval import duration_ms
from saywhy.tools.check_guards import guard_problems
from saywhy.tools.check_outside import outside_problems
from saywhy.tools.function_tool import tool_of

__all__ = ["approve", "break_circuit", "cache", "drop", "keep", "limit", "prefix", "rename"]


@runtime_checkable
class Defined(Protocol):
    """A tool that knows its definition, and can be made anew from another."""

    @property
    def raw(self) -> Mapping[str, Any]: ...

    def changed(self, raw: Mapping[str, Any], /) -> Self: ...


T = TypeVar("T", bound="Mapping[str, Any] | Defined")
Definition: TypeAlias = Mapping[str, Any]
Which: TypeAlias = "Iterable[str] | Callable[[Definition], bool]"
"""Tools by id or name, or a question about a definition."""
Edit: TypeAlias = Callable[[Definition], Definition]


# ------------------------------------------------------------------ names and choice


def prefix(tools: Iterable[T], text: str) -> list[T]:
    """The tools under ids that begin with `text`, and names too where they are the ids.

    A name written for people stays: users read it when a call fails.
    """
    return [_edited(tool, lambda raw: _renamed(raw, text + _id(raw))) for tool in _read(tools)]


def rename(tools: Iterable[T], names: Mapping[str, str]) -> list[T]:
    """The tools, those in `names` under the ids given there."""
    given = _read(tools)
    wanted = _which(given, names, "rename")
    return [
        _edited(tool, lambda raw: _renamed(raw, _new_name(raw, names))) if wanted(tool) else tool
        for tool in given
    ]


def keep(tools: Iterable[T], which: Which) -> list[T]:
    """Only these tools."""
    given = _read(tools)
    wanted = _which(given, which, "keep")
    return [tool for tool in given if wanted(tool)]


def drop(tools: Iterable[T], which: Which) -> list[T]:
    """All but these tools."""
    given = _read(tools)
    unwanted = _which(given, which, "drop")
    return [tool for tool in given if not unwanted(tool)]


# ------------------------------------------------------------------ more asked of each


def approve(
    tools: Iterable[T],
    *,
    when: str = "",
    expires: str | float | None = None,
    by: str = "",
    only: Which | None = None,
) -> list[T]:
    """The tools, called only when a person approves: always, or `when` an expression holds.

    A tool that asks for approval by itself still does so: the two conditions are joined, and the
    shorter time counts.
    """
    asked = {"when": when, "expires": expires, "by": by}
    own = {name: given for name, given in asked.items() if given}
    return _each(tools, only, "approve", lambda raw: {**raw, "approval": _both(raw, own)})


def limit(
    tools: Iterable[T], *, requests: int, window_ms: float, only: Which | None = None
) -> list[T]:
    """The tools, each at most so often for one user within the window, whatever it allowed."""
    if requests < 1 or window_ms < 1:
        raise CallerError("a limit is at least 1 request in at least 1 millisecond")
    return _each(
        tools,
        only,
        "limit",
        lambda raw: _with(raw, "security", rateLimit={"requests": requests, "window": window_ms}),
    )


def cache(
    tools: Iterable[T],
    *,
    ttl: str | float,
    size: int | None = None,
    shared: bool = False,
    only: Which | None = None,
) -> list[T]:
    """The tools, answering from memory while an answer is not older than `ttl`.

    Raises `DefinitionError` for a tool that does more than read.
    """
    rule = {"ttl": ttl, "shared": shared} | ({"size": size} if size is not None else {})
    return _each(tools, only, "cache", lambda raw: {**raw, "cache": rule})


def break_circuit(
    tools: Iterable[T],
    *,
    failures: int = 5,
    window_ms: float = 60_000,
    open_ms: float = 30_000,
    only: Which | None = None,
) -> list[T]:
    """The tools, left alone for `open_ms` after so many failures within the window."""
    rule = {"failures": failures, "windowMs": window_ms, "openMs": open_ms}
    return _each(
        tools,
        only,
        "break_circuit",
        lambda raw: _with(raw, "implementation", circuitBreaker=rule),
    )


# ------------------------------------------------------------------ parts


def _read(tools: Iterable[T]) -> list[T]:
    """The tools one by one; a whole file's object gives its `tools`."""
    if isinstance(tools, Mapping):
        tools = cast("Mapping[str, Iterable[T]]", tools).get("tools", ())
    given: list[Any] = [tools] if isinstance(tools, str) else list(tools)
    for number, tool in enumerate(given):
        if isinstance(tool, FunctionType):
            given[number] = tool_of(tool)
        elif not isinstance(tool, Mapping | Defined):
            hint = "load_tools(path) reads files" if isinstance(tool, str) else ""
            raise CallerError(f"a tool is a definition, not {type(tool).__name__}", hint=hint)
    return cast("list[T]", given)


def _raw(tool: Mapping[str, Any] | Defined) -> Definition:
    return tool if isinstance(tool, Mapping) else tool.raw


def _edited(tool: T, edit: Edit) -> T:
    made = edit(_raw(tool))
    return cast("T", made) if isinstance(tool, Mapping) else tool.changed(made)


def _each(tools: Iterable[T], only: Which | None, wrapper: str, edit: Edit) -> list[T]:
    given = _read(tools)
    wanted = _which(given, only, wrapper) if only is not None else None

    def sound(tool: T) -> T:
        edited = edit(_raw(tool))
        _must_be_sound(edited, getattr(tool, "place", Place()))
        return _edited(tool, lambda _: edited)

    return [sound(tool) if wanted is None or wanted(tool) else tool for tool in given]


def _must_be_sound(raw: Definition, place: Place) -> None:
    """Raise for what the wrapper asked of a tool that cannot have it; the rest is for `check`."""
    found = [*outside_problems(raw, place), *guard_problems(raw, place)]
    errors = [problem for problem in found if problem.severity == "error"]
    if errors:
        raise DefinitionError(errors)


def _which(tools: list[T], which: Which, wrapper: str) -> Callable[[T], bool]:
    """Whether a tool is meant. A name that none has is a slip that would leave one unguarded."""
    if callable(which):
        return lambda tool: bool(which(_raw(tool)))
    names = {which} if isinstance(which, str) else set(which)
    known = {name for tool in tools for name in _names(_raw(tool))}
    for name in sorted(names - known):
        hint = did_you_mean(name, sorted(known)) or f"there are {', '.join(sorted(known))}"
        raise CallerError(f'{wrapper}: no tool is called "{name}"', hint=hint)
    return lambda tool: not names.isdisjoint(_names(_raw(tool)))


def _id(raw: Definition) -> str:
    return str(raw.get("id") or raw.get("name") or "")


def _names(raw: Definition) -> set[str]:
    return {str(raw[key]) for key in ("id", "name") if raw.get(key)}


def _new_name(raw: Definition, names: Mapping[str, str]) -> str:
    identity = _id(raw)
    return names.get(identity) or names[str(raw["name"])]


def _renamed(raw: Definition, new: str) -> Definition:
    same = not raw.get("name") or raw.get("name") == _id(raw)
    return {**raw, "id": new, "name": new if same else raw["name"]}


def _with(raw: Definition, section: str, **keys: Any) -> Definition:
    """The definition with keys added to one of its sections."""
    there = raw.get(section)
    return {**raw, section: {**(there if isinstance(there, Mapping) else {}), **keys}}


def _both(raw: Definition, own: dict[str, Any]) -> Any:
    """What the tool asks for already and what is asked for now."""
    there = raw.get("approval")
    if not there:
        return own or True
    first: Mapping[str, Any] = there if isinstance(there, Mapping) else {}
    joined: dict[str, Any] = {**first, **own}
    conditions = [rule["when"] for rule in (first, own) if rule.get("when")]
    joined.pop("when", None)
    if len(conditions) == 2:
        joined["when"] = " || ".join(map(_inner, conditions))
    times = [rule["expires"] for rule in (first, own) if rule.get("expires")]
    if times:
        joined["expires"] = min(times, key=lambda time: duration_ms(time) or 0)
    return joined or True


def _inner(condition: str) -> str:
    """A condition as a part of another one; a comment in it ends with its line."""
    source = condition_source(condition)
    return f"({source}\n)" if "//" in source else f"({source})"
