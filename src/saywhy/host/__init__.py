"""Pure functions for hosts that answer the engine's model calls, by a text model or a classifier.

Nothing here sends anything or loads the engine; the engine's own detection is built of the same
parts.
"""

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

__all__ = [
    "DetectionCall",
    "Dropped",
    "FlowChoice",
    "FlowOption",
    "ParameterChoice",
    "ParameterOption",
    "Score",
    "build_detect_flow_request",
    "decode_detect_flow_reply",
    "decode_flow_llm",
    "decode_parameters_llm",
    "parse_schema_arg",
    "schema_name",
]
