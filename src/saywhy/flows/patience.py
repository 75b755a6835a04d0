"""How long a question waits for its answer: the `timeout` of a SAY-GET, read and noted.

What a step does when nobody answered is `silence`'s; when something falls due next is `due`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.model import Node
from saywhy.chart.scope import Scope

SILENCE: Final = "silence"
"""Where a frame keeps how long the question waits that it rests at; see `Waits`."""


class Waits(msgspec.Struct):
    """What a frame keeps under `SILENCE`."""

    after: int | float
    rounds: int
    """How often the question was asked again."""
    asked: int
    """The commit that asked it."""


class Patience(msgspec.Struct, frozen=True):
    """The `timeout` of a SAY-GET."""

    after_ms: float
    again: int
    """How often the question is asked again."""
    spec: Mapping[str, Any]
    """The rest, as written: `ask`, `value`."""


def patience_of(spec: Mapping[str, Any]) -> Patience | None:
    """The timeout of a step; None where it has none that could be kept."""
    written = spec.get("timeout")
    told: Mapping[str, Any] = written if isinstance(written, Mapping) else {"after": written}
    after_ms = milliseconds(told.get("after"))
    if after_ms is None:
        return None
    most = told.get("max")
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        most = 1 if any(key.startswith("ask") for key in told) else 0
    return Patience(after_ms, most, told)


def milliseconds(value: Any) -> float | None:
    """A number of milliseconds above 0; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < float("inf") else None


def begin(node: Node, scope: Scope, rounds: int = 0) -> None:
    """Note how long the question that is posed in this step waits."""
    patience = patience_of(node.spec) if "timeout" in node.spec else None
    if patience is None or node.kind != "SAY-GET":
        end(scope)
        return
    noted = {"after": patience.after_ms, "rounds": rounds, "asked": scope.state.seq + 1}
    scope.keep(SILENCE, noted)


def end(scope: Scope) -> None:
    """The question is answered, or waits for as long as it takes."""
    if scope.kept(SILENCE) is not None:
        scope.keep(SILENCE, None)
