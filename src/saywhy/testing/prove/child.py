"""A process of the proofs: it runs conversations until they are over, or until it dies.

    python -m saywhy.testing.prove.child

reads jobs from standard input, one JSON line each, carries out each in a process forked for it, and
writes one JSON line with what came of that. What happened in a conversation stands in the ledger.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

from saywhy.errors import SaywhyError
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store
from saywhy.testing.faults import Fault, Faults
from saywhy.testing.ledger import Ledger
from saywhy.testing.payments import PaymentStub
from saywhy.testing.prove.clerk import ClerkModel, clerk
from saywhy.testing.prove.person import approve_all, settle_all
from saywhy.testing.prove.scenes import FUNCTIONS, definitions, words_of
from saywhy.testing.prove.seam import Seam, planted
from saywhy.testing.prove.service_client import ServiceClient
from saywhy.testing.stub_server import StubServer
from saywhy.tools.http.progress import Progress
from saywhy.tools.http.request import HttpRequest
from saywhy.tools.tool import tool_from_definition
from saywhy.values import loads_raw

POLL_SECONDS: Final = 0.002
START_SECONDS: Final = 30.0
FUNCTION: Final = "function"
"""The place of an approved function that is awaited, for faults."""
RACE_WORDS: Final = "Prove order"
SILENT: Final = logging.Logger("saywhy.prove", logging.CRITICAL)
"""What goes wrong here is meant to; what counts stands in the ledger."""


class Job(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The conversations one process is to go on with, and how it is disturbed."""

    store: str
    ledger: str
    sessions: list[str]
    plan: list[Fault] = []
    kill_after_seconds: float | None = None
    """When it is killed from outside; None: never."""
    kill_when_begun: bool = False
    """Whether that time begins only when its store is open, which takes long on a busy machine."""
    plant: str = ""
    service: str = ""
    """The address of the payment service that HTTP tools ask."""
    lease_seconds: float = 0.03
    pause_seconds: float = 0.0


class Race(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The copies of messages that one process is to deliver to a conversation, several at once."""

    store: str
    ledger: str
    session: str
    clients: list[list[tuple[str, int]]]
    """For each client its messages in order, each with the number of copies."""
    plan: list[Fault] = []
    kill_after_seconds: float | None = None
    plant: str = ""
    lease_seconds: float = 2.0
    pause_seconds: float = 0.002
    wait_seconds: float = 120.0
    racers: int = 1
    """Processes in the race; each waits at the start until all are there."""


class Ended(msgspec.Struct, frozen=True):
    """How a process ended: its exit code (-9 when it was killed), and after what time."""

    code: int
    seconds: float


def engine_of(job: Job | Race, store: Store, ledger: Ledger, faults: Faults) -> Engine:
    """The engine that is tested: a real store, the service, and the seam between them."""
    library = definitions()
    stub = PaymentStub(Ledger(job.ledger), faults=faults, pause_seconds=job.pause_seconds)
    functions = {name: faults.tool(function, FUNCTION) for name, function in FUNCTIONS.items()}
    model = ClerkModel(ledger, faults, job.pause_seconds)
    return Engine(
        flows=[flow.raw for flow in library.flows],
        tools=[tool.raw for tool in library.tools],
        agents=[clerk(map(tool_from_definition, [tool.raw for tool in library.tools]), model)],
        functions={**functions, **planted(stub.functions(), job.plant)},
        store=Seam.around(faults.store(store), ledger, job.plant),
        lease_seconds=job.lease_seconds,
        guidance={"enabled": False},
        http=ServiceClient(job.service if isinstance(job, Job) else "", faults),
        validate_on_init=False,
        logger=SILENT,
    )


class Conversations:
    """The conversations of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.ledger = Ledger(job.ledger, sync=False)
        self.faults = Faults(job.plan)
        self.plain: Store = SqliteStore(job.store)
        self.engine = engine_of(job, self.plain, self.ledger, self.faults)
        self.said = {(one.facts["session"], one.key) for one in self.ledger.entries("said")}
        self.accepted = {(one.facts["session"], one.key) for one in self.ledger.entries("accepted")}

    async def run(self, begun: Callable[[], object]) -> None:
        """Go on with each conversation from where it is, all at the same time."""
        async with self.engine:
            begun()
            await asyncio.gather(*(self._converse(each) for each in self.job.sessions))

    async def _converse(self, session_id: str) -> None:
        await self._note_recorded(session_id)
        await self._recover(session_id)
        for number, text in enumerate(words_of(session_id), start=1):
            message_id = f"m{number}"
            if (session_id, message_id) in self.said:
                continue
            await self._settle(session_id)
            try:
                await self._say(session_id, message_id, text)
            except SaywhyError as error:
                self.ledger.note("raised-turn", message_id, session=session_id, error=str(error))
                break
        await self._settle(session_id)
        self.ledger.note("over", session=session_id, passed=self.faults.passed)

    async def _recover(self, session_id: str) -> None:
        """Turns that were acknowledged are not sent again: they must go on by themselves."""
        while True:
            stored = await self.plain.session(session_id)
            if stored is None or not stored.running:
                return
            await self.engine.recover(session_id)
            await asyncio.sleep(POLL_SECONDS)

    async def _say(self, session_id: str, message_id: str, text: str) -> None:
        if (session_id, message_id) in self.accepted:
            turns = await self.plain.turns(session_id)
            if all(turn.message_id != message_id for turn in turns):
                raise SaywhyError(f"{message_id} of {session_id} was acknowledged and is gone")
        reply = await self.engine.take_turn(session_id, text, message_id=message_id)
        self.ledger.note("said", message_id, session=session_id, text=reply.response)

    async def _settle(self, session_id: str) -> None:
        if self.job.plant == "leave-unknown":
            return
        await approve_all(self.engine, session_id)
        await settle_all(self.engine, session_id, self.ledger)

    async def _note_recorded(self, session_id: str) -> None:
        """What is on record before anything is done here: no such call may be made from now on."""
        session = await self.engine.session(session_id)
        unknown = {call["id"] for call in session.unknown} if session else set[str]()
        for turn in await self.plain.turns(session_id, last=2):
            for entry in await self.plain.journal(session_id, turn.turn_no):
                final = entry.status == "answered" and entry.key not in unknown
                if turn.status in ("queued", "running"):  # an error may be answered by a retry
                    final = final and _is_success(entry.result)
                told = {"session": session_id, "status": entry.status, "final": final}
                self.ledger.note("recorded", entry.key, **told)


async def deliver(race: Race) -> None:
    """Deliver what this process has to, all clients at the same time, and note each reply."""
    ledger = Ledger(race.ledger, sync=False)
    engine = engine_of(race, SqliteStore(race.store), ledger, Faults(race.plan))

    async def send(message_id: str) -> None:
        own = f"-{os.getpid()}" if race.plant == "new-ids" else ""
        reply = await engine.take_turn(
            race.session,
            RACE_WORDS,
            message_id=message_id + own,
            cargo={"what": message_id},
            wait_seconds=race.wait_seconds,
        )
        told = {"session": race.session, "text": reply.response, "turn": reply.turn_no}
        ledger.note("said", message_id, **told)

    async def be(messages: list[tuple[str, int]]) -> None:
        for message_id, copies in messages:
            await asyncio.gather(*(send(message_id) for _ in range(copies)))

    async with engine:
        ledger.note("ready")
        ends = time.monotonic() + START_SECONDS
        while len(ledger.entries("ready")) < race.racers and time.monotonic() < ends:  # noqa: ASYNC110 - it is a file
            await asyncio.sleep(POLL_SECONDS)
        await asyncio.gather(*(be(messages) for messages in race.clients))


def _is_success(result: bytes | None) -> bool:
    tree: Any = loads_raw(result or b"{}")
    return not any(tree.get(name) for name in ("error", "faultMessage", "fault_message"))


# ------------------------------------------------------------------ serving


def carry_out(job: Job | Race, begun: Callable[[], object]) -> int:
    """Do a job in this process; gives the exit code."""
    try:
        asyncio.run(deliver(job) if isinstance(job, Race) else Conversations(job).run(begun))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def forked(job: Job | Race) -> Ended:
    """Do a job in a process of its own, and kill it when its time is over."""
    heard, told = os.pipe()
    os.set_blocking(heard, False)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(carry_out(job, lambda: os.write(told, b".")))
    try:
        return _watched(job, child, heard, started)
    finally:
        os.close(heard)
        os.close(told)


def _watched(job: Job | Race, child: int, heard: int, started: float) -> Ended:
    counting = started if isinstance(job, Race) or not job.kill_when_begun else None
    killed = False
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if found:
            return Ended(os.waitstatus_to_exitcode(status), now - started)
        if counting is None:
            with suppress(BlockingIOError):
                os.read(heard, 1)
                counting = now
        limit = job.kill_after_seconds
        if not killed and counting is not None and limit is not None and now >= counting + limit:
            os.kill(child, signal.SIGKILL)
            killed = True
        time.sleep(0.001)


def _warm_up() -> None:
    """Load what conversations need before the first fork: then no child has to."""
    library = definitions()
    flows = [flow.raw for flow in library.flows]
    engine = Engine(flows=flows, functions=FUNCTIONS, validate_on_init=False)

    async def play() -> None:
        session = engine.init_session("nobody")
        for text in words_of("set-0"):
            session = await engine.update_activity(text, session)

    asyncio.run(play())
    with StubServer() as server:  # the first request loads what sends requests
        request = HttpRequest("GET", server.base, ())
        asyncio.run(ServiceClient(server.base, Faults()).send(request, Progress()))


def serve() -> None:
    """Do the jobs that come, one after the other."""
    _warm_up()
    for line in sys.stdin.buffer:
        ended = forked(msgspec.json.decode(line, type=Job | Race))
        sys.stdout.buffer.write(msgspec.json.encode(ended) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
