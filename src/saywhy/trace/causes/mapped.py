"""What a tool's response mapping had to do with a value: where it took it from, what stood in.

The record says of each answer that was mapped which field came from where, and where a fallback
took the place of something that was not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.signs import unlike
from saywhy.values import raw

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

MOST_FIELDS: Final = 6


def link_mapping(search: Search, cause: int, commit: Commit) -> None:
    """Link the result of a call to the mapping of its tool, and to what stood in for a value."""
    answered = commit.answered
    told: Any = raw(answered.facts.get("mapped")) if answered is not None else None
    if answered is None or not isinstance(told, dict):
        return
    tool = answered.name
    fields: Mapping[str, Any] = raw(told.get("fields")) or {}
    search.add(
        Effect(cause, "handed"),
        ("mapping", commit.seq),
        lambda: _mapping(commit, tool, fields, tuple(map(str, raw(told.get("chosen")) or ()))),
    )
    for path in map(str, raw(told.get("fallbacks")) or ()):
        search.add(
            Effect(cause, "handed"),
            ("fallback", commit.seq, path),
            lambda path=path: _fallback(commit, tool, path),
        )


def _mapping(
    commit: Commit, tool: str, fields: Mapping[str, Any], chosen: tuple[str, ...]
) -> Cause:
    pairs = list(fields.items())[:MOST_FIELDS]
    shown = [f"{name or 'the whole'} from {source}" for name, source in pairs]
    takes = f" takes {', '.join(shown)}" if shown else " was applied"
    cause = Cause(0, "handed", f"the response mapping of {tool}{takes}", "authored")
    cause.ref, cause.commit, cause.turn = f"mapping:{tool}", commit.seq, commit.turn
    if any(name and unlike(name, str(source)) for name, source in fields.items()):
        cause.signs = ("unlike",)
    if chosen:  # what was left out or put last is what nobody sees any more
        cause.signs = (*cause.signs, "chose among")
        cause.details = tuple(f"it {one}" for one in chosen)
    return cause


def _fallback(commit: Commit, tool: str, path: str) -> Cause:
    sentence = f"nothing stood at {path} of the answer of {tool}: the mapping's fallback was taken"
    cause = Cause(0, "handed", sentence, "default", ref=f"default:{tool}/{path}")
    cause.commit, cause.turn, cause.signs = commit.seq, commit.turn, ("stood in",)
    return cause
