"""What goes over the wire between an engine and the host that answers its model calls.

Plain dicts, so that they can be sent on as JSON; their keys are those of the flow language, in its
spelling (`systemOne`), whoever writes them. The values we work with inside are in `options.py`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Said(TypedDict):
    """One message of the chat so far."""

    role: Literal["user", "assistant"]
    content: str


class ParameterShape(TypedDict):
    """A value that may be found in the user's words."""

    name: str
    description: str
    type: NotRequired[str]
    enum: NotRequired[list[str]]
    """The only values there are; absent where any value will do."""


class FlowShape(TypedDict):
    """A flow that may be chosen."""

    id: str
    name: str
    description: str
    parameters: list[ParameterShape]
    """Those that may be asked for. Empty in stage 1, which is about the flow alone."""
    parameterInstructions: NotRequired[str]
    """Rules that span the parameters; in stage 2 only, and only where the flow has some."""


class TextInstructions(TypedDict):
    """What a text model is asked: the positional arguments of the call once more."""

    system: str
    user: str
    schema: str
    """A `json_schema` response format, as JSON text."""


class Question(TypedDict):
    """A question that a classifier answers with the probability of "yes"."""

    id: str
    """`f<n>` for a flow, `p<k>` for a boolean parameter, `p<k>v<j>` for a value of an `enum`."""
    question: str


class Questions(TypedDict):
    """What a classifier is asked. It answers `{id: probability}`, every question."""

    instructions: str
    input: str
    conversation: list[Said]
    questions: list[Question]


class DetectionRequest(TypedDict):
    """The fourth argument of a detection call: the call once more, in structured form."""

    task: Literal["detect_flow", "extract_parameters"]
    input: str
    """The user's words, exactly as they stand in `<user-input>`."""
    conversation: list[Said]
    """The last turn, oldest first; empty where there was none."""
    flows: list[FlowShape]
    """What may be chosen from; in stage 2 the one flow that was chosen."""
    stage: NotRequired[Literal[1, 2]]
    """Absent in a single call."""
    llm: NotRequired[TextInstructions]
    """In the two stages: what to ask a text model."""
    systemOne: NotRequired[Questions]
    """In the two stages: what to ask a classifier."""
