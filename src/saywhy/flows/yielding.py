"""A flow that rests while routing looks for another: a form has yielded words it could not read.

The flow that is found opens above it, like an interruption, and when it ends the form goes on. When
the words mean the flow that rests, it asks again; when they mean none, the host answers and the
form waits on.
"""

from __future__ import annotations

from saywhy.chart.cursor import Frame
from saywhy.chart.model import Chart
from saywhy.chart.outcome import Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows.answers import withdraw_keypad
from saywhy.flows.speech import (
    deliver,
    here,
    joined,
    language_of,
    prompt_for,
    prompt_of,
    queue_text,
    say_phrase,
)
from saywhy.flows.world import World


def resting(scope: Scope) -> list[Frame]:
    """The frames of flows that wait below whatever routing opens."""
    return scope.cursors[-1].frames


def is_resting(scope: Scope, name: str) -> bool:
    """Whether a flow of this name is among them."""
    return any(frame.name == name for frame in resting(scope))


def come_back(world: World, scope: Scope) -> Outcome:
    """The words name a flow that rests: it asks its question again."""
    frame = resting(scope)[-1]
    language = language_of(world, scope)
    prompt = prompt_of(scope.charts, frame.chart, language)
    told = say_phrase(world, scope, "flow_resumed", language, flowName=prompt)
    question = frame.data.get("question")
    asked = here(scope, question) if isinstance(question, str) and question else []
    deliver(scope, joined(here(scope, told), asked))
    return Return()


def say_left(world: World, scope: Scope, chart: Chart) -> None:
    """Tell the user that what they had begun is kept."""
    withdraw_keypad(scope)
    language = language_of(world, scope)
    left = prompt_of(scope.charts, resting(scope)[-1].chart, language)
    named = {"targetFlow": prompt_for(chart, language), "currentFlow": left}
    queue_text(world, scope, say_phrase(world, scope, "flow_interrupted", language, **named))
