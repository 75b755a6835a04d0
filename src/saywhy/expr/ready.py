"""Which lists and objects lie ready in the engine, so that they need not be made there again?

Conditions of a flow ask the same lists turn after turn. What was handed in twice is kept as the
engine has it, found by its JSON text: so it does not matter which conversation holds it, or whether
it was loaded anew; and without writing that text, where the very list of the last time is handed in
again. Kept things are lent only to expressions that leave them as they are, which is
for `harmless` to say; all others are handed JSON text and make their own.

Kept is little, and none of it for long: when there is no room, all of it goes.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Final

from saywhy.expr.brief import MAX_TEXT
from saywhy.expr.handed import Handed
from saywhy.expr.sandbox import Sandbox, engine_errors
from saywhy.expr.transfer import JSON_TEXT, SCALAR, tree_argument
from saywhy.values import FrozenDict, FrozenList, dumps

MAX_ONE: Final = 10_000
"""Bytes of JSON of a thing that is kept."""
MAX_ALL: Final = 200_000
"""Of all of them: a few megabytes in the engine, a tenth of the memory it may have."""
MAX_SEEN: Final = 1_000
MAX_SAME: Final = 64
"""So many lists and objects are known by what they are."""


class Ready:
    """The things kept in one context."""

    __slots__ = (
        "__weakref__",
        "_bytes",
        "_errors",
        "_kept",
        "_parse",
        "_same",
        "_sandbox",
        "_seen",
        "_thread",
        "is_stale",
    )

    def __init__(self, sandbox: Sandbox) -> None:
        self.is_stale = False
        """All of it is to go, when its thread comes by."""
        self._thread: Final = threading.get_ident()
        self._sandbox: Final = sandbox
        self._errors: Final = engine_errors()
        self._parse: Any = None
        self._forget()
        with _lock:
            _everywhere.add(self)

    def _forget(self) -> None:
        self.is_stale = False
        self._kept: dict[bytes, Handed] = {}
        self._seen: set[int] = set()
        self._same: dict[int, tuple[Any, int, Handed]] = {}
        self._bytes = 0

    def argument(self, value: FrozenDict | FrozenList) -> Handed:
        """How to pass `value`: as what is kept of it, or as text."""
        if self.is_stale:
            self._forget()
        tree: Any = value.raw
        # It is held here, so no other one has its id; and what is frozen may only have grown.
        same = self._same.get(id(tree))
        if same is not None and same[1] == len(tree):
            return same[2]
        found = self._known(tree, value)
        if found[0] == SCALAR:
            if len(self._same) >= MAX_SAME:
                self._same.clear()
            self._same[id(tree)] = tree, len(tree), found
        return found

    def _known(self, tree: Any, value: FrozenDict | FrozenList) -> Handed:
        """The same for one that was not here before, or was another object then."""
        if len(tree) == 1 and type(tree) is dict:
            tree = value  # it may look like a tag: see `transfer`
        try:
            data = dumps(tree)
        except OverflowError:
            data = None
        else:
            found = self._kept.get(data) if len(data) <= MAX_ONE else None
            if found is not None:
                return found
        letter, text = tree_argument(tree, data)
        if data is not None and letter == JSON_TEXT and len(data) <= MAX_ONE:
            self._note(data)
        return letter, text, len(text) > MAX_TEXT

    def _note(self, data: bytes) -> None:
        """Keep it, if it was here before. By a hash: a wrong guess would only keep it too early."""
        mark = hash(data)
        if mark in self._seen:
            self._keep(data)
            return
        if len(self._seen) >= MAX_SEEN:
            self._seen.clear()
        self._seen.add(mark)

    def _keep(self, data: bytes) -> Handed | None:
        if self._bytes + len(data) > MAX_ALL:
            self._forget()
        try:
            if self._parse is None:
                self._parse = self._sandbox.compile("(kit) => kit.parse")
            made = SCALAR, self._parse(data.decode()), len(data) > MAX_TEXT
        except self._errors:  # there is no memory left: the expression itself will be told
            self._forget()
            return None
        self._kept[data] = made
        self._bytes += len(data)
        return made

    def renew(self, arguments: list[Any], before: Ready) -> None:
        """Put things of this context where `arguments` has things of another that is gone."""
        for number, argument in enumerate(arguments):
            for data, (_, made, _) in before._kept.items():
                if made is argument:
                    arguments[number] = (self._keep(data) or (SCALAR, None, False))[1]

    def forget(self) -> None:
        """Let all of it go: at once in its own thread, which alone may touch the engine; otherwise
        before that thread looks for anything here again."""
        if threading.get_ident() == self._thread:
            self._forget()
        else:
            self.is_stale = True


_everywhere: Final[weakref.WeakSet[Ready]] = weakref.WeakSet()
_lock: Final = threading.Lock()


def forget_everywhere() -> None:
    """Let everything go that is kept in any thread, because somebody is to be forgotten."""
    with _lock:
        everywhere = list(_everywhere)
    for one in everywhere:
        one.forget()
