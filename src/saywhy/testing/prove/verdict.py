"""What is left of the conversations of a proof, counted by scene, and which rules were broken."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.ledger import Entry
from saywhy.testing.prove.place import Place
from saywhy.testing.prove.record import Played, played
from saywhy.testing.prove.rules import RULES, Case, acts_of, every_message_ends, has_ended
from saywhy.testing.prove.scenes import SCENES, definitions, scene_of

NUMBERS: Final = (
    *("conversations", "accepted", "ended", "lost", "calls", "effects"),
    *("same key", "other key", "unknown", "settled", "wrong"),
)
"""What is counted. `same key` and `other key`: calls that were made again, and under which key."""


@dataclass(slots=True)
class Verdict:
    """The numbers of each scene, and what is wrong in which conversation."""

    numbers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Verdict) -> None:
        """Take in what another part of the proof found."""
        for scene, numbers in other.numbers.items():
            self.numbers[scene].update(numbers)
        self.wrong += other.wrong

    def table(self) -> list[list[str]]:
        """One row a scene, with a heading and a sum."""
        rows = [["step", "effect", *NUMBERS]]
        total: Counter[str] = Counter()
        for scene in SCENES:
            if scene.name in self.numbers:
                numbers = self.numbers[scene.name]
                total.update(numbers)
                rows.append([scene.step, scene.effect, *(str(numbers[name]) for name in NUMBERS)])
        return [*rows, ["all", "", *(str(total[name]) for name in NUMBERS)]]

    def total(self, name: str) -> int:
        """One number over all scenes."""
        return sum(numbers[name] for numbers in self.numbers.values())


def look(place: Place, expected: Mapping[str, Played]) -> Verdict:
    """Judge every conversation in a place."""
    verdict = Verdict()
    for case in asyncio.run(_cases(place, expected)):
        wrong = [problem for rule in RULES for problem in rule(case)]
        verdict.wrong += [f"{case.session_id}: {problem}" for problem in wrong]
        verdict.numbers[case.scene.name].update(_numbers(case, bool(wrong)))
    return verdict


def undisturbed(place: Place, sessions: Iterable[str]) -> dict[str, Played]:
    """How conversations go that nothing happened to, by scene."""

    async def read() -> dict[str, Played]:
        async with _reader(place) as engine:
            return {scene_of(one).name: await played(engine, one) for one in sessions}

    return asyncio.run(read())


def _reader(place: Place) -> Engine:
    flows = [flow.raw for flow in definitions().flows]
    return Engine(flows=flows, validate_on_init=False, store=SqliteStore(place.store))


async def _cases(place: Place, expected: Mapping[str, Played]) -> list[Case]:
    noted: dict[str, list[Entry]] = defaultdict(list)
    for entry in place.ledger.entries():
        noted[str(entry.facts.get("session"))].append(entry)
    cases: list[Case] = []
    async with _reader(place) as engine:
        for session_id, lines in noted.items():
            cases.append(await _case(engine, session_id, tuple(lines), expected))
    return cases


async def _case(
    engine: Engine, session_id: str, noted: tuple[Entry, ...], expected: Mapping[str, Played]
) -> Case:
    scene = scene_of(session_id)
    assert engine.store is not None
    turns = await engine.store.turns(session_id)
    journals = [await engine.store.journal(session_id, turn.turn_no) for turn in turns]
    calls = tuple(entry for journal in journals for entry in journal)
    found = await played(engine, session_id)
    session = await engine.session(session_id)
    left = frozenset(call["id"] for call in session.unknown) if session else frozenset[str]()
    return Case(session_id, scene, turns, calls, noted, found, expected[scene.name], left)


def _numbers(case: Case, is_wrong: bool) -> dict[str, int]:
    calls = acts_of(case, "call")
    again = {act: len(keys) - 1 for act, keys in calls.items()}
    others = {act: len(set(keys)) - 1 for act, keys in calls.items()}
    accepted = {entry.key for entry in case.noted("accepted")}
    done = {turn.message_id for turn in case.turns if has_ended(turn)}
    return {
        "conversations": 1,
        "accepted": len(accepted),
        "ended": len(accepted & done),
        "lost": sum("lost" in problem for problem in every_message_ends(case)),
        "calls": sum(map(len, calls.values())),
        "effects": sum(map(len, acts_of(case, "effect").values())),
        "same key": sum(again.values()) - sum(others.values()),
        "other key": sum(others.values()),
        "unknown": len(case.unknown_keys),
        "settled": len(case.unknown_keys - case.left_open),
        "wrong": int(is_wrong),
    }


__all__ = ["NUMBERS", "Verdict", "look", "undisturbed"]
