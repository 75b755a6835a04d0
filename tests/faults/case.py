"""The planted faults as data: what a case file says, and the repaired application.

A case is a small application with one fault, a dialogue, and a sentence or a value of it that is
wrong. How an application is made is answered by `application`, how a case is played by `playing`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from saywhy.flows.load import read_document

FOLDER = Path(__file__).parent.parent / "cases" / "faults"
KINDS = (
    *("wrong-branch", "stale-after-sub-flow", "wrong-field", "hiding-default"),
    *("old-tool-data", "twin-descriptions", "instruction-too-early", "suppressed-safety"),
    *("memory-of-another-topic", "truncated-context", "ignored-correction", "wrong-language"),
)
FILES = ("", ".tuning", ".fresh")
"""Each kind has cases in two halves, a file of further ones to tune by, and one of fresh ones.

Fresh: written after the ranking was tuned, never used for it."""
APPLICATION = (
    *("flows", "tools", "functions", "globals", "cargo", "language", "messages", "engine"),
    *("model", "agents", "fallback_agent", "alone", "turns"),
)
REMOVABLE = (
    *("instruction:", "tool_result:", "message:", "memory:", "retrieval:"),
    *("tool:", "default:", "global:", "host:"),
)
CASE_KEYS = ("id", "half", "about", *APPLICATION, "asked", "right", "cause", "without", "repair")


@dataclass(frozen=True)
class Case:
    """One planted fault."""

    id: str
    kind: str
    half: str
    """`tuning` or `held`."""
    about: str
    """What the author did, and what came of it."""
    application: Mapping[str, Any]
    asked: Mapping[str, Any]
    """`text`, a stretch of the reply, or `variable` with its `value`; `turn` if not the last."""
    right: Any
    """What the reply has, or the variable is, once the fault is repaired."""
    cause: tuple[str, ...]
    """The true cause; two names where both are honestly the same thing."""
    repair: tuple[Mapping[str, Any], ...]
    """What the author should have written."""
    without: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the reply `says` when the cause is removed, or that it `differs`, or what the turn
    `calls` that it never called; or why there is `nothing` to remove. Empty where the cause is of
    no kind that can be removed."""
    group: str = ""
    """`tuning` or `fresh`, after the file it stands in; empty for the file of both halves."""

    @property
    def nameable(self) -> str:
        """The cause, if it is of a kind that can be removed; empty for others."""
        return next((ref for ref in self.cause if ref.startswith(REMOVABLE)), "")

    @property
    def removable(self) -> str:
        """The cause that can be removed; empty for none."""
        return "" if "nothing" in self.without else self.nameable

    def repaired(self) -> Mapping[str, Any]:
        """The application as it should have been."""
        fixed = copy.deepcopy(dict(self.application))
        for one in self.repair:
            fixed = _amended(fixed, one, self.id)
        return fixed


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case, by kind."""
    return tuple(case for kind in KINDS for which in FILES for case in cases_of(kind, which))


def cases_of(kind: str, which: str) -> Iterator[Case]:
    """The cases of one file: those in two halves, the further ones, or the fresh ones."""
    file = FOLDER / f"{kind}{which}.yaml"
    document = read_document(file.read_text(encoding="utf-8"), str(file))
    if document.problems:
        raise AssertionError(f"{file.name}: {document.problems[0]}")
    for item in document.value:
        yield case_of(item, kind, which.removeprefix("."))


def case_of(item: Mapping[str, Any], kind: str, group: str = "") -> Case:
    """The case that an item of a file describes."""
    unknown = sorted(item.keys() - set(CASE_KEYS))
    assert not unknown, f"{kind}/{item.get('id')}: unknown keys {unknown}"
    asked = item["asked"]
    cause = item["cause"]
    return Case(
        item["id"],
        kind,
        item["half"],
        item["about"],
        {key: item[key] for key in APPLICATION if key in item},
        {"text": asked} if isinstance(asked, str) else asked,
        item["right"],
        (cause,) if isinstance(cause, str) else tuple(cause),
        tuple(item["repair"]),
        item.get("without") or {},
        group,
    )


# ------------------------------------------------------------------ repairing


def _amended(application: dict[str, Any], one: Mapping[str, Any], case: str) -> Any:
    if "instead_of" in one:
        count = [0]
        fixed = _rewritten(application, one["instead_of"], one["write"], count)
        wanted = one.get("times", 1)
        assert count[0] == wanted, f"{case}: {one['instead_of']!r} stands there {count[0]} times"
        return fixed
    spot, last = _spot(application, one.get("at") or one["move"])
    if "move" in one:
        moved = spot.pop(_index(spot, last))
        spot.insert(_index(spot, one["behind"]) + 1, moved)
        return application
    if one.get("remove"):
        del spot[_index(spot, last)]
    elif isinstance(spot, list) and last == "-":
        spot.append(one["write"])
    else:
        spot[_index(spot, last)] = one["write"]
    return application


def _spot(application: Any, path: str) -> tuple[Any, str]:
    """What holds the last name of a path."""
    *way, last = path.strip("/").split("/")
    spot = application
    for name in way:
        spot = spot[_index(spot, name)]
    return spot, last


def _index(spot: Any, name: str) -> Any:
    """Where in an object or a list; an item of a list is named by its number or its id."""
    if not isinstance(spot, list):
        return name
    for at, item in enumerate(spot):
        if isinstance(item, dict) and item.get("id") == name:
            return at
    return int(name)


def _rewritten(value: Any, old: str, new: str, count: list[int]) -> Any:
    """The value with one text in place of another, in texts and in names of fields."""
    if isinstance(value, str):
        count[0] += value.count(old)
        return value.replace(old, new)
    if isinstance(value, list):
        return [_rewritten(item, old, new, count) for item in value]
    if isinstance(value, dict):
        return {
            _rewritten(key, old, new, count): _rewritten(item, old, new, count)
            for key, item in value.items()
        }
    return value


# ------------------------------------------------------------------ taking out


def taken_out(case: Case) -> Mapping[str, Any] | None:
    """The application without the instruction or memory that is the cause; None for others."""
    kind, _, name = case.removable.partition(":")
    if kind not in ("instruction", "memory"):
        return None
    application = copy.deepcopy(dict(case.application))
    tools = application.get("tools") or {}
    lists = [tool.get("rules", []) for tool in tools.values()]
    for agent in application["agents"].values():
        lists += [agent.get("instructions", []), agent.get("injections", [])]
        lists += [one.get("on_tool_result", []) for one in agent.get("instructions", [])]
    found = [(held, one) for held in lists for one in held if one["id"] == name]
    for held, one in found:
        held.remove(one)
    return application if found else None
