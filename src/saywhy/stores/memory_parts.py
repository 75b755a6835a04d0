"""A conversation in memory, read turn by turn. What that promises is said in `parts`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from saywhy.stores.memory_session import MemorySession
from saywhy.stores.parts import Part


class PartedMemory:
    """The part of the store in memory that is read turn by turn."""

    _sessions: dict[str, MemorySession]
    _charts: dict[str, bytes]

    async def parts(self, session_id: str) -> MemoryParts | None:
        """A conversation to be read turn by turn; None when there is none."""
        session = self._sessions.get(session_id)
        return None if session is None else MemoryParts(session, self._charts.get)


class MemoryParts:
    """One conversation, as long as it is in memory."""

    def __init__(self, session: MemorySession, chart: Callable[[str], bytes | None]) -> None:
        self._turns = session.turns
        self._messages: dict[int, list[tuple[int, bytes]]] = {}
        for seq, one in sorted(session.messages.items()):
            self._messages.setdefault(one.turn_no, []).append((seq, one.doc))
        self._turn_of = {seq: one.turn_no for seq, one in session.messages.items()}
        self._chart = chart
        self.doc = session.doc
        self._numbers = sorted(
            {*self._messages, *(no for no, turn in session.turns.items() if turn.commits)}
        )
        self.first = self._numbers[0] if self._numbers else 0
        self.last = max(session.turns, default=0)
        firsts = [
            (min(turn.commits), no) for no, turn in sorted(session.turns.items()) if turn.commits
        ]
        self._firsts = [seq for seq, _ in firsts]
        self._first_turns = [no for _, no in firsts]

    def numbers(self) -> list[int]:
        return list(self._numbers)

    def read(self, first: int, last: int) -> list[Part]:
        begin, end = bisect_right(self._numbers, first - 1), bisect_right(self._numbers, last)
        return [self._part(number) for number in self._numbers[begin:end]]

    def _part(self, number: int) -> Part:
        turn = self._turns.get(number)
        commits = sorted(turn.commits.items()) if turn is not None else ()
        return Part(number, commits, self._messages.get(number, ()))

    def turn_of_commit(self, seq: int) -> int:
        i = bisect_right(self._firsts, seq)
        return self._first_turns[i - 1] if i else 0

    def turn_of_message(self, seq: int) -> int:
        return self._turn_of.get(seq, 0)

    def chart(self, digest: str) -> bytes | None:
        return self._chart(digest)
