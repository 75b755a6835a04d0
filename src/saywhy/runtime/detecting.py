"""What would these words start? The engine's detection by itself: nothing is started or stored.

The decisions are those of a turn (`flows.finding`); only who asks the model is different.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import CallerError
from saywhy.flows import detection, finding
from saywhy.flows.model import Flow
from saywhy.runtime.machinery import Machinery
from saywhy.values import freeze, thaw


class DetectedFlow(msgspec.Struct, frozen=True):
    """The flow that words would start."""

    flow: Flow
    """As it was written: `name`, `id`, `description` and all the rest."""
    parameters: Mapping[str, Any]
    """The values that the words give for its declared parameters."""
    label: str
    """What users are shown as its name."""
    how: Literal["exact", "partial", "model"]
    """By its whole name or id, by a part of it, or by the model."""


class Detecting:
    """The part of an engine that says what words would start."""

    _machinery: Machinery

    async def detect_flow_with_parameters(
        self,
        text: str,
        *,
        language: str | None = None,
        conversation: Iterable[Mapping[str, str]] = (),
    ) -> DetectedFlow | None:
        """The flow that `text` would start, with the parameters in it; None where none fits.

        It touches no session, tool or store. `language` is that of the label, `conversation` what
        was said before, oldest first, as `{role, content}`. Raises `FlowExecutionError` where the
        model gives no answer, as a turn would, and `CallerError` for what is no text.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            kind = type(text).__name__
            raise CallerError(f"detect_flow_with_parameters wants text, not {kind}")
        world = self._machinery.world
        chat = _checked(conversation)
        found = finding.begin(world, text, chat)
        if found is None:
            return None
        if not isinstance(found, Need):
            return _detected(found.flow, {}, language or world.language, found.how)
        choice = finding.chosen(world, await self._asked(found))
        self._report(detection.problems_of(choice))
        if choice.flow is None:
            return None
        parameters = choice.parameters
        if finding.asks_parameters(world, choice.flow):
            need = finding.ask_parameters(choice.flow, text, chat)
            second = finding.parameters(choice.flow, await self._asked(need))
            self._report(detection.dropped_text(second.dropped))
            parameters = second.parameters
        flow = finding.flow_of(world, choice.flow)
        return _detected(flow, parameters, language or world.language, "model")

    async def _asked(self, need: Need) -> Answer:
        """The model's answer. A failure is a line for who debugs, as in a turn."""
        machinery = self._machinery
        assert machinery.models is not None, "no question is made where there is no model"
        frozen = msgspec.structs.replace(need, args=freeze(need.args))
        answer = await machinery.models.answer(machinery.world, machinery.clock, frozen)
        if answer.error is not None:
            machinery.debug(f"model, {need.name}: {answer.error}")
        return answer

    def _report(self, problems: list[str]) -> None:
        for problem in problems:
            self._machinery.warn(problem)


def _checked(conversation: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """What was said before. Raises `CallerError` for what is no message."""
    told: list[dict[str, str]] = []
    for said in conversation:
        if not {"role", "content"} <= set(said):
            hint = 'conversation=[{"role": "user", "content": "…"}]'
            raise CallerError("a message of the conversation has role and content", hint=hint)
        told.append({"role": said["role"], "content": said["content"]})
    return told


def _detected(
    flow: Flow,
    parameters: Mapping[str, Any],
    language: str,
    how: Literal["exact", "partial", "model"],
) -> DetectedFlow:
    return DetectedFlow(flow, thaw(freeze(dict(parameters))), flow.prompt_for(language), how)
