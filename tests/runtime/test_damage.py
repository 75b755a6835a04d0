"""Is a session that came back from storage fit to go on?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import DamagedSession
from saywhy.values import UNDEFINED
from tests.flows.conftest import Lines, engine_of, talk
from tests.runtime.test_session import everything


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tree: tree.update(format=99), "format 99 is not the session format 1"),
        (lambda tree: tree.pop("sessionId"), "the session cannot be read: .*sessionId"),
        (lambda tree: tree.update(userId=5), r"the session cannot be read: .*userId"),
        (lambda tree: tree.update(messageSeq="many"), "the session cannot be read: .*messageSeq"),
        (lambda tree: tree.update(cargo=[1]), "the session cannot be read: .*cargo"),
        (lambda tree: tree["cursor"].update(state=[1]), "its state cannot be read"),
        (
            lambda tree: tree["cursor"]["state"]["scopes"]["session"].update(queue=[5]),
            "its scope session cannot be read: .*queue",
        ),
        (
            lambda tree: tree["cursor"]["state"]["scopes"]["session"].update(
                transactions=[{"frame": []}]
            ),
            "its scope session cannot be read: not every transaction is an object",
        ),
        (
            lambda tree: tree["cursor"]["state"]["scopes"]["turn"].update(reply={}),
            "its scope turn cannot be read: .*reply",
        ),
        (
            lambda tree: tree["cursor"]["frames"][1].update(id=None),
            r"frame 1 \(flow Other\): it cannot be read: .*id",
        ),
        (lambda tree: tree["cursor"]["frames"].append(5), "frame 3: it cannot be read"),
        (
            lambda tree: tree["cursor"]["frames"][2]["data"].update(question=[1]),
            r"frame 2 \(flow Sub\): it cannot be read: .*question",
        ),
        (
            lambda tree: tree["cursor"]["frames"][0].update(scope="cargo"),
            r"frame 0 \(flow Main\): it is no frame of a flow",
        ),
    ],
)
async def test_damage_is_named_when_a_session_is_read(change: Any, problem: str) -> None:
    """By frame and flow where it is in one."""
    engine, session = await everything()
    tree = json.loads(session.to_json())
    change(tree)
    with pytest.raises(DamagedSession, match=problem):
        engine.load_session(json.dumps(tree))


@pytest.mark.parametrize("data", ["", "{", "[]", "null", '"text"', b"\xff", "{}"])
def test_what_is_no_session_at_all(data: str | bytes) -> None:
    """An error of ours, whatever was handed in."""
    with pytest.raises(DamagedSession):
        engine_of().load_session(data)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda frame: frame.update(chart="0123"), "does not have the version 0123 of the flow"),
        (lambda frame: frame.update(at="/steps/77"), "the flow has no step /steps/77"),
        (lambda frame: frame.update(scope="v99"), r"its variables \(v99\) are missing"),
        (
            lambda frame: frame.update(waiting={"kind": "tool", "name": "t"}),
            "it waits for a tool, which no message can answer",
        ),
    ],
)
async def test_damage_that_only_the_flows_can_tell(change: Any, problem: str) -> None:
    """Found before the turn begins; the session is left alone."""
    engine, session = await everything()
    tree = json.loads(session.to_json())
    change(tree["cursor"]["frames"][2])
    damaged = engine.load_session(json.dumps(tree))
    before = damaged.to_json()
    with pytest.raises(DamagedSession, match=rf"frame 2 \(flow Sub\): .*{problem}"):
        await engine.update_activity("1", damaged)
    assert damaged.to_json() == before


@pytest.mark.parametrize("frames", [None, {}, "text", UNDEFINED])
async def test_missing_stacks_are_no_damage(frames: Any) -> None:
    """The conversation goes on without flows; cargo and ended transactions are kept."""
    engine, session = await everything()
    tree = json.loads(session.to_json())
    if frames is UNDEFINED:
        del tree["cursor"]["frames"]
    else:
        tree["cursor"]["frames"] = frames
    log = Lines()
    engine.logger = log
    fresh = engine.load_session(json.dumps(tree))
    assert log.lines == [
        "W the session's flow stacks were missing or invalid; it goes on with fresh ones"
    ]
    assert (fresh.flow_stacks, fresh.secrets, fresh.pending_messages) == ([], (), [])
    assert fresh.cargo["plan"]["name"] == "gold"
    assert (await talk(engine, "Main", session=fresh)).response == "a\n\nfirst?"


async def test_without_a_cursor_all_is_begun_afresh() -> None:
    """As far as it can be."""
    engine, session = await everything()
    tree = json.loads(session.to_json())
    del tree["cursor"]
    fresh = engine.load_session(json.dumps(tree))
    assert (await talk(engine, "Main", session=fresh)).response == "a\n\nfirst?"
