"""What a mapping leaves to JavaScript: regular expressions, dates in odd forms, `{{expressions}}`.

All of it runs in the sandbox of `expr`, with its limits on time and memory. A mapping in which
several evaluations ran out of time starts no further one: a bad pattern costs its time a few times,
not once for every item of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from typing import Any, Final

from saywhy.expr.javascript import (
    FunctionAnswer,
    JavaScript,
    Names,
    Outcome,
    Placement,
    Raised,
    Suspended,
)
from saywhy.expr.outcome import Given
from saywhy.marks import is_quick, wants_context
from saywhy.tools.invocation import FUNCTION_ERRORS, CallContext, fault_of
from saywhy.tools.mapping.run import MAX_LATE, Failed, Run, size_of, tree_of
from saywhy.tools.positional import positional_of
from saywhy.tools.signature import is_async
from saywhy.tools.threads import Late, in_time
from saywhy.values import freeze, get_path, seal, thaw

MAX_CALLS: Final = 200
"""Approved functions one expression may call."""
FUNCTION_SECONDS: Final = 5.0

REPLACE: Final = "text.replace(new RegExp(pattern, flags), replacement)"
GROUP: Final = (
    "(hit => hit === null ? undefined : typeof group === 'string' ? hit.groups?.[group]"
    " : hit[group])(new RegExp(pattern, flags).exec(text))"
)
MATCHES: Final = "new RegExp(pattern).test(text)"
IS_PATTERN: Final = "new RegExp(pattern, flags).source.length"
ISO: Final = "new Date(value).toISOString()"

_LATE_KINDS: Final = frozenset({"TimeLimit", "MemoryLimit"})


def script(run: Run, source: str, **values: Any) -> Any:
    """The value of one of the scripts above. Raises `Failed`."""
    found = _evaluated(run, source, Given(values), ())
    assert not isinstance(found, Suspended), "the scripts call no approved function"
    if isinstance(found, Raised):
        raise _failed(run, found)
    return tree_of(found.value)


def pattern_fault(pattern: str, flags: str = "") -> str:
    """Why `pattern` with `flags` is no regular expression; empty when it is one."""
    names = Given({"pattern": pattern, "flags": flags})
    found = default_engine().evaluate(IS_PATTERN, names)
    return found.message if isinstance(found, Raised) else ""


@cache
def default_engine() -> JavaScript:
    """The engine of mappings that are applied outside of a conversation."""
    return JavaScript()


def _evaluated(run: Run, source: str, names: Names, answers: Sequence[FunctionAnswer]) -> Outcome:
    if run.late >= MAX_LATE:
        raise Failed("too much in this mapping ran out of time; nothing further is evaluated")
    engine: Placement = run.engine or default_engine()
    return engine.evaluate(source, names, answers, now_ms=run.now_ms)


def _failed(run: Run, raised: Raised) -> Failed:
    if raised.kind in _LATE_KINDS:
        run.late += 1
    return Failed(f"{raised.kind}: {raised.message}")


# ------------------------------------------------------------------ expressions of authors


class DataNames:
    """What the names in an expression of a mapping stand for.

    `$` is the data, `$args` the arguments. Names of the conversation (`cargo`) come before keys of
    the data: no answer can pass for what the conversation knows.
    """

    __slots__ = ("_data", "_run", "functions")

    def __init__(self, run: Run, data: Any) -> None:
        self._run = run
        self._data = data
        self.functions: Collection[str] = run.functions.keys()

    def has(self, name: str) -> bool:
        """Whether a name is a variable here."""
        data = self._data
        in_data = isinstance(data, dict) and name in data
        return name in ("$", "$args") or name in self._run.names or in_data

    def get(self, path: tuple[str | int, ...]) -> Any:
        """The value at a path."""
        root, rest = path[0], path[1:]
        if root == "$":
            return get_path(self._data, rest)
        if root == "$args":
            return get_path(self._run.args, rest)
        return get_path(self._run.names if root in self._run.names else self._data, path)


def expression(run: Run, source: str, data: Any) -> Any:
    """The value of an author's expression. What it changes is dropped. Raises `Failed`."""
    names = DataNames(run, data)
    answers: list[FunctionAnswer] = []
    while isinstance(found := _evaluated(run, source, names, answers), Suspended):
        if len(answers) >= MAX_CALLS:
            raise Failed(f"more than {MAX_CALLS} function calls in one expression")
        answers.append(_answer(run, found.name, found.args))
    if isinstance(found, Raised):
        raise _failed(run, found)
    value = tree_of(found.value)
    run.spend(size_of(value))
    return value


def _answer(run: Run, name: str, args: list[Any]) -> FunctionAnswer:
    frozen: Any = freeze(args)
    try:
        return FunctionAnswer(name, frozen, seal(call_function(run, name, args)))
    except Failed as error:
        return FunctionAnswer(name, frozen, None, str(error))


# ------------------------------------------------------------------ approved functions


def call_function(run: Run, name: str, args: list[Any]) -> Any:
    """What an approved function gives for `args`, as a plain tree. Raises `Failed`."""
    function = run.functions.get(name)
    if function is None:
        raise Failed(f"no approved function is called {name}")
    if is_async(function):
        raise Failed(f"{name} is async, and a mapping awaits nothing")
    if run.late >= MAX_LATE:
        raise Failed("too much in this mapping ran out of time; nothing further is called")
    given = [thaw(value) for value in args]
    expected = positional_of(function)
    if expected is not None:
        given = expected.fitted(given)
        fault = expected.fault_in(given)
        if fault:
            raise Failed(f"{name}: {fault}")
    try:
        call = partial(function, *given)
        if wants_context(function):
            call = partial(call, context=CallContext(moment=run.now_ms))
        value = tree_of(freeze(_carried_out(run, name, call, function)))
    except FUNCTION_ERRORS as error:
        if isinstance(error, Failed):
            raise
        message, kind = fault_of(error)
        raise Failed(f"{name} raised {kind}: {message}") from None
    run.spend(size_of(value))
    return value


def _carried_out(run: Run, name: str, call: Callable[[], Any], function: Callable[..., Any]) -> Any:
    if is_quick(function):
        return call()
    try:
        return in_time(call, FUNCTION_SECONDS)
    except Late:
        run.late = MAX_LATE  # it would hold up the conversation again for every item
        raise Failed(f"{name} took longer than {FUNCTION_SECONDS * 1000:g} ms") from None
