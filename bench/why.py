"""How often explanations are right: the planted faults, whose true causes are known.

    python -m bench.why                 all faults; a table, and bench/why.json
    python -m bench.why --half tuning   one half of them; `fresh`: those of `held` that are fresh
    python -m bench.why --misses        only the faults that were not found, with what stood there

For each fault: whether its true cause is in the chain, its place in `Chain.ranked`, how many causes
the chain has, and whether the reply changes as it should when the cause is removed. The faults of
`tuning` are there to tune the ranking by, those of `held` are not. Some of these are `fresh`, and
counted apart: written after the ranking was tuned, never used for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from tests.faults.case import KINDS, Case, all_cases
from tests.faults.measuring import FIRST, Measured, measured

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "why.json"
PARTS = ("tuning", "held", "fresh")
"""The two halves; those of `held` that are fresh stand apart."""


def main(given: Sequence[str]) -> int:
    """Exit code 0, whatever was found: the thresholds are tested elsewhere."""
    options = argparse.ArgumentParser(prog="python -m bench.why")
    options.add_argument("--half", choices=PARTS)
    options.add_argument("--misses", action="store_true")
    chosen = options.parse_args(given)
    cases = [one for one in all_cases() if chosen.half in (None, part_of(one))]
    found = asyncio.run(_all(cases))
    for one in found:
        if not chosen.misses or not one.good:
            print(row(one))
            if chosen.misses:
                print("\n".join(f"      {at}. {name}" for at, name in enumerate(one.first, 1)))
                print(indent(one.unasked, "      "))
    print(totals(found))
    if chosen.half is None:
        RESULTS.write_text(json.dumps(as_json(found), indent=2) + "\n", encoding="utf-8")
    return 0


def part_of(case: Case) -> str:
    """Which figures a case counts for."""
    return case.group if case.group == "fresh" else case.half


async def _all(cases: Sequence[Case]) -> list[Measured]:
    return [await measured(case) for case in cases]


def row(one: Measured) -> str:
    """One fault."""
    place = f"{one.rank}." if one.rank else "in chain" if one.in_chain else "MISSING"
    removed = {True: "confirmed", False: "NOT confirmed", None: ""}[one.confirmed]
    name = f"{one.case.kind}/{one.case.id}"
    return f"{name:<72}{part_of(one.case):<8}{place:>9}{one.length:>6}  {removed}".rstrip()


def totals(found: Sequence[Measured]) -> str:
    """The figures by kind, by half, of the fresh ones apart, and of all."""
    lines = [f"\n{'':<32}{'faults':>8}{'in chain':>10}{'first 3':>9}{'length':>8}{'confirmed':>12}"]
    groups = {kind: [one for one in found if one.case.kind == kind] for kind in KINDS}
    groups |= _parts(found)
    groups["all"] = list(found)
    for name, group in groups.items():
        if group:
            lines.append(_figures(name, group))
    return "\n".join(lines)


def _parts(found: Sequence[Measured]) -> dict[str, list[Measured]]:
    return {part: [one for one in found if part_of(one.case) == part] for part in PARTS}


def _figures(name: str, group: Sequence[Measured]) -> str:
    count = summary(group)
    asked = f"{count['confirmed']}/{count['removable']}" if count["removable"] else "-"
    return (
        f"{name:<32}{count['faults']:>8}{count['in_chain']:>10}{count['first_3']:>9}"
        f"{count['median_length']:>8}{asked:>12}"
    )


def summary(group: Sequence[Measured]) -> dict[str, int]:
    """The figures of some faults."""
    return {
        "faults": len(group),
        "in_chain": sum(one.in_chain for one in group),
        f"first_{FIRST}": sum(one.rank in range(1, FIRST + 1) for one in group),
        "median_length": round(statistics.median(one.length for one in group)),
        "removable": sum(bool(one.case.removable) for one in group),
        "confirmed": sum(one.confirmed is True for one in group),
    }


def as_json(found: Sequence[Measured]) -> dict[str, object]:
    """Everything, for programs."""
    kinds = {kind: [one for one in found if one.case.kind == kind] for kind in KINDS}
    return {
        "all": summary(found),
        "halves": {name: summary(group) for name, group in _parts(found).items() if group},
        "kinds": {name: summary(group) for name, group in kinds.items() if group},
        "faults": [one.to_value() for one in found],
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
