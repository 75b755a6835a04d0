"""`saywhy test`: runs scenarios and tells what came out otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saywhy.cli.options import CargoOption, ExpressionsOption, FunctionsOption, GlobalsOption, Where
from saywhy.cli.output import STYLES, Screen, described, out

if TYPE_CHECKING:
    from saywhy.errors import Place
    from saywhy.testing.scenario import Result, Scenario, World


def test(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Scenario files, or folders of them.")
    ],
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="T", help="Only scenarios with this tag; may be repeated."),
    ] = None,
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    cargo: CargoOption = None,
    expressions: ExpressionsOption = Where.IN_PROCESS,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write the results to this file.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the summary, without each difference.")
    ] = False,
) -> None:
    """Run scenarios: what is said, and what must come of it.

    The exit code is 1 when one failed, and 2, with nothing run, when no scenario has one of the
    tags.
    """
    import asyncio

    from saywhy.cli.given import Given
    from saywhy.testing.scenario import World, find_scenario_files

    given = Given.of(functions, globals, cargo)
    world = World(given.functions, given.globals, given.cargo, expressions)
    screen = out()
    results: list[Result] = []
    loaded = list(_load(find_scenario_files(paths)))
    _check_tags(tags or (), loaded)
    for scenario, failed in loaded:
        result = failed
        if scenario is not None and (not tags or set(tags) & set(scenario.tags)):
            result = asyncio.run(_run(scenario, world))
        if result is not None:
            results.append(result)
            _write_failures(result, screen, quiet)
    _write_summary(results, screen)
    if json_file:
        _write_json(results, json_file)
    raise typer.Exit(0 if results and all(one.passed for one in results) else 1)


def _load(files: Iterable[Path]) -> Iterable[tuple[Scenario | None, Result | None]]:
    """Each scenario, or for a file that cannot be read a result that says why."""
    from saywhy.errors import DefinitionError
    from saywhy.testing.scenario import Failure, Result, load_scenarios

    for file in files:
        try:
            scenarios = load_scenarios(file)
        except DefinitionError as error:
            failure = Failure(0, "file", "a scenario", described(error))
            yield None, Result(str(file), (), False, (failure,), str(error))
            continue
        for scenario in scenarios:
            yield scenario, None


def _check_tags(
    wanted: Iterable[str], loaded: Sequence[tuple[Scenario | None, Result | None]]
) -> None:
    """Raise `CallerError` for a tag that no scenario has: what it was to choose would not run.

    A file that could not be read may be the one that has it; then its failure is all that is told.
    """
    from saywhy.errors import CallerError, did_you_mean

    if any(scenario is None for scenario, _ in loaded):
        return
    known = sorted({tag for scenario, _ in loaded if scenario for tag in scenario.tags})
    for tag in wanted:
        if tag not in known:
            there_are = f"the tags are {', '.join(known)}" if known else "no scenario has a tag"
            near = did_you_mean(tag, known)
            raise CallerError(
                f'no scenario has the tag "{tag}"', hint=f"{near} {there_are}".strip()
            )


async def _run(scenario: Scenario, world: World) -> Result:
    from saywhy.testing.scenario import run_scenario

    return await run_scenario(scenario, world)


def _write_failures(result: Result, screen: Screen, quiet: bool) -> None:
    if result.passed or quiet:
        return
    quirk = f" (quirk: {result.quirk})" if result.quirk else ""
    place = f"  {result.place.file}:{result.place.line}" if result.place.file else ""
    screen.line(f"FAILED {result.id}{quirk}{place}", STYLES["error"])
    if result.not_run:
        screen.line(_indented(result.not_run))
    else:
        for failure in result.failures:
            screen.line(_indented(failure.render()))
    screen.line()


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _write_summary(results: Sequence[Result], screen: Screen) -> None:
    failed = [result for result in results if not result.passed]
    if failed:
        screen.line("failed, by tag:")
        for tag, names in _by_tag(failed).items():
            screen.line(f"  {tag}: {len(names)} ({', '.join(names)})")
    passed = len(results) - len(failed)
    style = STYLES["error"] if failed or not results else "green"
    screen.line(f"{passed} passed, {len(failed)} failed", style)


def _by_tag(failed: Sequence[Result]) -> dict[str, list[str]]:
    """Tag → ids of what failed, the tag with most of them first."""
    counts = Counter(tag for result in failed for tag in result.tags or ("(no tag)",))
    return {
        tag: [result.id for result in failed if tag in (result.tags or ("(no tag)",))]
        for tag, _ in counts.most_common()
    }


def _write_json(results: Sequence[Result], file: Path) -> None:
    from saywhy.errors import CallerError

    try:
        file.write_text(_as_json(results), encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CallerError(
            f"cannot write the results to {file}: {reason}", hint="check the path after --json"
        ) from error


def _as_json(results: Sequence[Result]) -> str:
    import json

    document = {
        "passed": sum(result.passed for result in results),
        "failed": sum(not result.passed for result in results),
        "results": [_result(result) for result in results],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _result(result: Result) -> dict[str, Any]:
    from saywhy.values import tagged

    failures = [
        {
            "turn": failure.turn,
            "key": failure.key,
            "expected": tagged(failure.expected),
            "actual": tagged(failure.actual),
            **_place(failure.place),
        }
        for failure in result.failures
    ]
    data: dict[str, Any] = {
        "id": result.id,
        "tags": list(result.tags),
        "passed": result.passed,
        "failures": failures,
        **_place(result.place),
    }
    return data | ({"not_run": result.not_run} if result.not_run else {})


def _place(place: Place) -> dict[str, Any]:
    """Where something stands, if in a file."""
    return {"file": place.file, "line": place.line} if place.file else {}
