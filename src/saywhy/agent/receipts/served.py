"""What the model was handed at a call, rebuilt from the record, and whether its receipt agrees.

The view is made of the state as it was at that step, by the function that made the request itself.
Then a receipt is minted of it anew: where all hashes are the same, the view is what was handed
over. Where they are not, the parts are named; where the record was masked or begins too late, it
says so instead of blaming anybody. Nothing is raised for what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, Literal

import msgspec
from msgspec import structs

from saywhy.agent.loop.request import ask_from
from saywhy.agent.receipts.log import END_STATE, ModelCall, Snapshot, calls_of, receipts_in
from saywhy.agent.receipts.mint import NEVER, Handed, Minter, handed
from saywhy.agent.receipts.receipt import Part, Parts, Receipt
from saywhy.agent.receipts.stored import Unreadable
from saywhy.errors import CallerError
from saywhy.trace.rebuild import doubt_in
from saywhy.values import FrozenDict

Verdict = Literal["verified", "mismatch", "unverifiable", "absent"]

SOURCES: Final = {
    "system": ("assembledSystem",),
    "messages": ("assembledMessages", "messages"),
    "tools": ("toolDescriptions",),
    "params": ("settings",),
}
"""Which variables a slot is made of."""


class View(msgspec.Struct, frozen=True):
    """What a model was handed, as far as the record knows."""

    system: str | None
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] | None
    params: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The params by the name they have in a request."""
        return self.params


class Absence(msgspec.Struct, frozen=True):
    """Why there is no receipt to compare with."""

    code: Literal["no-receipt-on-chart", "no-such-call", "receipt-unreadable"]
    cause: str
    """`no-receipt-committed`; `call-not-reached`; `unknown-version`, `redacted`, `cut`,
    `damaged`, `entry-before-missing`."""


class Unread(msgspec.Struct, frozen=True):
    """A part that could not be compared."""

    part: str
    reason: str
    """`redacted` or `cut` in the record; `start`: it begins later; `end-state`: only the
    value at the end of the run is known; `secret-salt-missing`; `no-canonical-form`."""


class Served(msgspec.Struct, frozen=True):
    """The answer of `served_at`."""

    view: View | None
    """None where there was no such call."""
    receipt: Receipt | None
    verdict: Verdict
    absence: Absence | None = None
    mismatches: tuple[str, ...] = ()
    """Parts that differ: `system`, `messages[2]`, `tools[0]`, `params`, then `slots.messages` and
    the like, and `root`."""
    unread: tuple[Unread, ...] = ()
    """Parts that could not be compared, each with its reason."""


def receipts_of(snapshot: Snapshot, *, run: str | None = None) -> list[Receipt]:
    """The receipts of a record in order; with `run` only those of the run with this id."""
    found = (each for each in receipts_in(snapshot) if isinstance(each, Receipt))
    return [each for each in found if run is None or each.basis.run_id == run]


def receipt_at(snapshot: Snapshot, n: int, *, run: str | None = None) -> Receipt | None:
    """The receipt of the n-th model call, from 1; None where there is none."""
    call = _nth(snapshot, n, run)
    return call.receipt if call is not None and isinstance(call.receipt, Receipt) else None


def served_at(
    snapshot: Snapshot,
    n: int,
    *,
    run: str | None = None,
    secret_salt: str | bytes | None = None,
) -> Served:
    """What the model was handed at the n-th call, from 1, and whether its receipt agrees.

    `snapshot` is what a run has come to, its `Trace`, its commits in order, or the variables of its
    state; of these alone only the end is known. Where several runs stand in one record, `run`
    counts the calls of one. `secret_salt` is needed where the receipts were minted with one. Never
    raises for what is missing.
    """
    call = _nth(snapshot, n, run)
    if call is None:
        return Served(None, None, "absent", Absence("no-such-call", "call-not-reached"))
    return _Verifying(secret_salt).of(call)


def served_all(
    snapshot: Snapshot, *, run: str | None = None, secret_salt: str | bytes | None = None
) -> list[Served]:
    """`served_at` for every call, in one pass: a part that several calls share is hashed once."""
    verifying = _Verifying(secret_salt)
    return [verifying.of(call) for call in _calls(snapshot, run)]


def _calls(snapshot: Snapshot, run: str | None) -> Iterator[ModelCall]:
    return (call for call in calls_of(snapshot) if run is None or call.run_id == run)


def _nth(snapshot: Snapshot, n: int, run: str | None) -> ModelCall | None:
    for number, call in enumerate(_calls(snapshot, run), 1):
        if number == n:
            return call
    return None


class _Verifying:
    """Compares calls with their receipts; one minter a run serves all of its calls."""

    def __init__(self, secret_salt: str | bytes | None) -> None:
        self.secret_salt = secret_salt
        self.minters: dict[tuple[str, str, str], Minter] = {}
        self.agreed: dict[tuple[str, str, str], tuple[Parts, Parts]] = {}
        """By minter: the messages of the last receipt that was verified, as kept and as minted."""

    def of(self, call: ModelCall) -> Served:
        receipt = call.receipt
        view = _view(ask_from(call.variables), call)
        if receipt is None:
            absence = Absence("no-receipt-on-chart", "no-receipt-committed")
            return Served(view, None, "absent", absence)
        if isinstance(receipt, Unreadable):
            return Served(view, None, "absent", Absence("receipt-unreadable", receipt.cause))
        if receipt.basis.keyed_by == "host" and not self.secret_salt:
            unread = (Unread("receipt", "secret-salt-missing"),)
            return Served(view, receipt, "unverifiable", unread=unread)
        try:
            anew = self._minter(receipt).mint(view, receipt.basis)
        except CallerError:
            unread = (Unread("view", "no-canonical-form"),)
            return Served(view, receipt, "unverifiable", unread=unread)
        if self._agree(receipt, anew):
            return Served(view, receipt, "verified")
        return _compared(call, view, receipt, anew)

    def _agree(self, receipt: Receipt, anew: Receipt) -> bool:
        """Whether two receipts are the same. What was compared for the last call is not again."""
        key = _minter_of(receipt)
        kept, minted = self.agreed.get(key, (Parts(), Parts()))
        grown = receipt.messages.begins_with(kept) and anew.messages.begins_with(minted)
        start = len(kept) if grown else 0
        if receipt.messages.since(start) != anew.messages.since(start):
            return False
        known = structs.replace(receipt, messages=anew.messages)
        if known != anew:
            return False
        self.agreed[key] = receipt.messages, anew.messages
        return True

    def _minter(self, receipt: Receipt) -> Minter:
        basis, key = receipt.basis, _minter_of(receipt)
        if key not in self.minters:
            secret = self.secret_salt if basis.keyed_by == "host" else None
            self.minters[key] = Minter(
                basis.run_id, secret_salt=secret, strict_labels=basis.labels == "hashed"
            )
        return self.minters[key]


def _minter_of(receipt: Receipt) -> tuple[str, str, str]:
    """What a minter is told from others by."""
    basis = receipt.basis
    return basis.run_id, basis.keyed_by, basis.labels


def _view(request: Handed, call: ModelCall) -> View:
    messages = request.messages
    receipt = call.receipt
    if isinstance(receipt, Receipt) and _known_from_the_end(call, "messages"):
        # The list only grows: what it began with is what the call saw, and the hashes tell.
        messages = messages[: len(receipt.messages)]
    params: Any = request.settings
    if not isinstance(params, Mapping):  # masked as a whole
        params = FrozenDict({})
    if not NEVER.isdisjoint(params):
        params = FrozenDict(handed(params))
    return View(request.system, messages, request.tools, params)


def _known_from_the_end(call: ModelCall, slot: str) -> bool:
    return bool(call.final) or any(call.doubts.get(name) == END_STATE for name in SOURCES[slot])


# ------------------------------------------------------------------ comparing


def _compared(call: ModelCall, view: View, receipt: Receipt, anew: Receipt) -> Served:
    unread: list[Unread] = []
    wrong: list[str] = []
    for slot, part, content in _differing(view, receipt, anew):
        doubt = _doubt(call, slot, content)
        if doubt:
            unread.append(Unread(part, doubt))
        else:
            wrong.append(part)
    doubtful = {each.part.partition("[")[0] for each in unread}
    slots = [
        f"slots.{slot}"
        for slot in SOURCES
        if receipt.slots.get(slot) != anew.slots.get(slot)
        and (slot not in doubtful or any(part.partition("[")[0] == slot for part in wrong))
    ]
    if unread and not wrong and not slots:
        return Served(view, receipt, "unverifiable", unread=tuple(unread))
    root = ["root"] if receipt.root != anew.root else []
    return Served(view, receipt, "mismatch", None, (*wrong, *slots, *root), tuple(unread))


def _differing(view: View, receipt: Receipt, anew: Receipt) -> Iterator[tuple[str, str, Any]]:
    """Slot, name of the part and what stands there now, for each part that is not the same."""
    if receipt.system != anew.system:
        yield "system", "system", view.system
    yield from _differing_in("messages", view.messages, receipt.messages, anew.messages)
    if (receipt.tools is None) != (anew.tools is None):
        yield "tools", "tools", view.tools
    yield from _differing_in("tools", view.tools or (), receipt.tools or (), anew.tools or ())
    if receipt.params != anew.params:
        yield "params", "params", view.params


def _differing_in(
    slot: str, values: Sequence[Any], had: Sequence[Part], have: Sequence[Part]
) -> Iterator[tuple[str, str, Any]]:
    for at, (one, other) in enumerate(zip_longest(had, have)):
        if one is not other and one != other:
            yield slot, f"{slot}[{at}]", values[at] if at < len(values) else None


def _doubt(call: ModelCall, slot: str, content: Any) -> str:
    """Why a part may differ without anybody having changed it; empty for no reason."""
    if call.final == "older" and slot != "messages":
        return END_STATE
    found = [call.doubts[name] for name in SOURCES[slot] if call.doubts.get(name)]
    if not found:
        return ""
    if found[0] in {"redacted", "cut"} and content is not None and not isinstance(content, str):
        return doubt_in(content)
    return found[0]
