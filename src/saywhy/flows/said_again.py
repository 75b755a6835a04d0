"""Whether words give what is asked for as sensitive, while another question is open or none.

No words correct a sensitive answer, so "no, the PIN is 4711" goes on to whoever takes words then,
and a number may be said before it is asked for. Such a message is masked in every record all the
same: all of it, and the value in it wherever that turns up later.

Looked at are the flows that run and, where none does, all that may be started. A message counts
where it is a plain form of a correction around the name of something sensitive, where it has such a
name and a longer number, and where it takes something back with a longer number after something
sensitive was answered, and names nothing else that is asked for. What was sensitive in flows that
are over is known by its digest, and masked where it is said again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from saywhy.chart.cursor import Frame
from saywhy.chart.model import Chart
from saywhy.chart.scope import Scope
from saywhy.flows.answers import SECRETS, mask
from saywhy.flows.corrections import patterns
from saywhy.flows.corrections.said import spoken
from saywhy.flows.corrections.settings import spaced
from saywhy.flows.languages import nearest
from saywhy.flows.privacy import SENSITIVE_ANSWERS
from saywhy.flows.world import World
from saywhy.trace.masking.digests import (
    REMEMBERED,
    digits_of,
    is_telling,
    numbers_in,
    said_again,
)
from saywhy.trace.masking.redact import Redactor

_REMEMBERED: Final = ("session", REMEMBERED)
_WHOSE: Final = ("session", "sessionId")


def hide_given(world: World, scope: Scope, frames: Sequence[Frame], text: str, tag: str) -> None:
    """Mask the words, and the values in them, where they give something sensitive."""
    known = scope.peek(_REMEMBERED) or ()
    repeated = said_again(text, str(scope.peek(_WHOSE)), known) if known else []
    answered = scope.peek(SECRETS) or ()
    given = _given(world, frames, text, tag, has_answered=bool(answered or known))
    repeated += _spelled_in(text, answered)
    for secret in dict.fromkeys([*given, *repeated]):
        mask(scope, secret)
    if repeated and not given:  # what is made of the words is sensitive, but not all of them are
        scope.secrets = (*scope.secrets, (text, Redactor(secrets=repeated).text(text)))


def _spelled_in(text: str, known: Sequence[str]) -> list[str]:
    """The values in the words that are known already, in capitals as well."""
    found: dict[str, None] = {}
    folded = text.casefold()
    for one in known:
        if is_telling(one) and one.casefold() in folded:
            found.update(dict.fromkeys(re.findall(re.escape(one), text, re.IGNORECASE)))
            found[one] = None
    return list(found)


def _given(
    world: World, frames: Sequence[Frame], text: str, tag: str, *, has_answered: bool
) -> list[str]:
    """The words and the values in them, where they give something sensitive that is new."""
    charts = [world.charts.version(frame.chart) for frame in frames]
    if not frames:
        charts = [world.chart_of(flow) for flow in world.order]
    names = tuple(dict.fromkeys(name for chart in charts for name in _asked(chart, tag)))
    if not names:
        return []
    values = [value for each in nearest(tag) for _, value in patterns.built_in(text, each, names)]
    numbers = numbers_in(text)
    if not values and not numbers:
        return []
    taken_back = has_answered and _takes_back(text, tag) and not _is_of_another(text, charts)
    if values or taken_back or _mentions(text, names):
        return [text, *values, *_spellings(numbers)]
    return []


def _asked(chart: Chart | None, tag: str) -> Iterator[str]:
    """What people call what a flow asks for as sensitive."""
    for names in chart.meta.get(SENSITIVE_ANSWERS, {}).values() if chart is not None else ():
        yield from spoken(names, tag)


def _mentions(text: str, names: tuple[str, ...]) -> bool:
    return _any_of(names).search(patterns.fold(text)) is not None


@lru_cache(maxsize=256)  # one for each set of names of the flows that run
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    words = (re.escape(patterns.fold(name)).replace(r"\ ", r"\s+") for name in names)
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)")


def _takes_back(text: str, tag: str) -> bool:
    """Whether it begins as a correction does: with "no", with "actually"."""
    forms = [patterns.FORMS[each] for each in nearest(tag) if each in patterns.FORMS]
    folded = patterns.fold(text)
    return any(re.match(rf"\W*(?:{form.lead})\b", folded) for form in forms)


def _is_of_another(text: str, charts: Sequence[Chart | None]) -> bool:
    """Whether it names something else that one of the flows asks for: "no, the amount is 8000"."""
    nodes = (node for chart in charts if chart is not None for node in chart.nodes.values())
    asked = (node.spec.get("variable") for node in nodes if node.kind == "SAY-GET")
    names = tuple(dict.fromkeys(spaced(name) for name in asked if isinstance(name, str) and name))
    return bool(names) and _mentions(text, names)


def _spellings(numbers: Sequence[str]) -> Iterator[str]:
    """Each number as it was written and with its digits alone, as a validator makes it."""
    for number in numbers:
        yield number
        yield digits_of(number)
