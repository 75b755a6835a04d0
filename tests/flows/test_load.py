"""Promise: files and host data become one library; whatever is wrong with them becomes problems."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.flows import load as loading
from saywhy.flows.load import kind_of_item, load_definitions, load_files
from saywhy.values import UNDEFINED, Date

FLOW: dict[str, Any] = {
    "id": "pay",
    "name": "Pay",
    "steps": [{"id": "hi", "type": "SAY", "value": "Hi"}],
}
TOOL: dict[str, Any] = {
    "id": "charge",
    "name": "Charge",
    "implementation": {"type": "local", "function": "f"},
}


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize(
    "content",
    [
        [FLOW],
        {"flows": [FLOW]},
        {"flows": [FLOW], "tools": [TOOL]},
        {"tools": [TOOL], "flows": [FLOW], "turns": []},
        [FLOW, TOOL],
        [TOOL, FLOW],
        FLOW,
    ],
)
def test_a_file_may_hold_flows_in_several_ways(tmp_path: Path, content: Any) -> None:
    """A list, an object with sections, a mixed list or a single flow."""
    library = load_files([write(tmp_path, "a.json", content)])
    assert library.problems == ()
    assert [flow.id for flow in library.flows] == ["pay"]
    assert [tool.id for tool in library.tools] == (["charge"] if TOOL in _parts(content) else [])
    flow = library.flows[0]
    assert flow.place_of("/steps/0/value").pointer == flow.place.pointer + "/steps/0/value"
    assert flow.source is not None
    assert flow.source.span(flow.place_of("/steps/0/value").pointer) is not None


def _parts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [*content.get("flows", []), *content.get("tools", [])]


def test_a_list_of_tools_is_known_by_its_items(tmp_path: Path) -> None:
    """An item that could be either is what the others are."""
    unclear = {"id": "x", "name": "X"}
    tools = load_files([write(tmp_path, "t.json", [unclear, TOOL])])
    assert [tool.id for tool in tools.tools] == ["x", "charge"]
    flows = load_files([write(tmp_path, "f.json", [unclear, FLOW])])
    assert [flow.id for flow in flows.flows] == ["x", "pay"]
    alone = load_files([write(tmp_path, "a.json", [unclear])])
    assert [flow.id for flow in alone.flows] == ["x"]


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"steps": []}, "flow"),
        ({"wraps": "x"}, "flow"),
        ({"parameters": []}, "flow"),
        ({"parameters": {}}, "tool"),
        ({"implementation": {}}, "tool"),
        ({"returns": {}}, "tool"),
        ({"id": "x"}, None),
        (7, None),
    ],
)
def test_flows_and_tools_are_told_apart(item: Any, kind: str | None) -> None:
    """By keys that only one of them has; `parameters` is a list in flows, an object in tools."""
    assert kind_of_item(item) == kind


def test_yaml_and_json_give_the_same_library(tmp_path: Path) -> None:
    """By extension, and by content where the extension says nothing."""
    text = "- id: pay\n  name: Pay\n  steps:\n  - {id: hi, type: SAY, value: Hi}\n"
    for name, content in [("a.yaml", text), ("b.yml", text), ("c.flows", text), ("d.txt", [FLOW])]:
        library = load_files([write(tmp_path, name, content)])
        assert library.problems == ()
        assert library.flows[0].raw == FLOW
        assert library.flows[0].steps[0].place.file == str(tmp_path / name)


def test_json_with_tabs_in_a_yaml_file(tmp_path: Path) -> None:
    """JSON is read as JSON wherever it stands; yet YAML's flow style is not taken for bad JSON."""
    tabs = json.dumps([FLOW], indent="\t")
    assert load_files([write(tmp_path, "a.yaml", tabs)]).problems == ()
    flow_style = "[{id: pay, name: Pay, steps: [{id: hi, type: SAY, value: Hi}]}]"
    assert load_files([write(tmp_path, "b.yaml", flow_style)]).flows[0].raw == FLOW


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("a.json", "[1", "not valid JSON", ""),
        ("a.json", "id: pay", "not valid JSON: found id where a value is wanted", ""),
        ("a.yaml", "a: {{x}} y", "not valid YAML", "put the whole text in quotes"),
        ("a.json", "7", "flows or tools are wanted here, this is the number 7", "write a list"),
        ("a.yaml", "just words", "flows or tools are wanted here, this is a text", "write a list"),
        ("a.json", {"x": 1}, "this object holds neither `flows` nor `tools`", "write a list"),
        ("a.json", {"flows": {}}, "`flows` must be a list, this is an object", 'write "flows": ['),
        ("a.json", ["x"], "a flow must be an object, this is a text", 'write {"id"'),
        ("a.json", {"tools": [None]}, "a tool must be an object, this is null", 'write {"id"'),
    ],
)
def test_wrong_content_is_a_problem(
    tmp_path: Path, name: str, content: Any, message: str, hint: str
) -> None:
    """One problem that names file, line and column, and what to try."""
    (problem,) = load_files([write(tmp_path, name, content)]).problems
    assert message in problem.message
    assert hint in problem.hint
    assert problem.severity == "error"
    assert problem.place.file == str(tmp_path / name)
    assert problem.place.line >= 1 and problem.place.column >= 1


def test_files_that_cannot_be_read_are_problems_each(tmp_path: Path) -> None:
    """A missing file, a folder and a file in another encoding; the good file is loaded anyway."""
    latin = tmp_path / "latin.json"
    latin.write_bytes('[\n"gr\xfc\xdfe"]'.encode("latin-1"))
    paths = [tmp_path / "none.json", tmp_path, latin, write(tmp_path, "good.json", [FLOW])]
    library = load_files(paths)
    assert [(str(problem.place), problem.message) for problem in library.problems] == [
        (f"{tmp_path}/none.json", "cannot read this file: no such file or directory"),
        (str(tmp_path), "cannot read this file: is a directory"),
        (f"{latin}:2:4", "not a UTF-8 text"),
    ]
    assert library.problems[1].hint == f"name the files in it: {tmp_path}/*.flows.yaml"
    assert [flow.id for flow in library.flows] == ["pay"]
    assert library.files == tuple(map(str, paths))


def test_python_is_no_flow_file(tmp_path: Path) -> None:
    """It is not read as YAML; where functions go is told."""
    path = tmp_path / "shop.py"
    path.write_text("def fee(amount):\n    return 2\n")
    (problem,) = load_files([path]).problems
    assert problem.render() == (
        f"{path}: error: files with flows and tools are JSON or YAML, this is Python\n"
        "    functions are handed over apart: Engine(functions={…}), or --functions MODULE:NAME"
    )


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    """Some editors write one; places count without it."""
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([FLOW]).encode())
    library = load_files([path])
    assert library.problems == ()
    assert library.flows[0].place.column == 2


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something else was named by mistake; it is not read into memory."""
    monkeypatch.setattr(loading, "MAX_BYTES", 1_000_000)
    (problem,) = load_files([write(tmp_path, "a.json", " " * 1_000_001)]).problems
    assert problem.message == "larger than 1 MB"


def test_the_same_file_twice_counts_once(tmp_path: Path) -> None:
    """Naming a file twice does not double its flows."""
    path = write(tmp_path, "a.json", [FLOW])
    assert len(load_files([path, str(path)]).flows) == 1


def test_steps_that_are_none_are_reported_and_left_out(tmp_path: Path) -> None:
    """The steps around keep their pointers."""
    steps = ["say hi", *FLOW["steps"], {"id": "b", "type": "CASE", "branches": {"default": []}}]
    library = load_files([write(tmp_path, "a.json", [{**FLOW, "steps": steps}])])
    assert [(problem.message, problem.place.pointer) for problem in library.problems] == [
        ("a step must be an object, this is a text", "/0/steps/0"),
        ("a branch holds one step, this is a list", "/0/steps/2/branches/default"),
    ]
    assert [step.pointer for step in library.flows[0].steps] == ["/steps/1", "/steps/2"]


def test_the_call_of_a_form_is_a_step() -> None:
    """`submit` stands inside its FORM as the CALL-TOOL step it is, with the form's outcome."""
    submit = {"tool": "pay", "onFail": {"id": "no", "type": "SAY", "value": "No."}}
    steps = [{"id": "f", "type": "FORM", "outcome": "paid", "submit": submit}]
    ((form,),) = (flow.steps for flow in load_definitions([{**FLOW, "steps": steps}]).flows)
    call = form.submit
    assert call is not None
    assert (call.type, call.id, call.pointer) == ("CALL-TOOL", "f_submit", "/steps/0/submit")
    assert call.raw["outcome"] == "paid"
    assert [step.id for step in form.walk()] == ["f", "f_submit", "no"]


# ------------------------------------------------------------------ data of a host


def test_host_data_is_copied() -> None:
    """Later changes by the host change no flow, and loading changes nothing of the host's."""
    flow = copy.deepcopy(FLOW)
    library = load_definitions([flow])
    assert flow == FLOW
    flow["steps"][0]["value"] = "changed"
    assert library.flows[0].steps[0].raw["value"] == "Hi"


def test_host_data_comes_in_several_ways(tmp_path: Path) -> None:
    """A list, an object, a path, or a list with paths in it."""
    path = write(tmp_path, "a.json", {"flows": [{**FLOW, "id": "file"}], "tools": [TOOL]})
    for flows, tools in [
        ([FLOW], [TOOL]),
        ({"flows": [FLOW]}, {"tools": [TOOL]}),
        ({"flows": [FLOW], "tools": [TOOL]}, None),
        (FLOW, TOOL),
        ((FLOW,), (TOOL,)),
    ]:
        library = load_definitions(flows, tools)
        assert library.problems == ()
        assert ([f.id for f in library.flows], [t.id for t in library.tools]) == (
            ["pay"],
            ["charge"],
        )
    assert [flow.id for flow in load_definitions(str(path)).flows] == ["file"]
    mixed = load_definitions([FLOW, path])
    assert [flow.id for flow in mixed.flows] == ["pay", "file"]
    assert [tool.id for tool in mixed.tools] == ["charge"]
    assert load_definitions().flows == ()


def test_host_data_has_pointers_for_places() -> None:
    """Without a file, the pointer says where."""
    place = load_definitions([FLOW, FLOW]).flows[1].place_of("/steps/0/value")
    assert (place.file, place.line, place.pointer) == ("", 0, "/1/steps/0/value")
    assert str(place) == "/1/steps/0/value"


def test_values_no_conversation_can_hold_are_problems() -> None:
    """A function in a step is refused with its place; dates and undefined are values."""
    step = {"id": "s", "type": "SET", "variable": "x", "value": print}
    (problem,) = load_definitions([{**FLOW, "steps": [step]}]).problems
    assert problem.message.startswith("this is a builtin_function_or_method, which a conversation")
    assert problem.place.pointer == "/0/steps/0/value"
    step = {**step, "value": [UNDEFINED, Date(0)]}
    assert load_definitions([{**FLOW, "steps": [step]}]).problems == ()


def test_something_else_than_a_list() -> None:
    """A host's slip is a problem as well."""
    (problem,) = load_definitions(7).problems  # type: ignore[arg-type]
    assert problem.message == "flows must be a list, this is the number 7"
    (problem,) = load_definitions([FLOW, 7]).problems
    assert problem.message == "flows or tools are wanted here, this is the number 7"
    assert problem.place.pointer == "/1"


def test_every_conversation_of_the_corpus_loads() -> None:
    """Scenario files hold flows and tools beside their turns; as files and as data alike."""
    folder = Path(__file__).parent.parent / "cases/flows"
    paths = sorted(folder.glob("*.json"))
    assert len(paths) > 200
    for path in paths:
        library = load_files([path])
        assert [problem for problem in library.problems if problem.severity == "error"] == []
        scenario = json.loads(path.read_text("utf-8"))
        data = load_definitions(scenario["flows"], scenario.get("tools"))
        assert [flow.raw for flow in data.flows] == [flow.raw for flow in library.flows]
        assert [tool.raw for tool in data.tools] == [tool.raw for tool in library.tools]
