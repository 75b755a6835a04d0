"""Which of a step's texts was said: the plain one or that of a language, and whether they differ.

A step may have `value`, `value_es` and more. Which one a reply shows is told by its words; that the
texts of two languages do not hold the same numbers and names is a sign that one was forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.ref import step_path
from saywhy.trace.causes.tongue import tongue
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, source_text
from saywhy.values import raw

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

_HOLE: Final = r"\{\{.*?\}\}"
_WORD: Final = r"\w+"
_NUMBER: Final = r"\d+"
_VARIANT: Final = r"(value|messages)_([A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?)$"


def name_wording(trace: Trace, commit: Commit, cause: Cause) -> None:
    """Have a step that says one text be known by its wording as well, a phrase by its id."""
    phrases = [str(one) for one in raw(commit.facts.get("phrases")) or ()]
    if phrases:
        cause.also = (*cause.also, *(f"phrase:{one}" for one in phrases))
    if commit.flow not in OWN and not _variants(trace, commit):
        cause.also = (*cause.also, f"wording:{step_path(trace, commit)}")


def link_wording(search: Search, cause: int, commit: Commit, text: str) -> None:
    """Link what was said to the text that was chosen among those of several languages."""
    texts = _variants(search.trace, commit)
    if not texts:
        return
    said = max(texts, key=lambda name: (_alike(texts[name], text), name != "value"))
    wording = _wording(search.trace, commit, texts, said)
    if said == "value" and not wording.signs:  # nothing to tell: the step's own text was said
        step = search.of(cause)
        step.also = (*step.also, wording.ref)
        return
    search.add(
        Effect(cause, "wrote"),
        ("wording", commit.seq, said),
        lambda: wording,
        lambda found: _language(search, found, commit),
    )


def _language(search: Search, cause: int, commit: Commit) -> None:
    """Who said which language the conversation is in, where a step did."""
    key = ("session", "language")
    if search.trace.wrote(key, commit.seq):
        search.value(Effect(cause, "read", key), key, commit.seq)


def _variants(trace: Trace, commit: Commit) -> Mapping[str, str]:
    """The texts of a step by the key they stand under, where there is more than one."""
    node = trace.node_of(commit)
    spec: Mapping[str, Any] = node.spec if node is not None else {}
    found = {
        name: str(value)
        for name, value in spec.items()
        if isinstance(value, str) and (name == "value" or re.match(_VARIANT, name))
    }
    return found if len(found) > 1 else {}


def _wording(trace: Trace, commit: Commit, texts: Mapping[str, str], said: str) -> Cause:
    others = [name for name in texts if name != said]
    language = trace.value_at(("session", "language"), commit.seq).value
    spoken = f", as the language is {language}" if isinstance(language, str) and language else ""
    sentence = f"said was its `{said}`{spoken}: {source_text(texts[said])}"
    cause = Cause(0, "handed", sentence, "authored", ref=f"wording:{step_path(trace, commit)}")
    cause.commit, cause.turn, cause.flow = commit.seq, commit.turn, commit.flow
    node = trace.node_of(commit)
    if node is not None:
        cause.place = node.where
    odd = [name for name in others if _facts_in(texts[name]) != _facts_in(texts[said])]
    if odd:
        cause.signs = ("texts differ",)
        cause.details = (f"`{odd[0]}` does not hold the same: {source_text(texts[odd[0]])}",)
    spoken_in = tongue(texts[said])
    if spoken_in and isinstance(language, str) and language and not language.startswith(spoken_in):
        cause.signs = (*cause.signs, "in another language")
    if said == "value" and spoken and not any(str(language)[:2] in one for one in others):
        cause.signs = (*cause.signs, "no text in the language")
    return cause


def _facts_in(text: str) -> tuple[list[str], list[str]]:
    """What every language has to hold alike: the numbers, and what is filled in."""
    holes = sorted("".join(hole.split()) for hole in re.findall(_HOLE, text))
    return sorted(re.findall(_NUMBER, re.sub(_HOLE, " ", text))), holes


def _alike(template: str, text: str) -> float:
    """How much of the fixed words of a template stands in what was said."""
    fixed = re.findall(_WORD, re.sub(_HOLE, " ", template).lower())
    spoken = set(re.findall(_WORD, text.lower()))
    return sum(word in spoken for word in fixed) / len(fixed) if fixed else 0.5
