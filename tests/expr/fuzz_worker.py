"""Takes whatever it is given for an expression and a template; in a process that may die of it.

Each line of JSON, `{"text": …}`, is answered with one: how the evaluations ended, the processor
time they took, and whether the engine is well afterwards.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from saywhy import quick
from saywhy.chart.scope import Scope
from saywhy.expr.javascript import Evaluated, JavaScript, Limits
from saywhy.expr.names import read_expression
from saywhy.expr.template import condition_source, parse_template
from saywhy.flows.evaluate import condition, native_value, say_text
from saywhy.flows.world import World
from tests.expr.conftest import Variables
from tests.flows.conftest import flow, say, scope_at, world_of

EXTRA_MEMORY = 256 << 20
VALUES: dict[str, Any] = {
    "n": 5,
    "s": "some text",
    "a": [3, 1, 2],
    "o": {"a": {"b": 1}, "x": None},
    "items": [{"name": "A", "x": 1.5}],
    "x": "x",
}


def main() -> None:
    """Answer until standard input ends."""
    world = world_of(flow(say("x")), functions={"f": quick(lambda *args: list(args))})
    engine = JavaScript(Limits(seconds=0.05))
    attempt(engine, world, "{{n}} {{f(1)}}")  # all that is loaded on first use is loaded now
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        began = time.process_time()
        ended = attempt(engine, world, json.loads(line)["text"])
        seconds = time.process_time() - began
        answer = {"ended": ended, "seconds": seconds, "well": is_well(engine)}
        print(json.dumps(answer), flush=True)


def attempt(engine: JavaScript, world: World, text: str) -> list[str]:
    """How the text fares as an expression, as a text for the user, as a value and a condition."""
    reading = read_expression(text)
    outcome = engine.evaluate(text, Variables(VALUES), text=len(text) % 2 == 0)
    ended = [type(outcome).__name__, "refused" if reading.error else "read"]
    for part in parse_template(text).holes:
        read_expression(part.source)
    condition_source(text)
    for evaluate in (say_text, native_value, condition):
        ended.append(type(evaluate(world, scope(world), text)).__name__)
    return ended


def scope(world: World) -> Scope:
    return scope_at(world, **VALUES)


def is_well(engine: JavaScript) -> bool:
    """Whether the engine gives what it should, and nothing was left in it."""
    source = "[3, 1].sort().join() + typeof left + {}.left"
    outcome = engine.evaluate(source, Variables({}))
    return isinstance(outcome, Evaluated) and outcome.value == "1,3undefinedundefined"


if __name__ == "__main__":
    main()
