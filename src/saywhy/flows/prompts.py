"""Which words ask a model what a step wants to know: for each task, who makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.chart.outcome import Need
from saywhy.flows import analysis, detection, spoken, toolargs
from saywhy.flows.corrections import said
from saywhy.flows.forms import extract
from saywhy.flows.modelled import Prompt
from saywhy.flows.world import World

Render = Callable[[World, Mapping[str, Any]], Prompt]


def _parameters(world: World, facts: Mapping[str, Any]) -> Prompt:
    """Which values words state: of the parameters of a flow, or of the inputs of a form."""
    render = extract.prompt if "form" in facts else detection.parameters_prompt
    return render(world, facts)


RENDERERS: Final[Mapping[str, Render]] = {
    detection.DETECT: detection.flow_prompt,
    detection.EXTRACT: _parameters,
    detection.LANGUAGE: detection.language_prompt,
    analysis.TASK: analysis.prompt,
    spoken.TASK: spoken.prompt,
    said.TASK: said.prompt,
    toolargs.TASK: toolargs.prompt,
}


def prompt_of(world: World, need: Need) -> Prompt:
    """The question of a Need of the kind `model`, in words."""
    return RENDERERS[need.name](world, need.args)
