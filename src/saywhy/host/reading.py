"""What a text model said, read with care: the JSON in its reply, the flow, the parameters.

Nothing a model writes is trusted: names that were not offered lead nowhere, values that were not
declared are dropped. What was dropped is told as data; whoever asked logs and records it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from saywhy.errors import InvalidReply
from saywhy.host.options import FlowOption, Flows, ParameterOption, flows_of, match_flow
from saywhy.host.schemas import NO_FLOW
from saywhy.values import dumps

Reply: TypeAlias = str | Mapping[str, Any]
"""The text of a model, or the object in it where somebody has read it already."""

Reason: TypeAlias = Literal[
    "no name", "no value", "not declared", "internal", "not one of its values", "no object"
]

_NONE: Final = frozenset({"", "none", "null"})
_MOST_TRIES: Final = 16
_MAX_EXACT: Final = 2**53 - 1
_decode: Final = json.JSONDecoder().raw_decode


class Dropped(msgspec.Struct, frozen=True):
    """A value that a model gave and nobody gets, with the reason."""

    name: str
    value: Any
    reason: Reason

    @property
    def text(self) -> str:
        """For a log: the name and the reason, without the value."""
        return f'parameter "{self.name}" dropped: {self.reason}'


class Score(msgspec.Struct, frozen=True):
    """How likely a classifier finds a flow."""

    flow_name: str
    probability: float


class FlowChoice(msgspec.Struct, frozen=True):
    """Which flow was chosen, if any."""

    flow: FlowOption | None = None
    said: str = ""
    """What the model wrote as the name; with no `flow`, a name that was not offered."""
    parameters: Mapping[str, Any] = {}
    """What a single call found as well."""
    dropped: tuple[Dropped, ...] = ()
    scores: tuple[Score, ...] = ()
    """The three best flows, where a classifier chose; the best one first."""
    alternative: FlowOption | None = None
    """Another flow that the model finds as likely, where it was asked for one."""

    @property
    def flow_name(self) -> str:
        """The declared name of the flow, or `None` as text."""
        return self.flow.name if self.flow else NO_FLOW

    @property
    def is_unknown(self) -> bool:
        """Whether the model named a flow that was not offered."""
        return self.flow is None and self.said != ""

    def reply(self, parameters: Mapping[str, Any] | None = None) -> str:
        """The reply that an engine understands, with `parameters` where it was a single call."""
        found: dict[str, Any] = {"flowName": self.flow_name}
        if self.alternative is not None:
            found["alternative"] = self.alternative.name
        if parameters is not None:
            found["parameters"] = dict(parameters)
        return dumps(found).decode()


class ParameterChoice(msgspec.Struct, frozen=True):
    """Which parameters were found."""

    parameters: Mapping[str, Any] = {}
    dropped: tuple[Dropped, ...] = ()

    def reply(self) -> str:
        """The reply that an engine understands."""
        return dumps({"parameters": dict(self.parameters)}).decode()


# ------------------------------------------------------------------ whole replies


def decode_detect_flow_reply(flows: Flows, reply: Reply) -> FlowChoice:
    """The flow and the parameters in the reply to a single call.

    Raises `InvalidReply` where there is no JSON object in it.
    """
    found = object_in(reply, "flowName")
    choice = _chosen(flows_of(flows), found)
    if choice.flow is None:
        return choice
    parameters, dropped = check_parameters(choice.flow, found.get("parameters"))
    return msgspec.structs.replace(choice, parameters=parameters, dropped=dropped)


def decode_flow_llm(flows: Flows, reply: Reply) -> FlowChoice:
    """The flow in a text model's reply to stage 1.

    Raises `InvalidReply` where there is no JSON object in it.
    """
    return _chosen(flows_of(flows), object_in(reply, "flowName"))


def decode_parameters_llm(flow: Flows | FlowOption, reply: Reply) -> ParameterChoice:
    """The parameters in a text model's reply to stage 2.

    Raises `InvalidReply` where there is no JSON object in it.
    """
    found = object_in(reply, "parameters").get("parameters")
    return ParameterChoice(*check_parameters(the_flow(flow), found))


def the_flow(source: Flows | FlowOption) -> FlowOption:
    """The one flow that a request of stage 2 is about."""
    if isinstance(source, FlowOption):
        return source
    flows = flows_of(source)
    return flows[0] if flows else FlowOption("", "")


def _chosen(flows: Sequence[FlowOption], found: Mapping[str, Any]) -> FlowChoice:
    name, other = _name(found.get("flowName")), _name(found.get("alternative"))
    if not name:
        return FlowChoice()
    flow = match_flow(name, flows)
    second = match_flow(other, flows) if other and flow is not None else None
    return FlowChoice(flow, name, alternative=None if second is flow else second)


def _name(said: Any) -> str:
    """What a reply names; empty where it says that there is none."""
    name = said.strip() if isinstance(said, str) else ""
    return "" if name.casefold() in _NONE else name


# ------------------------------------------------------------------ the JSON in a text


def object_in(reply: Reply, wanted: str) -> Mapping[str, Any]:
    """The object in a reply: the outermost braces, else the first object that has `wanted`.

    That also takes off the fences and the words that models put around it.
    """
    if isinstance(reply, Mapping):
        return reply
    first: Mapping[str, Any] | None = None
    for found in _objects(reply):
        if wanted in found:
            return found
        first = found if first is None else first
    if first is None:
        raise InvalidReply(reply)
    return first


def _objects(text: str) -> Iterator[dict[str, Any]]:
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        try:
            whole = msgspec.json.decode(text[start : end + 1].encode("utf-8", "surrogatepass"))
        except (msgspec.DecodeError, RecursionError):
            yield from _inner_objects(text, start)
        else:
            yield whole


def _inner_objects(text: str, start: int) -> Iterator[dict[str, Any]]:
    """Objects with other braces around them, one after the other."""
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        try:
            found, end = _decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield found
        start = text.find("{", end)


# ------------------------------------------------------------------ parameters


def check_parameters(flow: FlowOption, given: Any) -> tuple[dict[str, Any], tuple[Dropped, ...]]:
    """The values that may go into the flow, and those that may not, each with the reason.

    A value of an `enum` is taken whatever its case and spaces, in the declared spelling; anything
    else than a text is none of them. Null means that the user has not said it.
    """
    if given is None:
        return {}, ()
    if not isinstance(given, Mapping):
        return {}, (Dropped("", given, "no object"),)
    declared = {option.name: option for option in flow.parameters}
    kept: dict[str, Any] = {}
    dropped: list[Dropped] = []
    for name, value in given.items():
        option = declared.get(name)
        reason = _refused(name, value, option)
        if option is not None and not reason and option.enum:
            value = declared_value(option, value)  # noqa: PLW2901 - the same value, spelled right
            reason = "" if value is not None else "not one of its values"
        if reason:
            dropped.append(Dropped(str(name), given[name], reason))
        else:
            kept[name] = _exact(value, option)
    return kept, tuple(dropped)


def _exact(value: Any, option: ParameterOption | None) -> Any:
    """A value that flows can hold: a whole number that JavaScript cannot read exactly is somebody's
    number on paper, unless the parameter is declared to be a number."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) <= _MAX_EXACT:
        return value
    if option is None or option.type not in ("number", "integer"):
        return str(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _refused(name: Any, value: Any, option: ParameterOption | None) -> Reason | Literal[""]:
    if not isinstance(name, str) or not name.strip():
        return "no name"
    if option is None:
        return "not declared"
    if option.internal:
        return "internal"
    return "no value" if value is None else ""


def declared_value(option: ParameterOption, value: Any) -> str | None:
    """The value of the `enum` that is meant, as declared; None where none of them is."""
    if not isinstance(value, str):
        return None
    if value in option.enum:
        return value
    for key in _SPELLINGS:
        wanted = key(value)
        for declared in option.enum:
            if key(declared) == wanted:
                return declared
    return None


def _one_space(text: str) -> str:
    return " ".join(text.split()).casefold()


def _no_space(text: str) -> str:
    return "".join(text.split()).casefold()


_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (_one_space, _no_space)
"""How alike two spellings must be, the stricter first."""
