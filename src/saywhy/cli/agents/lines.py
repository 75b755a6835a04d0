"""Where the words of a conversation with an agent come from: a terminal, a pipe, one option.

A line that begins with `/` is a command, with `//` it is a message that begins with one. Ctrl-C
cancels the run that is under way; where none is, it leaves.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from saywhy.cli.agents.shown import receipt_data, receipt_line
from saywhy.cli.agents.talk import RunBroke, Talk
from saywhy.cli.output import err
from saywhy.errors import CallerError, SaywhyError, did_you_mean

if TYPE_CHECKING:
    from saywhy.cli.agents.shown import Shown
    from saywhy.runtime.agents.result import AgentResult

HELP: Final = """\
/why         what the last run did, step by step
/receipt     what the model was handed at each call of it, and whether that is verified
/1, /2, …    carries out an action that was offered
/save FILE   keeps the conversation in a file
/load FILE   goes on with the one in a file
/reset       forgets what was said
/quit        leaves, and so does Ctrl-D
//text       says a text that begins with a slash
Ctrl-C cancels an answer that is being given."""

WORDS: Final = ("/why", "/receipt", "/save", "/load", "/reset", "/quit", "/help")

LOST: Final = "it still asks; with --session FILE the question is kept for the next start"


class Lines:
    """Takes one line after the other, and shows what comes of it."""

    def __init__(self, loop: asyncio.Runner, talk: Talk, shown: Shown) -> None:
        self.loop, self.talk, self.shown = loop, talk, shown

    def one(self, text: str) -> int:
        """Say one thing; gives the exit code."""
        if not self._run(lambda: self.talk.say(text, self.shown.event)):
            return 1
        if self.talk.conversation.paused and self.talk.session is None:
            err().line(LOST)
            return 1
        return 0

    def pipe(self, as_json: bool) -> None:
        """Take lines from standard input until it ends."""
        self.shown.begin(self.talk)
        for line in sys.stdin:
            text = line.rstrip("\r\n")
            if text.strip() and not self._take(text, as_json=as_json):
                return
        if self.talk.conversation.paused and self.talk.session is None:
            err().line(LOST)

    def terminal(self) -> None:
        """Ask for lines until Ctrl-D."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory

        self.shown.begin(self.talk)
        editor = PromptSession[str](history=InMemoryHistory())
        while True:
            prompt = "answer: " if self.talk.conversation.paused else "you: "
            try:
                text = editor.prompt(prompt)
            except EOFError:
                return
            if text.strip() and not self._take(text):
                return

    # ------------------------------------------------------------ one line

    def _take(self, text: str, *, as_json: bool = False) -> bool:
        """False: the conversation is to end."""
        try:
            message = _decoded(text) if as_json else text
            if isinstance(message, str) and message.startswith("/"):
                if not message.startswith("//"):
                    return self._command(message)
                message = message[1:]
            self._run(lambda: self.talk.say(message, self.shown.event))
        except SaywhyError as error:
            self.shown.failed(error)
        return True

    def _run(self, begin: Callable[[], Awaitable[AgentResult]]) -> bool:
        """Whether a run came to something."""

        async def run() -> AgentResult:
            return await begin()

        try:
            result = self.loop.run(run())
        except KeyboardInterrupt:
            self.shown.cancelled()
            return False
        except RunBroke as broke:
            self.shown.failed(broke.__cause__ or broke)
            return False
        self.shown.result(result)
        return True

    def _command(self, text: str) -> bool:
        word, _, rest = text.partition(" ")
        if word == "/quit":
            return False
        if word[1:].isdecimal():
            self._run(lambda: self.talk.follow(int(word[1:]), self.shown.event))
            return True
        commands: dict[str, Callable[[str], None]] = {
            "/why": self._why,
            "/receipt": self._receipt,
            "/save": self._save,
            "/load": self._load,
            "/reset": self._reset,
            "/help": self._help,
        }
        if word not in commands:
            hint = did_you_mean(word, WORDS) or "/help lists them; //text says a text with a slash"
            raise CallerError(f"there is no command {word}", hint=hint)
        commands[word](rest.strip())
        return True

    # ------------------------------------------------------------ commands

    def _help(self, _: str) -> None:
        self.shown.about("help", HELP)

    def _why(self, _: str) -> None:
        self.shown.about("why", self.talk.why())

    def _receipt(self, _: str) -> None:
        served = list(enumerate(self.talk.receipts(), start=1))
        lines = [receipt_line(number, one) for number, one in served]
        text = "\n".join(lines) or "the model was not called"
        self.shown.about("receipts", text, [receipt_data(number, one) for number, one in served])

    def _save(self, rest: str) -> None:
        self.talk.save(_file("/save", rest))
        self.shown.about("saved", f"kept in {rest}")

    def _load(self, rest: str) -> None:
        self.talk.loaded(_file("/load", rest))
        question = self.talk.question
        self.shown.about("loaded", f"the conversation in {rest} goes on")
        if question:
            self.shown.about("question", f"? {question}")

    def _reset(self, _: str) -> None:
        self.talk.reset()
        self.shown.about("reset", "everything said is forgotten")


def _file(word: str, rest: str) -> Path:
    if not rest:
        raise CallerError(f"{word} needs a file", hint=f"{word} talk.json")
    return Path(rest)


def _decoded(line: str) -> Any:
    hint = 'a text like "hello", or a list of blocks'
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:  # nested deeper than Python can read
        raise CallerError(f"this line is no JSON: {error}", hint=hint) from error
    if not isinstance(message, str | list):
        raise CallerError(f"a message is {hint}")
    return message
