"""A program that runs turns on a store until it is killed, frozen, or done. Started by the tests.

Every effect on the outside world, and everything the store acknowledged, is a line of the ledger, a
file of its own: what the store claims is compared with it. Options:

    --deliver NAME:FIRST:COUNT   accept messages of a conversation (delivered again if need be)
    --any                        claim any conversation; else one task for each delivered one
    --kill-at N                  SIGKILL at the N-th border of a commit: odd just before it, even
                                 just after it, before anybody is told
    --kill-after SECONDS         end by a signal that nobody handles, at whatever is going on
    --stop-at POINT              say so and wait for a line on standard input
    --freeze                     sometimes sleep in a call for longer than a lease

With `--serve` alone it reads lines of options, runs each in a fork of its own and prints the exit
code: a child then costs a fork instead of a start.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from saywhy.errors import Fenced
from saywhy.stores import sqlite_writer
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Call, Claim, Effect
from saywhy.values import dumps, loads_raw

STEPS: tuple[tuple[str, Effect], ...] = (("look", "reads"), ("book", "repeatable"), ("pay", "once"))


class Ledger:
    """What happened outside the store, one line each, in order."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, *words: object) -> None:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())


class Worker:
    def __init__(self, store: SqliteStore, options: argparse.Namespace) -> None:
        self.store = store
        self.options = options
        self.ledger = Ledger(options.ledger)
        self.chance = random.Random(options.seed)

    async def deliver(self, name: str, first: int, count: int) -> None:
        for number in range(first, first + count):
            accepted = await self.store.accept(name, f"m{number}", b"%d" % number, user_id="ann")
            self.ledger.note("accepted", name, number, accepted.turn_no)

    async def work(self, name: str | None) -> None:
        """Claim and run until nothing is open."""
        while True:
            claim = await self.store.claim(self.options.worker, self.options.ttl, name)
            if claim is not None:
                try:
                    await self.run(claim)
                except Fenced:
                    self.ledger.note("fenced", claim.session_id, claim.turn_no)
                continue
            sessions = await self.store.sessions()
            if not any(s.running for s in sessions if name in (None, s.session_id)):
                return
            await asyncio.sleep(0.005)

    async def run(self, claim: Claim) -> None:
        """A turn of three calls; every other turn keeps a result with the next write."""
        state = loads_raw(claim.turn_doc or claim.doc or b'{"turns":0,"at":1,"results":[]}')
        unstored: tuple[int, bytes] | None = None
        self.stop_at("claimed")
        for seq in range(state["at"], len(STEPS) + 1):
            name, effect = STEPS[seq - 1]
            key = f"{claim.session_id}:{claim.turn_no}:{seq}"
            state["at"] = seq
            prior = await self.store.intent(
                claim, seq, Call("tool", name, effect, dumps([name, claim.turn_no]), key),
                dumps(state), [(seq, key.encode())], previous_result=unstored,
            )  # fmt: skip
            if unstored is not None:
                self.ledger.note("recorded", f"{claim.session_id}:{claim.turn_no}:{unstored[0]}")
            unstored = None
            if prior.status == "interrupted" and effect == "once":
                await self.store.fail(claim, "unknown", f"{key} may have happened")
                self.ledger.note("ended", claim.session_id, claim.turn_no)
                return
            result = prior.result if prior.status == "answered" else self.call(effect, key)
            assert result is not None, prior
            state["results"].append(result.decode())
            if prior.status != "answered":
                unstored = await self.keep(claim, seq, key, result)
        await self.finish(claim, state, unstored)

    async def keep(
        self, claim: Claim, seq: int, key: str, result: bytes
    ) -> tuple[int, bytes] | None:
        if claim.turn_no % 2 and not self.options.stop_at:
            return seq, result
        await self.store.result(claim, seq, result)
        self.ledger.note("recorded", key)
        self.stop_at(f"result{seq}")
        return None

    async def finish(
        self, claim: Claim, state: dict[str, Any], unstored: tuple[int, bytes] | None
    ) -> None:
        document = {"turns": state["turns"] + 1, "at": 1, "results": []}
        first = 2 * claim.turn_no
        await self.store.finish(
            claim, dumps(document), dumps(state["results"]),
            messages=[(first, claim.input), (first + 1, dumps(state["results"]))],
            commits=[(9, b"end")], previous_result=unstored, blank=frozenset({1}),
        )  # fmt: skip
        self.ledger.note("ended", claim.session_id, claim.turn_no)

    def call(self, effect: str, key: str) -> bytes:
        """An effect on the world: a line that no crash takes back."""
        self.stop_at(f"before{key[-1]}")
        if self.options.freeze and self.chance.random() < 0.1:
            time.sleep(self.options.ttl * 2)  # the whole process, as a machine that swaps would
        self.ledger.note("call", key, effect)
        self.stop_at(f"call{key[-1]}")
        return f"{key} by {self.options.worker}".encode()

    def stop_at(self, point: str) -> None:
        if self.options.stop_at == point:
            print("at", point, flush=True)
            sys.stdin.readline()


def kill_at(border: int) -> None:
    """Count the commits of this process from both sides, and die at the side asked for."""
    connect, tell = sqlite3.connect, sqlite_writer._tell
    passed = 0

    def die(side: int) -> None:
        if 2 * passed + side == border:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(statement: str) -> None:
        if statement == "COMMIT":
            die(1)

    def after(jobs: list[Any]) -> None:
        nonlocal passed
        die(2)
        passed += 1
        tell(jobs)

    def watched(*args: Any, **options: Any) -> sqlite3.Connection:
        db = connect(*args, **options)
        db.set_trace_callback(before)
        return db

    sqlite3.connect = watched
    sqlite_writer._tell = after


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("ledger", type=Path)
    parser.add_argument("--worker", default="one")
    parser.add_argument("--ttl", type=float, default=0.02)
    parser.add_argument("--deliver", action="append", default=[])
    parser.add_argument("--any", action="store_true")
    parser.add_argument("--kill-at", type=int, default=0)
    parser.add_argument("--kill-after", type=float, default=0.0)
    parser.add_argument("--stop-at", default="")
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(words)


async def main(words: list[str]) -> None:
    options = arguments(words)
    if options.kill_at:
        kill_at(options.kill_at)
    if options.kill_after:
        signal.setitimer(signal.ITIMER_REAL, options.kill_after)
    async with SqliteStore(options.path) as store:
        worker = Worker(store, options)
        deliveries = [entry.split(":") for entry in options.deliver]

        async def converse(name: str, first: str, count: str) -> None:
            await worker.deliver(name, int(first), int(count))
            if not options.any:
                await worker.work(name)

        await asyncio.gather(*(converse(*delivery) for delivery in deliveries))
        if options.any:
            await asyncio.gather(*(worker.work(None) for _ in range(3)))


def serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(main(line.split()))
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        asyncio.run(main(sys.argv[1:]))
