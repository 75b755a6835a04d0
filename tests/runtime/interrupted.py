"""A conversation whose turn was cut off in a call, for the tests of who may go on with it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.testing import FakeClock
from tests.flows.conftest import ask, engine_of, flow, local_tool, say, use
from tests.runtime.test_journal import Crash, Dying

MAIN = flow(
    ask("n", "how many?"),
    use("pay", variable="paid", args={"n": "{{n}}"}),
    say("{{paid}}"),
    ask("more", "more?"),
)


class Till:
    """What was really paid, by the key of the call; and whether the process dies at it."""

    def __init__(self, dying: Dying | None = None) -> None:
        self.keys: list[str] = []
        self.dying = dying

    def pay(self, args: dict[str, Any], *, context: Any) -> str:
        """Pay, and die then if that is wanted."""
        self.keys.append(context.key)
        if self.dying is not None:
            self.dying.dead = True
            raise Crash
        return f"paid {args['n']}"


def engine_on(store: Any, till: Till, **options: Any) -> Engine:
    """An engine with a flow that pays; without a word the call may be repeated with its key."""
    settings: dict[str, Any] = {
        "tools": [{**local_tool("pay"), "effect": "repeatable"}],
        "functions": {"pay": till.pay},
        "store": store,
        "lease_seconds": 30,
    }
    flows = options.pop("flows", [MAIN])
    return engine_of(*flows, **{**settings, **options})


async def interrupted(**options: Any) -> tuple[MemoryStore, Till]:
    """A store in which conversation c1 was cut off in its second turn, after it had paid."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store)
    till = Till(dying)
    engine = engine_on(dying, till, **options)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    with pytest.raises(Crash):
        await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert len(till.keys) == 1
    clock.advance(31)
    till.dying = None
    return store, till
