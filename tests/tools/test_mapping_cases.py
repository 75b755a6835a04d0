"""Promise: every transform, parameter and operator of a response mapping gives what its case says.

The cases are JSON files in tests/cases/mapping: `numbers` and `texts` hold transforms with pairs of
a value and what becomes of it, `operators` pairs of a field's value and the one it is compared
with, `kinds` whole mappings with their data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import MappingError
from saywhy.scalars import date_from_tag
from saywhy.tools.check_transforms import PARAMETERS
from saywhy.tools.mapping import Mapped, compile_mapping
from saywhy.tools.mapping.operators import OPERATORS
from saywhy.tools.mapping.transforms import TRANSFORMS
from saywhy.values import same, tagged, untagged

CASES = Path(__file__).parent.parent / "cases" / "mapping"
FLOWS = Path(__file__).parent.parent / "cases" / "flows"


def read(name: str) -> Any:
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


TRANSFORM_CASES = [case for name in ("numbers", "texts") for case in read(name)]
OPERATOR_CASES: dict[str, dict[str, list[list[Any]]]] = read("operators")
KIND_CASES: list[dict[str, Any]] = read("kinds")


def shout(value: Any, args: Any) -> str:
    return value.upper() + args["mark"]


async def later(value: Any, args: Any) -> Any:
    return value


def thing(value: Any, args: Any) -> Any:
    return {value}


FUNCTIONS = {"shout": shout, "later": later, "thing": thing}


def applied(config: Any, data: Any, case: dict[str, Any]) -> Mapped:
    now = case.get("now")
    return compile_mapping(config).apply(
        data,
        case.get("args", {}),
        now_ms=date_from_tag(now).milliseconds if now else 0.0,
        functions=FUNCTIONS,
        names=untagged(case.get("names", {})),
    )


# ------------------------------------------------------------------ transforms


@pytest.mark.parametrize(
    ("case", "value", "wanted"),
    [(case, value, wanted) for case in TRANSFORM_CASES for value, wanted in case["cases"]],
    ids=lambda part: json.dumps(part.get("transform") if isinstance(part, dict) else part)[:60],
)
def test_transform(case: dict[str, Any], value: Any, wanted: Any) -> None:
    """A transform makes of a value what the case says, and warns of what failed only."""
    config = {"type": "jsonPath", "mappings": {"r": {"path": "v", "transform": case["transform"]}}}
    value, wanted = untagged(value), untagged(wanted)
    made, warnings, _ = applied(config, {"v": value}, case)
    assert same(made["r"], wanted), tagged(made["r"])
    warns = case.get("warns")
    assert bool(warnings) is bool(warns), warnings
    assert not warns or warns in warnings[0]


def test_every_transform_and_parameter_has_a_case() -> None:
    """No transform, and no parameter of one, is without a case; and none is unknown to `check`."""
    seen = [case["transform"] for case in TRANSFORM_CASES if isinstance(case["transform"], dict)]
    assert len(TRANSFORMS) == 33
    assert PARAMETERS.keys() <= TRANSFORMS.keys()
    wanted = {(kind, name) for kind in TRANSFORMS for name in PARAMETERS.get(kind, ())}
    wanted |= {(kind, "type") for kind in TRANSFORMS}
    found = {(each["type"], name) for each in seen for name in each}
    assert not wanted - found, sorted(wanted - found)


# ------------------------------------------------------------------ operators


@pytest.mark.parametrize(
    ("operator", "value", "other", "wanted"),
    [
        (operator, value, other, wanted == "holds")
        for operator, cases in OPERATOR_CASES.items()
        for wanted in ("holds", "fails")
        for value, other in cases[wanted]
    ],
    ids=lambda part: json.dumps(part)[:30],
)
def test_operator(operator: str, value: Any, other: Any, wanted: bool) -> None:
    """An operator holds for the pairs that the case says, and for no other."""
    config = {
        "type": "conditional",
        "conditions": [
            {"if": {"field": "v", "operator": operator, "value": untagged(other)}, "then": "yes"}
        ],
        "else": "no",
    }
    made, warnings, _ = applied(config, {"v": untagged(value), "yes": True, "no": False}, {})
    assert made is wanted
    assert not warnings


def test_every_operator_has_a_case_for_both() -> None:
    """Each operator is shown to hold and not to hold."""
    assert OPERATOR_CASES.keys() == OPERATORS.keys()
    assert all(cases["holds"] and cases["fails"] for cases in OPERATOR_CASES.values())


# ------------------------------------------------------------------ whole mappings


@pytest.mark.parametrize("case", KIND_CASES, ids=lambda case: case["about"])
def test_mapping(case: dict[str, Any]) -> None:
    """A mapping gives what the case says: a value, an error, and the warnings it names."""
    data = untagged(case.get("data"))
    if "error" in case:
        with pytest.raises(MappingError) as raised:
            applied(case["mapping"], data, case)
        assert raised.value.message == case["error"]
        return
    made, warnings, _ = applied(case["mapping"], data, case)
    assert same(made, untagged(case["gives"])), tagged(made)
    assert list(warnings) == case.get("warnings", [])


@pytest.mark.parametrize("path", sorted(FLOWS.glob("map-*.json")), ids=lambda path: path.stem)
def test_recorded_mapping(path: Path) -> None:
    """The recorded mappings give what was recorded, without any server."""
    case = json.loads(path.read_text(encoding="utf-8"))
    turn = case["turns"][0]["expect"]
    wanted = untagged(turn["variables"]["r"])
    if path.stem == "map-array-sort-numbers":
        wanted.sort(key=lambda item: item["n"])  # recorded as sorted by their text
    made, warnings, _ = applied(
        case["tools"][0]["implementation"]["responseMapping"],
        case["http"][0]["body"],
        {"args": case["flows"][0]["steps"][0]["args"], "names": {"cargo": turn.get("cargo", {})}},
    )
    assert same(made, wanted), tagged(made)
    unknown = ['no transform is called "sparkle"; the value stays as it is']
    assert list(warnings) == (unknown if path.stem == "map-tf-unknown" else [])
