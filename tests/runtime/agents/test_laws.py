"""Promise: whatever an agent meets, its conversation stays lawful, goes on, and leaves nothing."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import examples
from tests.runtime.agents.worlds import TURNS, Turn, World, live


@settings(max_examples=examples(40, 3000))
@given(st.lists(TURNS, min_size=1, max_size=4), st.sampled_from([1, 3]), st.booleans())
def test_any_interleaving(turns: list[Turn], concurrency: int, dynamic: bool) -> None:
    """Results, failures, cancellations, questions and nonsense in any order, over turns."""

    async def main() -> None:
        await live(World(concurrency, "dynamic" if dynamic else "regular"), turns)

    asyncio.run(main())
