"""Going back to the step that asked: to which frame and step, and what is then as it was before it.

Everything here is computed from the record; who writes it and moves the cursor is `chart`'s, and
`plan` tries it on a copy first. Which of the steps gone back over are run again is `replay`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from saywhy.chart.cursor import Cursor, Frame, State
from saywhy.flows.corrections.entries import Entry, Root, Write
from saywhy.flows.corrections.log import (
    RECORD,
    Log,
    key_of,
    owner_of,
    path_of,
    recorded,
    root_name,
    value_written,
)
from saywhy.flows.corrections.recording import KEPT
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, same

FRESH: Final[Mapping[str, Any]] = {
    "attempt": 0,
    "rounds": 0,
    "call": 0,
    "question": None,
    "justResumed": False,
    "seen": [],
    "checked": [],
    "outcome": None,
    "lastAsk": "",
    "lastVariable": "",
}
"""What a frame that is gone back to keeps of where it waited: nothing."""


class CannotGoBack(Exception):
    """The steps since cannot be run again as they were; the text says why."""


class Rewound(NamedTuple):
    """How the conversation stands once it has gone back."""

    owner: Frame
    frame: Frame
    """The frame that goes on."""
    to: str
    """The step it goes on at."""
    data: dict[str, Any]
    restored: tuple[Write, ...]
    """Variables as they were before that step."""
    log: FrozenDict
    """The record as it is then."""


class Correction(NamedTuple):
    """An answer that takes the place of an earlier one."""

    seq: int
    """The step that asked, by its commit."""
    value: str
    message: int
    undone: tuple[int, ...] = ()
    """Steps whose effect is undone by then, by their commits."""


def rewound(flow: Cursor, waiting: Frame, correction: Correction) -> Rewound:
    """How things stand before the step that asked. Raises `CannotGoBack`.

    `waiting` is the frame that waits for the user, `flow` the stack it stands on.
    """
    owner = owner_of(flow, waiting)
    log = Log(flow.state.get(*key_of(owner)))
    entries = log.all()
    frame, index = _start(flow, waiting, entries, correction.seq)
    gone, kept = entries[index:], entries[:index]
    for entry in gone:
        if entry.data.get("replaces"):
            raise CannotGoBack("a flow that was called has given way to another one since")
        if entry.kind == "FORM":
            raise CannotGoBack("a form was filled in since")
        if entry.kind == "AGENT":  # what it did and said cannot be taken back
            raise CannotGoBack("an agent has answered since")
    restored = tuple(_restored(flow.state, frames_of(flow, owner, frame), log, kept, gone))
    undone = set(correction.undone)
    memo = [
        {**tree, "stale": True, "undone": True} if tree["seq"] in undone else tree
        for tree in (*log.entries.raw[index:], *log.memo)
    ]
    back = [path_of(waiting), waiting.at]
    if "back" in log.target and log.memo:
        back = log.target["back"]
    tree = Log(
        FrozenDict(
            {
                "entries": FrozenList(log.entries.raw[:index]),
                "first": log.first,
                "stamps": _stamps(kept),
                "memo": memo,
                "target": {
                    "seq": correction.seq,
                    "value": correction.value,
                    "message": correction.message,
                    "back": back,
                },
            }
        )
    ).tree()
    return Rewound(owner, frame, gone[0].node, _data(frame, kept), restored, FrozenDict(tree))


def frames_of(flow: Cursor, owner: Frame, top: Frame) -> list[Frame]:
    """The recorded frames from the owner up to `top`."""
    first, last = flow.frames.index(owner), flow.frames.index(top)
    return [frame for frame in flow.frames[first : last + 1] if recorded(frame)]


def _start(flow: Cursor, waiting: Frame, entries: list[Entry], seq: int) -> tuple[Frame, int]:
    """The frame and recorded step to go back to: the one that asked, or the call of its flow."""
    index = next((i for i, one in enumerate(entries) if one.seq == seq), None)
    if index is None:
        raise CannotGoBack("too many steps were run since")
    target = entries[index]
    live = frames_of(flow, owner_of(flow, waiting), waiting)
    lowest = max(
        (frame for frame in live if _leads_to(path_of(frame), target.path)),
        key=lambda frame: len(path_of(frame)),
    )
    if path_of(lowest) == target.path:
        node = target.node
    else:
        node = target.path[len(path_of(lowest)) + 1 :].split(">")[0]
    path = path_of(lowest)
    found = [
        i for i, one in enumerate(entries[: index + 1]) if (one.path, one.node) == (path, node)
    ]
    if not found:
        raise CannotGoBack("too many steps were run since")
    first = found[-1]
    while first and (entries[first - 1].path, entries[first - 1].node) == (path, node):
        first -= 1  # what the step wrote before it rested
    return lowest, first


def _leads_to(path: str, target: str) -> bool:
    return not path or target == path or target.startswith(f"{path}>")


def _restored(
    state: State, frames: list[Frame], log: Log, kept: list[Entry], gone: list[Entry]
) -> Iterator[Write]:
    """Each variable that a step gone back over wrote, as it was before."""
    scopes = {"cargo", *(frame.scope for frame in frames)}
    stamps = _stamps(kept)
    for root in dict.fromkeys(write.root for entry in gone for write in entry.writes):
        if root[0] not in scopes or _is_foreign(state, log, root):
            continue
        before = value_written(stamps.get(root_name(root), 0), root, kept, log.first)
        if before is not None:
            yield before


def _is_foreign(state: State, log: Log, root: Root) -> bool:
    """Whether the host or another flow has written to cargo since: that stays."""
    if root[0] != "cargo":
        return False
    last = value_written(log.stamp(root), root, log.known(), log.first)
    value = state.get(*root)
    if last is None or last.gone:
        return value is not UNDEFINED
    return not same(last.value, value)


def _stamps(entries: list[Entry]) -> dict[str, int]:
    return {root_name(write.root): entry.seq for entry in entries for write in entry.writes}


def _data(frame: Frame, kept: list[Entry]) -> dict[str, Any]:
    """What the frame kept of the steps before."""
    data = dict(FRESH)
    data["input"] = frame.data[RECORD].get("input")
    for entry in kept:
        if entry.path == path_of(frame):
            data |= {name: entry.data[name] for name in KEPT if name in entry.data}
    return data
