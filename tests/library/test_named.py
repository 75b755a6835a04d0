"""Libraries of the package: what a name stands for, wherever a path may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy import Engine, library, load_tools
from saywhy.errors import CallerError, DefinitionError
from saywhy.flows.load import load_definitions, load_files


def test_there_are_two() -> None:
    """Each has a file of flows and one of tools, in the package."""
    assert library.NAMES == ("system", "shop")
    for name in library.NAMES:
        assert library.flows(name).is_file()
        assert library.tools(name).is_file()


def test_a_name_in_place_of_a_path() -> None:
    """Among flows it stands for the flows, among tools for the tools, among files for both."""
    flows = load_definitions(flows=["library:system"])
    tools = load_definitions(tools="library:system")
    both = load_files(["library:system", Path("library:system")])
    assert flows.flows and not flows.tools
    assert tools.tools and not tools.flows
    assert [one.id for one in both.flows] == [one.id for one in flows.flows]
    assert [one.id for one in both.tools] == [one.id for one in tools.tools]
    assert both.flows[0].place.file == str(library.flows("system"))


def test_tools_of_a_library_can_be_changed() -> None:
    """They are loaded like any others, for wrappers and for HTTP in place of a function."""
    tools = {one.id: one for one in load_tools("library:shop")}
    assert tools["shopify-search-products"].raw["effect"] == "reads"


def test_beside_flows_of_ones_own() -> None:
    """An engine takes both in one list."""
    own = {"id": "own", "name": "Own", "steps": [{"id": "a", "type": "SAY", "value": "Hi."}]}
    engine = Engine(flows=["library:system", own], tools=["library:system"], logger=None)
    assert {"own", "contact-support"} <= {flow.id for flow in engine.library.flows}
    assert "send-sms-otp" in engine.tools


@pytest.mark.parametrize("find", [library.flows, library.tools])
def test_an_unknown_name(find: object) -> None:
    """It is told, with the one that was meant; in a list it is a problem like that of a file."""
    with pytest.raises(CallerError, match='there is no library "sytem"') as caught:
        find("sytem")  # type: ignore[operator]
    assert caught.value.hint == 'did you mean "system"?'
    (problem,) = load_files(["library:desk"]).problems
    assert problem.render() == (
        'library:desk: error: there is no library "desk"\n    there are system and shop'
    )
    with pytest.raises(DefinitionError, match='there is no library "desk"'):
        load_tools("library:desk")


def test_the_reference_of_flow_authors() -> None:
    """One text, in the package, with all that is looked up while writing flows."""
    text = library.author_reference()
    for heading in ("# Flow author's reference", "## Flow files", "## Steps", "## Templates",
                    "## Expressions", "## Tool files", "## Standard functions"):  # fmt: skip
        assert f"\n{heading}\n" in f"\n{text}"
