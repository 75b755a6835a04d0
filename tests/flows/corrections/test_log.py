"""The record of a run: plain data, bounded, the same before and after JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import DamagedSession
from saywhy.flows.corrections.entries import Effect, Entry, Read, Write
from saywhy.flows.corrections.log import MAX_ENTRIES, Log, value_written
from saywhy.values import UNDEFINED, FrozenDict, dumps, freeze, loads
from tests.flows.conftest import ask, engine_of, flow, put, say, talk

FULL = Entry(
    7,
    ">/steps/1",
    "/steps/0",
    "SAY-GET",
    "/steps/1",
    (Read(3, ("v1", "a", "b")), Read(0, ("cargo", "x"))),
    (Read(0, ("input", "4")),),
    (Write(("v1", "a"), freeze({"b": [1, UNDEFINED]})), Write(("cargo", "x"), gone=True)),
    {"input": freeze(["hi", 4]), "field": "a"},
    "default",
    Effect("pay", "refund", freeze({"id": "{{no template}}"}), "Sure?"),
    "Main",
)


def test_an_entry_goes_through_json() -> None:
    """Nothing is lost, not even undefined, and a variable that is gone is not one that is null."""
    assert Entry.of(loads(dumps(FrozenDict(FULL.tree())))) == FULL
    bare = Entry(1, "", "/steps/0", "SAY")
    assert Entry.of(bare.tree()) == bare


def test_a_record_goes_through_json() -> None:
    """What a variable was before the first step that wrote it is part of it."""
    log = Log()
    log.add([FULL], {("v1", "a"): "old"})
    again = Log(loads(dumps(FrozenDict(log.tree()))))
    assert again.all() == [FULL]
    assert again.stamp(("v1", "a")) == 7
    assert value_written(0, ("v1", "a"), [], again.first) == Write(("v1", "a"), "old")
    assert value_written(0, ("cargo", "x"), [], again.first) == Write(("cargo", "x"), gone=True)
    assert value_written(0, ("v1", "z"), [], again.first) is None


def test_a_record_is_bounded() -> None:
    """The oldest steps are taken as what went before: their values are not forgotten."""
    log = Log()
    for number in range(1, 1000):
        entry = Entry(number, "", f"/steps/{number}", "SET", writes=(Write(("v1", "a"), number),))
        log.add([entry], {("v1", "a"): number - 1})
    kept = log.all()
    assert MAX_ENTRIES <= len(kept) <= MAX_ENTRIES * 1.25
    assert log.first["v1/a"] == [kept[0].seq - 1]


async def test_other_flows_keep_nothing() -> None:
    """Where corrections are off, neither session nor frame knows of them."""
    plain = flow(ask("a"), put("b", "1"), ask("c"))
    session = await talk(engine_of(plain), "Main", "x")
    assert "corrections" not in session.state.scopes
    assert not {"record", "seen", "checked"} & session.cursor.top.data.keys()


async def test_the_record_goes_with_its_flow() -> None:
    """It is there while the flow runs, covers what is called from there, and then is gone."""
    inner = flow(ask("b"), name="Inner")
    call: dict[str, Any] = {"type": "FLOW", "value": "Inner"}
    engine = engine_of(flow(ask("a"), call, ask("c"), say("."), corrections=True), inner)
    session = await talk(engine, "Main", "1", "2")
    (record,) = session.state.scopes["corrections"].values()
    paths = [(one.path, one.node) for one in Log(record).all()]
    assert paths == [
        ("", "/steps/0"),
        ("", "/steps/1"),
        (">/steps/1", "/steps/0"),
        (">/steps/1", "(end)"),
    ]
    for last in ("3", "cancel"):
        assert not (await talk(engine, last, session=session)).state.scopes["corrections"]


async def test_an_interrupted_turn_of_words_is_no_step() -> None:
    """A session that grows long in one question does not grow its record."""
    engine = engine_of(flow(ask("a"), ask("b"), corrections=True))
    session = await talk(engine, "Main", "1", "help", "status", "help")
    (record,) = session.state.scopes["corrections"].values()
    assert len(Log(record).all()) == 1


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (5, "keeps for corrections cannot be"),
        ({"3": {"entries": [{}]}}, "'seq'"),
        ({"3": 7}, "frame 3 keeps for"),
    ],
)
async def test_a_damaged_record_is_found_when_the_session_is_loaded(
    record: Any, problem: str
) -> None:
    """And not in the midst of a turn."""
    engine = engine_of(flow(ask("a"), ask("b"), corrections=True))
    session = await talk(engine, "Main", "1")
    document = json.loads(session.to_json())
    document["cursor"]["state"]["scopes"]["corrections"] = record
    with pytest.raises(DamagedSession, match=problem):
        engine.load_session(json.dumps(document))
