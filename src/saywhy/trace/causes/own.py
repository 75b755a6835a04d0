"""Which variables only keep a chart going: the chart itself says so, so that no table is kept here.

Explanations pass over them. Where a step read what was made of a model's answer, or of what a model
is handed next, that is what stands in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from saywhy.chart.commit import Commit
from saywhy.models.provider import CHAT
from saywhy.trace.trace import Trace
from saywhy.values import Key

MODEL: Final = "model"
"""Behind the variable stands the model's newest answer."""
REQUEST: Final = "request"
"""Behind it stands what the model is handed next."""
MOST_STEPS: Final = 12


def own_of(trace: Trace, commit: Commit) -> Mapping[str, str]:
    """The variables of that kind in the chart of a step, with what stands behind each."""
    if commit.chart not in trace.charts:
        return _as_recorded(trace, commit)
    found = trace.charts[commit.chart].meta.get("own")
    return found if isinstance(found, dict) else {}


def _as_recorded(trace: Trace, commit: Commit) -> Mapping[str, str]:
    """Of a step whose chart is not at hand: what it read that was made as a model's answer came."""
    if commit.kind.isupper():
        return {}
    writers = ((key, trace.last_writer(key, commit.seq)) for key in commit.reads)
    return {str(key[-1]): MODEL for key, writer in writers if writer and _took_answer(writer)}


def _took_answer(commit: Commit) -> bool:
    answered = commit.answered
    return answered is not None and (answered.kind, answered.name) == ("model", CHAT)


def model_behind(trace: Trace, key: Key, before: int) -> Commit | None:
    """The commit that took in the model's answer which a variable was made of."""
    for _ in range(MOST_STEPS):
        writer = trace.last_writer(key, before)
        if writer is None:
            return None
        if writer.answered is not None and writer.answered.kind == "model":
            return writer
        own = own_of(trace, writer)
        behind = [each for each in writer.reads if own.get(str(each[-1])) == MODEL]
        if not behind:
            behind = [each for each in writer.reads if each[-1] == key[-1] and each != key]
        if not behind:
            return None
        key, before = behind[0], writer.seq
    return None


__all__ = ["MODEL", "REQUEST", "model_behind", "own_of"]
