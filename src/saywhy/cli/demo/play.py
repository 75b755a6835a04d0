"""`saywhy demo`: a payment, played and explained line by line.

Every conversation here runs in a `saywhy chat` of its own, so what is killed is a real process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from saywhy.cli.options import STORE_VARIABLE, demo_store
from saywhy.cli.output import Screen, out

if TYPE_CHECKING:
    from saywhy.cli.demo.child import ChatProcess

PAUSE_SECONDS: Final = 0.6
"""Between lines at a terminal, so that they can be read as they come."""


def demo(
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FILE", help="Keep the demo's conversation in this file."),
    ] = None,
) -> None:
    """Play a payment, and ask it why.

    The user asks something else and corrects an answer, a message is delivered twice, and the
    program is killed in the middle; then an agent shows what its model was handed. Needs no key
    and no server. At a terminal you can go on yourself afterwards.
    """
    import tempfile

    kept = store or (Path(os.environ[STORE_VARIABLE]) if STORE_VARIABLE in os.environ else None)
    with tempfile.TemporaryDirectory(prefix="saywhy-demo-") as folder:
        path = (kept or _fresh(demo_store()) or Path(folder) / "demo.db").absolute()
        _Story(path, Path(folder) / "ledger.jsonl").play()


def _fresh(path: Path) -> Path | None:
    """A place for a store that replaces the last demo's; None where none can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.touch()
        path.unlink()
    except OSError:
        return None
    return path


class _Story:
    """What happens, and a few words on each line."""

    def __init__(self, store: Path, ledger: Path) -> None:
        self.store = store
        self.ledger = ledger
        self.screen: Screen = out()
        self.session = ""

    def play(self) -> None:
        """From the first line to the last."""
        from saywhy.cli.demo.child import HERE

        self.session = self._free_name()
        self._line("A payment, played by itself. No key, no server.")
        self._line(f"The flows are in {HERE / 'payment.flows.json'}")
        self._line()
        with self._chat() as chat:
            self._until_killed(chat)
        with self._chat() as chat:
            self._until_paid(chat)
        self._why()
        self._clerk()
        self._hand_over()

    def _chat(self) -> ChatProcess:
        from saywhy.cli.demo.child import HERE, ChatProcess, chat_command
        from saywhy.cli.demo.functions import LEDGER_VARIABLE

        command = chat_command(self.store, self.session)
        return ChatProcess(command, HERE, {LEDGER_VARIABLE: str(self.ledger)})

    def _until_killed(self, chat: ChatProcess) -> None:
        self._says(
            chat, "pay", "m-1", "The flow Pay starts by its name and asks its first question."
        )
        self._says(chat, "Ann", "m-2", "The answer is kept in a variable, the next step asks.")
        self._says(
            chat, "fees", "m-3", "Another flow interrupts; then the open question is asked again."
        )
        self._says(chat, "60", "m-4", "A tool told the fee, a condition chose how it is said.")
        self._says(
            chat,
            "no, the amount is 80",
            "m-5",
            "A correction: what depends on the amount was done again, the rest was kept.",
        )
        chat.kill()
        self._note("kill -9: the program is gone, in the middle of the conversation.")
        self._line()

    def _until_paid(self, chat: ChatProcess) -> None:
        self._note("A new program on the same store. It knows what was asked:")
        self._reply(chat.start["question"])
        self._line()
        self._says(
            chat, "confirm", "m-6", "The answer went on with the flow, and the money was sent."
        )
        again = chat.say("confirm", "m-6")
        self._line("you:     confirm")
        self._reply(again["response"])
        self._note("The same message delivered a second time: the same reply, nothing done again.")
        charges = len(self.ledger.read_text(encoding="utf-8").splitlines())
        self._note(f"Charges in the ledger: {charges}")
        self._line()

    def _why(self) -> None:
        from saywhy.cli.why import explain

        self._line("Why was that said?")
        self._line()
        self._line(explain(self.store, self.session, self.screen.width))
        self._line()

    def _clerk(self) -> None:
        """An agent: an identifier that nobody retypes, and what the model was handed."""
        import asyncio

        from saywhy.agent.receipts.served import served_all
        from saywhy.cli.demo.clerk import clerk

        async def play() -> None:
            talk = clerk().conversation()
            self._asks("Did R-8000 arrive?", (await talk.run("Did R-8000 arrive?")).content)
            self._note("A model called a tool. Its answer holds the id of a rule, and an offer.")
            self._asks("why a fee?", (await talk.run("why a fee?")).content)
            self._note("The offer was carried out with that id, which no model had to copy.")
            served = served_all(talk.trace)
            self._note(f"What the model was handed can be shown, and is {served[0].verdict}.")
            self._line()

        self._line("An agent: a model in a loop with tools (its words are written down here).")
        self._line()
        asyncio.run(play())

    def _asks(self, text: str, answer: str) -> None:
        self._line(f"you:     {text}")
        self._reply(answer)

    def _hand_over(self) -> None:
        """At a terminal: the keyboard is the user's."""
        import subprocess

        from saywhy.cli.demo.child import HERE, chat_command

        if not (sys.stdin.isatty() and self.screen.is_terminal):
            where = "" if self._is_usual else f" --store {self.store}"
            self._line(f"Ask yourself: saywhy why{where}")
            return
        self._line("Now you. Begin with: pay")
        with contextlib.suppress(KeyboardInterrupt):
            subprocess.run(chat_command(self.store, f"{self.session}-you"), cwd=HERE, check=False)

    @property
    def _is_usual(self) -> bool:
        return self.store == demo_store().absolute()

    def _free_name(self) -> str:
        """`demo`, or `demo-2` where that exists."""
        if not self.store.exists():
            return "demo"
        import asyncio

        from saywhy.cli.conversation import session_names

        taken = asyncio.run(session_names(self.store))
        names = ["demo", *(f"demo-{number}" for number in range(2, len(taken) + 2))]
        return next(name for name in names if name not in taken)

    # ------------------------------------------------------------ lines

    def _says(self, chat: ChatProcess, text: str, message_id: str, note: str) -> None:
        self._line(f"you:     {text}")
        said = chat.say(text, message_id)
        self._reply(said["response"] or str(said["error"]))
        self._note(note)
        self._line()

    def _reply(self, text: str) -> None:
        lines = [line for line in text.splitlines() if line]
        self._line("saywhy:  " + "\n         ".join(lines), "cyan")

    def _note(self, text: str) -> None:
        self._line(f"         . {text}", "dim")

    def _line(self, text: str = "", style: str = "") -> None:
        self.screen.line(text, style)
        if self.screen.is_terminal and text:
            time.sleep(PAUSE_SECONDS)
