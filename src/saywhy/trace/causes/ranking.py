"""Which causes of a chain a developer most likely looks for: an order, with a few words why.

A chain holds everything that had a part. Most of it did what it was meant to. What went wrong shows
in general signs: something stood in for a value that was missing, a record that says of itself that
it is doubtful, a choice made because nothing else fitted; and what stands near to the words is
likelier than what stands far from them. Nothing here knows a flow, a tool or an agent by name.
"""

from __future__ import annotations

from typing import Final

from saywhy.trace.causes.chain import Cause, Chain

NEAR: Final = 4.0
"""What it counts for to stand next to the target; each further link takes a part away."""
FADES: Final = 0.75

_ROOTS: Final[dict[str, tuple[float, str]]] = {
    "unset": (5, "it was read and nothing ever set it"),
    "default": (3, "a default stood in for a value"),
    "unrecorded": (2, "the record does not tell where it comes from"),
    "tool": (2, "it came from outside"),
    "model": (2, "a model said it"),
    "function": (1.5, "a function gave it"),
    "host": (1, "the host set it"),
    "global": (1, "it is set for all conversations"),
    "words": (1, "the user said it"),
}
_FAILED: Final = 3.0


def ranked(chain: Chain) -> list[Cause]:
    """The causes without the target, the likeliest first; each with its score and the reason."""
    distance = _distances(chain)
    found = [cause for cause in chain.causes[1:] if cause.ref]
    for cause in found:
        reasons = _reasons(cause)
        cause.score = round(
            NEAR * FADES ** distance.get(cause.id, 0) + sum(weight for weight, _ in reasons), 3
        )
        cause.ranked_for = tuple(text for _, text in reasons)
    return sorted(found, key=lambda cause: (-cause.score, distance.get(cause.id, 0), cause.id))


def _reasons(cause: Cause) -> list[tuple[float, str]]:
    found = [_ROOTS[cause.root]] if cause.root in _ROOTS else []
    if cause.marks:
        found.append((1, "the record is not certain of it"))
    if any(detail.startswith("with a warning") for detail in cause.details):
        found.append((_FAILED, "something in it went wrong"))
    return found


def _distances(chain: Chain) -> dict[int, int]:
    """How many links each cause is away from the target."""
    effects: dict[int, list[int]] = {}
    for link in chain.links:
        effects.setdefault(link.effect, []).append(link.cause)
    found = {0: 0}
    ahead = [0]
    for effect in ahead:
        for cause in effects.get(effect, []):
            if cause not in found:
                found[cause] = found[effect] + 1
                ahead.append(cause)
    return found
