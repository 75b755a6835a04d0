"""What a function that is a tool of an agent may answer with besides its text.

An ordinary answer is a value. A `ToolResult` also says that the call did not succeed, or brings
along what the model is to be told next. Only a function of the host can give one: JSON that came
from somewhere else and merely looks like one stays content. How it is put before a model is
`agent.tools`.
"""

from __future__ import annotations

from typing import Any

import msgspec


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool's answer for a model.

    `content` is the text the model reads. `error`: the call did not do what was asked.
    `instructions` are texts for the model about this very answer, `follow_ups` calls it may offer
    next, each `{"tool_id", "params", "description", "condition", "strict"?}`.
    """

    content: Any = ""
    error: bool = False
    instructions: tuple[str, ...] = ()
    follow_ups: tuple[Any, ...] = ()
