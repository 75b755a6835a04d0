"""Where in a turn would a language model have been asked?

A scenario may say what a model answers. One that never comes to that can be played without a model;
one that does must not pass because something else was done instead. The record of the turn tells.
"""

from __future__ import annotations

from typing import Final

from saywhy.chart.commit import Commit
from saywhy.runtime.session import Session
from saywhy.trace.words import ROUTING

EXACT: Final = "exact match"
"""How a decision begins that needed no model: the words are the name or id of a flow."""


def wanted_of_a_model(session: Session) -> str:
    """What a model would have been asked in the newest turn, first; empty for nothing."""
    commits = session.trace.turn(session.state.turn).commits
    return next(filter(None, (_wanted(commit) for commit in commits)), "")


def _wanted(commit: Commit) -> str:
    if commit.facts.get("as_said"):
        return "to make a spoken answer clearer"
    if commit.flow != ROUTING or _is_exact(commit):
        return ""
    if commit.kind == "intent":
        return "to find the flow that these words start"
    if commit.kind == "interruption" and commit.reads:  # all flows that wait allow it
        return "to find out whether these words lead elsewhere"
    return ""


def _is_exact(commit: Commit) -> bool:
    conditions = commit.decision.conditions if commit.decision is not None else ()
    return any(each.text.startswith(EXACT) for each in conditions)
