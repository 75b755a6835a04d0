"""Tools that answer with what their definition holds, for trying flows out.

`mockResponse` is the answer. An object that has a key named like the argument `testType` answers
with what stands there instead, so that one mock plays several cases. A response mapping applies to
the answer as it does to that of a server.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.tools.invocation import Invocation, Outcome

DELAY_SECONDS: Final = 0.1
"""Long enough to notice that a call was made."""


async def invoke(invocation: Invocation) -> Outcome:
    """The prepared answer, after a moment."""
    invocation.record()
    await invocation.clock.sleep(DELAY_SECONDS)
    response = invocation.tool.implementation.raw.get("mockResponse")
    chosen = _chosen(response, invocation.arguments.get("testType"))
    return Outcome(value=chosen, is_data=True)


def _chosen(response: Any, case: Any) -> Any:
    if isinstance(response, dict) and isinstance(case, str) and case in response:
        return response[case]
    return response
