"""A piece of a conversation that is taken away: which can be, and what that means for a turn.

- `instruction:ID`  the agents have no such instruction, rule about results or injected piece
- `tool:NAME`       the agents are not offered the tool
- `tool_result:N`   the tool answered nothing: an empty object where it gave an object, an empty
                    list for a list, an empty text to an agent, null for all else; and no error
- `message:N`       the user had not said it: there is no turn of this message
- `memory:ID`, `retrieval:ID`  it was not recalled: no request to a model has it
- `default:FLOW/NAME`  the variable of the flow has no declared default
- `host:cargo.NAME`, `host:NAME`  the host did not give it
- `global:NAME`     there is no such global
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec

from saywhy.agent.slots.composed import RECORDS
from saywhy.agent.slots.record import INJECTED
from saywhy.chart.commit import Commit
from saywhy.chart.model import Chart
from saywhy.chart.outcome import Answer
from saywhy.errors import CallerError, did_you_mean
from saywhy.flows.world import World
from saywhy.runtime.replay.entries import RecordedTurn
from saywhy.runtime.replay.request import Request
from saywhy.trace.trace import Trace
from saywhy.values import FrozenDict, FrozenList, raw, seal

KINDS: Final = (
    *("instruction", "tool", "tool_result", "message", "memory", "retrieval"),
    *("default", "host", "global"),
)
OF_AGENTS: Final = frozenset({"instruction", "tool"})
RECALLED: Final = frozenset({"memory", "retrieval", "rag"})
SAID_BY_TOOL: Final = "runtime-text-"
"""How instructions are called that came with the answer of a tool."""
MOST_LISTED: Final = 8
MOST_TURNS: Final = 50
"""In so many turns it is looked for what was recalled."""
UNNAMED: Final = "history"
"""How explanations call what an agent remembers of a conversation without an id."""
_HINT: Final = (
    "what can be taken away: "
    + ", ".join(f"{kind}:…" for kind in KINDS)
    + "; saywhy why --refs lists what a reply has of it"
)

STEPS: Final = frozenset({"step", "decision", "wording", "flow", "mapping"})
OF_FLOWS: Final = (
    "what flows without it would do: change a copy of the file and run saywhy replay --flows NEW "
    "(engine.replay, flows=)"
)


class Removal:
    """One piece that is taken away. Raises `CallerError` for what cannot be, or is not there."""

    def __init__(self, ref: str, trace: Trace, turn: int) -> None:
        kind, _, name = ref.partition(":")
        if kind not in KINDS:
            hint = OF_FLOWS if kind in STEPS else did_you_mean(kind, KINDS)
            what = f'"{ref}" cannot be taken away'
            raise CallerError(what, hint=f"{hint}; {_HINT}" if hint else _HINT)
        if not name:
            raise CallerError(f'"{ref}" names nothing', hint=f"{kind}:NAME")
        self.ref = ref
        self.kind = kind
        self.name = name
        self._trace = trace
        self.turn = turn
        """The turn that is asked about."""
        self.applied = False
        """Whether the piece was met, and taken away."""
        self.seq = self._number() if kind in ("tool_result", "message") else 0
        self.first = self._first()
        """The first turn that is run without it."""

    @property
    def of_answers(self) -> bool:
        """Whether it is an instruction that came with the answer of a tool."""
        return self.kind == "instruction" and self.name.startswith(SAID_BY_TOOL)

    def _number(self) -> int:
        if not self.name.isdecimal():
            raise CallerError(f'"{self.ref}" needs a number', hint=f"{self.kind}:12")
        return int(self.name)

    def _first(self) -> int:
        match self.kind:
            case "tool_result":
                first = self._answer().turn
            case "message":
                first = self._message_turn()
            case "default":
                first = self._opened()
            case "host":
                first = self._given()
            case "instruction" | "tool":
                first = min(self._trace.turns, default=1)
            case _:
                first = self.turn
        if first > self.turn:
            raise CallerError(
                f"{self.ref} is of turn {first}, and turn {self.turn} is asked about",
                hint=f"turn={first}, or a later one",
            )
        return first

    def _answer(self) -> Commit:
        trace = self._trace
        commit = trace.commit(self.seq) if self.seq in trace else None
        if commit is not None and commit.answered is not None and commit.answered.kind == "tool":
            return commit
        known = [
            one.seq for one in trace if one.answered is not None and one.answered.kind == "tool"
        ]
        listed = ", ".join(map(str, known[-10:])) or "none"
        raise CallerError(
            f"commit {self.seq} took in no answer of a tool", hint=f"the newest that did: {listed}"
        )

    def _message_turn(self) -> int:
        said = [one for one in self._trace.messages() if one.role == "user"]
        found = next((one for one in said if one.seq == self.seq), None)
        if found is None:
            listed = ", ".join(str(one.seq) for one in said[-10:]) or "none"
            raise CallerError(
                f"message {self.seq} is none that the user wrote",
                hint=f"the newest of the user's: {listed}",
            )
        return found.turn

    def _opened(self) -> int:
        flow, _, name = self.name.partition("/")
        opened = [
            one.turn
            for one in self._trace
            if one.facts.get("target") == flow
            and name in one.facts.get("defaults", ())
            and one.turn <= self.turn
        ]
        if not opened:
            what = f'no flow "{flow}" began with a default of "{name}" by then'
            raise CallerError(what, hint=_near(self.name, self._defaults()))
        return opened[-1]

    def _defaults(self) -> Iterator[str]:
        """The defaults that flows began with, as `FLOW/NAME`."""
        for one in self._trace:
            if one.turn <= self.turn:
                yield from (
                    f"{one.facts['target']}/{each}" for each in one.facts.get("defaults", ())
                )

    def _given(self) -> int:
        key = tuple(self.name.split("."))
        wanted = key if key[0] == "cargo" else ()
        known: list[str] = []
        for one in reversed(self._trace.steps_of()):
            if one.turn > self.turn or one.node not in ("receive", "start"):
                continue
            is_there = any(
                op.key[:2] == wanted[:2] if wanted else op.key[1:2] == key[:1] for op in one.ops
            )
            if is_there:
                return one.turn
            known += (".".join(map(str, op.key)) for op in one.ops if op.key[0] == "cargo")
        raise CallerError(f'the host gave no "{self.name}" by then', hint=_near(self.name, known))

    # ------------------------------------------------------------ what it does

    def entry(self, turn: RecordedTurn) -> RecordedTurn | None:
        """The turn as it begins without the piece; None where it is left out."""
        entry = turn.entry
        if entry is None:
            return turn
        if self.kind == "message" and self._trace.turn(turn.number).messages:
            if turn.number != self.first:
                return turn
            self.applied = True
            return None
        if self.kind == "host" and turn.number == self.first:
            self.applied = True
            return msgspec.structs.replace(turn, entry=self._not_given(entry))
        return turn

    def _not_given(self, entry: Any) -> Any:
        path = self.name.split(".")
        if path[0] == "cargo" and entry.cargo is not None:
            kept = {name: entry.cargo[name] for name in entry.cargo if name != path[1]}
            return msgspec.structs.replace(entry, cargo=FrozenDict(kept) if kept else None)
        if entry.start is not None:
            told = entry.start["arguments"]
            kept = {name: told[name] for name in told if name != path[0]}
            return msgspec.structs.replace(
                entry, start={**entry.start, "arguments": FrozenDict(kept)}
            )
        return entry

    def world(self, world: World) -> World:
        """Flows and globals without it."""
        if self.kind == "global":
            if self.name not in world.globals:
                hint = _near(self.name, world.globals)
                raise CallerError(f'there is no global "{self.name}"', hint=hint)
            self.applied = True
            kept = {name: world.globals[name] for name in world.globals if name != self.name}
            return replace(world, globals=FrozenDict(kept))
        if self.kind == "default":
            self.applied = True
            charts = world.charts.copy()
            for chart in world.charts:
                charts.put(self._chart(chart))
            return replace(world, charts=charts)
        return world

    def _chart(self, chart: Chart) -> Chart:
        flow, _, name = self.name.partition("/")
        defaults = chart.meta.get("defaults", {})
        if chart.name != flow or name not in defaults:
            return chart
        kept = {each: value for each, value in defaults.items() if each != name}
        # Under the same digest: only what follows from it is to differ.
        return msgspec.structs.replace(chart, meta={**chart.meta, "defaults": kept})

    def answer(self, commit: Commit | None, answer: Answer) -> Answer:
        """An answer of the record without the piece."""
        if self.kind == "tool_result" and commit is not None and commit.seq == self.seq:
            self.applied = True
            return nothing(answer)
        if self.of_answers:
            return self._less_said(answer)
        return answer

    def _less_said(self, answer: Answer) -> Answer:
        """A tool's answer without one of the instructions that came with it."""
        number = int(self.name.removeprefix(SAID_BY_TOOL) or 0)
        told: Any = raw(answer.value)
        if not isinstance(told, dict) or number >= len(told.get("instructions", ())):
            return answer
        self.applied = True
        kept = [one for at, one in enumerate(told["instructions"]) if at != number]
        value = seal({**told, "instructions": kept})
        return Answer(value, answer.error, answer.error_name, answer.facts)

    def request(self, request: Request, recalled: RecalledTexts) -> Request:
        """A question to a model without it."""
        if self.kind not in RECALLED:
            return request
        ask = request.ask
        kept = [one for one in ask.messages if not recalled.is_from(one, self.name)]
        system = ask.system
        for text in recalled.of(self.name):
            if system and text in system:
                system = system.replace(text, "", 1).strip()
        fewer = [recalled.without(one, self.name) for one in kept]
        if fewer == list(ask.messages) and system == ask.system:
            return request
        self.applied = True
        messages = FrozenList([raw(seal(one)) for one in fewer])
        return request.on(messages=messages, system=system or None)


def nothing(answer: Answer) -> Answer:
    """An answer that tells nothing, of the same kind."""
    facts = {name: fact for name, fact in answer.facts.items() if name in ("attempts", "reply")}
    if facts.get("reply"):
        return Answer(FrozenDict({"content": ""}), facts=facts)
    empty: Any = None
    if isinstance(answer.value, FrozenDict):
        empty = FrozenDict({})
    elif isinstance(answer.value, FrozenList):
        empty = FrozenList([])
    return Answer(empty, facts=facts)


class RecalledTexts:
    """What agents recalled, as their records have it."""

    def __init__(self, trace: Trace, turn: int) -> None:
        self._texts: dict[str, list[str]] = {}
        self._parts: dict[str, list[str]] = {}
        for commit in trace.turn(turn).commits:
            for op in commit.ops:
                if op.key[1:] and op.key[1] in RECORDS:
                    self._note(raw(seal(op.value)))
                elif op.key[1:] and op.key[1] == "messages":
                    self._note_marked(raw(seal(op.value)))

    def _note(self, records: Any) -> None:
        for one in records if isinstance(records, list) else ():
            told: Any = raw(one)
            if told.get("source") not in RECALLED:
                continue
            name = str(told.get("sourceId") or "")
            if told.get("rawContent"):
                self._add(name, told["rawContent"])
            refs = str(told.get("upstreamRef") or "")
            if refs:
                self._parts.setdefault(name, refs.split(", "))

    def _note_marked(self, messages: Any) -> None:
        """The messages that bear the mark of a memory; what a model is handed bears none."""
        for one in messages if isinstance(messages, list) else (messages,):
            told: Any = raw(one)
            if isinstance(told, dict) and isinstance(told.get(INJECTED), str):
                source, _, name = told[INJECTED].partition(":")
                if source in RECALLED and isinstance(told.get("content"), str):
                    self._add(name, told["content"])

    def _add(self, name: str, text: str) -> None:
        known = self._texts.setdefault(name, [])
        if text not in known:
            known.append(text)

    def of(self, name: str) -> list[str]:
        """The texts that came from one memory."""
        return self._texts.get(name, [])

    def is_from(self, message: Any, name: str) -> bool:
        """Whether a message of a request is what one memory gave."""
        return message.get("role") != "assistant" and message.get("content") in self.of(name)

    def without(self, message: Any, name: str) -> Any:
        """A message of several found pieces without the one of this name."""
        content = message.get("content")
        for memory, parts in self._parts.items():
            if name in parts and self.is_from(message, memory):
                head, *pieces = _pieces(str(content))
                if len(pieces) == len(parts):
                    place = parts.index(name)
                    kept = [one for at, one in enumerate(pieces) if at != place]
                    listed = [f"[{number}] {one}" for number, one in enumerate(kept, 1)]
                    return {**raw(message), "content": "\n\n".join([head, *listed])}
        return message

    @property
    def names(self) -> list[str]:
        """What was recalled, by name, and the pieces of what a retrieval found."""
        return [*self._texts, *(each for parts in self._parts.values() for each in parts)]


def must_be_recalled(removal: Removal, trace: Trace) -> None:
    """Raise `CallerError` for a memory or a retrieval that none of the newest turns recalled."""
    if removal.kind not in RECALLED:
        return
    known: dict[str, None] = {}
    for turn in reversed(trace.turns_until(removal.turn, MOST_TURNS)):
        known |= dict.fromkeys(RecalledTexts(trace, turn).names)
        if removal.name in known:
            return
    if removal.kind == "memory" and removal.name in _conversations(trace):
        what = f'"{removal.ref}" is what was said before, as an agent remembers it'
        raise CallerError(what, hint="message:N takes away one thing that the user said")
    what = f'nothing called "{removal.name}" was recalled'
    raise CallerError(what, hint=_near(removal.name, known) or "nothing was recalled by then")


def _near(name: str, known: Iterable[str]) -> str:
    """What was probably meant, or what there is; empty where there is nothing."""
    names = list(dict.fromkeys(known))
    listed = ", ".join(names[:MOST_LISTED])
    return did_you_mean(name, names) or (f"there are {listed}" if names else "")


def _conversations(trace: Trace) -> set[str]:
    """What the histories of agents are called in explanations."""
    keys = [op for one in trace for op in one.ops if op.key[1:] == ("conversationId",)]
    return {UNNAMED, *(str(op.value) for op in keys)}


def _pieces(content: str) -> list[str]:
    """The head of a text of found pieces, and the pieces."""
    found: list[str] = []
    rest = content
    number = 1
    while True:
        head, mark, tail = rest.partition(f"\n\n[{number}] ")
        found.append(head)
        if not mark:
            return found
        rest = tail
        number += 1


__all__ = ["OF_AGENTS", "RecalledTexts", "Removal", "must_be_recalled"]
