"""Promise: the check knows exactly the names that running flows know."""

from __future__ import annotations

from saywhy.flows import evaluate
from saywhy.flows.runtime_names import RUNTIME_NAMES


def test_the_names_are_those_of_running_flows() -> None:
    """A name too many would hide a slip, one too few would be a false alarm."""
    assert frozenset(evaluate.RUNTIME_NAMES) == RUNTIME_NAMES
