"""Which flows there are to choose from, as small values, and how they look on the wire.

Neither what a flow does nor how it is checked matters here; `flows` makes these values from its
own. `flows_of` reads them out of a request, so that hosts and the engine share one implementation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from saywhy.errors import UnknownFlow
from saywhy.host.shapes import FlowShape


class ParameterOption(msgspec.Struct, frozen=True, gc=False):
    """A value that detection may find in the user's words."""

    name: str
    description: str = ""
    type: str = "string"
    enum: tuple[str, ...] = ()
    """The only values there are; empty where any value will do."""
    internal: bool = False
    """The flow's own: never shown to a model, never taken from one."""


class FlowOption(msgspec.Struct, frozen=True, gc=False):
    """A flow that may be chosen."""

    id: str
    name: str
    description: str = ""
    parameters: tuple[ParameterOption, ...] = ()
    risk_level: str = ""
    parameter_instructions: str = ""
    """Rules that span the parameters; a text model and a classifier read them in stage 2."""

    @property
    def askable(self) -> tuple[ParameterOption, ...]:
        """The parameters that may be asked for."""
        return tuple([option for option in self.parameters if not option.internal])

    def parameter(self, name: str) -> ParameterOption | None:
        """The declared parameter of this name, internal ones too."""
        return next((option for option in self.parameters if option.name == name), None)


Flows: TypeAlias = Mapping[str, Any] | Iterable[FlowOption]
"""A request as the engine hands it over, or the flows themselves."""


def flows_of(source: Flows) -> tuple[FlowOption, ...]:
    """The flows of a request, or those given. What is no flow in a request is left out."""
    if not isinstance(source, Mapping):
        return tuple(source)
    found = cast("Mapping[str, Any]", source).get("flows")
    if not isinstance(found, Sequence) or isinstance(found, str):
        return ()
    return tuple(_flow(item) for item in found if isinstance(item, Mapping))


def is_about_one_flow(source: Flows) -> bool:
    """Whether `source` is a request of stage 2."""
    if not isinstance(source, Mapping):
        return False
    return cast("Mapping[str, Any]", source).get("task") == "extract_parameters"


def match_flow(name: str, flows: Iterable[FlowOption]) -> FlowOption | None:
    """The flow of this name whatever the case, or of exactly this id; an exact name comes first."""
    wanted = name.strip()
    folded = wanted.casefold()
    close: FlowOption | None = None
    for flow in flows:
        if flow.name == wanted:
            return flow
        if close is None and (flow.id == wanted or flow.name.casefold() == folded):
            close = flow
    return close


def known_flow(source: Flows, name: str) -> FlowOption:
    """The flow of this name or id. Raises `UnknownFlow` where there is none."""
    flows = flows_of(source)
    found = match_flow(name, flows)
    if found is None:
        raise UnknownFlow(name, [flow.name for flow in flows])
    return found


def flow_shape(flow: FlowOption, parameters: Iterable[ParameterOption] = ()) -> FlowShape:
    """A flow as a request shows it, with copies of all lists."""
    return {
        "id": flow.id,
        "name": flow.name,
        "description": flow.description,
        "parameters": [
            {"name": one.name, "description": one.description, "type": one.type}
            if not one.enum
            else {
                "name": one.name,
                "description": one.description,
                "type": one.type,
                "enum": list(one.enum),
            }
            for one in parameters  # in place: a call for each costs as much again
        ],
    }


def _flow(shape: Mapping[str, Any]) -> FlowOption:
    rules = shape.get("parameterInstructions") or shape.get("parameter_instructions")
    parameters: Any = shape.get("parameters") or ()
    return FlowOption(
        _text(shape.get("id")),
        _text(shape.get("name")),
        _text(shape.get("description")),
        tuple(_parameter(item) for item in parameters if isinstance(item, Mapping)),
        parameter_instructions=_text(rules),
    )


def _parameter(shape: Mapping[str, Any]) -> ParameterOption:
    values: Any = shape.get("enum") or ()
    return ParameterOption(
        _text(shape.get("name")),
        _text(shape.get("description")),
        _text(shape.get("type")) or "string",
        tuple(value for value in values if isinstance(value, str)),
        shape.get("internal") is True,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
