"""Evaluates hostile expressions, one JSON line at a time, in a process that may be killed.

Each line `{"expr": …, "vars": …}` is answered with a line that says how it ended and what happened
around it: how the same thread and another one evaluate afterwards, and which files, sockets or
processes were opened meanwhile. `seconds` sets another time limit, and `touch` opens a file, so
that the tests can see that both are noticed.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from saywhy.expr.javascript import Evaluated, JavaScript, Limits, Outcome
from saywhy.values import UNDEFINED, Value, freeze, get_path, raw, untagged

EXTRA_MEMORY = 256 << 20
WATCHED = ("open", "socket.", "subprocess.", "os.system", "os.exec", "os.fork", "ctypes.")
HARMLESS = (
    ("[1,2].map(x => x + 1)", [2, 3]),
    ('" a ".trim()', "a"),
    ("({}).polluted", UNDEFINED),
)


class Variables:
    """The variables of one evaluation."""

    functions: frozenset[str] = frozenset()

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = freeze(untagged(values))

    def has(self, name: str) -> bool:
        return name in self._values

    def get(self, path: tuple[str | int, ...]) -> Value:
        return get_path(self._values, path)


def main() -> None:
    """Answer until standard input ends."""
    opened: list[str] = []
    other = JavaScript()
    engine = JavaScript()
    assert is_healthy(engine)  # all that is loaded on first use is loaded now
    limit_memory()

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(WATCHED):
            opened.append(event)

    sys.addaudithook(audit)
    for line in sys.stdin:
        case = json.loads(line)
        limits = Limits(seconds=case["seconds"]) if "seconds" in case else engine.limits
        opened.clear()
        if "touch" in case:
            Path(__file__).open().close()
        outcome = JavaScript(limits).evaluate(case["expr"], Variables(case["vars"]))
        answer = {
            "outcome": describe(outcome),
            "is_value": isinstance(outcome, Evaluated),
            "healthy": is_healthy(engine) and is_healthy_elsewhere(other),
            "opened": list(opened),
        }
        print(json.dumps(answer), flush=True)


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def describe(outcome: Outcome) -> str:
    return repr(outcome)[:2000]


def is_healthy(engine: JavaScript) -> bool:
    for source, expected in HARMLESS:
        outcome = engine.evaluate(source, Variables({}))
        if not isinstance(outcome, Evaluated) or raw(outcome.value) != expected:
            return False
    return True


def is_healthy_elsewhere(engine: JavaScript) -> bool:
    found: list[bool] = []
    thread = Thread(target=lambda: found.append(is_healthy(engine)))
    thread.start()
    thread.join()
    return found == [True]


if __name__ == "__main__":
    main()
