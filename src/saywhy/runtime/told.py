"""What the host says of a session, put on record where it is new.

A turn that is run again has no host to ask: the record says which language the user had and whether
they had signed in, each time it changed.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.cursor import State
from saywhy.flows.world import World
from saywhy.values import FrozenDict

TOLD: Final = "told"
"""What of the session is on record as the host's word, for the next turn to compare with."""
_NOBODY_SAID: Final = FrozenDict({"language": None, "authenticated": False})


def newly_told(world: World, state: State) -> dict[str, Any]:
    """What the host says of the session that is not on record yet; it counts as recorded now."""
    facts = state.scopes["session"]
    language, authenticated = facts.get("language"), facts.get("authenticated") is True
    if not language or language == world.language:
        language = None
    if language is None and not authenticated and TOLD not in facts:
        return {}  # nobody has ever said anything, as in nearly every conversation
    told = {"language": language, "authenticated": authenticated}
    before = facts.get(TOLD) or _NOBODY_SAID
    new = {name: fact for name, fact in told.items() if fact != before[name]}
    if new:
        facts[TOLD] = FrozenDict(told)
    return new
