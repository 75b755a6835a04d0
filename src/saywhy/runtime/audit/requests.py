"""The parts of what models were handed that a receipt can be compared with, each once.

What was masked or cut in the record no longer has the hash in the receipt: it is left out, and the
receipt stays as a promise that cannot be compared. How a request is rebuilt is `served`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from saywhy.agent.receipts.canon import Salt, canon
from saywhy.agent.receipts.receipt import Part, Parts, Receipt
from saywhy.agent.receipts.served import View, served_all
from saywhy.errors import CallerError
from saywhy.runtime.audit.lines import RequestPart
from saywhy.trace.trace import Trace
from saywhy.values import freeze, raw

Domain = Literal["system", "message", "tool", "params"]


def parts_of(trace: Trace) -> Iterator[RequestPart]:
    """The parts of all requests of a conversation whose receipts agree with them."""
    written: set[tuple[str, str]] = set()
    salts: dict[str, Salt] = {}
    known = Parts()
    for served in served_all(trace):
        receipt, view = served.receipt, served.view
        if receipt is None or view is None or receipt.basis.keyed_by != "run":
            continue
        salt = salts.setdefault(receipt.basis.run_id, Salt(receipt.basis.run_id))
        start = len(known) if receipt.messages.begins_with(known) else 0
        known = receipt.messages
        for domain, part, value in _pairs(receipt, view, start):
            if (receipt.basis.run_id, part.hash) in written:
                continue
            data = _canonical(value)
            if data is not None and salt.hash(domain, data) == part.hash:
                written.add((receipt.basis.run_id, part.hash))
                yield RequestPart(receipt.basis.run_id, domain, part.hash, data)


def _pairs(receipt: Receipt, view: View, start: int) -> Iterable[tuple[Domain, Part, Any]]:
    """Each part of a receipt with what stands in its place; messages from one on."""
    if receipt.system is not None:
        yield "system", receipt.system, view.system
    for part, message in zip(receipt.messages.since(start), view.messages[start:], strict=False):
        yield "message", part, message
    for part, tool in zip(receipt.tools or (), view.tools or (), strict=False):
        yield "tool", part, tool
    yield "params", receipt.params, view.params


def _canonical(value: Any) -> bytes | None:
    try:
        return canon(raw(freeze(value)))
    except CallerError:  # a number that JSON lacks
        return None
