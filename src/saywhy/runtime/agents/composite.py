"""A runner made of others: the keywords all of them share, and what is checked of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

from saywhy.clock import Clock
from saywhy.errors import Problem
from saywhy.runtime.agents.parts import Named, check, policy_of, runner_problems
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.runner import Runner
from saywhy.trace.masking.redact import Policy

R = TypeVar("R", bound=AgentResult)


class RunnerOptions(TypedDict, total=False):
    """What may be said of any runner made of others."""

    recorders: Iterable[Any]
    """Are told what happens, in the runners inside as well; theirs hear nothing."""
    redact: Policy
    """What its trace masks; unless told, all that the runners inside mask."""
    verbose: bool
    clock: Clock | None
    new_id: Callable[[], str] | None


class Composite(Runner[R]):
    """A runner made of others. They run as parts of its chart, with one record."""

    def __init__(
        self,
        name: str,
        inner: Sequence[Named],
        problems: Iterable[Problem],
        what: str,
        options: RunnerOptions,
    ) -> None:
        check([*problems, *runner_problems(inner, what)])
        self.inner = tuple(inner)
        redact = policy_of(options.get("redact"), [runner for _, runner in inner])
        given: RunnerOptions = {**options, "redact": redact}
        super().__init__(name, **_all(**given))

    def inside(self) -> Iterable[Any]:
        """The runners it is made of."""
        return [runner for _, runner in self.inner]


def _all(**options: Unpack[RunnerOptions]) -> dict[str, Any]:
    return {**options}
