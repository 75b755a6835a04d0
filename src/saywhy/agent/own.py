"""Variables that keep a loop going: they cause nothing that a person would look for.

Each chart of an agent says so of its own (`Builder(own=…)`), so that an explanation can pass over
counters and copies, and can name the model's answer where a stage reads what was made of it.
"""

from __future__ import annotations

from typing import Final

MODEL: Final = "model"
"""What stands behind such a variable is the model's newest answer."""
REQUEST: Final = "request"
"""What stands behind it is what the model is handed next."""
NOTHING: Final = ""

OWN: Final = {
    **dict.fromkeys(("parsedResponse", "llmCall", "adapterRawResponse"), MODEL),
    **dict.fromkeys(
        (
            "messages",
            "assembledMessages",
            "assembledSystem",
            "systemPrompt",
            "toolDescriptions",
            "memory_storedHistory",
            "memory_preparedMessages",
        ),
        REQUEST,
    ),
    **dict.fromkeys(
        (
            "activeInstructions",
            "calls",
            "conversationId",
            "currentMessages",
            "heldMessages",
            "history",
            "loopCount",
            "looseSystem",
            "matchedInstructions",
            "maxIterations",
            "memory_shouldCommit",
            "messagesInjections",
            "messagesSeen",
            "promptInjections",
            "promptSummary",
            "receipts",
            "resolvedTools",
            "responseRules",
            "roundAt",
            "runId",
            "settings",
            "slotComposed",
            "slotInputs",
            "streaming",
            "strictCalls",
            "systemPromptInjections",
            "toolInjections",
            "toolMessages",
            "toolReplies",
            "toolRoutes",
            "toolsInjections",
            "turnNumber",
        ),
        NOTHING,
    ),
}
