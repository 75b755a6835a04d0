"""Promise: what is declared sensitive is nowhere but in the live state, whatever was done with it.

Every byte that is written is searched: the store's files, exports, explanations, logs, errors.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from saywhy import Agent, CallerError, Engine, FlowExecutionError, SqliteStore
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.audit.export import bundle
from saywhy.runtime.export import FORMATS, exported
from saywhy.trace.causes.why import Reply
from saywhy.trace.export.file import lines_of
from saywhy.trace.export.spans import spans_of
from saywhy.values import dumps
from tests.journeys import canary
from tests.journeys.canary import NAMES, found_in, only_plain


class Lines:
    """A host's logger that keeps every line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def _keep(self, text: object, *rest: object) -> None:
        self.lines.append(" ".join(map(str, (text, *rest))))

    debug = info = warn = error = _keep


class Place:
    """An engine whose conversations are full of canaries, and everything it wrote."""

    def __init__(self, folder: Path, left_out: str = "") -> None:
        self.path = folder / "talk.sqlite3"
        self.log = Lines()
        self.seen: list[bytes] = []
        answers = [{"for": "chat", "reply": f"it is {canary.canary('agent')}"}] * 4
        tools = canary.without(left_out, canary.tools())
        self.engine = Engine(
            flows=canary.without(left_out, canary.flows()),
            tools=tools,
            functions={**canary.FUNCTIONS, **canary.TOOL_FUNCTIONS},
            agents={"helper": Agent(ScriptedModel(answers), name="helper")},
            guidance={"enabled": False},
            logger=self.log,
            log_tool_failures=True,
            validate_tool_returns=True,
            store=SqliteStore(self.path),
        )

    def see(self, data: Any) -> None:
        """Something that left the engine and is not the live reply."""
        self.seen.append(data if isinstance(data, bytes) else str(data).encode())

    async def say(self, session_id: str, text: str, **more: Any) -> str | None:
        """A turn; what it raises is seen."""
        try:
            reply = await self.engine.take_turn(session_id, text, **more)
        except FlowExecutionError as error:
            self.see(f"{error!r} {error} {error.hint} {error.place}")
            self.see(f"{error.__cause__!r} {error.__context__!r}")
            return None
        return reply.response

    async def look(self, session_id: str) -> None:
        """Everything that can be told of a conversation."""
        engine, store = self.engine, self.engine.store
        assert store is not None
        trace = await engine.trace(session_id)
        self.see(b"\n".join(lines_of(trace)))
        for turn in trace.turns:
            try:
                chain = trace.why(Reply(turn))
            except CallerError:  # nothing was said in it
                continue
            self.see(json.dumps(chain.to_json(), ensure_ascii=False))
            self.see(chain.text())
        for form in ("text", "markdown", "json"):
            self.see(trace.narrative(format=form))
        self.see("\n".join(map(repr, spans_of(trace))))
        for way in FORMATS:
            self.see(b"".join(exported(trace, way, conversation_id=session_id, content=True)))
        with suppress(CallerError):  # not every application has it
            self.see(trace.why_not("flow:Other").text())
        async for line in bundle(store, session_id=session_id):
            self.see(line)
        for message in trace.messages():
            if message.role == "user":
                self.see(json.dumps(trace.what_changed(message.seq).to_json(), default=str))
        for message in await store.messages(session_id):
            self.see(message.doc)
        for row in await store.turns(session_id):
            self.see(b"".join((row.input or b"", row.reply or b"", (row.error or "").encode())))
            for entry in await store.journal(session_id, row.turn_no):
                self.see(repr(entry))
        self.see(repr(await store.waiting(session_id)))
        self.see(dumps(await engine.approvals(session_id)))

    def written(self) -> bytes:
        """All of it, with the store's files; the engine must be closed."""
        files = [one.read_bytes() for one in sorted(self.path.parent.iterdir())]
        return b"\n".join([*self.seen, *files, "\n".join(self.log.lines).encode()])


@asynccontextmanager
async def opened(folder: Path, left_out: str = "") -> AsyncGenerator[Place]:
    """A place, open."""
    place = Place(folder, left_out)
    async with place.engine:
        yield place


async def talk(place: Place) -> None:
    """Every conversation, each to its end."""
    say, word = place.say, canary.canary
    await say("question", "Question")
    place.see(await say("question", "help"))
    await say("question", word("question"))
    await say("variable", "Variable")
    await say("variable", word("variable"))
    place.see(await say("variable", "status"))
    assert await place.engine.run_due(time.time() * 1000 + 61_000) == 1
    await say("variable", "Other")
    await say("variable", "yes")
    await place.look("variable")
    (waits,) = await place.engine.approvals("variable")
    await place.engine.approve("variable", waits["id"], by="somebody")
    await say("form", "Form")
    await say("form", word("form"))
    await say("correction", "Correction")
    await say("correction", "something else")
    await say("correction", f"no, the pin code is {word('correction')}")
    await say("early", "Early")
    await say("early", f"my card number is {word('early')}")
    await say("parameter", "Parameter", cargo={"card": word("parameter")})
    customer = {"ssn": word("cargo"), "city": "Basel"}
    await say("cargo", "Cargo", cargo={"customer": customer})
    await say("argument", "Argument", cargo={"five": word("argument")})
    await say("flow", "Flow", cargo={"given": word("flow")})
    for name in ("Answer", "Set", "Say", "Tool", "Return", "Agent"):
        await say(name.lower(), name)
    store = place.engine.store
    assert store is not None
    for output in await store.unsent():  # the words themselves, until they are on their way
        assert await store.mark_sent(output.output_id)
    gone = {"customer": None, "five": None, "given": None, "card": None}
    for name in NAMES:
        await say(name, "nothing", cargo=gone)
        await place.look(name)


async def written(folder: Path, left_out: str = "") -> bytes:
    """Everything that the conversations left anywhere."""
    async with opened(folder, left_out) as place:
        await talk(place)
    return place.written()


async def test_no_canary_is_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """With every declaration in its place, nothing of the canaries is written at all."""
    caplog.set_level(logging.DEBUG)
    data = await written(tmp_path)
    data += "".join(capfd.readouterr()).encode() + caplog.text.encode()
    assert found_in(data) == set()
    assert b"Bern" in data
    assert b"Basel" in data
    assert b"plain words" in data


@pytest.mark.parametrize("name", NAMES)
async def test_a_declaration_left_out_lets_its_canary_escape(name: str, tmp_path: Path) -> None:
    """Each declaration guards its canary, alone: without it the search finds that one."""
    data = await written(tmp_path, name)
    assert only_plain(data, name)
    assert found_in(data) == {name}


def test_the_search_finds_a_canary() -> None:
    """In each spelling that it may be written in."""
    for name in NAMES:
        for spelling in canary.spellings(name):
            assert found_in(b"before " + spelling.encode() + b" after") == {name}


if __name__ == "__main__":
    asyncio.run(written(Path.cwd()))
