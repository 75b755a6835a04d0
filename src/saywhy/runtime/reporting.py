"""What an engine tells of its flows and tools: all problems, or a report by flow.

What is a problem is decided in `flows.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from saywhy.errors import DefinitionError, Problem
from saywhy.flows.checks.speech import Speech
from saywhy.flows.model import Library
from saywhy.flows.report import validate_all, validate_flow
from saywhy.runtime.log import Log
from saywhy.runtime.machinery import Machinery
from saywhy.runtime.validation import Report, report_of
from saywhy.values import FrozenDict


class Reporting:
    """The part of an engine that judges what it was given."""

    library: Library
    _log: Log
    _machinery: Machinery
    _functions: Mapping[str, Callable[..., Any]]
    _globals: FrozenDict

    def validate(
        self, languages: Iterable[str] = (), *, plain_language: str | None = None
    ) -> Report:
        """Every problem in the flows and tools, with figures; the same as at construction.

        With `languages`, also every text that is missing in one of them, in flows and in what the
        engine says. Plain texts are in `plain_language`, else in the engine's language.
        """
        world = self._machinery.world
        return report_of(
            self.library,
            self._functions,
            self._globals or None,
            agents=world.agents,
            languages=languages,
            plain_language=plain_language or world.language,
            speech=Speech(world.phrases, world.guidance, world.commands),
        )

    def validate_flow(self, name_or_id: str) -> dict[str, Any]:
        """The report of one flow and those it leads to; `flows.report` has its keys.

        Raises `UnknownFlow`. spec: flow-engine 7
        """
        return validate_flow(self.library, name_or_id, **self._given)

    def validate_all_flows(self) -> dict[str, Any]:
        """Such a report for each flow that a conversation can begin with. spec: flow-engine 7"""
        return validate_all(self.library, **self._given)

    @property
    def _given(self) -> dict[str, Any]:
        """The names handed over, as the reports take them; None where there are no globals."""
        return {"functions": self._functions, "globals": self._globals or None}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What `validate()` finds."""
        return self.validate().problems

    def _report_findings(self, wanted: bool, strict: bool) -> None:
        if not wanted and not strict:
            return
        report = self.validate()
        for problem in report.problems:
            write = self._log.error if problem.severity == "error" else self._log.warn
            if problem.severity != "note":
                write(problem.render())
        self._log.info(report.summary)
        if strict and report.errors:
            raise DefinitionError(report.errors)
