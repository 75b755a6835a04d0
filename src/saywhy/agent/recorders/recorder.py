"""What all shipped recorders are: told live by an agent, or made of a record that was kept.

`agent.recorders` takes them as they are; `of` makes one that was told what a record holds. Both
come to the same figures, since a record holds everything a recorder counts. What they keep one by
one is bounded: the newest are kept, and the totals go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final, Self

from saywhy.agent.recorders.retold import replay
from saywhy.chart.commit import Commit

MOST: Final = 10_000
"""Entries that a recorder keeps one by one, unless it is told another number."""


class AgentRecorder:
    """The common part. One may be shared by any number of agents and conversations."""

    NAME: ClassVar[str] = ""
    """The heading under which a report shows it."""

    def __init__(self, id: str) -> None:
        self.id = id

    @classmethod
    def of(cls, *records: Iterable[Commit], **options: Any) -> Self:
        """A recorder that was told what these records hold, in this order.

        A record is a `Trace`, or commits; each run of a conversation has its own. `options` are
        those of the recorder. What a record masks is masked here as well; the figures are not.
        """
        made = cls(**options)
        for record in records:
            replay(record, made)
        return made

    def get_summary(self) -> Any:
        """The figures, as they are now."""
        raise NotImplementedError

    def to_snapshot(self) -> dict[str, Any]:
        """The figures as JSON, under the name by which a report shows them."""
        return {"name": self.NAME, "data": self.get_summary().to_value()}

    def clear(self) -> None:
        """Forget everything."""
        raise NotImplementedError
