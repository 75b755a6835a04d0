"""A conversation with flows and an agent: handed out, checked by a stranger, and half forgotten."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from saywhy.runtime.audit.audit import Audit
from saywhy.stores.sqlite import SqliteStore
from tests.runtime.audit.desk import PIN, SECRET, engine_on, talk


def stranger(folder: Path, bundle: str, *known: str) -> tuple[int, dict[str, object]]:
    """What the single file says, run by an interpreter that has nothing installed."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "verify.py",
            bundle,
            "--json",
            *(["--known"] if known else []),
            *known,
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


async def played(path: Path) -> tuple[str, str]:
    """Two people talk; gives an anchor and the seal of a bundle of everything."""
    async with engine_on(SqliteStore(path)) as engine:
        replies = await talk(engine, "ann-1", "ann")
        assert replies[3] == "It was lost, so you get 9 back.\n\nOrder 7 is settled."
        await talk(engine, "bob-1", "bob")
        anchor = await engine.audit.anchor()
        seal = await engine.audit.export(path.parent / "before.jsonl")
        return anchor.digest.hex(), seal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = Path(sys.modules[Audit.__module__].__file__ or "").parent / "verifier.py"
    (tmp_path / "verify.py").write_bytes(source.read_bytes())
    return tmp_path


def test_handed_out_and_forgotten(folder: Path) -> None:
    """Before and after a person is forgotten the record is verified; after it, nothing of theirs
    is in it, and the anchor and the other's digests still hold."""
    store = folder / "s.db"
    anchor, seal = asyncio.run(played(store))
    code, before = stranger(folder, "before.jsonl", anchor, seal)
    assert code == 0, before
    assert (before["turns"], before["erased"], before["receipts"]) == (10, 0, 6)
    assert before["receipts_not_comparable"] == 0
    text = (folder / "before.jsonl").read_text(encoding="utf-8")
    assert SECRET in text
    assert PIN not in text

    async def forgetting() -> None:
        async with engine_on(SqliteStore(store)) as engine:
            await engine.forget("ann", prove=True)
            report = await engine.audit.verify([anchor])
            assert report.ok, report.wrong
            assert (report.turns, report.erased, report.anchors) == (10, 5, 1)
            await engine.take_turn("bob-1", "help", message_id="again", user_id="bob")
            await engine.audit.export(folder / "after.jsonl")

    asyncio.run(forgetting())
    code, after = stranger(folder, "after.jsonl", anchor)
    assert code == 0, after
    assert (after["turns"], after["erased"], after["receipts"]) == (11, 5, 3)
    left = (folder / "after.jsonl").read_text(encoding="utf-8")
    assert '"ann' not in left
    assert left.count(SECRET) == text.count(SECRET) // 2  # bob said the same
    code, other = stranger(folder, "after.jsonl", seal)
    assert (code, other["wrong"]) == (1, f"the digest {seal} is not in this bundle")


def test_a_record_made_anew_is_not_that_which_was_given_away(folder: Path) -> None:
    """Who plays the conversation again gets a record that holds in itself, and not the anchor."""
    anchor, _ = asyncio.run(played(folder / "s.db"))
    (folder / "new").mkdir()
    asyncio.run(played(folder / "new" / "s.db"))
    (folder / "before.jsonl").write_bytes((folder / "new" / "before.jsonl").read_bytes())
    assert stranger(folder, "before.jsonl")[0] == 0
    code, report = stranger(folder, "before.jsonl", anchor)
    assert (code, report["wrong"]) == (1, f"the digest {anchor} is not in this bundle")
