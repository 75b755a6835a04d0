"""The quick answer is right whenever it says that there is nothing to mask."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.chart.commit import Answered, Asked, Commit, Condition, Decision, FunctionCall, Op
from saywhy.trace.masking.clean import is_clean
from saywhy.trace.masking.redact import Policy, Redactor, _Masking
from saywhy.trace.masking.sensitive import SensitiveNames
from saywhy.values import Date, freeze

NAMES = st.sampled_from(["a", "amount", "password", "apiKey", "monkey", "tokens", "note"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.just(Date(0)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
PLACES = st.sampled_from(
    ["op", "read", "inside", "asked", "answered", "facts", "call", "known", "plain"]
)


def commit_with(place: str, name: str, value: Any) -> Commit:
    frozen = freeze(value)
    parts: dict[str, Any] = {
        "op": {"ops": (Op("set", ("v1", name, "x"), frozen),)},
        "read": {
            "decision": Decision("a", (Condition("x", True, read=((("v1", name), frozen),)),))
        },
        "inside": {
            "decision": Decision(
                "a",
                (
                    Condition(
                        "x", True, parts=(Condition("y", True, read=((("v1", name), frozen),)),)
                    ),
                ),
            )
        },
        "asked": {"asked": Asked("tool", "t", frozen)},
        "answered": {"answered": Answered("tool", "t", frozen)},
        "facts": {"answered": Answered("tool", "t", facts={name: value})},
        "call": {"calls": (FunctionCall("f", [value], frozen),)},
        "known": {"facts": {name: value}},
        "plain": {"asked": Asked("tool", "t", {name: value})},
    }
    return Commit(1, 1, 1, "c", "Pay", "/steps/0", "SET", **parts[place])


@given(PLACES, NAMES, VALUES, st.integers(5, 200))
def test_a_clean_commit_needs_no_close_look(place: str, name: str, value: Any, limit: int) -> None:
    """Where the quick answer is yes, the close look finds nothing either."""
    commit = commit_with(place, name, value)
    redactor = Redactor(Policy(max_value_bytes=limit))
    if is_clean(commit, SensitiveNames(), limit):
        assert _Masking(redactor).changes(commit) == {}
        assert redactor.commit(commit) is commit


@pytest.mark.parametrize("place", ["op", "read", "inside", "facts", "known", "plain"])
def test_a_sensitive_name_is_seen_everywhere(place: str) -> None:
    """Wherever a commit can hold a name, a sensitive one is seen."""
    assert is_clean(commit_with(place, "amount", "x"), SensitiveNames(), 1000)
    assert not is_clean(commit_with(place, "password", "x"), SensitiveNames(), 1000)


@pytest.mark.parametrize(
    "place", ["op", "read", "inside", "asked", "answered", "facts", "call", "known"]
)
def test_a_big_value_is_seen_everywhere(place: str) -> None:
    """Wherever a commit can hold a value, one over the limit is seen."""
    assert not is_clean(commit_with(place, "amount", "x" * 200), SensitiveNames(), 100)


def test_counts_of_tokens_need_no_close_look() -> None:
    """Every answer of a model tells its usage, under names that only look sensitive."""
    usage = freeze({"usage": {"input_tokens": 10, "output_tokens": 20}})
    commit = Commit(1, 1, 1, "c", "a", "n", "k", answered=Answered("model", "chat", usage))
    assert is_clean(commit, SensitiveNames(), 1000)
    secret = freeze({"usage": {"token": "abc"}})
    commit = Commit(1, 1, 1, "c", "a", "n", "k", answered=Answered("model", "chat", secret))
    assert not is_clean(commit, SensitiveNames(), 1000)
