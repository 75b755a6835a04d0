"""Promise: every conversation of the corpora runs again to the same commits, calling nobody."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest

from saywhy.models.provider import Provider
from saywhy.runtime.agents.run import AgentRun
from saywhy.runtime.replay.alone import replay_run
from saywhy.runtime.replay.result import Replay
from saywhy.testing.scenario import (
    Scenario,
    StubServer,
    World,
    _Player,
    _uses_web,
    find_scenario_files,
    load_scenarios,
)
from tests.conformance.test_agent import DIALOGUES, OPERATIONS
from tests.faults.case import all_cases
from tests.faults.playing import SESSION, play

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = ("conversations", "corrections", "flows", "forms", "journeys", "library")
FILES = [file for folder in FOLDERS for file in find_scenario_files([CASES / folder])]
BATCH = 30
NEVER = "saywhy.runtime.replay was about to call somebody"


@contextmanager
def nobody_there() -> Iterator[None]:
    """Whoever calls a tool, a function or a model now fails the test."""

    def never(*ignored: Any, **named: Any) -> Any:
        raise AssertionError(NEVER)

    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "saywhy.runtime.calls.call_tool",
            "saywhy.runtime.calls.find_out",
            "saywhy.runtime.turn.answer_function",
            "saywhy.runtime.models.Models.answer",
            "saywhy.flows.functions._carried_out",
            "saywhy.agent.loop.answers.call_tool",
            "saywhy.models.answering.reply_of",
        ):
            patch.setattr(name, never)
        yield


async def replayed(scenario: Scenario) -> Replay:
    """Play a scenario, and run it again where nobody is there."""
    web = StubServer(scenario.http, scenario.record_headers) if _uses_web(scenario) else None
    with web or nullcontext() as stub:
        player = _Player(scenario, World(), stub)
        try:
            await player.play()
        finally:
            await player.engine.close()
    with nobody_there():
        return await player.engine.replay(player.session)


def is_masked(scenario: Scenario, found: Replay) -> bool:
    """Whether what is missing is masked, in a conversation about something sensitive."""
    return bool(found.not_replayable) and all(
        gap.why == "masked" and gap.commit > 0 for gap in found.not_replayable
    )


BATCHES = [FILES[at : at + BATCH] for at in range(0, len(FILES), BATCH)]


@pytest.mark.parametrize("files", BATCHES, ids=lambda files: files[0].stem)
async def test_every_scenario_runs_again_to_the_same_commits(files: list[Path]) -> None:
    """Or it says which masked value it would have needed; never that it is equal then."""
    count = 0
    for file in files:
        for scenario in load_scenarios(file):
            found = await replayed(scenario)
            count += 1
            assert found.difference is None, found.text()
            assert found.same != is_masked(scenario, found), found.text()
    assert count >= len(files)


async def test_few_need_what_is_masked() -> None:
    """Of all that is in the library and the shop, about half asks for codes and numbers."""
    found = [
        await replayed(scenario)
        for file in find_scenario_files([CASES / "conversations"])
        for scenario in load_scenarios(file)
    ]
    masked = [one for one in found if not one.same]
    assert len(found) > 250
    assert len(masked) <= 3, [one.text() for one in masked]


@pytest.mark.parametrize("kind", sorted({case.kind for case in all_cases()}))
async def test_every_planted_fault_runs_again(kind: str) -> None:
    """Conversations of engines on a store and of agents that run alone."""
    for case in all_cases():
        if case.kind != kind:
            continue
        played = await play(case)
        try:
            with nobody_there():
                if played.engine is not None:
                    found = await played.engine.replay(SESSION)
                else:
                    found = await played.agent.replay()
            assert found.same, f"{case.id}: {found.text()}"
            assert found.commits > 0
        finally:
            await played.close()


@contextmanager
def runs_kept() -> Iterator[list[AgentRun]]:
    """Every run of an agent that is begun meanwhile."""
    runs: list[AgentRun] = []
    go = AgentRun.go

    async def kept(run: AgentRun) -> Any:
        runs.append(run)
        return await go(run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AgentRun, "go", kept)
        yield runs


async def test_every_dialogue_of_an_agent_runs_again() -> None:
    """The agents of the corpus run alone; each of their runs gives the same steps once more."""
    count = 0
    for case in DIALOGUES:
        with runs_kept() as runs:
            given = OPERATIONS["dialogue"](copy.deepcopy(case["input"]))
            if isawaitable(given):
                await given
        for run in runs:
            with nobody_there():
                found = await replay_run(run)
            assert found.difference is None, f"{case['id']}: {found.text()}"
            assert found.same or all(gap.why == "masked" for gap in found.not_replayable)
            count += 1
    assert count > 30


class Refuses:
    """A model that nobody may ask."""

    async def ask(self, ask: Any) -> Any:
        raise AssertionError(NEVER)


def test_what_refuses_is_a_model() -> None:
    """The guard of these tests would be asked if anybody asked."""
    assert isinstance(Refuses(), Provider)
