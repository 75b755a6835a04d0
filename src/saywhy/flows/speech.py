"""How texts become a reply: the queue of what was said, and its delivery.

SAYs wait in ("session", "queue"); a question, the end of the last flow or a RETURN delivers. A
reply is a list of stretches, each with the commit that wrote it, so that every word can be traced.
spec: flow-engine 1.4
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.model import Chart, Charts
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError
from saywhy.expr.numbers import value_text
from saywhy.flows.guidance import Pieces
from saywhy.flows.languages import key_of, pick
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, FrozenList, Key, freeze, raw

QUEUE: Final[Key] = ("session", "queue")
TENTATIVE: Final[Key] = ("session", "tentative")
REPLY: Final[Key] = ("turn", "reply")
GAP: Final = "\n\n"
MAX_QUEUE: Final = 200
"""Undelivered texts; more is a loop that talks. spec: flow-engine 13"""


def language_of(world: World, scope: Scope) -> str:
    """The session's language, else the engine's."""
    return scope.state.scopes["session"].get("language") or world.language


def localized(spec: Mapping[str, Any], name: str, language: str) -> str:
    """The text of a step in a language, else the plain one. spec: flow-engine 10.1"""
    text = spec.get(key_of(spec, name, language))
    return text if isinstance(text, str) else "" if text is None else value_text(freeze(text))


def prompt_of(charts: Charts, digest: str, language: str) -> str:
    """What users are shown as the name of a flow."""
    chart = charts.find(digest)
    return prompt_for(chart, language) if chart else ""


def prompt_for(chart: Chart, language: str) -> str:
    """The prompt in the language, else the plain prompt, else the flow's name."""
    prompts = chart.meta.get("prompts")
    if not prompts:
        return chart.name
    return pick(prompts, language) or prompts.get("") or chart.name


def say_phrase(world: World, scope: Scope, name: str, language: str, **values: Any) -> str:
    """A sentence of the library's own, noted so that its record tells which one was said."""
    said = [*scope.facts.get("phrases", ()), name]
    scope.facts = {**scope.facts, "phrases": said}
    return world.phrases.say(name, language, **values)


def queue_text(world: World, scope: Scope, text: str) -> None:
    """Put a text in the queue; empty ones are dropped unless the engine keeps them."""
    if text.strip() or world.options.keep_empty_says:
        scope.append(QUEUE, FrozenList([text, scope.state.seq + 1]))


def say_more(world: World, scope: Scope, text: str) -> None:
    """Put what a flow says in the queue. Raises `FlowExecutionError` when it never stops."""
    if len(scope.peek(QUEUE) or ()) >= MAX_QUEUE:
        raise FlowExecutionError(
            f"more than {MAX_QUEUE} texts were said without a question in between",
            hint="usually a loop of SAYs: give it a condition to stop",
        )
    queue_text(world, scope, text)


def take_queue(scope: Scope) -> Pieces:
    """Everything queued, joined by blank lines, as stretches; the queue is empty afterwards."""
    queued = scope.read(QUEUE)
    if queued is UNDEFINED or not queued:
        return []
    scope.delete(QUEUE)
    pieces: Pieces = []
    for item in raw(queued):
        if pieces:
            pieces.append([GAP, 0])
        pieces.append(raw(item))
    return pieces


def drop_tentative(scope: Scope) -> str:
    """The placeholder of a flow that has said nothing yet; it is gone afterwards."""
    text = scope.peek(TENTATIVE)
    if text is UNDEFINED:
        return ""
    scope.delete(TENTATIVE)
    return text


def joined(*groups: Pieces) -> Pieces:
    """Groups of stretches with a blank line between those that are not empty."""
    pieces: Pieces = []
    for group in groups:
        if group and pieces:
            pieces.append([GAP, 0])
        pieces.extend(group)
    return pieces


def deliver(scope: Scope, pieces: Pieces) -> None:
    """Make `pieces` the reply of this turn; a delivered text twice in a turn is joined."""
    earlier = scope.peek(REPLY)
    if earlier is not UNDEFINED and earlier:
        pieces = joined([list(piece) for piece in earlier], pieces)
    scope.set(REPLY, FrozenList(pieces))  # made for this and changed by nobody: no copy


def here(scope: Scope, text: str) -> Pieces:
    """`text` as a stretch that this step wrote."""
    return [[text, scope.state.seq + 1]]


def plain(pieces: Any) -> str:
    """The text of stretches."""
    return "".join([text for text, _ in raw(pieces)])
