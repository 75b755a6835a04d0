"""`saywhy check`: every problem in a set of files, in one run."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from saywhy.cli.options import (
    AgentsOption,
    CargoOption,
    Files,
    FunctionsOption,
    GlobalsOption,
    JsonFlag,
)
from saywhy.cli.output import STYLES, Screen, out

USUAL: Final = "en"

LanguagesOption = Annotated[
    str | None,
    typer.Option(
        "--languages",
        metavar="LIST",
        help="Languages that users speak, like `en,es`: texts missing in one are warned about.",
    ),
]
PlainOption = Annotated[
    str,
    typer.Option(
        "--plain-language",
        metavar="LANGUAGE",
        help="What texts without a language are written in, where the flow does not say.",
    ),
]

if TYPE_CHECKING:
    from saywhy.errors import Problem
    from saywhy.runtime.validation import Report


def check(
    files: Files,
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    cargo: CargoOption = None,
    agents: AgentsOption = None,
    languages: LanguagesOption = None,
    plain_language: PlainOption = USUAL,
    as_json: JsonFlag = False,
) -> None:
    """Find every problem in flow and tool files.

    The exit code is 1 when there are errors; warnings and notes leave it at 0.
    """
    from saywhy.cli.given import Given
    from saywhy.flows.load import load_files
    from saywhy.runtime.validation import report_of

    given = Given.of(functions, globals, cargo, agents=agents, asks=False)
    report = report_of(
        load_files(map(str, files)),
        given.functions,
        given.globals,
        agents=given.agent_names,
        languages=listed(languages),
        plain_language=plain_language,
        cargo=given.cargo,
    )
    if as_json:
        import json

        out().line(json.dumps(as_data(report), indent=2, ensure_ascii=False))
    else:
        write(report, out())
    raise typer.Exit(0 if report.is_valid else 1)


def listed(languages: str | None) -> list[str]:
    """The languages of a list with commas."""
    return [one.strip() for one in (languages or "").split(",") if one.strip()]


def write(report: Report, screen: Screen) -> None:
    """The problems, an empty line between files, and one line of figures."""
    by_file = groupby(report.problems, lambda problem: problem.place.file)
    for _, problems in by_file:
        for problem in problems:
            write_problem(problem, screen)
        screen.line()
    style = "green" if report.is_valid else STYLES["error"]
    screen.line(report.summary, style)


def write_problem(problem: Problem, screen: Screen) -> None:
    """Place and message in the colour of the severity, the rest plain."""
    first, _, rest = problem.render().partition("\n")
    screen.line(first, STYLES[problem.severity])
    if rest:
        screen.line(rest)


def as_data(report: Report) -> dict[str, Any]:
    """The report as JSON data."""
    from dataclasses import asdict

    return {
        "valid": report.is_valid,
        "errors": len(report.errors),
        "warnings": len(report.warnings),
        "figures": report.figures,
        "problems": [asdict(problem) for problem in report.problems],
    }
