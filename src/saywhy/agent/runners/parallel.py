"""Runners side by side, all on the same words, and what is made of their answers.

The answers stand in the order in which the branches were written, whoever comes first. One that
fails is an answer like the others, with its error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, Final, Literal

import msgspec

from saywhy.agent.loop.state import append, look, write
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import (
    Part,
    added,
    begin,
    finish,
    first_input,
    gives,
    id_problems,
    mount,
)
from saywhy.agent.tool_reply import content_of
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.merge import Merge
from saywhy.errors import Problem
from saywhy.values import FrozenDict, raw

FEWEST: Final = 2
MOST: Final = 10
TOO_FEW: Final = f"Parallel requires at least {FEWEST} branches."
TOO_MANY: Final = f"Parallel supports at most {MOST} branches."

MERGE_HEAD: Final = "Merge the following parallel results into a coherent response:"
"""Stands below the prompt of a model that merges; pinned by the case `par-llm`."""

FORK: Final = "branches"
MERGE: Final = "merge"


class BranchResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one branch came to."""

    id: str
    status: Literal["fulfilled", "rejected"]
    content: str
    """The answer; `[Error: …]` where there is none."""
    error: str | None = None
    """What the branch failed with."""
    error_name: str = ""

    def to_value(self) -> FrozenDict:
        """The same as a value of the state."""
        return FrozenDict(msgspec.to_builtins(self))


Merging = Callable[[tuple[BranchResult, ...]], Any]
"""Makes one answer of those of the branches; it may be `async`."""


def parallel_problems(parts: Sequence[Part]) -> Iterator[Problem]:
    """What is wrong with these as branches."""
    if len(parts) < FEWEST:
        yield Problem(TOO_FEW, hint='Parallel({"one": runner, "two": runner}, merge=…)')
    if len(parts) > MOST:
        yield Problem(TOO_MANY, hint="let a branch be a Parallel itself")
    yield from id_problems("branch", [part.id for part in parts], (FORK, MERGE))


def parallel_chart(parts: Sequence[Part], merge: Merging | Part, *, name: str, id: str) -> Built:
    """The chart of branches side by side, merged by a function or by another runner."""
    chart = Builder(name, id=id, describe="All are given the same words, side by side", own=OWN)
    chart.stage(id="seed", name="Seed")(begin())
    together = {"branches": Merge.APPEND, "loopCount": added}
    fork = chart.fork(FORK, merge=together, name="Branches")
    for part in parts:
        line = fork.branch(part.id)
        mount(line, part, id, first_input, _outputs(part), appends=["branches"], catch=_catch(part))
    if isinstance(merge, Part):
        mount(chart, merge, id, _sections, gives)
    else:
        chart.stage(id=MERGE, name="Merge", describe="Make one answer of all")(_merged(merge))
    chart.stage(id="finish", name="Finish")(finish)
    return chart.build()


def _outputs(part: Part) -> Callable[[Any], Mapping[str, Any]]:
    def outputs(s: Any) -> Mapping[str, Any]:
        given = gives(s)
        result = BranchResult(part.id, "fulfilled", str(given["result"]))
        return {"branches": result.to_value(), "loopCount": given["loopCount"]}

    return outputs


def _catch(part: Part) -> Callable[[Any, Exception], bool]:
    def catch(s: Any, error: Exception) -> bool:
        text = failure_text(error)
        result = BranchResult(
            part.id, "rejected", f"[Error: {text}]", text, error_name=failure_name(error)
        )
        append(s, "branches", result.to_value())
        return True

    return catch


def branches_in(state: Mapping[str, Any]) -> tuple[BranchResult, ...]:
    """What the branches came to, from the state of a run."""
    found: Any = raw(state.get("branches")) or []
    return tuple(msgspec.convert(raw(one), BranchResult) for one in found)


def _merged(merge: Merging) -> Callable[[Any], Any]:
    def found(s: Any) -> tuple[BranchResult, ...]:
        return branches_in({"branches": look(s, "branches")})

    if iscoroutinefunction(merge):

        async def awaited(s: Any) -> None:
            write(s, "result", content_of(await merge(found(s))))

        return awaited

    def plain(s: Any) -> None:
        write(s, "result", content_of(merge(found(s))))

    return plain


def merge_prompt(prompt: str) -> str:
    """The system prompt of a model that merges."""
    return f"{prompt}\n\n{MERGE_HEAD}" if prompt else MERGE_HEAD


def _sections(s: Any) -> str:
    return sections_of(branches_in({"branches": look(s, "branches")}))


def sections_of(branches: Sequence[BranchResult]) -> str:
    """The answers as the merging model reads them: none can end its own section."""
    return "\n\n".join(
        f'<branch id="{_escaped(one.id)}">\n{_escaped(one.content)}\n</branch>' for one in branches
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
