"""Which minter is whose: one for each run that is under way, and the entry for its state.

A chart is built once and runs many times, side by side. What a run's minter remembers saves work
and nothing else: one that is gone, or stands in another process, gives the same receipts. So the
ones used longest ago are dropped when there are too many of them, or too many messages in them;
nobody has to say that a run is over.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from saywhy.agent.receipts.mint import Handed, Minter
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import from_stored, stored_form
from saywhy.values import raw

KEPT_RUNS: Final = 64
"""Of so many runs the newest hashes are kept."""

KEPT_MESSAGES: Final = 20_000
"""So many messages may be held on to for it, in all these runs together."""


class _Kept:
    """A minter, and what is to be known of its newest receipt."""

    __slots__ = ("messages", "minter", "root")

    def __init__(self, minter: Minter) -> None:
        self.minter = minter
        self.root = ""
        """What its entry names as root."""
        self.messages = 0


class Minters:
    """The minters of the runs of one chart. Holds on to the messages of the newest runs only."""

    def __init__(
        self,
        *,
        secret_salt: str | bytes | None = None,
        strict_labels: bool = False,
        keep: int = KEPT_RUNS,
        keep_messages: int = KEPT_MESSAGES,
    ) -> None:
        self._secret_salt = secret_salt
        self._strict_labels = strict_labels
        self._keep = keep
        self._keep_messages = keep_messages
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._messages = 0

    def __len__(self) -> int:
        """Of how many runs something is remembered."""
        return len(self._kept)

    def of(self, run_id: str) -> Minter:
        """The minter of a run."""
        return self._of(run_id).minter

    def entry(
        self,
        ask: Handed,
        run_id: str | None,
        held: Sequence[Any],
        *,
        call: int,
        iteration: int = 0,
        step_id: str = "",
        resumed_from: str = "",
    ) -> dict[str, Any] | None:
        """What is to be appended to `held`, the entries under `receipts` in the state.

        None without a run id: there is no receipt then, never one without salt.
        """
        if not run_id:
            return None
        kept = self._of(run_id)
        minter = kept.minter
        previous = _previous(kept, held)
        basis = minter.basis(call, iteration, step_id, resumed_from)
        receipt = minter.mint(ask, basis, previous)
        entry = stored_form(receipt, previous)
        kept.root = entry["root"]
        self._count(kept, len(receipt.messages))
        return entry

    def _of(self, run_id: str) -> _Kept:
        kept = self._kept.get(run_id)
        if kept is None:
            minter = Minter(
                run_id, secret_salt=self._secret_salt, strict_labels=self._strict_labels
            )
            kept = self._kept[run_id] = _Kept(minter)
        else:
            self._kept.move_to_end(run_id)
        return kept

    def _count(self, kept: _Kept, messages: int) -> None:
        """Note how many messages a run holds, and drop others where that is too much."""
        self._messages += messages - kept.messages
        kept.messages = messages
        while len(self._kept) > 1 and (
            self._messages > self._keep_messages or len(self._kept) > self._keep
        ):
            _, gone = self._kept.popitem(last=False)
            self._messages -= gone.messages


def _previous(kept: _Kept, held: Sequence[Any]) -> Receipt | None:
    """The last receipt of the list. What was minted for a step that came to nothing is not."""
    if not held:
        return None
    newest = raw(held[-1])
    root = newest.get("root") if type(newest) is dict else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if root is not None and root == kept.root:
        return kept.minter.last
    found = from_stored(held)[-1]
    return found if isinstance(found, Receipt) else None
