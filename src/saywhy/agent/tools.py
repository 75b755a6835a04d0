"""The tools of an agent: what a model is shown of them, and what a call comes to for it.

There is one kind of tool (`saywhy.tools.tool.Tool`), called in one way (`tools.call.call_tool`).
Here it is joined by what only a model needs: the schema as it is shown and the instructions that
speak about its results. What came of a call, as the model reads it, is `tool_reply`; which tools
are offered when is `slots`; making the calls of a reply in order is the loop's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, cast

import msgspec

from saywhy.agent.given import listed
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tool_handler import with_model
from saywhy.agent.tool_reply import ToolReply
from saywhy.chart.built import Built
from saywhy.errors import CallerError, DefinitionError, Problem, did_you_mean
from saywhy.tools.effect import Effect
from saywhy.tools.function_tool import FunctionTool
from saywhy.tools.keywords import refuse_unknown
from saywhy.tools.registry import Registry
from saywhy.tools.signature import schema_of
from saywhy.tools.tool import SHOWN_SCHEMA, TIMEOUT_MS, Tool, tool_from_definition
from saywhy.values import FrozenDict, freeze, raw, thaw

ASK_HUMAN: Final = "ask_human"

OWN: Final = (
    *("id", "description", "input_schema", "handler"),
    *("instructions", "effect", "timeout_ms", "strict"),
)
"""What `define_tool` takes besides the further keys of a definition."""

A_RULE: Final = 'LLMInstruction("kind", text="…")'

Handler: TypeAlias = Callable[..., Any]
"""What carries a tool out: takes the mapping of arguments, and a `context` if it names one."""


class LLMToolDescription(msgspec.Struct, frozen=True):
    """A tool as a model is shown it."""

    name: str
    description: str
    input_schema: Any

    def to_value(self) -> FrozenDict:
        """The description as it stands in a request and in the state of a run."""
        schema = raw(self.input_schema)
        return FrozenDict(
            {"name": self.name, "description": self.description, "input_schema": schema}
        )


@dataclass(frozen=True, slots=True)
class ChartRun:
    """A chart that carries out the calls of a tool, in the same run: a flow, another agent."""

    chart: str
    """Digest, id or name; that of one that comes along is only known once it is built."""
    reply: Callable[[Any], ToolReply]
    """What the value it returned comes to for the model."""
    given: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """The arguments of a call → what the chart is given."""
    build: Callable[[str], Built] | None = None
    """An id → the chart, where it comes along; None: whoever runs the agent has it."""
    inner: Any = field(default=None, kw_only=True, compare=False)
    """The runner whose chart it is, for a host that has to know what is inside."""
    failure: Callable[[str], ToolReply] | None = field(default=None, kw_only=True)
    """What the model reads of its failure; None: what it reads of any tool's."""


@dataclass(frozen=True, slots=True, eq=False)
class AgentTool:
    """A tool and the instructions that speak about what it gives."""

    tool: Tool
    instructions: tuple[Any, ...] = ()
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The schema as it is shown; a tool made elsewhere is shown its own."""
    asks_human: bool = False
    """A call of it is a question to a person: the run pauses."""
    runs: ChartRun | None = None
    """What carries its calls out instead of a function."""

    @property
    def id(self) -> str:
        """What the model calls it by."""
        return self.tool.id

    @property
    def description(self) -> str:
        """What it is for, in words for the model."""
        return self.tool.description

    def describe(self) -> LLMToolDescription:
        """What a model is shown."""
        return LLMToolDescription(self.id, self.description, self.input_schema)


def define_tool(
    id: str,
    description: str,
    input_schema: Any = None,
    handler: Handler | None = None,
    *,
    instructions: Iterable[Any] = (),
    effect: Effect = "once",
    timeout_ms: float = TIMEOUT_MS["local"],
    strict: bool = False,
    **keys: Any,
) -> AgentTool:
    """A tool for an agent: `handler` is called with the mapping of arguments.

    `input_schema` is a JSON schema of an object, or a pydantic model class. Before a call the names
    in `required` and the declared types are checked; with `strict` the whole schema is, nested
    schemas, enums and unknown keys included. A handler that annotates its first parameter with a
    pydantic model gets the model. What it gives is shown to the model: text as it is, other values
    as JSON, a `ToolResult` with all it says. `keys` are further keys of a tool definition, such as
    `approval`. Raises `DefinitionError`.
    """
    if handler is None or not callable(handler):
        raise CallerError(f"tool {id!r} has no handler", hint="define_tool(…, handler=function)")
    refuse_unknown(keys, id, OWN)
    rules = listed(
        instructions,
        LLMInstruction,
        f"instructions of tool {id!r}",
        'LLMInstruction("kind", text="…")',
    )
    shown = _schema_of(id, input_schema)
    definition: dict[str, Any] = {
        "id": id,
        "name": id,
        "description": description,
        "parameters": {"type": "object", **shown},
        "effect": effect,
        "implementation": {"type": "local", "function": id, "timeout": timeout_ms},
        **keys,
    }
    function = with_model(handler)
    # Made of the whole schema even where calls are not checked against it: one that is no schema
    # is found here, not by the model's vendor.
    tool = tool_from_definition(definition, function=function)
    if not strict:
        loose = {"parameters": {"type": "object"}, SHOWN_SCHEMA: shown}
        tool = tool_from_definition(definition | loose, function=function)
    return AgentTool(tool, rules, shown)


def _schema_of(id: str, given: Any) -> Mapping[str, Any]:
    """The schema as it is shown: as it was written, or read from a model class."""
    if given is None:
        return {}
    if isinstance(given, type) and hasattr(given, "model_json_schema"):
        return schema_of(given)
    if isinstance(given, Mapping):
        tree: dict[str, Any] = thaw(freeze(cast("Mapping[str, Any]", given)))
        if tree.get("type", "object") == "object":
            return tree
    raise DefinitionError(
        [
            Problem(
                f"the input_schema of tool {id} must describe an object",
                hint='write {"type": "object", "properties": {…}}, or hand in a pydantic model',
                flow=id,
            )
        ]
    )


def ask_human(description: str | None = None) -> AgentTool:
    """The tool by which a model asks a person: the run pauses until the answer is there."""
    question = {"type": "string", "description": "The question to ask the human."}
    schema = {"type": "object", "properties": {"question": question}, "required": ["question"]}
    made = define_tool(ASK_HUMAN, description or _ASKS, schema, _waiting, effect="reads")
    return AgentTool(made.tool, (), made.input_schema, asks_human=True)


_ASKS: Final = (
    "Ask the human user a question. Use this when you need clarification, approval, or any input "
    "from the user before proceeding."
)
"""What a model is told of `ask_human`; pinned by the case `dlg-ask-human`."""


def waiting_text(question: str) -> str:
    """What stands in place of a person's answer while nobody has given it."""
    return f'[Waiting for human response to: "{question}"]'


def _waiting(arguments: Mapping[str, Any]) -> str:
    return waiting_text(str(arguments.get("question", "")))


def agent_tool(given: Any, *, instructions: Iterable[Any] = ()) -> AgentTool:
    """Anything that is a tool as one of an agent's: an `AgentTool`, a `Tool`, an `@tool` function.

    `instructions` come after those it has. Raises `CallerError` for what is no tool.
    """
    added = tuple(instructions)
    if isinstance(given, AgentTool):
        if not added:
            return given
        every = (*given.instructions, *added)
        return replace(given, instructions=every)
    if isinstance(given, FunctionTool):
        given = tool_from_definition(given.raw, function=given.function)
    if not isinstance(given, Tool):
        raise CallerError(
            f"{given!r} is no tool",
            hint="define_tool(…) makes one, and so does @tool on a function",
        )
    return AgentTool(given, added, given.shown_schema)


class ToolRegistry:
    """The tools an agent has, in the order of their registration."""

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._tools: dict[str, AgentTool] = {}
        for one in tools:
            self.register(one)

    def register(self, given: Any) -> AgentTool:
        """Add a tool. Raises `CallerError` for an id that is taken."""
        tool = agent_tool(given)
        if tool.id in self._tools:
            raise CallerError(
                f"ToolRegistry: tool '{tool.id}' already registered",
                hint="give one of the two another id",
            )
        self._tools[tool.id] = tool
        return tool

    def get(self, id: str) -> AgentTool | None:
        """The tool with this id, or None."""
        return self._tools.get(id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(self._tools)

    def __contains__(self, id: object) -> bool:
        return id in self._tools

    def __iter__(self) -> Iterator[AgentTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def format_for_llm(self, ids: Iterable[str] | None = None) -> list[LLMToolDescription]:
        """What a model is shown: of all tools, or of these in this order."""
        return [self._known(one).describe() for one in (self._tools if ids is None else ids)]

    def _known(self, id: str) -> AgentTool:
        tool = self._tools.get(id)
        if tool is None:
            hint = did_you_mean(id, self.ids) or f"registered: {', '.join(self._tools) or 'none'}"
            raise CallerError(f"ToolRegistry: tool '{id}' not found", hint=hint)
        return tool

    def callable(self) -> Registry:
        """The tools as `call_tool` looks them up."""
        return Registry(one.tool for one in self)
