"""Promise: whatever an agent meets, its conversation stays lawful, goes on, and leaves nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.parallel import Parallel
from saywhy.runtime.agents.sequence import Sequence
from tests.amount import examples
from tests.runtime.agents.models import GatedStream, Gates, says
from tests.runtime.agents.worlds import TURNS, Turn, World, live


@settings(max_examples=examples(40, 3000))
@given(st.lists(TURNS, min_size=1, max_size=4), st.sampled_from([1, 3]), st.booleans())
def test_any_interleaving(turns: list[Turn], concurrency: int, dynamic: bool) -> None:
    """Results, failures, cancellations, questions and nonsense in any order, over turns."""

    async def main() -> None:
        await live(World(concurrency, "dynamic" if dynamic else "regular"), turns)

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["parallel", "sequence"])
async def test_runners_of_several_agents_leave_nothing_either(kind: str) -> None:
    """Stopped at any of the places where one of them waits."""

    def made(gates: Gates) -> tuple[Any, list[GatedStream]]:
        models = [GatedStream(gates, says("a b")) for _ in range(2)]
        agents = {
            name: Agent(model, name=name, streaming=True)
            for name, model in zip("ab", models, strict=True)
        }
        if kind == "parallel":
            return Parallel(agents, merge=lambda branches: "both"), models
        return Sequence(*agents.values()), models

    counted = Gates()
    await made(counted)[0].run("go")
    assert counted.passed >= 6
    for at in range(1, counted.passed + 1):
        gates, signal = Gates(at), CancelToken()
        gates.then = lambda signal=signal: signal.cancel("enough")  # type: ignore[misc]
        runner, models = made(gates)
        with pytest.raises(RunCancelled, match=r"^cancelled: enough$"):
            await runner.run("go", signal=signal)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert [model.open for model in models] == [0, 0]
        assert runner.trace.commit(runner.trace.last).phase == "closed"
