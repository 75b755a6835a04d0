"""Every problem in a set of flows and tools, in the order of their files.

One run finds them all. Each has its place, down to the column inside an expression, and what to
try. The rules themselves stand in the modules named `check_…`, one for each kind of thing judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from saywhy.errors import CallerError, Problem
from saywhy.flows.checks.corrections import check_corrections, check_undo
from saywhy.flows.checks.flow import check_flow, flow_problem
from saywhy.flows.checks.languages import check_flow_languages, check_languages
from saywhy.flows.checks.names import NameCheck
from saywhy.flows.checks.paths import check_paths
from saywhy.flows.checks.privacy import check_privacy, check_step_privacy, check_tool_privacy
from saywhy.flows.checks.reach import Reaches
from saywhy.flows.checks.repair import check_repair
from saywhy.flows.checks.silence import check_inactivity, check_silence
from saywhy.flows.checks.spot import Known, spots_of
from saywhy.flows.checks.steps import check_step
from saywhy.flows.checks.texts import check_texts
from saywhy.flows.checks.tools import check_tools
from saywhy.flows.languages import USUAL, canonical, is_tag
from saywhy.flows.model import Library


def check_library(
    library: Library,
    *,
    functions: Iterable[str] | None = None,
    globals: Iterable[str] | None = None,
    cargo: Iterable[str] | None = None,
    agents: Iterable[str] | None = None,
    languages: Iterable[str] | None = None,
    plain_language: str = USUAL,
) -> tuple[Problem, ...]:
    """Every problem of a library, in the order of its files.

    `functions`, `globals`, `cargo` and `agents` are the names a host hands over; None means that
    nobody said which there are, and then what is missing is a note and no error. With `languages`,
    texts that are missing in one of them are warned about; plain texts are in the flow's own
    `language`, else in `plain_language`. Raises `CallerError` for what is no language.
    """
    known = Known(
        None if functions is None else frozenset(functions),
        None if globals is None else frozenset(globals),
        None if cargo is None else frozenset(cargo),
        None if agents is None else frozenset(agents),
        declared(languages or ()),
        *declared([plain_language]),
    )
    return in_file_order(library, (*library.problems, *_problems(library, known)))


def declared(languages: Iterable[str]) -> tuple[str, ...]:
    """The languages in their usual spelling. Raises `CallerError` for what is none."""
    given = list(languages)
    for language in given:
        if not is_tag(language):
            hint = "write en, es or pt-BR"
            raise CallerError(f'"{language}" is no language', hint=hint)
    return tuple(dict.fromkeys(map(canonical, given)))


def _problems(library: Library, known: Known) -> Iterator[Problem]:
    names = NameCheck(library, known, Reaches(library))
    yield from _shared_names(library)
    for flow in library.flows:
        yield from check_flow(flow)
        yield from check_flow_languages(flow, known)
        yield from check_corrections(flow, library)
        yield from check_inactivity(flow)
        yield from check_privacy(flow, library, known)
        yield from names.declared(flow)
        for spot in spots_of(flow, library, known):
            yield from check_step(spot)
            yield from check_repair(spot)
            yield from check_silence(spot)
            yield from check_texts(spot)
            yield from check_languages(spot)
            yield from check_undo(spot)
            yield from check_step_privacy(spot)
            yield from names.step(spot)
    yield from check_paths(library)
    yield from check_tools(library, known)
    for tool in library.tools:
        yield from check_tool_privacy(tool)
    yield from names.summary()


def _shared_names(library: Library) -> Iterator[Problem]:
    """Flows that cannot be told apart by id or name."""
    by_id: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for flow in library.flows:
        if flow.id and flow.id in by_id:
            message = f'two flows have the id "{flow.id}"; the first one is used'
            yield flow_problem(flow, message, "/id", f"the other one is at {by_id[flow.id]}")
        elif flow.name and flow.name in by_name:
            message = f'two flows have the name "{flow.name}"; the first one is found by it'
            yield flow_problem(flow, message, "/name", f"the other one is at {by_name[flow.name]}")
        by_id.setdefault(flow.id, str(flow.place))
        by_name.setdefault(flow.name, str(flow.place))


def in_file_order(library: Library, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems sorted by file, line and column; what has no place keeps its order, at the front.

    Before all stand files that gave nothing: what is missing elsewhere may be in one of them.
    """
    useful = {one.place.file for one in (*library.flows, *library.tools)}
    lost = {one.place.file for one in library.problems if one.severity == "error"} - useful
    order = {file: index for index, file in enumerate(library.files)}
    unique = dict.fromkeys(problems)
    return tuple(
        sorted(
            unique,
            key=lambda problem: (
                problem.place.file not in lost,
                order.get(problem.place.file, -1),
                problem.place.line,
                problem.place.column,
            ),
        )
    )
