"""The record format is what its page says, and files of earlier versions are read."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest

from saywhy.chart.commit import Answered, Asked, Commit
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.runtime.damage import FORMAT as SESSION_FORMAT
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.trace.block import VERSION, BlockRow, Rest, Row
from saywhy.trace.export.file import FORMAT, read_trace
from saywhy.trace.record import decode, encode

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases" / "record"
PAGE = (ROOT / "docs" / "reference" / "record-format.md").read_text(encoding="utf-8")


def names(heading: str, number: int = 0) -> list[str]:
    """What stands in the first column of a table of a section."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [one for one in section if one.startswith(heading + "\n")]
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return re.findall(r"^\| `(\w+)`", tables[number], flags=re.MULTILINE)


def told() -> list[Commit]:
    """The commits that an earlier version recorded, as it told them."""
    lines = json.loads((CASES / "told-1.json").read_text(encoding="utf-8"))["commits"]
    return [decode(json.dumps(line)) for line in lines]


def test_messages() -> None:
    """Every field of a message is on the page, and no other."""
    assert names("Messages") == [*Message.__struct_fields__]


@pytest.mark.parametrize(("number", "struct"), [(0, BlockRow), (1, Row), (2, Rest)])
def test_commits(number: int, struct: type[Row]) -> None:
    """Elements of a row stand in their order; every field of the rest is there."""
    assert names("Commits", number) == [*struct.__struct_fields__]


def test_what_was_asked_and_answered() -> None:
    """The page gives the elements of both in their order."""
    for fields in (Asked.__struct_fields__, Answered.__struct_fields__):
        assert f"`[{', '.join(fields)}]`" in PAGE


def test_versions() -> None:
    """The page names the versions that are written now."""
    rows = re.findall(r"^\| (commits in a store|trace file|session) \| (\d+) ", PAGE, re.MULTILINE)
    assert dict(rows) == {
        "commits in a store": str(VERSION),
        "trace file": str(FORMAT),
        "session": str(SESSION_FORMAT),
    }


async def test_a_store_of_before(tmp_path: Path) -> None:
    """A file that an earlier version wrote gives the same trace, and its conversation goes on."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as db:
        db.executescript((CASES / "store-m003.sql").read_text(encoding="utf-8"))
    db.close()
    flow = json.loads(_chart(path))["name"]
    assert flow == "bill"
    async with Engine(flows=[BILL], store=SqliteStore(path)) as engine:
        trace = await engine.trace("c1")
        assert [encode(one) for one in trace] == [encode(one) for one in told()]
        assert trace.messages(2)[0].text.startswith("Please look at the bill of March")
        assert "said by SAY" in trace.why().text()
        reply = await engine.take_turn("c1", "bill", user_id="ann")
        assert "What about the bill?" in (reply.response or "")
        longer = await engine.trace("c1")
        assert len(longer) > len(trace)
        assert [encode(one) for one in longer][: len(trace)] == [encode(one) for one in trace]


BILL = {
    "id": "bill",
    "name": "bill",
    "version": "1.0",
    "prompt": "bill",
    "description": "a bill",
    "steps": [{"type": "SAY-GET", "id": "ask", "variable": "w", "value": "What about the bill?"}],
}


def _chart(path: Path) -> bytes:
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT doc FROM chart").fetchall()
    db.close()
    return next(doc for (doc,) in rows if b'"bill"' in doc)


def test_a_trace_file_of_before() -> None:
    """Its commits, with their long texts, are what was recorded."""
    trace = read_trace(CASES / "trace-1.jsonl")
    assert [encode(one) for one in trace] == [encode(one) for one in told()]


def test_a_trace_file_of_a_later_version(tmp_path: Path) -> None:
    """It is refused by its number."""
    path = tmp_path / "later.jsonl"
    path.write_text('{"saywhy":"trace","format":2}\n', encoding="utf-8")
    with pytest.raises(CallerError, match="format 2 is not known here, only 1 is"):
        read_trace(path)
