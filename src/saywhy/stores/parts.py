"""What is kept of one conversation, read in parts while it is being explained.

An explanation goes from the newest turn back to a cause, and knows only on its way which turns it
needs. So whoever explains reads as it goes, without awaiting: a few rows at a time, each found by
its number. A store that can do that has `parts`; from another one everything is read beforehand.
How a trace is made of it is `saywhy.trace.paged`'s business.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import msgspec

from saywhy.stores.store import Rows


class Part(msgspec.Struct, frozen=True):
    """One turn: its rows of commits and its messages, in order."""

    turn_no: int
    commits: Rows
    messages: Rows


class Parts(Protocol):
    """One conversation as it stood when this was made, read turn by turn.

    What was pruned or forgotten since is not there. It may be used after the store was closed.
    """

    first: int
    """The oldest turn that left something; 0 where none did."""
    last: int
    """The newest turn."""
    doc: bytes | None
    """The conversation at rest."""

    def numbers(self) -> list[int]:
        """The turns that left something, in order."""
        ...

    def read(self, first: int, last: int) -> list[Part]:
        """Turns in order, from one to another; those that left nothing are left out."""
        ...

    def turn_of_commit(self, seq: int) -> int:
        """The turn whose first row of commits is the last not beyond a number; 0 for none."""
        ...

    def turn_of_message(self, seq: int) -> int:
        """The turn of a message; 0 for none."""
        ...

    def chart(self, digest: str) -> bytes | None:
        """The chart kept under a digest; None when there is none."""
        ...


@runtime_checkable
class ReadInParts(Protocol):
    """A store that can be read in parts."""

    async def parts(self, session_id: str) -> Parts | None:
        """A conversation to be read turn by turn; None when there is none."""
        ...
