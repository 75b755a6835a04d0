"""One step under inspection: what it says, and how to say what is wrong with it.

Checks work on a `Spot` and yield problems; the spot knows flow, step, place and what else exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from saywhy.errors import Problem
from saywhy.flows.model import Flow, Library, Step
from saywhy.flows.source import join

Severity: TypeAlias = Literal["error", "warning", "note"]

EXCERPT_WIDTH: Final = 96
KNOWN_NAMES_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Known:
    """What a host hands over beside flows and tools; None where nobody said anything."""

    functions: frozenset[str] | None = None
    globals: frozenset[str] | None = None
    cargo: frozenset[str] | None = None
    agents: frozenset[str] | None = None
    languages: tuple[str, ...] = ()
    plain: str = "en"
    """The language that plain texts are in, where the flow does not say."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A step with all that is needed to judge it."""

    library: Library
    known: Known
    flow: Flow
    step: Step
    rescue: bool = False
    """Whether the step stands in `onFail` or `onUnknown`, or is a fallback."""

    def get(self, key: str) -> Any:
        """What the author wrote under a key; None when absent."""
        return self.step.raw.get(key)

    def has(self, key: str) -> bool:
        """Whether the author wrote this key with anything but null."""
        return self.step.raw.get(key) is not None

    def problem(
        self,
        message: str,
        *path: str | int,
        hint: str = "",
        severity: Severity = "error",
        known_names: Sequence[str] = (),
        at_key: bool = False,
    ) -> Problem:
        """A problem of the step, at the value (or the key) that `path` leads to."""
        pointer = join(self.step.pointer, *path)
        place = self.flow.place_of(pointer)
        if at_key and self.flow.source:
            place = self.flow.source.key_place(self.flow.place.pointer + pointer)
        return Problem(
            message,
            place,
            hint,
            severity,
            known_names=tuple(known_names),
            flow=self.flow.id,
            step=self.step.id,
        )

    def text_problem(
        self,
        message: str,
        path: Sequence[str | int],
        text: str,
        span: tuple[int, int],
        *,
        hint: str = "",
        severity: Severity = "error",
        known_names: Sequence[str] = (),
        in_key: bool = False,
    ) -> Problem:
        """A problem inside a text of the step: `span` gives the offending characters of `text`."""
        pointer = join(self.step.pointer, *path)
        place = self.flow.place_of(pointer)
        start, end = span
        if self.flow.source:
            whole = self.flow.place.pointer + pointer
            place = self.flow.source.place_inside(whole, text, start, key=in_key)
        excerpt, shown = excerpt_of(text, start, end)
        return Problem(
            message,
            place,
            hint,
            severity,
            excerpt,
            shown,
            tuple(known_names)[:KNOWN_NAMES_SHOWN],
            self.flow.id,
            self.step.id,
        )


def spots_of(flow: Flow, library: Library, known: Known) -> Iterator[Spot]:
    """A spot for each step of a flow, also those inside others, in the order of the file."""

    def walk(step: Step, rescue: bool) -> Iterator[Spot]:
        yield Spot(library, known, flow, step, rescue)
        for _, branch in step.branches:
            yield from walk(branch, False)
        for inner in step.on_silence:
            yield from walk(inner, False)
        if step.submit is not None:
            yield from walk(step.submit, False)
        for inner in step.rescues():
            yield from walk(inner, True)

    for step in flow.steps:
        yield from walk(step, False)


def excerpt_of(text: str, start: int, end: int) -> tuple[str, tuple[int, int]]:
    """The part of a text worth showing around some characters, and where in it they stand."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : line_end if line_end >= 0 else None]
    start, end = start - line_start, min(end - line_start, len(line))
    if len(line) <= EXCERPT_WIDTH:
        return line, (start, max(end, start))
    cut = max(0, min(start - EXCERPT_WIDTH // 3, len(line) - EXCERPT_WIDTH))
    shown = line[cut : cut + EXCERPT_WIDTH]
    before, after = ("…" if cut else ""), ("…" if cut + EXCERPT_WIDTH < len(line) else "")
    offset = len(before) - cut
    return before + shown + after, (start + offset, min(end + offset, len(before + shown)))
