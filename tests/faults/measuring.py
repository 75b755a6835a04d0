"""How well a fault is explained: is its true cause in the chain, at which place, and confirmed?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from saywhy import Reply, Variable
from saywhy.trace.causes.chain import Chain
from tests.faults.case import Case
from tests.faults.playing import Played, named, play, turn_of

FIRST: Final = 3
"""So many of the ranked causes a person looks at."""


@dataclass
class Measured:
    """What came of asking why."""

    case: Case
    in_chain: bool
    rank: int
    """The place of the true cause among the ranked, from 1; 0 for none."""
    length: int
    first: list[str] = field(default_factory=list[str])
    """What was ranked first."""
    confirmed: bool | None = None
    """Whether removing the cause did what it should; None where that was not asked."""
    unasked: str = ""
    """Why it was not asked."""

    @property
    def good(self) -> bool:
        """Among the first, and confirmed where that can be."""
        return 1 <= self.rank <= FIRST and self.confirmed is not False

    def to_value(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "kind": self.case.kind,
            "id": self.case.id,
            "half": self.case.half,
            "cause": list(self.case.cause),
            "in_chain": self.in_chain,
            "rank": self.rank or None,
            "length": self.length,
            "confirmed": self.confirmed,
        }


async def measured(case: Case) -> Measured:
    """Plays a case and asks why."""
    played = await play(case)
    try:
        return await _asked(case, played)
    finally:
        await played.close()


async def _asked(case: Case, played: Played) -> Measured:
    wanted = {named(ref, played.trace) for ref in case.cause}
    chain = explained(case, played)
    ranked = list(chain.ranked)
    places = [at for at, cause in enumerate(ranked, 1) if wanted & set(cause.names)]
    found = any(wanted & set(cause.names) for cause in chain.causes)
    first = [cause.ref or cause.sentence for cause in ranked[:FIRST]]
    one = Measured(case, found, places[0] if places else 0, len(chain.causes), first)
    one.unasked = "" if not case.removable else "not asked"
    return one


def explained(case: Case, played: Played) -> Chain:
    """The chain of what the case asks about."""
    turn = turn_of(case, played)
    if "variable" in case.asked:
        return played.trace.why(Variable(case.asked["variable"], turn))
    return played.trace.why(Reply(turn, case.asked["text"]))
