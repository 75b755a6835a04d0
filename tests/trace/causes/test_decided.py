"""Promise: the record tells who decided about a call, how, and when."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.trace.causes.decided import arguments_in, decision_text

AT = 1_767_225_605_000
WHEN = "2026-01-01T00:00:05.000Z"


@pytest.mark.parametrize(
    ("decided", "text"),
    [
        ({"how": "done", "by": "bob", "at": AT}, f"it was done, said bob at {WHEN}"),
        ({"how": "not_done", "at": AT}, f"it was not done at {WHEN}"),
        ({"how": "failed", "by": "bob", "note": "no money"},
         'it failed, said bob: "no money"'),
        ({"how": "approved", "by": "eve", "at": AT}, f"approved by eve at {WHEN}"),
        ({"how": "denied", "by": "eve", "note": "too far"}, 'denied by eve: "too far"'),
        ({"how": "expired", "at": AT}, "nobody approved it in time"),
    ],
)  # fmt: skip
def test_in_words(decided: dict[str, Any], text: str) -> None:
    """How, by whom, when and why, as far as it is on record."""
    assert decision_text(decided) == text


def test_the_arguments_of_the_call() -> None:
    """A rest holds them beside its id; other needs are about nothing else."""
    assert arguments_in("tool", {"n": 1}) == {"n": 1}
    assert arguments_in("settle", {"id": "k", "args": {"n": 1}}) == {"n": 1}
    assert arguments_in("approval", None) is None
