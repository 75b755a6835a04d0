"""Is a session that came back from storage fit to go on? What is wrong with it, by frame and flow.

A session is a document anybody may have kept, cut or edited. What a turn relies on is looked at
once, when the session is read; what depends on the engine's flows, before each turn. Missing stacks
are no damage: the conversation goes on without flows. spec: flow-engine 1.2, 1.6
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor, Frame, State
from saywhy.chart.model import Charts
from saywhy.errors import DamagedSession
from saywhy.flows import outside
from saywhy.flows.corrections.log import SCOPE, Log
from saywhy.flows.due import Due
from saywhy.flows.forms.record import Kept
from saywhy.flows.offers import Offer
from saywhy.flows.patience import Waits
from saywhy.messages import Message
from saywhy.values import loads_into, loads_raw

FORMAT: Final = 1
"""Of the JSON of a session."""

ANSWERABLE: Final = frozenset({"user", *outside.KINDS})
"""What a session may wait for between turns: only people can give it."""

Number = int | float


class Document(msgspec.Struct, rename="camel"):
    """What a session's JSON holds. Its cursors are looked at apart."""

    format: Any
    session_id: str
    user_id: str
    created_at: Number
    language: str | None = None
    last_activity: Number = 0.0
    version: int = 0
    cargo: dict[str, Any] | None = None
    cargo_set: list[str] | None = None
    last_chat: dict[str, int] | None = None
    message_seq: int = 0
    messages: list[Message] | None = None
    commits: list[Commit] | None = None
    cursor: Any = None
    routing: list[Any] | None = None
    writers: Any = None


_DECODER: Final = msgspec.json.Decoder(Document)


class _Record(msgspec.Struct):
    """Where a frame stands in what its flow remembers for corrections."""

    path: str
    input: list[Any] | None = None
    over: list[str] = []


class _FrameData(msgspec.Struct):
    """What the flow language keeps on a frame."""

    tx: str = ""
    initiator: str = ""
    started: Number = 0.0
    first: int = 0
    parent: str = ""
    input: tuple[str, int] | None = None
    question: str | tuple[int, int, int] | None = None
    outcome: dict[str, str] | None = None
    attempt: int = 0
    call: int = 0
    rounds: int = 0
    silence: Waits | None = None
    form: Kept | None = None
    lastAsk: str = ""  # noqa: N815 - the key as it is stored
    lastVariable: str = ""  # noqa: N815
    pii: bool = False
    justResumed: bool = False  # noqa: N815
    key: str = ""
    doubt: bool = False
    fault: str = ""
    repeats: int = 0
    outside: str = ""
    approved: str = ""
    salt: str = ""
    counted: bool = False
    record: _Record | None = None


class _Open(msgspec.Struct):
    """What stands in the session of a call that a person must decide about."""

    id: str
    kind: Literal["settle", "approval"]
    tool: str
    name: str
    args: Any
    since: Number
    turn: int
    seq: int
    frame: int
    flow: str
    expires: Number = 0.0


class _Sensitive(msgspec.Struct):
    """Where sensitive values stand."""

    keys: list[tuple[list[str | int], bool]] = []
    open: dict[str, list[str] | None] = {}
    shown: dict[str, str] = {}
    openers: dict[str, int] = {}


class _SessionFacts(msgspec.Struct):
    """What the scope `session` holds."""

    language: str | None = None
    queue: list[tuple[str, int]] = []
    tentative: str = ""
    secrets: list[str] = []
    sensitive: _Sensitive | None = None
    transactions: list[Any] = []
    outside: dict[str, _Open] = {}
    decided: dict[str, dict[str, Any]] = {}
    due: Due | None = None
    pendingInterruption: Offer | None = None  # noqa: N815 - the key's name

    def __post_init__(self) -> None:
        for one in self.transactions:
            if not isinstance(one, dict) or not isinstance(one.get("frame", 0), int):
                raise ValueError("not every transaction is an object that names its frame")


class _TurnFacts(msgspec.Struct):
    """What the scope `turn` holds between turns."""

    reply: int | list[tuple[str, int]] | None = None
    message: int = 0
    calls: list[dict[str, Any]] = []
    outcome: dict[str, Any] | None = None
    dispatch: dict[str, Any] | None = None
    dispatched: str = ""


def read_document(data: bytes | str) -> Document:
    """A session's JSON. Raises `DamagedSession`, which says what is wrong."""
    try:
        document = loads_into(data, _DECODER)
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedSession(_why_not(data, error)) from error
    if document.format != FORMAT:
        raise DamagedSession(_other_format(document.format))
    return document


def _why_not(data: bytes | str, error: Exception) -> str:
    try:
        tree = loads_raw(data)
    except (ValueError, TypeError, RecursionError):
        return f"this is no JSON of ours: {error}"
    if not isinstance(tree, dict):
        return _other_format(type(tree).__name__)
    known = tree.get("format")
    return f"the session cannot be read: {error}" if known == FORMAT else _other_format(known)


def _other_format(found: Any) -> str:
    return f"format {found!r} is not the session format {FORMAT}"


def read_cursor(tree: Any, warn: Callable[[str], None]) -> Cursor:
    """The cursor of a session's JSON. A missing stack becomes an empty one, with a warning.

    Raises `DamagedSession` for a frame that cannot be read and for facts that are none.
    """
    tree = tree if isinstance(tree, dict) else {}
    frames, state = tree.get("frames", []), tree.get("state") or {}
    if "frames" not in tree or not isinstance(frames, list):
        warn("the session's flow stacks were missing or invalid; it goes on with fresh ones")
        return _fresh(state)
    for number, frame in enumerate(frames):
        _check_frame(number, frame)
    _check_facts(state)
    return Cursor.from_tree({"frames": frames, "state": state})


def _fresh(state: Any) -> Cursor:
    """No flows; the counters go on, so that no number is given twice."""
    _check_facts(state)
    cursor = Cursor.from_tree({"frames": [], "state": state})
    facts = cursor.state.scopes.get("session", {})
    kept = {name: facts[name] for name in ("language", "transactions") if name in facts}
    cursor.state.scopes = {"session": kept}
    return cursor


def _check_frame(number: int, tree: Any) -> None:
    flow = str(tree.get("name", "")) if isinstance(tree, dict) else ""
    try:
        frame = msgspec.convert(tree, Frame)
        msgspec.convert(frame.data, _FrameData)
    except msgspec.ValidationError as error:
        raise DamagedSession(f"it cannot be read: {error}", frame=number, flow=flow) from error
    if not frame.scope.startswith("v"):
        raise DamagedSession("it is no frame of a flow", frame=number, flow=flow)


def _check_facts(state: Any) -> None:
    scopes = state.get("scopes", {}) if isinstance(state, Mapping) else None
    if not isinstance(scopes, Mapping):
        raise DamagedSession("its state cannot be read: no object of scopes")
    for name, kind in (("session", _SessionFacts), ("turn", _TurnFacts)):
        try:
            msgspec.convert(scopes.get(name, {}), kind)
        except msgspec.ValidationError as error:
            raise DamagedSession(f"its scope {name} cannot be read: {error}") from error
    _check_records(scopes.get(SCOPE, {}))


def _check_records(records: Any) -> None:
    """What flows that take corrections remember of their steps."""
    for owner, tree in records.items() if isinstance(records, Mapping) else [("?", records)]:
        try:
            Log(tree).known()
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            problem = f"what frame {owner} keeps for corrections cannot be read: {error!r}"
            raise DamagedSession(problem) from error


def check_frames(cursor: Cursor, charts: Charts) -> None:
    """Raise `DamagedSession` for a frame that cannot go on with these flows, naming it.

    For a session at rest: in the midst of a turn more than the user is waited for.
    """
    frames, state = cursor.frames, cursor.state
    for number, frame in enumerate(frames):
        problem = _problem(frame, state, charts, is_top=frame is frames[-1])
        if problem:
            raise DamagedSession(problem, frame=number, flow=frame.name)


def _problem(frame: Frame, state: State, charts: Charts, *, is_top: bool) -> str:
    chart = charts.version(frame.chart)
    if chart is None:
        return f"this engine does not have the version {frame.chart} of the flow"
    if frame.at is not None and frame.at not in chart.nodes:
        return f"the flow has no step {frame.at}"
    if frame.scope not in state.scopes:
        return f"its variables ({frame.scope}) are missing"
    if frame.branches is not None:
        return "it is in the midst of branches, which no message can answer"
    waiting = frame.waiting.kind if frame.waiting is not None else ""
    if waiting == "call" and not is_top:
        return ""  # it goes on with what the chart above it returns
    if frame.waiting is not None and waiting not in ANSWERABLE:
        return f"it waits for a {frame.waiting.kind}, which no message can answer"
    return ""
