"""An action that was offered and taken up: which rule offered it, and why the words were a yes.

A strict follow-up is carried out without a model: the condition of the rule decides alone. So it is
the rule, not a model's answer, that asked for the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.graph import Effect
from saywhy.trace.words import quoted
from saywhy.values import raw

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search


STRICT_CALL: Final = "strictCall"
"""Where the loop keeps the call that it makes without the model."""


def link_offer(search: Search, cause: int, settled: Commit, scope: str | int) -> None:
    """Link the result of a call that no model wanted to the rule that had offered it."""
    judged = search.trace.last_writer((scope, STRICT_CALL), settled.seq + 1)
    told: Any = raw(judged.facts.get("strict")) if judged is not None else None
    if judged is None or not isinstance(told, dict) or not told.get("matched"):
        return
    search.add(
        Effect(cause, "asked"),
        ("offer", judged.seq),
        lambda: _taken_up(judged, told),
    )


def _taken_up(judged: Commit, told: Mapping[str, Any]) -> Cause:
    tool = str(told.get("tool_id") or "")
    rule = str(told.get("rule") or "")
    words = [str(each) for each in raw(told.get("words")) or ()]
    by = f"their word{'s' * (len(words) != 1)} {', '.join(map(quoted, words))}" if words else ""
    decided = f", decided by {by or told.get('matcher')}"
    named = f'instruction "{rule}"' if rule else "a result's own rule"
    condition = quoted(str(told.get("condition") or ""))
    sentence = f"{named} had offered {tool} for {condition}, and it was taken up{decided}"
    cause = Cause(0, "handed", sentence, "authored", signs=("took up an offer",))
    cause.ref = f"instruction:{rule}" if rule else f"tool:{tool}"
    cause.commit, cause.turn = judged.seq, judged.turn
    return cause


__all__ = ["STRICT_CALL", "link_offer"]
