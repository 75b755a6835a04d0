"""What is wrong with an engine's flows and tools, with figures.

The findings are `flows.check`'s; here they become one report.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from saywhy.errors import Problem
from saywhy.flows.check import check_library, declared
from saywhy.flows.checks.speech import Speech, check_speech
from saywhy.flows.languages import USUAL
from saywhy.flows.model import Library


@dataclass(frozen=True, slots=True)
class Report:
    """All problems in file order, and how much was looked at."""

    problems: tuple[Problem, ...]
    figures: dict[str, int]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Problems that keep a flow from running right."""
        return tuple(one for one in self.problems if one.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Doubtful spots."""
        return tuple(one for one in self.problems if one.severity == "warning")

    @property
    def is_valid(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def summary(self) -> str:
        """One line of figures."""
        counted = ", ".join(_counted(count, name) for name, count in self.figures.items())
        errors = _counted(len(self.errors), "errors")
        return f"checked {counted}: {errors}, {_counted(len(self.warnings), 'warnings')}"


def _counted(count: int, name: str) -> str:
    return f"{count} {name.removesuffix('s') if count == 1 else name}"


def report_of(
    library: Library,
    functions: Collection[str] | None,
    globals_: Any = None,
    *,
    languages: Iterable[str] | None = None,
    plain_language: str = USUAL,
    speech: Speech | None = None,
    **options: Any,
) -> Report:
    """The report on a library; `functions` None means that nobody handed any over.

    What an engine itself says is judged as well: in the declared languages, and with its `speech`.
    """
    wanted, (plain,) = declared(languages or ()), declared([plain_language])
    problems = (
        *check_speech(speech, wanted, plain),
        *check_library(
            library,
            functions=functions,
            globals=globals_,
            languages=wanted,
            plain_language=plain,
            **options,
        ),
    )
    figures = {
        "flows": len(library.flows),
        "primary": len(library.primaries()),
        "steps": sum(1 for flow in library.flows for _ in flow.walk()),
        "tools": len(library.tools),
    }
    return Report(problems, figures)
