"""The receipts of agents in a bundle: each agrees with itself, and with the parts that are there.

A receipt stands in the commits. It holds hashes of the parts of a request, a chain over them for
each slot, and a root over all; whoever changed one would have to change the others. Those that
cannot be read, or not without a salt of the host's, are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from saywhy.agent.receipts.canon import Salt
from saywhy.agent.receipts.log import KEY
from saywhy.agent.receipts.receipt import VERSION, Basis, Part, Receipt
from saywhy.agent.receipts.stored import Reader, Unreadable
from saywhy.chart.commit import Commit, Op
from saywhy.runtime.audit.lines import RequestPart
from saywhy.runtime.audit.report import Report, check
from saywhy.values import FrozenList, seal

_DOMAINS: Final = {"system": "system", "messages": "message", "tools": "tool", "params": "params"}


class _Rooted(msgspec.Struct):
    version: int
    basis: Basis
    slots: dict[str, str]


class Receipts:
    """The receipts of one conversation after the other."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}
        self._hashes: dict[tuple[str, str], set[str]] = {}
        self._salts: dict[str, Salt] = {}

    def begin(self) -> None:
        """What comes is not known to follow what was there."""
        self._readers = {}

    def take_commit(self, commit: Commit, report: Report) -> None:
        """Check the receipts that a commit holds."""
        for op in commit.ops:
            if len(op.key) != 2 or op.key[1] != KEY or op.verb == "delete":
                continue
            scope = str(op.key[0])
            if op.verb == "set":
                self._readers.pop(scope, None)
            reader = self._readers.setdefault(scope, Reader())
            for entry in _entries(op):
                self._one(reader.read(entry), report)

    def _one(self, receipt: Receipt | Unreadable, report: Report) -> None:
        if isinstance(receipt, Unreadable) or receipt.basis.keyed_by != "run":
            report.receipts_not_comparable += 1
            return
        basis = receipt.basis
        salt = self._salts.setdefault(basis.run_id, Salt(basis.run_id))
        wrong = f"the receipt of call {basis.call} disagrees"
        slots: tuple[tuple[str, Iterable[Part] | None], ...] = (
            ("system", receipt.system and [receipt.system]),
            ("messages", receipt.messages),
            ("tools", receipt.tools),
            ("params", [receipt.params]),
        )
        for name, parts in slots:
            if parts is None:
                check(name not in receipt.slots, wrong)
                continue
            chain = salt.start(name)
            known = self._hashes.setdefault((basis.run_id, _DOMAINS[name]), set())
            for part in parts:
                chain = salt.link(chain, part.hash)
                known.add(part.hash)
            check(receipt.slots.get(name) == chain, wrong)
        root = salt.of("root", _Rooted(VERSION, basis, receipt.slots))
        check(receipt.root == root, wrong)
        report.receipts += 1

    def take_part(self, part: RequestPart) -> None:
        """Check a part of a request."""
        salt = self._salts.setdefault(part.run, Salt(part.run))
        check(salt.hash(part.domain, part.doc) == part.hash, "the part of a request was changed")
        known = self._hashes.get((part.run, part.domain), set())
        check(part.hash in known, "no receipt knows this part of a request")


def _entries(op: Op) -> list[Any]:
    if op.verb == "append":
        return [op.value]
    found = seal(op.value)
    return list(found) if isinstance(found, FrozenList | list | tuple) else []
