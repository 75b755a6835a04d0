"""Promise: in YAML an unquoted word means what JSON makes of it, and slips are shown in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from saywhy.flows.json_text import read_json
from saywhy.flows.yaml_text import MAX_VALUES, read_yaml

CASES = json.loads((Path(__file__).parent.parent / "cases/read/yaml.json").read_text("utf-8"))


@pytest.fixture(params=["fast parser", "Python parser"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds with and without the C library of PyYAML."""
    if request.param == "Python parser":
        monkeypatch.setattr(yaml, "__with_libyaml__", False)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_slips_are_shown_where_they_were_made(case: dict[str, Any]) -> None:
    """One problem, with line, column, what was found and what to try."""
    (problem,) = read_yaml(case["text"], "pay.yaml").problems
    assert case["message"] in problem.message
    assert case["hint"] in problem.hint
    assert (problem.place.line, problem.place.column) == (case["line"], case["column"])


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-0.5e1", -5.0),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("True", "True"),
        ("012", "012"),
        ("+1", "+1"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2024-01-31", "2024-01-31"),
        (".inf", ".inf"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("=", "="),
    ],
)
def test_an_unquoted_word_means_what_json_makes_of_it(written: str, meant: Any) -> None:
    """Constants and numbers of JSON, nothing and ~ as null; all else is text."""
    document = read_yaml(f"value: {written}\n", "f.yaml")
    assert document.problems == ()
    assert document.value == {"value": meant}
    assert type(document.value["value"]) is type(meant)


@pytest.mark.usefixtures("parser")
def test_keys_are_texts_always() -> None:
    """`no:`, `on:` and numbers as keys are what they look like."""
    value = read_yaml("no: a\non: b\n1: c\ntrue: d\nnull: e\n1.50: f\n", "f").value
    assert list(value) == ["no", "on", "1", "true", "null", "1.50"]


@pytest.mark.usefixtures("parser")
def test_aliases_and_merges_are_written_out() -> None:
    """A shared block is copied to each place; own keys win over merged ones."""
    text = "base: &b {type: SAY, value: hi}\nsteps:\n- <<: *b\n  value: own\n- *b\n"
    document = read_yaml(text, "f")
    assert document.problems == ()
    assert document.value["steps"] == [
        {"value": "own", "type": "SAY"},
        {"type": "SAY", "value": "hi"},
    ]
    assert document.value["steps"][1] is not document.value["base"]


@pytest.mark.usefixtures("parser")
def test_what_is_merged_may_merge_itself() -> None:
    """A base brings what its own bases give, and what stands nearer wins."""
    text = (
        "a: &a {x: a, y: a, z: a}\nb: &b\n  <<: *a\n  y: b\n  z: b\n"
        "c:\n  <<: *b\n  z: c\nd:\n  <<: [*b, {x: d, w: d}]\n"
    )
    document = read_yaml(text, "f")
    assert document.problems == ()
    assert document.value["c"] == {"x": "a", "y": "b", "z": "c"}
    assert document.value["d"] == {"x": "a", "y": "b", "z": "b", "w": "d"}


@pytest.mark.usefixtures("parser")
def test_a_bomb_of_merges_is_a_problem() -> None:
    """Bases that merge each other again and again stop at the limit."""
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 10)]
    document = read_yaml("\n".join(lines), "f")
    (problem,) = document.problems
    assert problem.message == f"more than {MAX_VALUES} values once aliases are written out"


@pytest.mark.usefixtures("parser")
def test_a_bomb_of_aliases_is_a_problem() -> None:
    """A few lines that stand for billions of values stop at the limit."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    document = read_yaml("\n".join(lines), "f")
    (problem,) = document.problems
    assert problem.message == f"more than {MAX_VALUES} values once aliases are written out"


@pytest.mark.usefixtures("parser")
def test_deep_nesting_is_a_problem() -> None:
    """A file of brackets is a problem, not a crash."""
    (problem,) = read_yaml("[" * 2000 + "]" * 2000, "f").problems
    assert problem.message in ("not valid YAML: nested too deep", "nested deeper than 200 levels")


@pytest.mark.usefixtures("parser")
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(),
        # YAML takes a key of 1,024 characters at most, and one of ours is written with up to 12
        lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1, max_size=80), inner),
        max_leaves=12,
    )
)
def test_json_means_the_same_as_yaml(value: Any) -> None:
    """A JSON text in a .yaml file has the values it has as JSON, in the same places."""
    text = json.dumps([value], indent=1)
    one, other = read_json(text, "f"), read_yaml(text, "f")
    assert one.problems == other.problems == ()
    assert one.value == other.value
    assert one.source.place("/0") == other.source.place("/0")
