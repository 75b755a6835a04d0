"""Which minter is whose: one for each run that is under way, and the entry for its state.

A chart is built once and runs many times, side by side. What a run's minter remembers saves work
and nothing else: one that is gone, or stands in another process, gives the same receipts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.agent.receipts.mint import Handed, Minter
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import from_stored, stored_form

KEPT_RUNS: Final = 64
"""Of so many runs the newest hashes are kept."""


class Minters:
    """The minters of the runs of one chart. Holds on to the messages of the newest runs only."""

    def __init__(
        self,
        *,
        secret_salt: str | bytes | None = None,
        strict_labels: bool = False,
        keep: int = KEPT_RUNS,
    ) -> None:
        self._secret_salt = secret_salt
        self._strict_labels = strict_labels
        self._keep = keep
        self._minters: OrderedDict[str, Minter] = OrderedDict()
        self._roots: dict[str, str] = {}
        """By run: what the entry of its minter's newest receipt names as root."""

    def of(self, run_id: str) -> Minter:
        """The minter of a run."""
        minter = self._minters.get(run_id)
        if minter is None:
            minter = Minter(
                run_id, secret_salt=self._secret_salt, strict_labels=self._strict_labels
            )
            self._minters[run_id] = minter
            if len(self._minters) > self._keep:
                gone, _ = self._minters.popitem(last=False)
                self._roots.pop(gone, None)
        else:
            self._minters.move_to_end(run_id)
        return minter

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
        minter = self.of(run_id)
        previous = self._previous(minter, held)
        basis = minter.basis(call, iteration, step_id, resumed_from)
        entry = stored_form(minter.mint(ask, basis, previous), previous)
        self._roots[run_id] = entry["root"]
        return entry

    def _previous(self, minter: Minter, held: Sequence[Any]) -> Receipt | None:
        """The last receipt of the list. What was minted for a step that came to nothing is not."""
        if not held:
            return None
        newest = held[-1]
        root = newest.get("root") if isinstance(newest, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if root is not None and root == self._roots.get(minter.salt.run_id):
            return minter.last
        found = from_stored(held)[-1]
        return found if isinstance(found, Receipt) else None
