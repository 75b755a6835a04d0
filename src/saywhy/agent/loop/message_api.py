"""The form of the loop in which a selector says, with evidence, which slots are filled anew.

The slots are filled side by side, `message-api` puts the request together, the model is called,
and the loop goes back to the selector. Without tools there is no way back: one call, one answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from saywhy.agent.loop.choosing import Chooser
from saywhy.agent.loop.config import (
    AgentLoopConfig,
    AgentLoopSeedOptions,
    AgentPattern,
)
from saywhy.agent.loop.finishing import answer_stage
from saywhy.agent.loop.parts import Parts
from saywhy.agent.loop.slots import MESSAGES, PROMPT, SLOTS
from saywhy.agent.loop.structure import replay
from saywhy.agent.own import OWN
from saywhy.chart.build import Builder, Script
from saywhy.chart.built import Built
from saywhy.errors import CallerError, did_you_mean

ENGINE: Final = "sf-injection-engine"
CONTEXT: Final = "context"
ROUTE: Final = "sf-route"

FIELDS: Final = tuple(field.name for field in dataclasses.fields(AgentLoopConfig))


def build_message_api_chart(
    config: AgentLoopConfig | None = None,
    *,
    seed: AgentLoopSeedOptions | None = None,
    model: str = "",
    structure_recorders: Iterable[Any] = (),
    agent: bool | None = None,
    **fields: Any,
) -> Built:
    """The chart of a call of a model, or of an agent, with its request as visible state.

    `fields` are those of `AgentLoopConfig`, for whoever has no `config`: `provider`,
    `system_prompt`, `get_run_id`, … `agent` says whether it has tools and a loop; unless told it
    has where there is anything to loop for. Each of `structure_recorders` is told of every stage
    and edge. Receipts are made where the run has an id: as the argument `runId`, or by
    `get_run_id`. Raises `DefinitionError` for a configuration that is none.
    """
    config = _config(config, model, fields)
    config.check()
    parts = Parts(config, seed or AgentLoopSeedOptions())
    chart = Builder(
        config.name, id=config.chart_id, describe="A model and what it is handed", own=OWN
    )
    parts.seed(chart)
    if agent if agent is not None else _loops(config):
        _agent(parts, chart)
    else:
        _one_call(parts, chart)
    built = chart.build().beside(parts.box.inner)
    for recorder in structure_recorders:
        replay(built, recorder)
    return built


def _config(
    config: AgentLoopConfig | None, model: str, fields: Mapping[str, Any]
) -> AgentLoopConfig:
    for name in fields:
        if name not in FIELDS:
            hint = did_you_mean(name, FIELDS) or f"fields: {', '.join(FIELDS)}"
            raise CallerError(f'the chart of a model call has no "{name}"', hint=hint)
    made = dataclasses.replace(config or AgentLoopConfig(), **fields)
    if model:
        made = dataclasses.replace(made, settings={**made.settings, "model": model})
    return made


def _loops(config: AgentLoopConfig) -> bool:
    given = (config.tools, config.tool_provider, config.instructions, config.routing, config.store)
    return any(bool(one) for one in given)


def _one_call(parts: Parts, chart: Builder) -> None:
    """Seed, selector, slots, request, call."""
    _context(parts, chart, (PROMPT, MESSAGES))
    parts.message_api(chart)
    parts.call_llm(chart, parses=True)
    describe = "Take the model's message as the answer"
    chart.stage(id="answer", name="Answer", describe=describe)(answer_stage)


def _agent(parts: Parts, chart: Builder) -> None:
    """The same with tools, a way on, and a way back."""
    config = parts.config
    has_engine = parts.instructions(chart, ENGINE)
    _context(parts, chart, SLOTS)
    parts.message_api(chart)
    parts.call_llm(chart, parses=True)
    # What is active is judged anew where the pattern wants it: right before the selector.
    again = has_engine and config.pattern is AgentPattern.DYNAMIC
    parts.route(chart, ROUTE, ENGINE if again else CONTEXT, _finish(parts))


def _finish(parts: Parts) -> Callable[[Script], None]:
    def finish(script: Script) -> None:
        parts.final(script)
        if parts.config.store is not None:
            parts.commit_memory(script)
        script.end()

    return finish


def _context(parts: Parts, chart: Builder, slots: tuple[str, ...]) -> None:
    """The selector, and a branch for each slot."""
    chooser = Chooser(parts.config, slots)
    describe = "Choose which slots are filled anew"
    takes = [name for slot in slots for name in parts.slots[slot].outputs]
    choice = chart.selector(
        chooser.choose, id=CONTEXT, name="Context", describe=describe, takes=takes, fresh=True
    )
    for slot in slots:
        parts.slots[slot].fill(choice.branch(slot))
