"""Promise: of every reply of every conversation we have, the chain reaches its roots without a gap.

Flows, real flows, corrections, forms, conversations with agents, the dialogues of agents alone and
the planted faults are played, and each reply's chain is walked: whatever has no causes is a named
root, and nothing is unrecorded where the record is whole.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from saywhy.models.provider import CHAT
from saywhy.testing.scenario import Scenario, World, _Player, find_scenario_files, load_scenarios
from saywhy.trace.causes.chain import Chain
from saywhy.trace.causes.why import Reply, why
from saywhy.trace.trace import Trace
from tests.conformance.agent_ops.dialogue import Dialogue
from tests.faults.case import all_cases
from tests.faults.playing import play

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = ("flows", "conversations", "corrections", "forms", "journeys/shop")
INNER = ("loopCount", "parsedResponse", "assembledMessages", "maxIterations", "slotComposed")
"""What keeps an agent's loop going, and is no reason for anything."""
MOST_LINES = 80
"""So long the chain of a reply that an agent had a part in may be as text."""


# ------------------------------------------------------------------ walking


def gaps_in(chain: Chain) -> list[str]:
    """What is wrong with a chain: ends without a root, causes without a name, steps of a loop."""
    effects = {link.effect for link in chain.links}
    found = [
        f"no root and no cause: {cause.sentence}"
        for cause in chain.causes
        if cause.id not in effects and not cause.root
    ]
    found += [f"unrecorded: {one.sentence}" for one in chain.causes if one.root == "unrecorded"]
    found += [f"without a name: {one.sentence}" for one in chain.causes[1:] if not one.ref]
    found += [
        f"a step of a loop: {one.sentence}"
        for one in chain.causes[1:]
        if any(name in one.sentence for name in INNER)
    ]
    if not chain.causes[1:]:
        found.append(f"nothing caused {chain.target.sentence}")
    return found


def walk(trace: Trace, name: str) -> tuple[int, list[str]]:
    """How many replies were explained, and what is wrong with their chains."""
    bad: list[str] = []
    replies = 0
    for turn in trace.turns:
        said = [one for one in trace.messages(turn) if one.role == "assistant" and one.text]
        if not said:
            continue
        chain = why(trace, Reply(turn))
        replies += 1
        bad += [f"{name}, turn {turn}: {gap}" for gap in gaps_in(chain)]
        if chain.left_out:
            bad.append(f"{name}, turn {turn}: {chain.left_out} causes were left out")
        agents = any(one.answered and one.answered.name == CHAT for one in trace)
        if agents and len(chain.text(140).splitlines()) > MOST_LINES:
            bad.append(f"{name}, turn {turn}: {len(chain.text(140).splitlines())} lines")
    return replies, bad


# ------------------------------------------------------------------ scenarios


def scenarios_in(folder: str) -> list[Scenario]:
    """The scenarios of a folder that need no server."""
    files = find_scenario_files([CASES / folder])
    return [one for file in files for one in load_scenarios(file) if not one.http]


async def record_of(scenario: Scenario) -> Trace:
    player = _Player(scenario, World(), None)
    await player.play()
    return await player.engine.trace(player.session)


@pytest.mark.parametrize("folder", FOLDERS)
async def test_scenarios(folder: str) -> None:
    """Every reply of every scenario has a chain without a gap."""
    replies, bad = 0, list[str]()
    for scenario in scenarios_in(folder):
        found, wrong = walk(await record_of(scenario), scenario.id)
        replies += found
        bad += wrong
    assert not bad, "\n".join(bad[:40])
    assert replies > 10


# ------------------------------------------------------------------ agents alone


async def dialogues() -> AsyncIterator[tuple[str, Any]]:
    for path in sorted((CASES / "agent").glob("dialogue_*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            if case["op"] == "dialogue" and case["status"] != "informative":
                yield case["id"], Dialogue(case["input"])


async def test_agents_alone() -> None:
    """Each answer of each agent leads to what its model was handed."""
    runs, bad = 0, list[str]()
    async for name, dialogue in dialogues():
        for turn in dialogue.given["turns"]:
            told = await dialogue.turn(turn)
            if "content" not in told or told.get("paused") or not told["content"]:
                continue
            runs += 1
            chain = dialogue.agent.trace.why()
            bad += [f"{name}: {gap}" for gap in gaps_in(chain)]
    assert not bad, "\n".join(bad[:40])
    assert runs > 40


# ------------------------------------------------------------------ planted faults


async def test_planted_faults() -> None:
    """Applications with a fault in them have whole chains as well."""
    replies, bad = 0, list[str]()
    for case in all_cases():
        played = await play(case)
        try:
            found, wrong = walk(played.trace, case.id)
        finally:
            await played.close()
        replies += found
        bad += wrong
    assert not bad, "\n".join(bad[:40])
    assert replies > 100


# ------------------------------------------------------------------ the check itself


def without_root(chain: Chain) -> None:
    chain.roots[0].root = ""


def without_name(chain: Chain) -> None:
    chain.causes[1].ref = ""


def unrecorded(chain: Chain) -> None:
    chain.roots[0].root = "unrecorded"


def of_a_loop(chain: Chain) -> None:
    chain.causes[1].sentence = "loopCount = 1"


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (without_root, "no root and no cause"),
        (without_name, "without a name"),
        (unrecorded, "unrecorded"),
        (of_a_loop, "a step of a loop"),
    ],
)
async def test_a_gap_is_found(broken: Callable[[Chain], None], told: str) -> None:
    """The walk finds each kind of gap."""
    trace = await record_of(scenarios_in("corrections")[0])
    chain = why(trace)
    assert gaps_in(chain) == []
    broken(chain)
    assert any(gap.startswith(told) for gap in gaps_in(chain))


async def test_a_cause_is_found_by_each_of_its_names() -> None:
    """A chain can be asked for a cause by any of its names."""
    chain = why(await record_of(scenarios_in("conversations")[0]))
    for cause in chain.causes[1:]:
        for name in cause.names:
            assert cause in chain.find(name)
