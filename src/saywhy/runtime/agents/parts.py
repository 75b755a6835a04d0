"""What may be a part of a runner, and what a runner made of others takes from them.

Another runner brings its chart along. Anything else that can be run is one step of the record: an
object with `run`, or a function of the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from saywhy.agent.runners.outside import can_run, outside_chart
from saywhy.agent.runners.part import Part
from saywhy.chart.built import Built
from saywhy.errors import CallerError, DefinitionError, Problem
from saywhy.runtime.agents.runner import Runner
from saywhy.trace.masking.declared import NOTHING, Declared
from saywhy.trace.masking.redact import USUAL, Policy

Named = tuple[str, Any]
"""An id, and the runner that has it there."""


def part_of(runner: Any, id: str, description: str = "") -> Part:
    """A runner as a part with this id."""
    if isinstance(runner, Runner):
        known: Runner[Any] = runner
        return known.part(id, description)
    return Part(id, partial(_outside, runner, id), description)


def _outside(runner: Any, name: str, id: str) -> Built:
    return outside_chart(runner, name=name, id=id)


def named_runners(given: Any, what: str) -> list[Named]:
    """Runners with their ids: of a mapping, of pairs, or each by its own name.

    One whose name is taken is called by its number as well. Raises `CallerError` for what is no
    list of runners.
    """
    if isinstance(given, Mapping):
        return list(given.items())
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise CallerError(f"each {what} stands in a list, not in {kind}", hint="[first, second]")
    named: list[Named] = []
    for number, one in enumerate(given, 1):
        if isinstance(one, tuple):
            pair: tuple[Any, ...] = one
            if len(pair) != 2:
                raise CallerError(f"a {what} is a pair of id and runner, not {len(pair)} things")
            named.append((pair[0], pair[1]))
            continue
        own = str(getattr(one, "name", "") or f"{what}-{number}").strip().replace(" ", "-")
        taken = any(own == known for known, _ in named)
        named.append((f"{own}-{number}" if taken else own, one))
    return named


def runner_problems(named: Sequence[Named], what: str) -> Iterator[Problem]:
    """What of these cannot be run."""
    for own, runner in named:
        if not can_run(runner):
            kind = type(runner).__name__
            message = f'the {what} "{own}" is {kind}, which cannot be run'
            yield Problem(message, hint=runnable(runner))


def runnable(given: Any) -> str:
    """What would make something run that does not."""
    if hasattr(given, "build"):
        return "call build()"
    if hasattr(given, "ask"):
        return "a model is asked by LLMCall(model)"
    if isinstance(given, list | tuple):
        return "give them one by one, not as a list"
    return "an object with `run`"


def check(problems: Iterable[Problem]) -> None:
    """Raises `DefinitionError` with all of them."""
    found = list(problems)
    if found:
        raise DefinitionError(found)


def policy_of(given: Policy | None, runners: Iterable[Any]) -> Policy:
    """What is masked: what was said, else whatever any of the runners inside masks."""
    inner: list[Runner[Any]] = [one for one in runners if isinstance(one, Runner)]
    policies = [one.redact for one in inner]
    declared = reduce(Declared.joined, (one.declared for one in policies), NOTHING)
    if given is not None:  # what tools declare holds whatever a host says besides
        return replace(given, declared=given.declared.joined(declared)) if declared else given
    if not policies:
        return USUAL
    together = set(policies[0].open).intersection(*(one.open for one in policies))
    return Policy(
        names=tuple(dict.fromkeys(name for one in policies for name in one.names)),
        open=tuple(name for name in policies[0].open if name in together),
        secrets=tuple(dict.fromkeys(text for one in policies for text in one.secrets)),
        max_value_bytes=min(one.max_value_bytes for one in policies),
        tools=tuple(dict.fromkeys(name for one in policies for name in one.tools)),
        paths=tuple(dict.fromkeys(path for one in policies for path in one.paths)),
        declared=declared,
    )
