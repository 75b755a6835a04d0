"""Promise: whatever an author wrote, checking it ends with problems, never with a crash.

Good flows are damaged at random, as data and as text. The seeds are fixed, so a failure comes back.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saywhy.flows.check import check_library
from saywhy.flows.load import load_definitions, load_files
from saywhy.flows.report import validate_all

FOLDER = Path(__file__).parent.parent / "cases/real-flows"
FLOWS = json.loads((FOLDER / "system.flows.json").read_text("utf-8"))
TOOLS = json.loads((FOLDER / "system.tools.json").read_text("utf-8"))
YAML = (
    "- id: pay\n  name: Pay\n  steps:\n  - {id: a, type: SAY-GET, variable: x, value: '{{1}}'}\n"
    "  - id: b\n    type: CASE\n    branches:\n      'condition: x > 5': {id: c, type: END}\n"
    "      default: &d\n        id: d\n        type: SAY\n        value: >\n          Hi {{x}},\n"
    '          it\'s "fine".\n  - *d\n'
)

JUNK: list[Any] = [None, True, False, 0, -1, 5, 1.5, "", "x", "{{", "{{x}}", "{{ ( }}", "a.b"]
JUNK += [[], {}, [None], [[]], {"x": None}, {"type": "CASE"}, {"id": 1}, ["a", 5], {"value": {}}]
JUNK += [
    "condition: ",
    "class",
    "\ud800",
    "é" * 50,
    {"": ""},
    {"{{x}}": 1},
    "SAY",
    "FLOW",
    "reboot",
]


def paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a tree."""
    if path:
        yield path
    children: Any = enumerate(tree) if isinstance(tree, list) else ()
    for key, item in tree.items() if isinstance(tree, dict) else children:
        yield from paths(item, (*path, key))


def damage(tree: Any, chance: random.Random) -> None:
    """Remove something from a tree, or put something else in its place."""
    *above, last = chance.choice(list(paths(tree)))
    for key in above:
        tree = tree[key]
    if chance.random() < 0.2:
        del tree[last]
    else:
        tree[last] = copy.deepcopy(chance.choice(JUNK))


@pytest.mark.parametrize("seed", range(100))
def test_damaged_data(seed: int) -> None:
    """Wrong kinds of values in any place."""
    chance = random.Random(seed)
    start = chance.randrange(len(FLOWS) - 3)
    tree = copy.deepcopy({"flows": FLOWS[start : start + 3], "tools": TOOLS})
    for _ in range(chance.choice([1, 1, 2, 5])):
        damage(tree, chance)
    library = load_definitions(*tree.values()) if len(tree) == 2 else load_definitions(tree)
    problems = check_library(
        library,
        functions=chance.choice([None, [], ["validateOTP"]]),
        globals=chance.choice([None, []]),
        cargo=chance.choice([None, ["voice"]]),
        languages=chance.choice([None, ["es"]]),
    )
    assert all(problem.message and problem.render() for problem in problems)
    assert set(validate_all(library)) >= {"isValid", "errors", "warnings", "figures"}


@pytest.mark.parametrize("seed", range(100))
def test_damaged_text(seed: int, tmp_path: Path) -> None:
    """Characters lost, added and exchanged; places stay inside the file."""
    chance = random.Random(seed)
    is_yaml = seed % 2
    text = YAML if is_yaml else json.dumps(FLOWS[:2], indent=1)
    for _ in range(chance.choice([1, 1, 3])):
        at = chance.randrange(len(text))
        new = chance.choice(["", "{", "}", "'", '"', ":", "\n", "\t", "\\", ",", "{{", "&a", "#"])
        text = text[:at] + new + text[at + chance.choice([0, 1]) :]
    path = tmp_path / ("f.yaml" if is_yaml else "f.json")
    path.write_text(text, "utf-8")
    lines = text.splitlines()
    for problem in check_library(load_files([path])):
        assert problem.message
        assert 1 <= problem.place.line <= len(lines) + 1
        line = [*lines, ""][problem.place.line - 1]
        assert 1 <= problem.place.column <= len(line) + 1
