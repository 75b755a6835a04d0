"""What users are told about the flow they are in: what can be said now, and where they stand.

When to say it is left to `turn`. spec: flow-engine 5.7
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Charts
from saywhy.expr.numbers import value_text
from saywhy.flows.agents.fallback import ASKING
from saywhy.flows.agents.places import flows_among
from saywhy.flows.forms import record as forms
from saywhy.flows.forms.model import sensitive_inputs
from saywhy.flows.guidance import is_financial
from saywhy.flows.model import Step
from saywhy.flows.offers import Offer
from saywhy.flows.read_flow import object_of
from saywhy.flows.speech import prompt_of
from saywhy.flows.world import World
from saywhy.trace.masking.kept import touches
from saywhy.trace.masking.redact import Redactor
from saywhy.trace.masking.sensitive import SensitiveNames
from saywhy.trace.masking.taint import SENSITIVE as PLACES
from saywhy.values import raw

SENSITIVE: Final = SensitiveNames(("pin", "cvv", "cvc", "otp"))
"""Variables that are not shown to whoever looks over the user's shoulder."""
SENSITIVE_PARTS: Final = ("password", "secret")
"""Names that hold one of these anywhere are not shown either."""
MAX_LISTED: Final = 50


def help_text(
    world: World, charts: Charts, flow: Cursor, language: str, offer: Offer | None = None
) -> str:
    """What can be said now, and the question that is open."""
    root = flow.frames[0]
    named = {"flowName": root.name, "flowPrompt": prompt_of(charts, root.chart, language)}

    def say(phrase: str, **values: str) -> str:
        return world.phrases.say(phrase, language, **named, **values)

    lines = [say("cmd_help_commands")]
    for command in ("cancel", "status", "help"):
        if command in world.options.commands:
            lines.append(say(f"cmd_help_{command}"))
    if offer is not None:
        lines += [say(f"cmd_help_{name}", **offer.named) for name in ("switch", "continue")]
    blocks = [say("cmd_help_title"), "\n".join(lines)]
    if is_financial(root.name):
        blocks.append(say("cmd_help_financial"))
    question = flow.top.data.get("question")
    if question:
        blocks += [f"{say('cmd_help_question')}\n{question}", say("cmd_help_instruction")]
    return "\n\n".join(blocks)


def status_text(world: World, charts: Charts, flow: Cursor, language: str) -> str:
    """Where the conversation stands. Sensitive values and globals are not listed."""
    frames = [one for one in flows_among(charts, flow.frames) if not _is_hidden(charts, one)]
    top = frames[-1]
    named = {"flowName": top.name, "flowPrompt": prompt_of(charts, top.chart, language)}

    def say(phrase: str, **values: Any) -> str:
        return world.phrases.say(phrase, language, **named, **values)

    lines = [
        say("cmd_status_title"),
        say("cmd_status_flow"),
        say("cmd_status_steps", count=steps_left(charts, top)),
        say("cmd_status_depth", count=len(frames)),
        say("cmd_status_transaction", id=str(top.data.get("tx", ""))[:8]),
    ]
    collected = _collected(world, flow, top)
    if collected:
        lines += ["", say("cmd_status_collected"), *collected]
    return "\n".join(lines)


def _is_hidden(charts: Charts, frame: Frame) -> bool:
    """Whether users know nothing of a frame: it carries a correction out, or asks for an agent."""
    chart = charts.find(frame.chart)
    return frame.name == ASKING or (chart is not None and chart.kind == "correction")


def steps_left(charts: Charts, frame: Frame) -> int:
    """Steps from where the frame stands to its end, along the straight way."""
    chart = charts.find(frame.chart)
    count, at = 0, frame.at
    while chart is not None and at is not None and count < len(chart.nodes):
        count += 1
        at = chart.nodes[at].next if at in chart.nodes else None
    return count


def _collected(world: World, flow: Cursor, top: Frame) -> list[str]:
    told = flow.state.get("session", "secrets") or ()
    secrets = Redactor(secrets=[*map(str, told), *_secret_globals(world)])
    asked = _asked_in_secret(world)
    known = raw(flow.state.get("session", PLACES) or {})
    lines: list[str] = []
    variables = flow.state.scopes.get(top.scope, {})
    for name, value in [*variables.items(), *forms.listed(top, variables)]:
        if not isinstance(value, str | int | float) or name in asked or _is_sensitive(name):
            continue
        if touches(known, [(top.scope, name)]):
            continue
        text = value_text(value)
        if text and secrets.text(text) is text:
            lines.append(f"• {name}: {text}")
    return lines[:MAX_LISTED]


def _is_sensitive(name: str) -> bool:
    lowered = name.lower()
    return name in SENSITIVE or any(part in lowered for part in SENSITIVE_PARTS)


def _asked_in_secret(world: World) -> frozenset[str]:
    """Variables that some question with `pii` asks for, and those that are made of them.

    By name, since an answer may have been shaped or worked on: then no text is known to look for.
    """
    steps = [step for flow in world.order for step in flow.walk()]
    asked = (step for step in steps if step.type == "SAY-GET" and step.raw.get("pii"))
    found = {str(step.raw.get("variable") or "") for step in asked} - {""}
    found.update(name for step in steps for name in sensitive_inputs(step.raw))
    sources = [source for step in steps for source in _sources(step)] if found else []
    before = 0
    while len(found) > before:  # each round finds another name, or is the last
        before = len(found)
        names = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, found))})(?![\w$])")
        found.update(name for name, source in sources if names.search(source))
    return frozenset(found)


def _sources(step: Step) -> Iterator[tuple[str, str]]:
    """The variables that a step sets, each with the text that says what to."""
    if step.type == "SET":
        yield str(step.raw.get("variable") or ""), str(step.raw.get("value"))
    elif step.type == "FLOW":
        for name, value in object_of(step.raw.get("parameters")).items():
            yield name, str(value)


def _secret_globals(world: World) -> Iterator[str]:
    """Texts of global variables with a sensitive name: a flow may have copied one."""
    for name, value in world.globals.items():
        if isinstance(value, str | int | float) and _is_sensitive(name):
            yield value_text(value)
