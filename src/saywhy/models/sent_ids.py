"""The ids of calls as vendors take them: once each in a conversation, of few characters, short.

A conversation may come from anywhere: from another vendor's model, from a host's own, from a store.
Ids that a server would refuse are changed on the way out, the same way each time, so that a result
still stands for its call. What comes back is `wire.CallIds`.
"""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 40
"""So many characters OpenAI's server takes; none takes fewer."""

_FIT: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MOST}}}")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")


class SentIds:
    """Ids on their way out, in the order of the conversation."""

    def __init__(self) -> None:
        self._sent: set[str] = set()
        self._of: dict[str, str] = {}

    def call(self, own: str) -> str:
        """What a call with this id is sent as."""
        name = own if _FIT.fullmatch(own) else _UNFIT.sub("_", own)[:MOST] or "call"
        sent, number = name, 1
        while sent in self._sent:
            number += 1
            end = f"_{number}"
            sent = name[: MOST - len(end)] + end
        self._sent.add(sent)
        self._of[own] = sent
        return sent

    def result(self, own: str) -> str:
        """What the result of the last call with this id is sent for."""
        return self._of.get(own, own)
