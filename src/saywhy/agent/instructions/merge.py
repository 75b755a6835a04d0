"""What a handler says about its own result, put among the rules that fired for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from saywhy.agent.instructions.follow_up import resolved_runtime
from saywhy.agent.instructions.judge import Verdict, dropped
from saywhy.agent.instructions.rule import ResolvedInstruction


class RuntimeGuidance(Protocol):
    """A handler's result that brings guidance along: a `ToolResult`, or what is left of one."""

    @property
    def instructions(self) -> Sequence[str]: ...
    @property
    def follow_ups(self) -> Sequence[Any]: ...


def merge_runtime_instructions(
    build_time: Iterable[ResolvedInstruction], runtime: RuntimeGuidance | None = None
) -> list[ResolvedInstruction]:
    """The rules that fired with what the handler said: its actions, then its texts, before safety.

    They are not sorted among the rules by priority. An action without a tool or arguments is left
    out.
    """
    return merge_with_log(build_time, runtime)[0]


def merge_with_log(
    build_time: Iterable[ResolvedInstruction], runtime: RuntimeGuidance | None
) -> tuple[list[ResolvedInstruction], list[Verdict]]:
    """Like `merge_runtime_instructions`, with a line about each thing the handler said."""
    known = list(build_time)
    if runtime is None:
        return known, []
    log: list[Verdict] = []
    said = [*_actions(runtime, log), *_texts(runtime, log)]
    before = [one for one in known if not one.safety]
    return [*before, *said, *(one for one in known if one.safety)], log


def _actions(runtime: RuntimeGuidance, log: list[Verdict]) -> list[ResolvedInstruction]:
    found: list[ResolvedInstruction] = []
    for number, given in enumerate(runtime.follow_ups or ()):
        try:
            follow_up = resolved_runtime(given)
        except Exception as error:
            log.append(dropped(f"runtime-followup-#{number}", "follow_up", error))
            continue
        name = f"runtime-followup-{follow_up.tool_id}"
        found.append(ResolvedInstruction(name, resolved_follow_up=follow_up))
        log.append(Verdict(name, "fired", True))
    return found


def _texts(runtime: RuntimeGuidance, log: list[Verdict]) -> list[ResolvedInstruction]:
    found: list[ResolvedInstruction] = []
    for number, text in enumerate(runtime.instructions or ()):
        name = f"runtime-text-{number}"
        given: Any = text
        if not isinstance(given, str):
            why = TypeError(f"a handler's instruction is text, not {type(given).__name__}")
            log.append(dropped(name, "text", why))
            continue
        found.append(ResolvedInstruction(name, given))
        log.append(Verdict(name, "fired", True))
    return found
