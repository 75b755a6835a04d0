"""A payment service for tests: it acts, and each act stands in a ledger outside the process.

Its methods are functions for local tools that take one object. It is no mock: what it did is done,
whatever becomes of the program that asked for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.testing.faults import Faults
from saywhy.testing.ledger import Ledger

EFFECT: Final = "effect"
"""The place of the act itself: for faults between it and the call, or it and the answer."""

SLOW_SECONDS: Final = 0.5
"""How long a slow answer takes: longer than the time limit of the tool should be."""


class PaymentStub:
    """Charges, and notes in a ledger what it was asked and what it did.

    The kinds of lines, each with the key of the call: `call` (it was asked), `effect` (it acted),
    `known` (the key was known, so it did not act again), `raised` (it answered with an error),
    `looked` (what became of a key was asked).
    """

    def __init__(
        self, ledger: Ledger, *, faults: Faults | None = None, pause_seconds: float = 0.0
    ) -> None:
        self.ledger = ledger
        self.faults = faults or Faults()
        self.pause_seconds = pause_seconds
        """How long the way there takes, and the way back."""
        self._by_key = threading.Lock()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The approved functions of an engine: each method by its name, with the faults planned."""
        charges = [name for name in dir(self) if name.startswith("charge")]
        made: dict[str, Callable[..., Any]] = {
            name: self.faults.tool(getattr(self, name)) for name in ("balance", *charges)
        }
        return {**made, "look_up": self.look_up}

    def balance(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Only reads."""
        self._asked(arguments, context)
        return {"balance": 100}

    def charge(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Acts each time it is asked."""
        self._asked(arguments, context)
        return self._act(arguments, context)

    def charge_by_key(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Acts once for a key; the same key again gets the same receipt."""
        self._asked(arguments, context)
        return self._act_by_key(arguments, context)

    def charge_busy(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """As `charge`, but the first call under each key is turned away."""
        self._asked(arguments, context)
        self._turn_away_once(arguments, context)
        return self._act(arguments, context)

    def charge_by_key_busy(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """As `charge_by_key`, but the first call under each key is turned away."""
        self._asked(arguments, context)
        self._turn_away_once(arguments, context)
        return self._act_by_key(arguments, context)

    def charge_slow(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """As `charge`, but the answer comes after any time limit."""
        receipt = self.charge(arguments, context)
        time.sleep(SLOW_SECONDS)
        return receipt

    def charge_by_key_slow(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """As `charge_by_key`, but only a key that is known gets its answer in time."""
        self._asked(arguments, context)
        is_known = self.ledger.count("effect", context.key) > 0
        receipt = self._act_by_key(arguments, context)
        if not is_known:
            time.sleep(SLOW_SECONDS)
        return receipt

    def look_up(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """What became of a call, for `reconcile`."""
        acted = self.ledger.count("effect", context.key) > 0
        self.ledger.note("looked", context.key, acted=acted, **_facts(arguments, context))
        return (
            {"status": "done", "result": _receipt(arguments)} if acted else {"status": "not_done"}
        )

    # ------------------------------------------------------------ inside

    def _asked(self, arguments: Mapping[str, Any], context: Any) -> None:
        self.ledger.note("call", context.key, **_facts(arguments, context))
        time.sleep(self.pause_seconds)

    def _act(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        act = self.faults.tool(self.ledger.note, EFFECT)
        act("effect", context.key, **_facts(arguments, context))
        time.sleep(self.pause_seconds)
        return _receipt(arguments)

    def _act_by_key(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        with self._by_key:  # a call given up for lost may still be at work in another thread
            if not self.ledger.count("effect", context.key):
                return self._act(arguments, context)
            self.ledger.note("known", context.key, **_facts(arguments, context))
            return _receipt(arguments)

    def _turn_away_once(self, arguments: Mapping[str, Any], context: Any) -> None:
        if not self.ledger.count("raised", context.key):
            self.ledger.note("raised", context.key, **_facts(arguments, context))
            raise ConnectionError("ECONNREFUSED: the service is busy")


def _receipt(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"receipt": f"R-{arguments.get('amount', 0)}"}


def _facts(arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
    return {
        "tool": context.tool,
        "session": context.session_id,
        "what": arguments.get("what", ""),
        "amount": arguments.get("amount", 0),
    }


__all__ = ["EFFECT", "PaymentStub"]
