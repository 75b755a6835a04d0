"""Which causes of a chain a developer most likely looks for: an order, with a few words why.

A chain holds everything that had a part, and most of it did what it was meant to. Three things
count, and nothing here knows a flow, a tool or an agent by its name.

- What it is. A decision, a rule, a text that was recalled and what was left out are choices that
  somebody made and may have made wrongly; a start of a flow or a list of offered tools is mostly
  only how things came to happen. What a model answered is asked about in order to see behind it.
- What speaks against it (`Cause.signs`): a default or fallback that stood in for something missing,
  a value older than what it was made of, two tools described alike, a rule that was taken away,
  a text that says other numbers than its translation. Each is explained beside its weight.
- How near it stands. What is next to the words is likelier than what is far from them, and of many
  causes of one kind each one is less likely than a single one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Any, Final

from saywhy.trace.causes.chain import Cause, Chain
from saywhy.trace.words import number_text
from saywhy.values import UNDEFINED, raw, same

FADES: Final = 0.85
"""What each link away from the target leaves of the weight of what a cause is."""
CHOSEN_FADES: Final = 0.93
"""The same for choices: a wrong one shows far from where it was made."""
_CHOICES: Final = frozenset({"decision", "instruction", "memory", "retrieval", "truncation"})
ASIDE: Final = 5
"""How far away a value is that a step shows, but not in the words that were asked about."""
AGAIN: Final = 0.4
"""What is left of the score of a cause whose name was told already."""
CROWDED: Final = 0.35
"""How much is taken from a cause for each other one of its kind, relative to its weight."""

_KINDS: Final[Mapping[str, tuple[float, str]]] = {
    "decision": (3.4, "it chose this way"),
    "step": (2.4, "it ran"),
    "wording": (2.4, "it is the text that was said"),
    "variable": (1.5, "its value was used"),
    "default": (4.5, "it stood in for a value"),
    "unset": (3.2, "it was read and nothing ever set it"),
    "unrecorded": (2, "the record does not tell where it comes from"),
    "tool_result": (2.6, "it came from outside"),
    "mapping": (3.6, "it chose what was taken from the answer"),
    "tool": (1.2, "it is what the model was told of the tool"),
    "function": (2.4, "a function gave it"),
    "instruction": (3.4, "it told the model what to say"),
    "memory": (4.6, "it was recalled, whether or not it belongs here"),
    "retrieval": (4.6, "it was found by likeness, whether or not it belongs here"),
    "truncation": (4.8, "the model did not see all that was said"),
    "slot": (1.6, "the model was shown it"),
    "model": (1.4, "the model said it, of what it was handed"),
    "message": (1.8, "the user said it"),
    "routing": (1.6, "it took the words for this"),
    "phrase": (2.4, "it is a sentence of the library's own"),
    "timer": (2.4, "nobody answered in time"),
    "host": (1.6, "the host set it"),
    "global": (1.6, "it is set for all conversations"),
    "flow": (1, "it was started"),
    "input": (1, "the run was started with it"),
}
"""By the kind of a name: its weight beside the target, and what speaks for it."""

_STEPS: Final = {"said": "it said this", "value": "it set a value that was used"}
"""What speaks for a step, by what it stands for in the chain."""

_SIGNS: Final[Mapping[str, tuple[float, str]]] = {
    "stood in": (3.5, "another value took the place of a missing one"),
    "after a failure": (3.2, "it only ran because something failed"),
    "older than what it was made of": (4, "what it was made of has changed since"),
    "before something else": (1.6, "another flow has acted since"),
    "from memory": (3, "an earlier answer was given again"),
    "older answer": (2.5, "the same tool has answered anew since"),
    "made something old": (2.2, "what was made of it is old by now"),
    "older than its namesake": (3.6, "one of the same name has been set since, elsewhere"),
    "skipped a step": (1.5, "for it a step did not run that would have set the value anew"),
    "looked at nothing": (2.4, "something that it compared was missing"),
    "names an old date": (2.4, "it names a date that is long over"),
    "in another language": (3.4, "it is in another language than what stands around it"),
    "corrects": (1.6, "it sounds as if it corrected something"),
    "went wrong": (3, "its condition or a part of it failed"),
    "crosswise": (4.5, "it hands over a variable under another one's name"),
    "was checked": (0.4, "it passed a check"),
    "let through": (3.4, "a check let it pass, and it is what was asked about"),
    "stood fast": (3, "for it a correction was refused"),
    "decides": (1.4, "it compares, and a branch may only pass that on"),
    "only passes on": (-1.2, "it only passes on what was decided before"),
    "handed twice": (3.6, "it hands over one variable in two places"),
    "handed too little": (3.6, "it does not hand over what the flow declares"),
    "from an earlier call": (2.4, "it was handed over in an earlier call of the flow"),
    "kept to itself": (3, "a flow set one of the same name that is its own"),
    "chose among": (1.6, "it left out items of a list, or put them in order"),
    "took up an offer": (2.6, "it offered the call, and the words were taken for a yes"),
    "gave back too little": (2.4, "the last that the flow found out is not handed back"),
    "unlike": (2, "a field is taken from one of another name"),
    "from another flow": (2.6, "another flow had left it there"),
    "said later": (3.4, "it may have been meant to correct the value"),
    "texts differ": (3, "the texts of two languages do not hold the same"),
    "no text in the language": (3, "there is no text in the language of the user"),
    "twin": (5, "the model could hardly tell it from another"),
    "twin result": (1, "it is what the tool gave that can hardly be told from another"),
    "suppressed": (5, "a rule was taken away"),
    "did not fire": (-0.8, "it said nothing"),
    "safety silent": (3.4, "a rule of safety said nothing"),
    "fired at once": (1.6, "it is about the newest result"),
    "close call": (2.2, "the values it compared are nearly the same, or were compared as texts"),
}
"""General signs that something may be wrong with a cause."""


def ranked(chain: Chain) -> list[Cause]:
    """The causes without the target, the likeliest first; each with its score and the reasons."""
    distance = _distances(chain)
    found = [cause for cause in chain.causes[1:] if cause.ref]
    alike = Counter(_kind(cause) for cause in found)
    _hand_down(chain)
    _let_through(chain)
    for cause in found:
        _score(cause, distance.get(cause.id, 0), alike[_kind(cause)])
    _once(found)
    return sorted(found, key=lambda cause: (-cause.score, distance.get(cause.id, 0), cause.id))


def _once(causes: list[Cause]) -> None:
    """Of causes with one name the best is told first; the others say nothing new."""
    told: set[str] = set()
    for cause in sorted(causes, key=lambda each: -each.score):
        if cause.ref in told:
            cause.score = round(cause.score * AGAIN, 3)
        told.add(cause.ref)


_OLD: Final = ("older than what it was made of", "from another flow", "before something else")


def _hand_down(chain: Chain) -> None:
    """What came from outside is as old as the value that was made of it."""
    for link in chain.links:
        effect, cause = chain.causes[link.effect], chain.causes[link.cause]
        old = [sign for sign in effect.signs if sign in _OLD]
        if old and link.kind in ("answer", "read") and _kind(cause) == "tool_result":
            cause.signs = tuple(dict.fromkeys((*cause.signs, "made something old")))


def _let_through(chain: Chain) -> None:
    """A check that let through just what is asked about did not do what it is there for."""
    target = chain.target.value
    for cause in chain.causes[1:]:
        if "was checked" in cause.signs:
            asked = _stands_in(cause, chain.part) or (
                target is not UNDEFINED and not chain.part and same(target, cause.value)
            )
            if asked:
                cause.signs = tuple(dict.fromkeys((*cause.signs, "let through")))


def _kind(cause: Cause) -> str:
    return cause.ref.partition(":")[0]


def _score(cause: Cause, distance: float, alike: int) -> None:
    weight, reason = _KINDS.get(_kind(cause), (1.0, "it had a part"))
    if _kind(cause) == "step":
        reason = _STEPS.get(cause.kind, reason)
    signs = [_SIGNS[sign] for sign in cause.signs if sign in _SIGNS]
    fades = CHOSEN_FADES if _kind(cause) in _CHOICES else FADES
    near = fades ** max(distance - 1, 0)
    crowd = 1 / (1 + CROWDED * (alike - 1) / 2)
    doubt = 0.3 if cause.marks else 0
    warned = 2.5 if any(detail.startswith("with a warning") for detail in cause.details) else 0
    cause.score = round(
        weight * near * (0.7 + 0.3 * crowd) + sum(each for each, _ in signs) + doubt + warned, 3
    )
    for_it = [text for each, text in signs if each > 0]
    told = for_it or [text for each, text in signs if each < 0] or [reason]
    cause.ranked_for = (*told, *(["something in it went wrong"] if warned else []))


def _distances(chain: Chain) -> dict[int, float]:
    """How far each cause is away from the target: each link counts for one.

    Where some words of a reply were asked about, a value that does not stand in them is farther
    away than one that does.
    """
    effects: dict[int, list[int]] = {}
    for link in chain.links:
        effects.setdefault(link.effect, []).append(link.cause)
    found = {0: 0.0}
    ahead = [(0.0, 0)]
    while ahead:
        distance, effect = heappop(ahead)
        if distance > found[effect]:
            continue
        causes = effects.get(effect, [])
        stands = {cause for cause in causes if _stands_in(chain.causes[cause], chain.part)}
        told = chain.causes[effect].kind == "said" and stands
        for cause in causes:
            aside = told and chain.causes[cause].kind == "value" and cause not in stands
            step = distance + (ASIDE if aside else 1)
            if step < found.get(cause, step + 1):
                found[cause] = step
                heappush(ahead, (step, cause))
    return found


def _stands_in(cause: Cause, part: str) -> bool:
    """Whether a value, or a text in it, stands in the words that were asked about."""
    return bool(part) and any(text in part for text in _texts(raw(cause.value)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, bool) or value is None or value is UNDEFINED:
        return []
    if isinstance(value, int | float):
        return [number_text(float(value))]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inside for text in _texts(raw(each))]
