"""Promise: what goes over the wire is what the types say, nothing less and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from saywhy.host import (
    DetectionRequest,
    FlowOption,
    FlowShape,
    ParameterOption,
    ParameterShape,
    Question,
    Questions,
    Said,
    TextInstructions,
    build_detect_flow_request,
    build_flow_stage,
    build_parameter_stage,
)

PAY = FlowOption(
    "pay",
    "Pay",
    "Pays",
    (ParameterOption("kind", "what", enum=("A", "B")), ParameterOption("gift", "", "boolean")),
    "low",
    "A is for gifts.",
)
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
REQUESTS: list[Any] = [
    build_detect_flow_request("x", CHAT, [PAY]).request,
    build_flow_stage("x", CHAT, [PAY]).request,
    build_parameter_stage("x", CHAT, PAY).request,
]


def parts(request: Any) -> Iterator[tuple[type[Any], Any]]:
    """Every dict in a request, with the type that describes it."""
    yield DetectionRequest, request
    for said in request["conversation"]:
        yield Said, said
    for flow in request["flows"]:
        yield FlowShape, flow
        for parameter in flow["parameters"]:
            yield ParameterShape, parameter
    if "llm" in request:
        yield TextInstructions, request["llm"]
        yield Questions, request["systemOne"]
        for question in request["systemOne"]["questions"]:
            yield Question, question


@pytest.mark.parametrize("request_", REQUESTS)
def test_every_dict_is_of_its_type(request_: Any) -> None:
    """Each key that must be there is, with a value of its type, and no other key is."""
    for kind, found in parts(request_):
        msgspec.convert(found, kind)
        assert found.keys() <= kind.__annotations__.keys(), kind


def test_no_key_of_the_types_is_idle() -> None:
    """Each key that the types describe stands in one of the three calls."""
    seen: dict[type[Any], set[str]] = {}
    for request in REQUESTS:
        for kind, found in parts(request):
            seen.setdefault(kind, set()).update(found)
    assert {kind: kind.__annotations__.keys() for kind in seen} == seen
    assert len(seen) == 7
