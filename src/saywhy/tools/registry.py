"""Which tools there are, by id and by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from saywhy.errors import DefinitionError, Problem, did_you_mean
from saywhy.tools.tool import Tool


class Registry:
    """Tools, found by id first, then by name. Raises `DefinitionError` for an id used twice."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._by_id: dict[str, Tool] = {}
        self._by_name: dict[str, Tool] = {}
        problems: list[Problem] = []
        for tool in tools:
            first = self._by_id.setdefault(tool.id, tool)
            self._by_name.setdefault(tool.name, tool)
            if first is not tool:
                problems.append(_twice(tool, first))
        self.wants_known = any(tool.known for tool in self)
        """Whether a tool takes only values that were given before."""
        if problems:
            raise DefinitionError(problems)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, name: object) -> bool:
        return name in self._by_id or name in self._by_name

    def find(self, name: str) -> Tool | None:
        """The tool with this id, else the first with this name, else None."""
        return self._by_id.get(name) or self._by_name.get(name)

    def hint(self, name: str) -> str:
        """What to try instead of a name that leads to no tool."""
        known = (*self._by_id, *self._by_name)
        return did_you_mean(name, known) or "check the tool's id, or add its definition"


def _twice(tool: Tool, first: Tool) -> Problem:
    return Problem(
        f'two tools have the id "{tool.id}"',
        tool.place,
        hint=f"the other one is at {first.place}; rename one of them",
    )
