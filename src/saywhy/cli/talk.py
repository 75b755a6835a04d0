"""A conversation over pipes: lines come in, replies go out, each at once.

As text, every line is a message and its reply is written as it is, a line end after it; a reply may
have several lines. As JSON, every line is a text or an object with the keys of an entry and
`message_id`; every reply is one object on one line, and one object before the first says where the
conversation stands. What is said because no line came in time is written as well.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saywhy.cli.output import STYLES, described, err, out
from saywhy.cli.silence import spoken_lines
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.cli.conversation import Conversation, Said


def text_lines(
    runner: asyncio.Runner, conversation: Conversation, path: Path, resumed: bool
) -> None:
    """Take messages from standard input until it ends."""
    err().line(where_it_stands(conversation, path, resumed))
    for line in spoken_lines(runner, conversation, out().line):
        said = runner.run(conversation.say(line.rstrip("\r\n")))
        out().line(said.response or note(conversation, said))
        for hint in said.hints:
            err().line(f"hint: {hint}", STYLES["note"])


def where_it_stands(conversation: Conversation, path: Path, resumed: bool) -> str:
    """Which conversation this is, and what was said last in it."""
    if not resumed:
        return f"new conversation {conversation.id} in {path}; {flows_here(conversation)}"
    last, question = conversation.last_reply, conversation.question
    if question not in last:
        last = f"{last}\n{question}"
    how = "with the flows as they were when it began" if conversation.runs_on_older_flows else ""
    goes_on = f"goes on {how} (--new begins another)" if how else "goes on"
    return f"conversation {conversation.id} {goes_on}; the last reply was:\n{last}"


def note(conversation: Conversation, said: Said) -> str:
    """What to show in place of a reply: an error, or that no flow answers."""
    if said.error is not None:
        return f"(that turn failed: {described(said.error)})"
    if said.response is None:
        return f"(no flow answers that; {flows_here(conversation)})"
    return "(the flow leaves the answer to the program around it)"


def flows_here(conversation: Conversation) -> str:
    """The flows that a user can start, by name."""
    library = conversation.engine.library
    names = [flow.name for flow in library.primaries() or library.flows]
    return f"flows here: {', '.join(names)}"


def json_lines(runner: asyncio.Runner, conversation: Conversation, resumed: bool) -> None:
    """Take messages from standard input until it ends, as JSON in and out."""
    _write(
        {
            "conversation": conversation.id,
            "resumed": resumed,
            "reply": conversation.last_reply or None,
            **_standing(conversation),
        }
    )

    def show(text: str) -> None:
        turn = conversation.session.state.turn if conversation.session else 0
        reply = {"turn": turn, "response": text, "repeated": False, "error": None}
        _write({**reply, **_standing(conversation), "unasked": True})

    for line in spoken_lines(runner, conversation, show):
        if line.strip():
            _write(runner.run(_answer(conversation, line)))


async def _answer(conversation: Conversation, line: str) -> dict[str, Any]:
    from saywhy.cli.conversation import Said

    try:
        entry, message_id = _message(line)
        said = await conversation.say(entry, message_id)
    except CallerError as error:
        said = Said(error=error)
    reply = {"turn": said.turn, "response": said.response, "repeated": said.repeated}
    hints = {"hints": list(said.hints)} if said.hints else {}
    return {**reply, "error": _error(said), **_standing(conversation), **hints}


def _message(line: str) -> tuple[Any, str | None]:
    hint = 'a text, or an object like {"content": "pay", "message_id": "m-1"}'
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:  # nested deeper than Python can read
        raise CallerError(f"this line is no JSON: {error}", hint=hint) from error
    if isinstance(message, str):
        return message, None
    if not isinstance(message, dict):
        raise CallerError(f"a message is {hint}")
    message_id = message.pop("message_id", None)
    return message, None if message_id is None else str(message_id)


def _standing(conversation: Conversation) -> dict[str, Any]:
    frame = conversation.session.frame if conversation.session else None
    return {"flow": frame.flow_name if frame else None, "question": conversation.question or None}


def _error(said: Said) -> dict[str, Any] | None:
    error = said.error
    if error is None:
        return None
    place = str(error.place) if error.place else None
    return {"name": error.name, "message": str(error), "place": place, "hint": error.hint or None}


def _write(document: dict[str, Any]) -> None:
    out().line(json.dumps(document, ensure_ascii=False))
