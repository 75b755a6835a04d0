"""What a flow is, once it was read: flows, steps, parameters, variables, and a library of them.

Values only. Reading files is left to `load`, judging what an author wrote to `check`, and what the
steps do to `compile` and `steps`. So a model may hold steps of unknown type and flows without
steps: a library always loads, and `check` says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from saywhy.errors import Place, Problem
from saywhy.flows.languages import pick
from saywhy.flows.source import SourceMap
from saywhy.values import UNDEFINED

DEFAULT_VERSION: Final = "1.0"
NO_PLACE: Final = Place()
PATTERNS: Final = "/inputValidation/patterns"
VALIDATOR: Final = "/inputValidation/customValidator"
"""Where in a step the rules stand that may refuse an answer."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that intent detection may find in the user's words."""

    name: str
    description: str = ""
    type: str = "string"
    enum: tuple[str, ...] = ()
    internal: bool = False
    """The flow's own: callers may pass it, detection never asks for it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a flow declares."""

    name: str
    type: str = ""
    scope: str = ""
    value: Any = UNDEFINED
    """The default; `UNDEFINED` where the author gave none, which is not null."""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step as written, with the steps inside it."""

    id: str
    type: str
    raw: dict[str, Any]
    """Every key as the author wrote it. Not to be changed."""
    pointer: str
    """Relative to the flow: `/steps/3/branches/default`."""
    place: Place = NO_PLACE
    branches: tuple[tuple[str, Step], ...] = ()
    """The branches of a CASE or SWITCH in the order in which they are tried."""
    on_fail: tuple[Step, ...] = ()
    on_silence: tuple[Step, ...] = ()
    """What runs when nobody answered the question of this step: the `then` of its `timeout`."""
    on_unknown: tuple[Step, ...] = ()
    """What runs where nobody knows whether the tool of this step has acted."""
    on_decline: tuple[Step, ...] = ()
    """What runs when the user does not confirm the form that this step is."""
    submit: Step | None = None
    """What a form does with its values: its `submit`, as the CALL-TOOL step that it is."""
    fallbacks: Mapping[int, Step] = field(default_factory=dict[int, "Step"])
    """The `fallbackStep` of each entry of `retryOnConditions` that has one, by index."""

    def inner(self) -> Iterator[Step]:
        """The steps directly inside this one: branches, for silence, a form's call, failures."""
        for _, step in self.branches:
            yield step
        yield from self.on_silence
        if self.submit is not None:
            yield self.submit
        yield from self.rescues()

    def rescues(self) -> Iterator[Step]:
        """The steps that run when this one failed, or may have."""
        yield from self.on_fail
        yield from self.on_unknown
        yield from self.on_decline
        yield from self.fallbacks.values()

    def walk(self) -> Iterator[Step]:
        """This step and all steps inside it, outer ones first."""
        yield self
        for step in self.inner():
            yield from step.walk()


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow as written, with what it inherits as a wrapper (`wraps`) filled in."""

    id: str
    name: str
    steps: tuple[Step, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Language → label for the user; the plain `prompt` under the empty text."""
    description: str = ""
    version: str = DEFAULT_VERSION
    primary: bool = False
    interruptable: bool = False
    parameters: tuple[Parameter, ...] = ()
    parameter_instructions: str = ""
    scope: str = "shared"
    wraps: str = ""
    variables: Mapping[str, Variable] = field(default_factory=dict[str, Variable])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """Every key as the author wrote it. Not to be changed."""
    place: Place = NO_PLACE
    source: SourceMap | None = field(default=None, repr=False, compare=False)

    @property
    def isolated(self) -> bool:
        """Whether the flow works on variables of its own."""
        return self.scope == "isolated"

    def prompt_for(self, language: str | None) -> str:
        """The name that the user is shown: in their language, else plain, else `name`."""
        return pick(self.prompts, language) or self.prompts.get("") or self.name

    def walk(self) -> Iterator[Step]:
        """All steps, also those inside others, in the order of the file."""
        for step in self.steps:
            yield from step.walk()

    def place_of(self, pointer: str) -> Place:
        """The place of the value at a pointer relative to this flow, `/steps/3/value`."""
        return place_in(self.source, self.place, pointer)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as written. What it means is left to `tools`."""

    id: str
    name: str
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Every key as the author wrote it. Not to be changed."""
    place: Place = NO_PLACE
    source: SourceMap | None = field(default=None, repr=False, compare=False)
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    """The function itself, where the tool was made of one."""

    def changed(self, raw: Mapping[str, Any], /) -> ToolDefinition:
        """The tool under another definition; what is wrong with it is found at the old place."""
        identity, name = str(raw.get("id") or ""), str(raw.get("name") or "")
        return replace(self, id=identity or name, name=name or identity, raw=raw)

    def place_of(self, pointer: str) -> Place:
        """The place of the value at a pointer relative to this tool, `/implementation/url`."""
        return place_in(self.source, self.place, pointer)


@dataclass(frozen=True, slots=True)
class Library:
    """All flows and tools that were loaded together, and what was wrong with their files."""

    flows: tuple[Flow, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    """The files read, in the order given; problems are listed in this order."""
    _by_key: dict[str, Flow] = field(init=False, repr=False, compare=False)
    _by_folded_key: dict[str, Flow] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        exact: dict[str, Flow] = {}
        folded: dict[str, Flow] = {}
        for flow in self.flows:
            exact.setdefault(flow.id, flow)
            folded.setdefault(flow.id.casefold(), flow)
        for flow in self.flows:
            exact.setdefault(flow.name, flow)
            folded.setdefault(flow.name.casefold(), flow)
        object.__setattr__(self, "_by_key", exact)
        object.__setattr__(self, "_by_folded_key", folded)

    def find(self, name_or_id: str) -> Flow | None:
        """The flow with exactly this id, else with exactly this name."""
        return self._by_key.get(name_or_id)

    def find_ignoring_case(self, name_or_id: str) -> Flow | None:
        """The flow with this id or name, whatever the case; ids before names."""
        return self._by_folded_key.get(name_or_id.strip().casefold())

    def primaries(self) -> tuple[Flow, ...]:
        """The flows that a user may start."""
        return tuple(flow for flow in self.flows if flow.primary)

    def tool(self, name_or_id: str) -> ToolDefinition | None:
        """The tool with exactly this id, else with exactly this name."""
        for tool in self.tools:
            if tool.id == name_or_id:
                return tool
        return next((tool for tool in self.tools if tool.name == name_or_id), None)


def place_in(source: SourceMap | None, place: Place, pointer: str) -> Place:
    """The place of `pointer` below `place`; without a file the pointer is all there is to say."""
    whole = place.pointer + pointer
    return source.place(whole) if source else Place(place.file, pointer=whole)
