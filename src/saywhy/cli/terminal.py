"""A conversation at a terminal: an editable line with history, replies in colour.

The history is the conversation's own words, so nothing is kept beside the store; sensitive answers
are neither shown while typed nor remembered. A line that is nothing but one of a few commands is
not said, for whoever sits at a terminal tries them; every other line is, whatever it begins with.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from saywhy.cli.options import store_path
from saywhy.cli.output import STYLES, out
from saywhy.cli.silence import speak
from saywhy.cli.talk import note, where_it_stands
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.cli.conversation import Conversation, Said

HELP: Final = """\
/why    why the last reply was given
/help   this list
/quit   leaves, and so does Ctrl-D; the conversation is kept
//quit  says "/quit", and so on: with two slashes it is a message"""

PROMPT = "you: "
ESCAPED: Final = ("//why", "//help", "//quit")
REPLY = "cyan"
QUIET = "dim"


def talk(runner: asyncio.Runner, conversation: Conversation, path: Path, resumed: bool) -> None:
    """Ask for messages until Ctrl-D."""
    screen = out()
    screen.line(where_it_stands(conversation, path, resumed), QUIET)
    screen.line("/help tells what else there is; Ctrl-D leaves, the conversation is kept", QUIET)
    line = _line_editor(conversation)
    while True:
        try:
            text = _next_line(runner, conversation, line)
        except EOFError:
            break
        if not _take(runner, conversation, text):
            break
    screen.line(_how_to_go_on(conversation, path), QUIET)


def _take(runner: asyncio.Runner, conversation: Conversation, text: str) -> bool:
    """Say a line, or do what it commands. False: the conversation is to be left."""
    command = "" if conversation.expects_secret else text.strip()
    if command == "/quit":
        return False
    if command == "/help":
        out().line(HELP, QUIET)
    elif command == "/why":
        out().line(_why(runner, conversation, out().width), QUIET)
    elif text.strip():
        message = text.replace("/", "", 1) if command in ESCAPED else text
        _show(conversation, runner.run(conversation.say(message)))
    return True


def _why(runner: asyncio.Runner, conversation: Conversation, width: int) -> str:
    """Why the last reply was given, or that there is none."""
    try:
        return runner.run(conversation.engine.why(conversation.id)).text(width)
    except CallerError as error:
        return f"({error})"


def _line_editor(conversation: Conversation) -> Any:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory

    messages = conversation.session.messages if conversation.session else []
    earlier = [one.text for one in messages if one.role == "user" and not one.pii]
    return PromptSession[str](history=InMemoryHistory(earlier))


def _how_to_go_on(conversation: Conversation, path: Path) -> str:
    is_usual = path.absolute() == store_path(None).absolute()
    store = "" if is_usual else f" --store {path}"
    return f"to go on: saywhy chat … --session {conversation.id}{store}"


def _next_line(runner: asyncio.Runner, conversation: Conversation, line: Any) -> str:
    """What is typed next. What is said by itself meanwhile stands above it."""
    from prompt_toolkit import PromptSession

    secret = conversation.expects_secret
    editor = PromptSession[str]() if secret else line
    if conversation.quiet_seconds is not None:
        return runner.run(_typed(conversation, editor, secret=secret))
    return editor.prompt(PROMPT, is_password=secret)


async def _typed(conversation: Conversation, editor: Any, *, secret: bool) -> str:
    from prompt_toolkit.patch_stdout import patch_stdout

    heard = asyncio.Event()
    with patch_stdout(raw=True):
        speaking = asyncio.create_task(speak(conversation, _say, heard))
        try:
            return await editor.prompt_async(PROMPT, is_password=secret)
        finally:
            heard.set()
            await speaking  # a turn that has begun ends before the next one


def _say(text: str) -> None:
    out().line(text, REPLY)


def _show(conversation: Conversation, said: Said) -> None:
    if said.response:
        out().line(said.response, REPLY)
    else:
        out().line(note(conversation, said), STYLES["error"] if said.error else STYLES["note"])
    for hint in said.hints:
        out().line(f"hint: {hint}", QUIET)
