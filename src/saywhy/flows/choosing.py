"""Two flows fit as well as each other: the user is asked which one is meant.

The question stands until the next message, which picks by name, by number or by place. Anything
else leaves it open no longer, and is detected anew. Whether two fit is for the model to say.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from saywhy.chart.scope import Scope
from saywhy.flows.commands import folded
from saywhy.flows.languages import nearest
from saywhy.flows.speech import deliver, here, language_of, plain, prompt_for, say_phrase
from saywhy.flows.wording import de, en, es, fr, pt
from saywhy.flows.world import World
from saywhy.values import Key, thaw

CHOICE: Final[Key] = ("session", "pendingChoice")

PLACES: Final = {
    "en": en.PLACES,
    "es": es.PLACES,
    "pt": pt.PLACES,
    "fr": fr.PLACES,
    "de": de.PLACES,
}
"""By language: the words for the first and for the second of two."""

_WORD: Final = re.compile(r"\w+")


class Choice(msgspec.Struct, frozen=True):
    """Two flows, one of which the user is to pick."""

    flows: tuple[str, str]
    """Their ids."""
    labels: tuple[str, str]
    """What users are shown as their names."""
    parameters: dict[str, Any]
    """What the words gave for the first one."""
    text: str
    """The words that fit both."""
    message: int
    """Number of the message that they came with."""
    question: str

    def chat(self) -> list[dict[str, str]]:
        """What was said until now, as a model is told of it."""
        return [
            {"role": "user", "content": self.text},
            {"role": "assistant", "content": self.question},
        ]


def ask(
    world: World, scope: Scope, flows: tuple[str, str], parameters: dict[str, Any], text: str
) -> None:
    """Ask the user which of two flows is meant."""
    language = language_of(world, scope)
    charts = [scope.charts.find(flow) for flow in flows]
    first, second = (prompt_for(chart, language) for chart in charts if chart is not None)
    said = here(
        scope, say_phrase(world, scope, "flow_choice", language, first=first, second=second)
    )
    message = scope.peek(("turn", "message"))
    choice = Choice(flows, (first, second), parameters, text, message, plain(said))
    scope.set(CHOICE, msgspec.to_builtins(choice))
    deliver(scope, said)


def take(scope: Scope) -> Choice | None:
    """The choice that the user was asked for, once: it is open no longer. None where there is none,
    or where one of its flows is gone."""
    if not scope.has(*CHOICE):
        return None
    made = msgspec.convert(thaw(scope.peek(CHOICE)), Choice)  # what it says is read by itself
    scope.delete(CHOICE)
    is_known = all(scope.charts.find(flow) is not None for flow in made.flows)
    return made if is_known else None


def picked(choice: Choice, text: str, language: str) -> int | None:
    """Which of the two an answer picks, 0 or 1; None where it picks neither, or both."""
    said = _words(text)
    if not said:
        return None
    hits = [number for number in (0, 1) if _picks(choice, number, said, language)]
    return hits[0] if len(hits) == 1 else None


def _picks(choice: Choice, number: int, said: list[str], language: str) -> bool:
    mine, other = _words(choice.labels[number]), _words(choice.labels[1 - number])
    if _holds(said, mine) or _holds(said, _words(choice.flows[number])):
        return not (_holds(other, mine) and _holds(said, other))  # "pay" within "pay a bill"
    return " ".join(said) in _places(language, number)


def _places(language: str, number: int) -> set[str]:
    """What picks by place: its number, and the words of the language and of English."""
    tags = (*nearest(language), "en")
    return {str(number + 1)} | {one for tag in tags if tag in PLACES for one in PLACES[tag][number]}


def _holds(said: list[str], name: list[str]) -> bool:
    """Whether the words of a name stand in what was said, one after the other."""
    size = len(name)
    return size > 0 and any(said[at : at + size] == name for at in range(len(said) - size + 1))


def _words(text: str) -> list[str]:
    """A text as words, whatever their case and accents."""
    return _WORD.findall(folded(text))
