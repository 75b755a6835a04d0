"""A chain while it is being built: each cause once, nearest first, bounded on two sides.

What is a cause of what is answered by `search` and `handed`; here only the graph grows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from saywhy.trace.causes.chain import Cause, Chain, Edge, Link
from saywhy.trace.trace import Trace
from saywhy.values import Key

MOST_CAUSES: Final = 200
DEEPEST: Final = 60


class Effect(NamedTuple):
    """What a cause that is being added is the cause of, and how."""

    cause: int
    edge: Edge
    key: Key = ()


class Graph:
    """Builds one chain, breadth first, so that a limit cuts off what is farthest away."""

    def __init__(self, trace: Trace, most: int = MOST_CAUSES, deepest: int = DEEPEST) -> None:
        self.trace = trace
        self.most = most
        self.deepest = deepest
        self.chain = Chain([], [])
        self._known: dict[object, int] = {}
        self._depths: list[int] = []
        self._links: set[Link] = set()
        self._left_out: set[object] = set()
        self._open: deque[tuple[Callable[[int], None], int]] = deque()

    def run(self) -> None:
        """Follow every open end."""
        while self._open:
            follow, cause = self._open.popleft()
            follow(cause)
        self.chain.left_out = len(self._left_out)

    def add(
        self,
        effect: Effect | None,
        identity: object,
        make: Callable[[], Cause],
        follow: Callable[[int], None] | None = None,
    ) -> int | None:
        """Put a cause into the chain, once, and link it to what it brought about.

        Gives its number; None where a limit left it out.
        """
        found = self._known.get(identity)
        if found is None:
            depth = 0 if effect is None else self._depths[effect.cause] + 1
            if len(self._depths) >= self.most or depth > self.deepest:
                self._left_out.add(identity)
                return None
            found = self._known[identity] = len(self._depths)
            self._depths.append(depth)
            cause = make()
            cause.id = found
            self.chain.causes.append(cause)
            if follow is not None:
                self._open.append((follow, found))
        if effect is not None and effect.cause != found:
            link = Link(effect.cause, found, effect.edge, effect.key)
            if link not in self._links:
                self._links.add(link)
                self.chain.links.append(link)
        return found

    def of(self, cause: int) -> Cause:
        """A cause by its number."""
        return self.chain.causes[cause]

    def sign(self, cause: int | None, sign: str, told: str = "") -> None:
        """Note a general sign that something may be wrong with a cause, and tell it."""
        if cause is None:
            return
        found = self.of(cause)
        if sign not in found.signs:
            found.signs = (*found.signs, sign)
        if told and told not in found.details:
            found.details = (*found.details, told)

    def mark(self, cause: int, text: str) -> None:
        """Note why a cause is less than certain."""
        found = self.of(cause)
        if text not in found.marks:
            found.marks = (*found.marks, text)
