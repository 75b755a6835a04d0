"""Pure functions for hosts that answer the engine's model calls, by a text model or a classifier.

Nothing here sends anything or loads the engine; the engine's own detection is built of the same
parts.
"""

from saywhy.errors import InvalidReply, UnansweredQuestion
from saywhy.host.body import AiModel, build_ai_request
from saywhy.host.classifier import (
    INTENT_YES_THRESHOLD,
    decode_flow_system_one,
    decode_parameters_system_one,
    free_text_parameters,
    from_flow_answers,
    from_parameter_answers,
    has_jev_parameters,
    is_detect_flow_request,
    is_near_miss,
    merge_text_parameters,
    to_flow_request,
    to_parameter_request,
)
from saywhy.host.hedge import hedge
from saywhy.host.options import FlowOption, ParameterOption
from saywhy.host.prompt import DetectionCall, build_detect_flow_request
from saywhy.host.reading import (
    Dropped,
    FlowChoice,
    ParameterChoice,
    Score,
    decode_detect_flow_reply,
    decode_flow_llm,
    decode_parameters_llm,
)
from saywhy.host.schemas import parse_schema_arg, schema_name
from saywhy.host.shapes import (
    DetectionRequest,
    FlowShape,
    ParameterShape,
    Question,
    Questions,
    Said,
    TextInstructions,
)
from saywhy.host.stages import build_flow_stage, build_parameter_stage

__all__ = [
    "INTENT_YES_THRESHOLD",
    "AiModel",
    "DetectionCall",
    "DetectionRequest",
    "Dropped",
    "FlowChoice",
    "FlowOption",
    "FlowShape",
    "InvalidReply",
    "ParameterChoice",
    "ParameterOption",
    "ParameterShape",
    "Question",
    "Questions",
    "Said",
    "Score",
    "TextInstructions",
    "UnansweredQuestion",
    "build_ai_request",
    "build_detect_flow_request",
    "build_flow_stage",
    "build_parameter_stage",
    "decode_detect_flow_reply",
    "decode_flow_llm",
    "decode_flow_system_one",
    "decode_parameters_llm",
    "decode_parameters_system_one",
    "free_text_parameters",
    "from_flow_answers",
    "from_parameter_answers",
    "has_jev_parameters",
    "hedge",
    "is_detect_flow_request",
    "is_near_miss",
    "merge_text_parameters",
    "parse_schema_arg",
    "schema_name",
    "to_flow_request",
    "to_parameter_request",
]
