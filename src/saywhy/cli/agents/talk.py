"""A conversation with a runner, as the command holds it: say something, keep it, ask about it.

What is shown is `shown`, where the words come from is `lines`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from saywhy.cancel import CancelToken
from saywhy.errors import CallerError, OutsideError, SaywhyError

if TYPE_CHECKING:
    from saywhy.agent.events import AgentEvent
    from saywhy.agent.receipts.served import Served
    from saywhy.runtime.agents.conversation import Conversation
    from saywhy.runtime.agents.result import AgentResult
    from saywhy.runtime.agents.runner import Runner

Hear = Callable[["AgentEvent"], None]

YES: Final = ("yes", "y")
NO: Final = ("no", "n")


class RunBroke(Exception):
    """A run failed; the cause says how."""


class Talk:
    """One conversation, kept in a file if there is one."""

    def __init__(self, runner: Runner[Any], session: Path | None = None) -> None:
        self.runner = runner
        self.session = session
        self.resumed = session is not None and session.exists()
        self.conversation: Conversation = runner.conversation()
        if session is not None:
            self._must_be_writable(session)
            if self.resumed:
                self.load(session)

    @property
    def question(self) -> str:
        """What a person is asked while the run rests; empty while it does not."""
        asked = self.conversation.pause_data
        return question_in(asked) if asked else ""

    @property
    def last_answer(self) -> str:
        """The newest text of the agent, if any."""
        from saywhy.models.chat import text_of

        said = [one for one in self.conversation.get_messages() if one.get("role") == "assistant"]
        return text_of(said[-1].get("content", "")) if said else ""

    # ------------------------------------------------------------ saying

    async def say(self, message: Any, hear: Hear) -> AgentResult:
        """Say something; where a person is asked, it is the answer. Raises `RunBroke`."""
        talk = self.conversation
        asked = talk.pause_data
        if asked is None:
            return await self._run(talk.run, message, hear)
        return await self._run(
            talk.resume, _word(message) if "approval" in asked else message, hear
        )

    async def follow(self, number: int, hear: Hear) -> AgentResult:
        """Carry out the action with this number, from 1. Raises `CallerError` for another one."""
        offered = self.conversation.follow_ups
        if not 1 <= number <= len(offered):
            known = f"/1 to /{len(offered)}" if offered else "nothing is offered now"
            raise CallerError(f"there is no action /{number}", hint=known)
        return await self._run(self.conversation.follow_up, offered[number - 1], hear)

    async def _run(
        self, begin: Callable[..., Awaitable[AgentResult]], what: Any, hear: Hear
    ) -> AgentResult:
        """One run. Where nobody can be shown anything any more, it is cancelled."""
        token = CancelToken()
        broken: list[Exception] = []

        def heard(event: AgentEvent) -> None:
            try:
                hear(event)
            except (OSError, OutsideError) as error:
                broken.append(error)
                token.cancel("nobody reads the answer")

        try:
            result = await begin(what, signal=token, on_event=heard)
        except Exception as error:
            if broken:
                raise broken[0] from error
            raise RunBroke from error
        self._keep()
        return result

    # ------------------------------------------------------------ keeping

    def reset(self) -> None:
        """Forget what was said."""
        self.conversation.reset()
        self._keep()

    def save(self, file: Path) -> None:
        """Write the conversation into a file, whole or not at all. Raises `OutsideError`."""
        beside = file.with_name(f"{file.name}.{os.getpid()}.part")
        try:
            beside.write_bytes(self.conversation.checkpoint())
            beside.replace(file)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise OutsideError(f"{file} cannot be written: {error.strerror}") from error

    def load(self, file: Path) -> None:
        """Go on with the conversation in a file. Raises, and changes nothing, where it cannot."""
        try:
            text = file.read_bytes()
        except OSError as error:
            raise CallerError(f"{file} cannot be read: {error.strerror}") from error
        try:
            self.conversation = self.runner.conversation(checkpoint=text)
        except SaywhyError as error:
            hint = "name another file, or the agent that wrote it"
            raise CallerError(f"{file}: {error}", hint=error.hint or hint) from error

    def loaded(self, file: Path) -> None:
        """Go on with the conversation in a file, which is then that of the session, too."""
        self.load(file)
        self._keep()

    def _keep(self) -> None:
        if self.session is not None:
            self.save(self.session)

    def _must_be_writable(self, session: Path) -> None:
        """Told before anything is said: afterwards the words would be lost."""
        folder = session.parent
        if session.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            what = f"there is no folder {folder}" if not folder.exists() else "no file can be there"
            raise CallerError(f"--session {session}: {what}", hint="name a file that can be made")

    # ------------------------------------------------------------ asking about it

    def why(self) -> str:
        """What the last run did, step by step."""
        return self.conversation.get_narrative()

    def receipts(self) -> list[Served]:
        """What the model was handed at each call of the last run, and whether that is so."""
        from saywhy.agent.receipts.served import served_all

        return served_all(self.conversation.trace)


def question_in(asked: Mapping[str, Any]) -> str:
    """What a person is asked, and how a call is approved."""
    how = " (yes, or why not)" if "approval" in asked else ""
    return f"{asked['question']}{how}"


def _word(message: Any) -> Any:
    """A person's word about a call. Only a plain yes is a yes; all else is told as the reason."""
    said = str(message).strip()
    if said.lower() in YES:
        return True
    return {"approved": False, "note": "" if said.lower() in NO else said}
