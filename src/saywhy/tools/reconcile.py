"""What became of a call that was cut off: its tool's own function is asked.

The function gets the arguments and a context with the key of the call. It answers `{"status":
"done", "result": …}`, `not_done`, `failed` with an `error`, or `unknown`; whatever else comes of it
leaves things as unknown as they were. What follows from the answer is the flow's to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import msgspec

from saywhy.clock import Clock
from saywhy.errors import StateValueError
from saywhy.tools import local
from saywhy.tools.invocation import CallContext, Invocation, Outcome
from saywhy.tools.result import as_value
from saywhy.tools.tool import Implementation, Tool

Status: TypeAlias = Literal["done", "not_done", "failed", "unknown"]

STATUSES: Final = ("done", "not_done", "failed", "unknown")


class Finding(msgspec.Struct, frozen=True):
    """What the function found out. `trouble`: why it is not known, where the function failed."""

    status: Status
    value: Any = None
    error: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Attempts of the question itself are of no interest to anybody."""

    attempt: int

    def __call__(self) -> int:
        return self.attempt


async def find_out(
    tool: Tool,
    arguments: dict[str, Any],
    context: CallContext,
    *,
    functions: Mapping[str, Callable[..., Any]],
    clock: Clock,
) -> Finding:
    """Ask the tool's `reconcile` function. It only reads, so it may be asked any number of times.

    The call is made as that of a local tool is: `async` or in a thread, with a time limit.
    """
    asked = tool.reconcile
    if asked is None:
        return Finding("unknown")
    raw = {"type": "local", "function": asked.function}
    implementation = Implementation("local", raw, asked.function, asked.timeout_ms)
    outcome = await local.invoke(
        Invocation(
            tool=replace(tool, implementation=implementation, effect="reads", function=None),
            arguments=arguments,
            context=context,
            functions=functions,
            clock=clock,
            record=_Asked(context.attempt),
        )
    )
    return _finding(outcome)


def _finding(outcome: Outcome) -> Finding:
    if outcome.fault is not None:
        return Finding("unknown", trouble=outcome.fault)
    answer = outcome.value
    status = answer.get("status") if isinstance(answer, Mapping) else None
    if status not in STATUSES:
        return Finding("unknown", trouble=f"it has to answer a status out of {', '.join(STATUSES)}")
    if status == "failed":
        return Finding("failed", error=str(answer.get("error") or "it failed"))
    try:
        return Finding(status, as_value(answer.get("result")))
    except StateValueError as error:
        return Finding("unknown", trouble=error.message)


__all__ = ["STATUSES", "Finding", "Status", "find_out"]
