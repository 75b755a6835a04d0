"""A record in every format; each shows what the record does, and no more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from saywhy.errors import CallerError, UnknownSession
from saywhy.runtime.export import FORMATS, document, exported
from saywhy.stores.memory import MemoryStore
from saywhy.trace.export.file import read_trace
from tests.runtime.audit.desk import PIN, engine_on, talk


def test_the_engine_exports_each_format(tmp_path: Path) -> None:
    """A trace that can be asked again, spans, a picture, a document; nothing masked is in any."""

    async def scene() -> dict[str, bytes]:
        async with engine_on(MemoryStore()) as engine:
            await talk(engine)
            with pytest.raises(UnknownSession):
                await engine.export("none")
            return {form: await engine.export("s1", form) for form in FORMATS}

    found = asyncio.run(scene())
    assert all(PIN.encode() not in data for data in found.values())
    path = tmp_path / "t.jsonl"
    path.write_bytes(found["trace"])
    trace = read_trace(path)
    assert trace.newest_turn == 5
    assert found["mermaid"].startswith(b"flowchart TD\n")
    assert len(found["otel"].splitlines()) == 5
    whole = json.loads(found["json"])
    assert (whole["saywhy"], whole["format"], whole["conversation"]) == ("record", 1, "s1")
    assert [one["turn"] for one in whole["turns"]] == [1, 2, 3, 4, 5]
    assert {chart["name"] for chart in whole["charts"]} >= {"Help", "desk", "Refund"}
    assert whole["transactions"][0]["flowName"] == "Help"
    commits = [commit for one in whole["turns"] for commit in one["commits"]]
    assert [commit["seq"] for commit in commits] == [commit.seq for commit in trace]
    alone = json.loads(b"".join(exported(trace, "json", turn=2)))
    assert [one["turn"] for one in alone["turns"]] == [2]
    assert document(trace, "s1")["turns"][1]["turn"] == 2


def test_an_unknown_format_is_refused() -> None:
    """The message names those there are."""
    from saywhy.trace.trace import Trace

    with pytest.raises(CallerError) as refusal:
        exported(Trace(), cast(Any, "pdf"))
    assert refusal.value.message == (
        "a record is written as trace, otel, mermaid, json, not as 'pdf'"
    )
