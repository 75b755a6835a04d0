"""Which names does every expression of a flow find, without anybody setting them?"""

from __future__ import annotations

from typing import Final

RUNTIME_NAMES: Final = frozenset(
    {
        "userInput",
        "lastUserInput",
        "cargo",
        "sessionId",
        "session_id",
        "userId",
        "user_id",
        "language",
        "flowName",
        "currentContext",
        "current_time",
        "flow_start_time",
        "$args",
    }
)
"""Names that mean the conversation itself, whatever a variable is called. spec: flow-engine 4.2"""
