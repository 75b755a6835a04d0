"""What a conversation left anywhere: everything that is not the live reply, to be searched."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from saywhy import CallerError, Engine, FlowExecutionError
from saywhy.agent.hooks import HOOKS
from saywhy.runtime.audit.export import bundle
from saywhy.runtime.export import FORMATS, exported
from saywhy.trace.causes.why import Reply
from saywhy.trace.export.file import lines_of
from saywhy.trace.export.spans import spans_of
from saywhy.values import dumps


def overheard(log: pytest.LogCaptureFixture, output: pytest.CaptureFixture[str]) -> bytes:
    """What was logged and printed so far."""
    return ("".join(output.readouterr()) + log.text).encode()


class Lines:
    """A host's logger that keeps every line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def _keep(self, text: object, *rest: object) -> None:
        self.lines.append(" ".join(map(str, (text, *rest))))

    debug = info = warn = error = _keep


class Hooks:
    """A recorder that keeps everything it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in HOOKS:
            raise AttributeError(name)

        def keep(event: Any) -> None:
            self.told.append(f"{name} {event!r} {getattr(event, 'error', '')!r}")

        return keep


class Place:
    """An engine, and everything that it wrote."""

    engine: Engine

    def __init__(self, path: Path) -> None:
        """`path` is where the store has its file, in a folder with nothing else in it."""
        self.path = path
        self.log = Lines()
        self.seen: list[bytes] = []

    def with_engine(self, make: Callable[[Self], Engine]) -> Self:
        """The place, with an engine that logs to it."""
        self.engine = make(self)
        return self

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
