"""Promise: a conversation survives JSON as it is, and what is none says what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor, State
from saywhy.errors import CallerError, DamagedSession
from saywhy.runtime.agents.kept import Kept, Paused, from_json, to_json
from saywhy.values import FrozenDict, FrozenList, freeze

HISTORY = freeze(
    [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "a"}]},
        {"role": "tool", "content": "$10", "tool_call_id": "1"},
    ]
)
PAUSED = Paused(
    Cursor([], State({"state": {"odd": freeze({"$date": None})}})),
    "d" * 20,
    "hi",
    FrozenDict({"question": "Sure?", "tool_call_id": "h1"}),
    HISTORY,
    1,
    (Commit(1, 1, 1, "d", "agent", "seed", "stage"),),
    (10, 20, 1),
)
KEPT = Kept(
    "c9",
    HISTORY,
    turn=3,
    strict_calls=2,
    pending=FrozenDict({"follow_up": {"tool_id": "t"}, "source_tool_id": "a"}),
    offered=FrozenList([{"tool_id": "t"}]),
    decision=FrozenDict({"$num": "NaN"}),
    run_id="r1",
)


@pytest.mark.parametrize("kept", [Kept("c"), KEPT, KEPT.but(paused=PAUSED)])
def test_json_and_back(kept: Kept) -> None:
    """Everything is there again, values that look like our own marks included."""
    assert from_json(to_json(kept, "bob"), "bob", "d" * 20) == kept


def document(**changes: Any) -> bytes:
    tree = json.loads(to_json(KEPT.but(paused=PAUSED), "bob"))
    for name, value in changes.items():
        tree[name] = value
    return json.dumps(tree).encode()


PAUSED_TREE: dict[str, Any] = json.loads(document())["paused"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "this checkpoint is no JSON of ours: "),
        (b"[]", "this is no checkpoint of an agent: agent.checkpoint() makes one"),
        (b'{"format": 1}', "this is no checkpoint of an agent: agent.checkpoint() makes one"),
        (
            document(format=2),
            "this checkpoint has format 2, and this version of Saywhy reads format 1",
        ),
        (
            document(agent="ann"),
            'this checkpoint is of the agent "ann", and this one is "bob": restore it with the '
            "agent it was made by",
        ),
        (document(turn=-1), "turn of this checkpoint is not a number"),
        (document(turn=True), "turn of this checkpoint is not a number"),
        (document(id=5), "id of this checkpoint is not text"),
        (document(history={}), "history of this checkpoint is not a list"),
        (document(history=[{"role": "user"}, 5]), "history[1] of this checkpoint is no message"),
        (document(decision=[]), "decision of this checkpoint is not an object"),
        (document(paused=[]), "paused of this checkpoint is no object"),
        (document(paused={"chart": 1}), "paused.chart of this checkpoint is not text"),
        (
            document(paused={"chart": "e" * 20}),
            "the run rests in version eeeeeeeeeeee of the agent's chart, and the agent now has "
            "version dddddddddddd: resume it with the agent as it was, or begin a new run",
        ),
        (
            document(paused={"chart": "d" * 20, "commits": [{"seq": 1}], "cursor": {}}),
            "the record in this checkpoint cannot be read: ",
        ),
        (
            document(paused={**PAUSED_TREE, "used": [1, "x", 2]}),
            "paused.used of this checkpoint is no usage: ",
        ),
        (
            document(paused={"chart": "d" * 20, "commits": [], "cursor": {"frames": [1]}}),
            "the stored cursor cannot be read: ",
        ),
    ],
)
def test_what_is_no_checkpoint(data: bytes, problem: str) -> None:
    """Each kind of damage is told as such."""
    with pytest.raises(DamagedSession) as caught:
        from_json(data, "bob", "d" * 20)
    assert str(caught.value).startswith(problem)


def test_a_checkpoint_is_text() -> None:
    """Handing over anything else is told with where to get one."""
    with pytest.raises(CallerError, match=r"^a checkpoint is bytes or text, not dict"):
        from_json({}, "bob", "")  # type: ignore[arg-type]


def test_cut_off_at_any_byte() -> None:
    """A document that was cut off is damaged, wherever the cut is."""
    whole = to_json(KEPT.but(paused=PAUSED), "bob")
    for end in range(0, len(whole), 7):
        with pytest.raises(DamagedSession):
            from_json(whole[:end], "bob", "d" * 20)


def paths(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a tree."""
    found = [at] if at else []
    if isinstance(tree, dict):
        found += [one for key in tree for one in paths(tree[key], (*at, key))]
    elif isinstance(tree, list):
        found += [one for number, inner in enumerate(tree) for one in paths(inner, (*at, number))]
    return found


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [5], True, "gone"])
def test_whatever_is_changed_is_found(value: Any) -> None:
    """At any place, to anything; what is only laid out anew is read."""
    whole = json.loads(document())
    for path in paths(whole):
        tree = json.loads(document())
        inner = tree
        for key in path[:-1]:
            inner = inner[key]
        before = inner[path[-1]]
        if value == "gone":
            del inner[path[-1]]
        elif (type(before), before) == (type(value), value):
            continue
        else:
            inner[path[-1]] = value
        with pytest.raises(DamagedSession):
            from_json(json.dumps(tree), "bob", "d" * 20)
    laid_out = json.dumps(whole, indent=2, sort_keys=True)
    assert from_json(laid_out, "bob", "d" * 20) == KEPT.but(paused=PAUSED)


def test_a_change_in_the_state_of_a_run_is_told() -> None:
    """Otherwise it would come to light in the midst of the run."""
    tree = json.loads(document())
    tree["history"][0]["content"] = "give me all of it"
    with pytest.raises(DamagedSession) as caught:
        from_json(json.dumps(tree), "bob", "d" * 20)
    assert str(caught.value) == (
        "this checkpoint was changed after it was written: its digest is another one; restore it "
        "as agent.checkpoint() gave it"
    )
