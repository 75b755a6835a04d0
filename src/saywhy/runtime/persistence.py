"""How the conversations of one engine are kept: with a journal or without, in which encoding.

What is chosen here is checked here, once, when the engine is made. What a journal writes is
`journal`, what goes on without one `unjournaled`, and how bytes are compressed the store's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, get_args

from saywhy.errors import CallerError
from saywhy.runtime.identity import identity_of
from saywhy.stores.encoding import Encoding, encode, library
from saywhy.stores.store import Mode, Store
from saywhy.values import dumps

if TYPE_CHECKING:
    from saywhy.runtime.session import Session
    from saywhy.runtime.turn import TurnRun


@dataclass(frozen=True, slots=True)
class Persistence:
    """What an engine was told about keeping conversations."""

    mode: Mode = "durable"
    encoding: Encoding = "plain"

    @classmethod
    def of(
        cls,
        action_persistence: str | None,
        durable_actions: bool,
        session_encoding: str,
        store: Store | None,
    ) -> Self:
        """The engine's options. Raises `CallerError` for those that contradict one another.

        Raises `LibraryMissing` for an encoding that could not be written.
        """
        mode = _one_of("action_persistence", action_persistence or "durable", get_args(Mode))
        encoding = _one_of("session_encoding", session_encoding, get_args(Encoding))
        if mode == "session-only" and durable_actions:
            raise CallerError(
                'durable_actions=True contradicts action_persistence="session-only": without a '
                "journal nobody knows after a crash which actions were taken",
                hint="leave one of the two out",
            )
        if store is None and (durable_actions or action_persistence == "durable"):
            asked = "durable_actions=True" if durable_actions else 'action_persistence="durable"'
            raise CallerError(
                f"{asked} needs a store: the journal of actions is kept there",
                hint="Engine(..., store=SqliteStore(path))",
            )
        if encoding == "br-v1":
            library("write")  # better now than in the midst of a turn
        return cls(mode, encoding)

    def document(self, session: Session) -> bytes:
        """A session at rest, as it is stored."""
        return encode(dumps(session.document()), self.encoding)

    def cursor(self, run: TurnRun) -> bytes:
        """A session in mid-turn, as it is stored with an intent: whoever goes on must be like us.

        See `identity`.
        """
        document = dumps(run.session.document())
        # Put in as it is: written anew with each intent, it would cost a quarter of the document.
        whole = b"".join((document[:-1], b',"identity":', identity_of(run), b"}"))
        return encode(whole, self.encoding)


USUAL: Final = Persistence()


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        words = " or ".join(f'"{one}"' for one in allowed)
        raise CallerError(f"{option} is {words}, not {value!r}")
    return value
