"""What is wrong with an engine's flows and tools, with figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.errors import DefinitionError, UnknownFlow
from saywhy.flows.load import load_definitions
from saywhy.runtime.engine import Engine
from saywhy.runtime.validation import report_of
from tests.flows.conftest import Lines, ask, engine_of, flow, local_tool, say, use

FINE = flow(say("hi"), ask("x", "name?"), primary=True, prompt="P", description="D", version="1.0")


def test_figures_count_all_that_was_looked_at() -> None:
    """Flows, entry points, steps wherever they stand, tools."""
    library = load_definitions(
        [FINE, flow(use("t", onFail={"id": "f", **say("x")}), name="Sub")], [local_tool("t")]
    )
    report = report_of(library, {"t"})
    assert report.figures == {"flows": 2, "primary": 1, "steps": 4, "tools": 1}
    assert report.summary.startswith("checked 2 flows, 1 primary, 4 steps, 1 tool:")


def test_errors_make_a_report_invalid_and_warnings_do_not() -> None:
    """Each kind can be had on its own."""
    good = report_of(load_definitions([FINE]), None)
    assert good.is_valid
    assert good.errors == ()
    bad = report_of(load_definitions([flow({"type": "SAY"}, primary=True)]), None)
    assert not bad.is_valid
    assert all(one.severity == "error" for one in bad.errors)
    assert all(one.severity == "warning" for one in bad.warnings)
    assert bad.warnings


def test_construction_logs_what_validate_finds() -> None:
    """Errors as errors, warnings as warnings, then one line of figures; or nothing at all."""
    log = Lines()
    engine = engine_of(flow({"type": "SAY"}, primary=True), logger=log, validate_on_init=True)
    report = engine.validate()
    assert [line[0] for line in log.lines] == [
        "E" if one.severity == "error" else "W" for one in report.problems if one.severity != "note"
    ]
    assert engine.problems == report.problems
    quiet = Lines()
    engine_of(flow({"type": "SAY"}, primary=True), logger=quiet)
    assert quiet.lines == []


def test_reports_by_flow_know_what_was_handed_over() -> None:
    """One flow with those it leads to, or all of them, with the engine's globals and functions."""
    greets = flow(say("{{greet(name)}}"), name="Main", primary=True, prompt="P", description="D")
    engine = engine_of(greets, globals={"name": "Ann"}, functions={"greet": str})
    report = engine.validate_flow("Main")
    assert report["isValid"], report["errors"]
    assert report["visitedFlows"] == [engine.library.flows[0].id]
    assert engine.validate_all_flows()["isValid"]
    without = engine_of(greets, globals={"name": "Ann"}, functions={"other": str})
    (error,) = without.validate_flow("Main")["errors"]
    assert 'no approved function is called "greet"' in error
    with pytest.raises(UnknownFlow, match="Mian"):
        engine.validate_flow("Mian")


def test_strict_refuses_errors() -> None:
    """Whether findings are logged or not."""
    for wanted in (True, False):
        with pytest.raises(DefinitionError, match="value"):
            engine_of(flow({"type": "SAY"}, primary=True), strict=True, validate_on_init=wanted)
    engine_of(FINE, strict=True)


def test_an_engine_without_functions_misses_them() -> None:
    """Nobody can hand any over later, so a call of one is an error, and not a note."""
    calling = flow(say("{{shout('hi')}}"), primary=True, prompt="P", description="D", version="1.0")
    engine = Engine(flows=[calling], logger=None)
    found = [one.message for one in engine.validate().errors]
    assert found == ['no approved function is called "shout"']
    assert not engine.validate_flow(calling["id"])["isValid"]
    with pytest.raises(DefinitionError, match='no approved function is called "shout"'):
        Engine(flows=[calling], logger=None, strict=True)
    assert report_of(load_definitions([calling]), None).is_valid


def test_a_tool_that_cannot_be_read_is_told_and_left_out(tmp_path: Path) -> None:
    """The flows run; a call of it fails like one of an unknown tool."""
    engine = engine_of(FINE, tools=[{"id": "t", "implementation": {"type": "teleport"}}])
    assert not engine.validate().is_valid
    assert any("teleport" in problem.message for problem in engine.validate().errors)
