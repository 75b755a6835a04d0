"""Which flow do words start, and with which parameters? Each decision on the way to the answer.

A name or id is found at once; beyond that a model is asked where there is one, else a part of a
name will do. A turn decides with these (`starting`), and so does whoever only wants to know
(`runtime.detecting`): what is done with the answer is theirs. spec: flow-engine 5.1-5.4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saywhy.chart.outcome import Answer, Need
from saywhy.flows import detection, intent
from saywhy.flows.intent import Match
from saywhy.flows.model import Flow
from saywhy.flows.modelled import ask_model, text_of
from saywhy.flows.world import World
from saywhy.host import FlowChoice, FlowOption, ParameterChoice

Chat = Sequence[Mapping[str, str]]
"""What was said last, oldest first, as `{role, content}`."""


def begin(world: World, text: str, chat: Chat) -> Match | Need | None:
    """The flow whose name is said; else the question to a model; without one a part of a name."""
    if not text.strip():
        return None
    match = intent.exact(text, world.order)
    if match is not None:
        return match
    if not world.has_model:
        return intent.partial(text, world.order, guard=world.options.partial_match)
    if not world.offered:
        return None
    return ask_model(detection.DETECT, input=text, conversation=chat)


def chosen(world: World, answer: Answer) -> FlowChoice:
    """What the model says. Raises `ModelFailed` where it says nothing that can be read."""
    return detection.flow_choice(world, text_of(answer))


def asks_parameters(world: World, option: FlowOption) -> bool:
    """Whether the parameters of a flow are a question of their own."""
    return detection.is_staged(world) and bool(option.askable)


def ask_parameters(option: FlowOption, text: str, chat: Chat) -> Need:
    """The question for the parameters of the flow that was found."""
    flow = option.id or option.name
    return ask_model(detection.EXTRACT, flow=flow, input=text, conversation=chat)


def parameters(option: FlowOption, answer: Answer) -> ParameterChoice:
    """The parameters in the words; none without an answer: the flow asks for them itself."""
    if answer.error is not None:
        return ParameterChoice()
    return detection.parameter_choice(option, text_of(answer))


def flow_of(world: World, option: FlowOption) -> Flow:
    """The flow behind what was offered."""
    wanted: Any = (option.id, option.name)
    return next(flow for flow in world.order if (flow.id, flow.name or flow.id) == wanted)
