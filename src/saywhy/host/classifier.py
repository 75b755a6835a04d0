"""Detection by a classifier: the questions it is asked, and what its probabilities mean.

A classifier answers yes/no questions with a probability. One question a flow finds the flow, the
highest that reaches the threshold; one question a value of an `enum` and one a boolean parameter
find its parameters. What is below the threshold is left out, so that the flow asks for it: a "no"
nobody said is never taken for one. An open question raises, because a missing answer is no "no".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Final, TypeAlias, TypeGuard, cast

from saywhy.errors import InvalidReply, UnansweredQuestion
from saywhy.host.options import (
    FlowOption,
    Flows,
    ParameterOption,
    flows_of,
    is_about_one_flow,
    known_flow,
    match_flow,
)
from saywhy.host.prompt import one_line
from saywhy.host.reading import (
    FlowChoice,
    ParameterChoice,
    Reply,
    Score,
    decode_detect_flow_reply,
    decode_parameters_llm,
    the_flow,
)
from saywhy.host.shapes import DetectionRequest, Question, Questions, Said

INTENT_YES_THRESHOLD: Final = 0.5
"""From this probability on, an answer counts as yes."""

NEAR_MISS_MARGIN: Final = 0.15
"""So close below the threshold, or to the best flow, is a near miss."""

SHOWN_SCORES: Final = 3

Answers: TypeAlias = Mapping[str, Any]
"""What a classifier answered: the probability of yes, from 0 to 1, by the id of the question."""

_SLACK: Final = 1e-6  # classifiers compute in single precision: 1.0000001 is a 1
_FLOW_TASK: Final = (
    "Judge what the user's last message asks for. Answer every question with the probability "
    "that the answer is yes. The chat so far only helps to make sense of the message."
)
_VALUE_TASK: Final = (
    "Judge what the user's last message states. Answer every question with the probability that "
    "the answer is yes; what is not stated is unlikely. The chat so far only helps to make sense "
    "of the message."
)


# ------------------------------------------------------------------ which flow


def is_detect_flow_request(request: object) -> TypeGuard[DetectionRequest]:
    """Whether the fourth argument of a model call asks which flow the user's words start."""
    if not isinstance(request, Mapping):
        return False
    found = cast("Mapping[str, Any]", request)
    return found.get("task") == "detect_flow" and isinstance(found.get("flows"), Sequence)


def to_flow_request(request: Mapping[str, Any]) -> Questions:
    """What to ask a classifier to find the flow: one question for each, `f0`, `f1` and so on."""
    return flow_questions(_words(request), _chat(request), flows_of(request))


def flow_questions(words: str, said: Sequence[Said], flows: Iterable[FlowOption]) -> Questions:
    """The same, from its parts."""
    asked = [(f"f{number}", _flow_question(flow)) for number, flow in enumerate(flows)]
    return _questions(_FLOW_TASK, words, said, asked)


def from_flow_answers(flows: Flows, answers: Answers) -> FlowChoice:
    """The most likely flow, if it reaches the threshold; of equal ones the first.

    Raises `UnansweredQuestion` where an answer is missing or no probability.
    """
    offered = flows_of(flows)
    scored = [
        (_probability(answers, f"f{number}", flow.name), flow)
        for number, flow in enumerate(offered)
    ]
    scored.sort(key=lambda pair: -pair[0])  # the sort is stable: equal ones stay in their order
    scores = tuple(Score(flow.name, found) for found, flow in scored[:SHOWN_SCORES])
    if not scored or scored[0][0] < INTENT_YES_THRESHOLD:
        return FlowChoice(scores=scores)
    best = scored[0][1]
    return FlowChoice(best, best.name, scores=scores)


def decode_flow_system_one(flows: Flows, answers: Answers) -> FlowChoice:
    """The flow in a classifier's answers to stage 1; see `from_flow_answers`."""
    return from_flow_answers(flows, answers)


def is_near_miss(choice: FlowChoice) -> bool:
    """Whether a classifier's choice could as well have been another one.

    Either nothing was chosen and the best flow is just below the threshold, or the second best is
    as close to the best. A text model may then know better; a person may be asked.
    """
    if not choice.scores:
        return False
    best = choice.scores[0].probability
    if choice.flow is None:
        return best >= INTENT_YES_THRESHOLD - NEAR_MISS_MARGIN - _SLACK
    return any(best - other.probability <= NEAR_MISS_MARGIN + _SLACK for other in choice.scores[1:])


# ------------------------------------------------------------------ which parameters


def has_jev_parameters(flows: Flows, flow_name: str) -> bool:
    """Whether the flow has parameters a classifier can find: booleans, and those with an `enum`.

    False as well where no flow of this name was offered, as for `None`.
    """
    flow = match_flow(flow_name, flows_of(flows))
    return flow is not None and any(_is_judged(option) for option in flow.askable)


def to_parameter_request(request: Mapping[str, Any], flow_name: str) -> Questions:
    """What to ask a classifier to find the parameters of the chosen flow.

    `p<k>v<j>` asks for value j of parameter k, `p<k>` for a boolean; k counts the parameters of the
    request from 0. Raises `UnknownFlow` for a name that was not offered.
    """
    return parameter_questions(_words(request), _chat(request), known_flow(request, flow_name))


def parameter_questions(words: str, said: Sequence[Said], flow: FlowOption) -> Questions:
    """The same, from its parts."""
    task = _VALUE_TASK
    if flow.parameter_instructions:
        task += f"\nRules of this request: {flow.parameter_instructions.strip()}"
    return _questions(task, words, said, _parameter_questions(flow))


def from_parameter_answers(flows: Flows, flow_name: str, answers: Answers) -> dict[str, Any]:
    """The parameters of the chosen flow that a classifier has found.

    Of the values of an `enum` the most likely one, if it reaches the threshold; a boolean is true
    or absent, never false. Raises `UnansweredQuestion` where an answer is missing or no
    probability, and `UnknownFlow` for a name that was not offered.
    """
    return _found(known_flow(flows, flow_name), answers)


def decode_parameters_system_one(flow: Flows | FlowOption, answers: Answers) -> ParameterChoice:
    """The parameters in a classifier's answers to stage 2; see `from_parameter_answers`."""
    return ParameterChoice(_found(the_flow(flow), answers))


def _found(flow: FlowOption, answers: Answers) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, option in enumerate(flow.askable):
        if not _is_judged(option):
            continue
        if not option.enum:
            if _probability(answers, f"p{number}", option.name) >= INTENT_YES_THRESHOLD:
                found[option.name] = True
            continue
        values = [
            _probability(answers, f"p{number}v{place}", f"{option.name}: {value}")
            for place, value in enumerate(option.enum)
        ]
        best = max(values)
        if best >= INTENT_YES_THRESHOLD:
            found[option.name] = option.enum[values.index(best)]
    return found


# ------------------------------------------------------------------ beside a text model


def free_text_parameters(flows: Flows, flow_name: str) -> list[str]:
    """The parameters of a flow that only a text model can find; empty for a flow not offered."""
    flow = match_flow(flow_name, flows_of(flows))
    if flow is None:
        return []
    return [option.name for option in flow.askable if not _is_judged(option)]


def merge_text_parameters(
    flows: Flows, flow_name: str, parameters: Mapping[str, Any], text_reply: Reply | None
) -> dict[str, Any]:
    """A classifier's parameters, and those of a text model that a classifier cannot find.

    The text model's count only if it has chosen the same flow; in stage 2 that is settled. A reply
    that is missing or cannot be read adds nothing: the classifier's answer stands without it.
    """
    merged = dict(parameters)
    offered = flows_of(flows)
    flow = match_flow(flow_name, offered)
    if flow is None or text_reply is None:
        return merged
    free = free_text_parameters(offered, flow_name)
    for name, value in _text_parameters(flows, offered, flow, text_reply).items():
        if name in free:
            merged.setdefault(name, value)
    return merged


def _text_parameters(
    source: Flows, offered: Sequence[FlowOption], flow: FlowOption, reply: Reply
) -> Mapping[str, Any]:
    """What a text model has found for `flow`; nothing where it means another flow or is unread."""
    try:
        if is_about_one_flow(source):
            return decode_parameters_llm(flow, reply).parameters
        choice = decode_detect_flow_reply(offered, reply)
    except InvalidReply:
        return {}
    return choice.parameters if choice.flow is flow else {}


# ------------------------------------------------------------------ questions and answers


def _is_judged(option: ParameterOption) -> bool:
    return bool(option.enum) or option.type == "boolean"


def _flow_question(flow: FlowOption) -> str:
    return f"Does the user ask for this: {one_line(flow.description) or flow.name}"


def _parameter_questions(flow: FlowOption) -> Iterator[tuple[str, str]]:
    for number, option in enumerate(flow.askable):
        if not _is_judged(option):
            continue
        about = f"{option.name} ({one_line(option.description)})"
        about = about if option.description else option.name
        if not option.enum:
            yield f"p{number}", f"Does the user state that this is so: {about}"
        for place, value in enumerate(option.enum):
            yield f"p{number}v{place}", f'Does the user state "{value}" for this: {about}'


def _questions(
    task: str, words: str, said: Sequence[Said], asked: Iterable[tuple[str, str]]
) -> Questions:
    questions: list[Question] = [{"id": number, "question": text} for number, text in asked]
    return {
        "instructions": task,
        "input": words,
        "conversation": [{**one} for one in said],
        "questions": questions,
    }


def _probability(answers: Answers, question: str, asks: str) -> float:
    answer: Any = answers.get(question)
    number = answer if type(answer) is float else _number(answer)
    if number is not None and -_SLACK <= number <= 1 + _SLACK:  # where NaN is not
        return min(max(number, 0.0), 1.0)
    raise UnansweredQuestion(question, answer, asks=asks)


def _number(answer: Any) -> float | None:
    """Any real number, those of array libraries too; true and false are none."""
    is_number = isinstance(answer, Real) and answer is not True and answer is not False
    return float(answer) if is_number else None


def _words(request: Mapping[str, Any]) -> str:
    words = request.get("input")
    return words if isinstance(words, str) else ""


def _chat(request: Mapping[str, Any]) -> list[Said]:
    return list(request.get("conversation") or ())
