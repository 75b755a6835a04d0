"""Detection in two stages: first the flow, by the descriptions alone, then its parameters.

Each stage is one call. Its texts are for a text model; its request says the same once more, and
what to ask a classifier instead. A host runs either or both (`hedge`), has the answer decoded
(`reading.py`, `classifier.py`) and hands `reply()` back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from saywhy.host.classifier import flow_questions, parameter_questions
from saywhy.host.options import FlowOption, flow_shape
from saywhy.host.prompt import (
    ALTERNATIVE_RULE,
    CHOICE_RULES,
    DATA_RULE,
    VALUE_RULES,
    DetectionCall,
    chat,
    instructions,
    one_line,
    parameter_text,
    user_text,
)
from saywhy.host.schemas import (
    EXTRACT_PARAMETERS,
    NO_FLOW,
    SELECT_FLOW,
    extract_parameters_schema,
    is_enforceable,
    select_flow_schema,
    wrapped,
)
from saywhy.host.shapes import DetectionRequest, TextInstructions

_FLOW_TASK: Final = "Find out which of the available flows, if any, the user's message starts."
_VALUE_TASK: Final = "Find out which values for the listed parameters the user's message states."
_NULL_RULE: Final = "A parameter that the user has not stated is null."
_SHOWN_FORM: Final = {
    "type": "object",
    "properties": {"flowName": {"type": "string"}},
    "required": ["flowName"],
}
"""What the instructions show: the names stand in the list of flows, once is enough."""


def build_flow_stage(
    input: str,
    conversation: Iterable[Mapping[str, Any]],
    flows: Iterable[FlowOption],
    *,
    alternative: bool = False,
) -> DetectionCall:
    """Stage 1: which flow, by name and description. Parameters are not shown.

    With `alternative` the reply of a text model may name a second flow that fits as well.
    """
    words, said, offered = input.strip(), chat(conversation), tuple(flows)
    request: DetectionRequest = {
        "task": "detect_flow",
        "stage": 1,
        "input": words,
        "conversation": said,
        "flows": [flow_shape(flow) for flow in offered],
    }
    lines = [f"- {flow.name}: {one_line(flow.description)}" for flow in offered]
    form = select_flow_schema([flow.name for flow in offered], alternative=alternative)
    texts: TextInstructions = {
        "system": _TWO_SYSTEM if alternative else _FLOW_SYSTEM,
        "user": user_text(words, said, "available-flows", lines),
        "schema": wrapped(SELECT_FLOW, form, strict=True),
    }
    request["llm"] = texts
    request["systemOne"] = flow_questions(words, said, offered)
    return DetectionCall(texts["system"], texts["user"], texts["schema"], request)


def build_parameter_stage(
    input: str, conversation: Iterable[Mapping[str, Any]], flow: FlowOption
) -> DetectionCall:
    """Stage 2: the parameters of the flow that was chosen, with the rules that span them.

    Not to be asked for a flow without `askable` parameters: there is nothing to find.
    """
    words, said, asked = input.strip(), chat(conversation), flow.askable
    shape = flow_shape(flow, asked)
    if flow.parameter_instructions:
        shape["parameterInstructions"] = flow.parameter_instructions
    request: DetectionRequest = {
        "task": "extract_parameters",
        "stage": 2,
        "input": words,
        "conversation": said,
        "flows": [shape],
    }
    form = extract_parameters_schema(asked)
    rules = [_NULL_RULE, *VALUE_RULES, DATA_RULE]
    if flow.parameter_instructions:
        rules.append(f"Of these parameters: {flow.parameter_instructions.strip()}")
    lines = [f"- {parameter_text(option)}" for option in asked]
    texts: TextInstructions = {
        "system": instructions(_VALUE_TASK, rules, form, _NOTHING_FOUND),
        "user": user_text(words, said, "parameters", lines),
        "schema": wrapped(EXTRACT_PARAMETERS, form, strict=is_enforceable(asked)),
    }
    request["llm"] = texts
    request["systemOne"] = parameter_questions(words, said, flow)
    return DetectionCall(texts["system"], texts["user"], texts["schema"], request)


_FLOW_SYSTEM: Final = instructions(
    _FLOW_TASK,
    (*CHOICE_RULES, DATA_RULE),
    _SHOWN_FORM,
    f'If no flow fits: {{"flowName":"{NO_FLOW}"}}',
)
_TWO_SYSTEM: Final = instructions(
    _FLOW_TASK,
    (*CHOICE_RULES, ALTERNATIVE_RULE, DATA_RULE),
    {
        "type": "object",
        "properties": {"flowName": {"type": "string"}, "alternative": {"type": "string"}},
        "required": ["flowName", "alternative"],
    },
    f'If no flow fits: {{"flowName":"{NO_FLOW}","alternative":"{NO_FLOW}"}}',
)
_NOTHING_FOUND: Final = "If the user has stated none of them, all are null."
