"""Promise: a path, a number beside one and a condition need no engine, and nothing else does so."""

from __future__ import annotations

import pytest

from saywhy.expr.javascript import Limits
from saywhy.expr.worker import Worker

from .conftest import Variables

VALUES = {"n": 2, "m": 3, "o": {"n": 2, "t": "tea", "l": ["a", "b"]}}


def programs(source: str) -> int:
    """How many functions were compiled to evaluate `source`."""
    worker = Worker(Limits())
    worker.evaluate(source, Variables(VALUES), (), 0.0, 0, False)
    return len(worker._programs[source].variants)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    "source",
    [
        *("n", "o.t", " o.l ", "o.l.length", "o.missing", "o['t']", "o?.t"),
        *("n + 1", "n<10", " n !== 0 ", "o.n - 999999999", "n\n>= 7"),
        *("n + m", "(n) + 1", "1 + n", "o.l.includes('a') && n > 1", "o.missing ? 1 : 2"),
    ],
)
def test_what_asks_no_engine(source: str) -> None:
    """What flows are full of."""
    assert programs(source) == 0


@pytest.mark.parametrize(
    "source",
    [
        *("f(n) + 1", "Math + 1", "-n + 1", "n * 2", "[n]", "n, m", "`${n}`", "o[n]"),
        *("/**/ n + 1", "n = 1", "o.l.push(1)", "Math.PI > 3", "o.l + 1", "'' + o.gone.t"),
    ],
)
def test_what_does(source: str) -> None:
    """Anything else."""
    assert programs(source) == 1
