"""How well a fault is explained: is its true cause in the chain, at which place, and confirmed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy import Reply, ScriptedModel, Variable
from saywhy.errors import CallerError
from saywhy.runtime.replay.whatif import Counterfactual
from saywhy.trace.causes.chain import Chain
from tests.faults.case import Case
from tests.faults.playing import SESSION, Played, named, play, turn_of

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
    """Why it is not confirmed."""

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
            "group": self.case.group,
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
    if case.removable:
        await _removed(one, played)
    return one


async def _removed(one: Measured, played: Played) -> None:
    """Runs the turn again without the cause, with the model that reacts to what it is handed."""
    case = one.case
    ref = named(case.removable, played.trace)
    model = _model_of(case.application)
    try:
        if played.agent is not None:
            seen = await played.agent.counterfactual(ref, model=model)
        else:
            turn = turn_of(case, played)
            seen = await played.engine.counterfactual(SESSION, ref, turn=turn, model=model)
    except CallerError as error:
        one.confirmed, one.unasked = False, str(error)
        return
    one.confirmed = seen.met and _is_right(case.without, seen)
    if not one.confirmed:
        one.unasked = seen.text()


def _is_right(wanted: Mapping[str, Any], seen: Counterfactual) -> bool:
    """Whether it ends as the case says; nobody has the answer of a call that it stops at."""
    if "calls" in wanted:
        start = f"would have called {wanted['calls']}"
        return any(call.startswith(start) for call in seen.would_call)
    if "says" in wanted:
        return wanted["says"] in (seen.reply_without or "")
    return seen.changed is True


def _model_of(application: Mapping[str, Any]) -> ScriptedModel | None:
    """The model of the one agent of a case, else that of its flows."""
    agents = [agent["script"] for agent in (application.get("agents") or {}).values()]
    script = agents[0] if agents else application.get("model")
    return None if script is None else ScriptedModel(script)


def explained(case: Case, played: Played) -> Chain:
    """The chain of what the case asks about."""
    turn = turn_of(case, played)
    if "variable" in case.asked:
        return played.trace.why(Variable(case.asked["variable"], turn))
    return played.trace.why(Reply(turn, case.asked["text"]))
