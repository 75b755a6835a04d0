"""Promise: a library finds its flows and tools by id or name."""

from __future__ import annotations

from saywhy.flows.load import load_definitions
from saywhy.flows.model import Library

LIBRARY = load_definitions(
    [
        {"id": "pay", "name": "Bills", "steps": [], "primary": True},
        {"id": "Bills", "name": "pay", "steps": []},
        {"id": "pay", "name": "Other", "steps": []},
    ],
    [{"id": "a", "name": "b"}, {"id": "b", "name": "c"}],
)


def test_ids_go_before_names_and_first_before_later() -> None:
    """An id of one flow that is the name of another means the id."""
    first, second, third = LIBRARY.flows
    assert LIBRARY.find("pay") is first
    assert LIBRARY.find("Bills") is second
    assert LIBRARY.find("Other") is third
    assert LIBRARY.find("PAY") is None
    assert LIBRARY.find_ignoring_case("  PAY ") is first
    assert LIBRARY.find_ignoring_case("bills") is second
    assert LIBRARY.find_ignoring_case("nothing") is None


def test_primaries_are_what_users_start() -> None:
    """Only flows marked so."""
    assert LIBRARY.primaries() == (LIBRARY.flows[0],)
    assert Library().primaries() == ()


def test_tools_are_found_by_id_before_name() -> None:
    """As flows are."""
    assert LIBRARY.tool("b") is LIBRARY.tools[1]
    assert LIBRARY.tool("c") is LIBRARY.tools[1]
    assert LIBRARY.tool("x") is None
    assert LIBRARY.tools[0].place_of("/implementation").pointer == "/0/implementation"
