"""What a tool of restricted data was given or gave is sensitive wherever it turns up.

It is treated like an answer of the user's that is marked `pii`: masked in every record, as long as
a flow runs that may hold it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from saywhy.chart.outcome import Answer
from saywhy.chart.scope import Scope
from saywhy.flows.answers import SECRETS
from saywhy.tools.tool import Tool
from saywhy.trace.masking.texts import MAX_HELD, MAX_LEARNT, distinctive
from saywhy.values import UNDEFINED, freeze

_NUMBER: Final = re.compile(r"\d{4,}", re.ASCII)


def note_private(scope: Scope, tool: Tool | None, value: Any) -> None:
    """Mask the texts in `value` from here on, where the tool is about restricted data."""
    if tool is None or tool.security.data_class != "restricted" or value is UNDEFINED:
        return
    _learn(scope, distinctive(freeze(value)))


def note_failure(scope: Scope, tool: Tool | None, answer: Answer) -> None:
    """Mask the numbers in an error of a tool whose data is masked: what they are nobody can tell.

    A time-out is the engine's own sentence, and the only number in it is the limit.
    """
    if tool is None or not tool.security.is_masked or answer.error_name == "TimeoutError":
        return
    _learn(scope, _NUMBER.findall(answer.error or ""))


def _learn(scope: Scope, found: list[str]) -> None:
    texts = dict.fromkeys(found[:MAX_LEARNT])
    known = scope.peek(SECRETS) or ()
    fresh = [text for text in texts if text not in known]
    if fresh:
        scope.secrets = (*scope.secrets, *fresh)
        held = [*known, *fresh][-MAX_HELD:]
        scope.staged[SECRETS] = freeze(held)  # no operation: a record would tell it
