"""Promise: an outcome that the expression cannot have had ends the process that told it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from saywhy.expr.distant import DistantWorker
from saywhy.expr.outcome import Evaluated, Raised, Suspended
from saywhy.expr.pool import Pool
from saywhy.expr.process import Process
from saywhy.expr.sandbox import Limits
from saywhy.expr.transfer import MARK
from saywhy.values import Date

from .conftest import Variables


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(Limits(), 1)
    yield pool
    pool.close()


def told(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, says: Any, source: str, text: bool = False
) -> Any:
    """The outcome of `source` when its process says `says`."""
    worker = DistantWorker(pool)
    names = Variables({"list": [1], "n": 1}, {"ask": str})
    worker.evaluate(source, names, [], 0.0, 0, text)
    with monkeypatch.context() as patch:
        patch.setattr(Process, "_exchange", lambda *_: says)
        return worker.evaluate(source, names, [], 0.0, 0, text)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("n * 2", MARK),
        ("n * 2", MARK + "?"),
        ("n * 2", MARK + "j[1"),
        ("n * 2", MARK + "j" + "[" * 5000),
        ("n * 2", MARK + 't{"$date": [1]}'),
        ("n * 2", MARK + 't{"$bigint": "x"}'),
        ("n * 2", MARK + 'f{"$foreign": ["shell", null, ""]}'),
        ("n * 2", MARK + "e[1, 2, 3]"),
        ("n * 2", MARK + "e{}"),
        ("list.push(2)", MARK + "wj[0]"),
        ("list.push(2)", MARK + 'wj["x", [1, [1]]]'),
        ("n * 2", MARK + 'sjask:0:["x"]'),
        ("ask(n)", MARK + 'sjother:0:["x"]'),
        ("ask(n)", MARK + 'sjask:3:["x"]'),
        ("ask(n)", MARK + 'sjask:0:{"x": 1}'),
    ],
)
def test_what_cannot_be(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, source: str, says: str
) -> None:
    """Forms that are none, tags with nonsense in them, functions it did not call."""
    assert told(pool, monkeypatch, says, source) == Raised(
        "WorkerFailed",
        "the process for this expression gave an answer that cannot be read",
        told(pool, monkeypatch, MARK, source).reads,
    )
    assert not pool._processes, "ended, not used again"


def test_what_can_be(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ways of saying it, with sense in them."""
    date = told(pool, monkeypatch, MARK + 't{"$date": 5}', "n * 2")
    assert isinstance(date, Evaluated)
    assert date.value == Date(5)
    call = told(pool, monkeypatch, MARK + 'sjask:0:["x"]', "ask(n)")
    assert call == Suspended("ask", ["x"], 0)


def test_text_is_text(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a text was asked for, nothing else is taken."""
    assert told(pool, monkeypatch, None, "n * 2", text=True).kind == "WorkerFailed"
    assert told(pool, monkeypatch, "a", "n * 2", text=True).value == "a"
