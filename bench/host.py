"""What does it cost to ask which of 200 flows is meant, and to read the answer?

Each flow has a description and three parameters, one of them with declared values. The prompt is
made anew for every call, as in a turn; a model then takes a hundred times as long. Beside it: what
writing the same flows as JSON costs, in a library made for nothing else.
"""

from __future__ import annotations

from typing import Final

from bench.figures import Figure, timed
from saywhy.host import (
    FlowOption,
    ParameterOption,
    build_detect_flow_request,
    build_flow_stage,
    decode_detect_flow_reply,
    from_flow_answers,
)
from saywhy.values import dumps

RUNS: Final = 60
CALLS: Final = 5
SIZES: Final = (50, 200, 800)

CHAT: Final = [
    {"role": "user", "content": "Hello, I have a question."},
    {"role": "assistant", "content": "Good morning. What can I do for you?"},
]
WORDS: Final = "I want to send 80 euros to Bo, as fast as possible"
REPLY: Final = '{"flowName": "Flow 150", "parameters": {"amount": 80, "speed": "express"}}'


def run() -> list[Figure]:
    """The single call by number of flows; for 200 also the stage, the reply and the classifier."""
    figures = [prompt(number) for number in SIZES]
    flows = _flows(200)
    request = build_detect_flow_request(WORDS, CHAT, flows).request
    answers = {f"f{number}": number / 400 for number in range(200)}
    others = {
        "host: stage 1 for 200 flows": lambda: build_flow_stage(WORDS, CHAT, flows),
        "host: reading a reply about 200 flows": lambda: decode_detect_flow_reply(flows, REPLY),
        "host: reading 200 probabilities": lambda: from_flow_answers(flows, answers),
        "host: 200 flows written as JSON": lambda: dumps(request),
    }
    return figures + [timed(name, work, runs=RUNS, calls=CALLS) for name, work in others.items()]


def prompt(number: int) -> Figure:
    """The single call, with its structured request."""
    flows = _flows(number)
    return timed(
        f"host: prompt for {number} flows",
        lambda: build_detect_flow_request(WORDS, CHAT, flows),
        runs=RUNS,
        calls=CALLS,
    )


def _flows(number: int) -> list[FlowOption]:
    return [
        FlowOption(
            f"flow-{place}",
            f"Flow {place}",
            f"Does what customers of department {place} ask for most often",
            (
                ParameterOption("amount", "how much it is about", "number"),
                ParameterOption("speed", "how fast it should be", enum=("Normal", "Express")),
                ParameterOption("note", "what should be written on it"),
            ),
            "low",
        )
        for place in range(number)
    ]
