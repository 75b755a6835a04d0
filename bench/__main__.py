"""Runs the benchmarks, prints a table and writes `bench/results.json`.

    python -m bench              all modules
    python -m bench imports      only these; the other results stay as they were

The JSON is `{name: {median, p95, unit, runs}}`.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
NOT_BENCHMARKS = {"__main__", "figures"}


def main(chosen: Sequence[str]) -> int:
    """Exit code 0, or 2 when a name is no benchmark."""
    names = sorted({module.name for module in pkgutil.iter_modules([str(FOLDER)])} - NOT_BENCHMARKS)
    modules = {name: importlib.import_module(f"bench.{name}") for name in names}
    modules = {name: module for name, module in modules.items() if hasattr(module, "run")}
    if unknown := sorted(set(chosen) - modules.keys()):
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(modules)}", file=sys.stderr)
        return 2
    print(f"{'benchmark':<58}{'median':>12}{'p95':>12}  unit  runs")
    figures: list[Figure] = []
    for name, module in modules.items():
        if not chosen or name in chosen:
            for found in module.run():
                print(row(found), flush=True)
                figures.append(found)
    write(figures, keep=bool(chosen))
    return 0


def row(found: Figure) -> str:
    return (
        f"{found['name']:<58}{found['median']:>12.4g}{found['p95']:>12.4g}"
        f"  {found['unit']:<4}{found['runs']:>6}"
    )


def write(figures: Sequence[Figure], *, keep: bool) -> None:
    """Writes the results; `keep` leaves those of benchmarks that did not run this time."""
    results = json.loads(RESULTS.read_text()) if keep and RESULTS.exists() else {}
    for found in figures:
        results[found["name"]] = {key: found[key] for key in ("median", "p95", "unit", "runs")}
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
