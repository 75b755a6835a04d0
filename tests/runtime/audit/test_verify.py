"""What a change to a bundle is told by; the library and the single file say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.errors import CallerError
from saywhy.runtime.audit import verifier
from saywhy.runtime.audit.verify import verify_bundle, verify_lines
from tests.runtime.audit.tampering import (
    Lines,
    at,
    replaced,
    sealed,
    swapped,
    with_entry,
    without,
)


def both(lines: Lines, known: tuple[str, ...] = ()) -> tuple[int, str]:
    """Line and problem, which the two verifiers tell alike."""
    report = verify_lines(lines, known)
    told = verifier.verify(lines, known)
    found = report.line, report.wrong
    assert found == (told.get("line", 0), told.get("wrong", "")) or (
        report.line == told.get("line") and "no line of a bundle" in report.wrong
    )
    return found


def test_a_bundle_holds(whole: Lines) -> None:
    """An untouched bundle is verified, and both tell the same figures of it."""
    report = verify_lines(whole)
    told = verifier.verify(whole)
    assert report.ok
    assert {name: getattr(report, name) for name in told} == told
    assert (report.chains, report.turns, report.messages, report.erased) == (2, 7, 13, 0)
    assert (report.receipts, report.receipts_not_comparable, report.anchors) == (3, 0, 1)
    assert report.parts == 9
    assert report.commits > 50
    assert report.charts > 3
    assert report.text() == verifier.told(told)


CASES: dict[str, tuple[Callable[[Lines], Lines], Callable[[Lines], int], str]] = {
    "a flipped byte in a commit": (
        lambda lines: replaced(lines, at(lines, "commit", 1), b"routing", b"rOuting"),
        lambda lines: at(lines, "commit", 1) + 1,
        "the row of commits from 4 is not what was recorded",
    ),
    "an edited reply": (
        lambda lines: replaced(lines, at(lines, "message", 1), b"Which order?", b"Which other?"),
        lambda lines: at(lines, "message", 1) + 1,
        "message 2 is not what was recorded",
    ),
    "a dropped message": (
        lambda lines: without(lines, at(lines, "message", 0)),
        lambda lines: at(lines, "message", 0) + 1,
        "message 2 is not what was recorded",
    ),
    "a dropped commit": (
        lambda lines: without(lines, at(lines, "commit", 0)),
        lambda lines: at(lines, "commit", 0) + 1,
        "turn 1 lacks something before this line",
    ),
    "a dropped turn": (
        lambda lines: without(lines, *range(at(lines, "turn", 1), at(lines, "turn", 2))),
        lambda lines: at(lines, "turn", 1) + 1,
        "turn 2 should stand here",
    ),
    "the last turn of a chain dropped": (
        lambda lines: without(lines, *range(at(lines, "turn", 6), at(lines, "chart"))),
        lambda lines: at(lines, "turn", 6) + 1,
        "turn 2 of the chain is missing",
    ),
    "swapped lines": (
        lambda lines: swapped(lines, at(lines, "message", 0), at(lines, "message", 1)),
        lambda lines: at(lines, "message", 0) + 1,
        "message 2 is not what was recorded",
    ),
    "a line twice": (
        lambda lines: [*lines[: at(lines, "commit") + 1], *lines[at(lines, "commit") :]],
        lambda lines: at(lines, "commit") + 2,
        "commit 1 does not follow what stands before it",
    ),
    "a replaced salt": (
        lambda lines: with_entry(lines, at(lines, "turn"), salt="00" * 16),
        lambda lines: at(lines, "message") + 1,
        "message 1 is not what was recorded",
    ),
    "another status": (
        lambda lines: with_entry(lines, at(lines, "turn"), status="unknown"),
        lambda lines: at(lines, "turn") + 1,
        "turn 1 does not follow what stands before it",
    ),
    "another user": (
        lambda lines: replaced(lines, at(lines, "chain", 0), b'"user":"', b'"user":"x'),
        lambda lines: at(lines, "chain", 0) + 1,
        "the chain is not that of this conversation",
    ),
    "an erased turn with content": (
        lambda lines: with_entry(lines, at(lines, "turn"), salt=None, erased="forgotten"),
        lambda lines: at(lines, "message") + 1,
        "turn 1 is erased, and has content",
    ),
    "a salt taken away": (
        lambda lines: with_entry(lines, at(lines, "turn"), salt=None),
        lambda lines: at(lines, "turn") + 1,
        "turn 1 lacks its salt",
    ),
    "an edited chart": (
        lambda lines: replaced(lines, at(lines, "chart", 1), b'"kind":"', b'"kind":"X'),
        lambda lines: at(lines, "chart", 1) + 1,
        "was changed",
    ),
    "a chart twice": (
        lambda lines: [*lines[: at(lines, "chart") + 1], *lines[at(lines, "chart") :]],
        lambda lines: at(lines, "chart") + 2,
        "stands here twice",
    ),
    "an edited part of a request": (
        lambda lines: replaced(lines, at(lines, "part"), b"help", b"hinder"),
        lambda lines: at(lines, "part") + 1,
        "the part of a request was changed",
    ),
    "a later anchor": (
        lambda lines: with_entry(lines, at(lines, "anchor"), at=1),
        lambda lines: at(lines, "anchor") + 1,
        "anchor 1 was changed",
    ),
    "a truncated end": (
        lambda lines: lines[:-1],
        len,
        "the bundle is cut off: its last line is missing",
    ),
    "a line cut off": (
        lambda lines: [*lines[:5], lines[5][:-1]],
        lambda lines: 6,
        "the line is cut off",
    ),
    "something behind the end": (
        lambda lines: [*lines, lines[1]],
        lambda lines: len(lines) + 1,
        "something stands behind the end of the bundle",
    ),
    "another seal": (
        lambda lines: with_entry(lines, len(lines) - 1, seal="00" * 32),
        len,
        "the seal is not that of the lines before",
    ),
    "a newer format": (
        lambda lines: replaced(lines, 0, b'"format":1', b'"format":2'),
        lambda lines: 1,
        "format 2 is not known, 1 is",
    ),
    "a line of another kind": (
        lambda lines: [lines[0], b'{"note":"hello"}\n', *lines[1:]],
        lambda lines: 2,
        "a line of the kind 'note' has no place here",
    ),
    "no bundle": (
        lambda lines: [b"hello\n"],
        lambda lines: 1,
        "this is no line of a bundle",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_found(whole: Lines, name: str) -> None:
    """Each way to change a bundle is told with the first line that does not hold."""
    change, line, text = CASES[name]
    found = both(change(whole))
    assert text in found[1]
    assert found[0] == line(whole)


def test_a_new_seal_does_not_help(whole: Lines) -> None:
    """Who leaves something out and seals the rest anew is found all the same."""
    found = both(sealed(without(whole, at(whole, "chart"))))
    assert found[0] == len(whole) - 1
    assert found[1].startswith("the flow with the digest ")
    assert found[1].endswith(" is missing")
    second = range(at(whole, "chain", 1), at(whole, "chart"))
    found = both(sealed(without(whole, *second), chains=1))
    assert found[1] in (
        "anchor 1 knows of turns that are missing",
        "no receipt knows this part of a request",
    )


def test_a_foreign_chart_is_found(whole: Lines) -> None:
    """A flow that no commit speaks of does not belong into a bundle."""
    from saywhy.chart.model import Chart, Node

    foreign = Chart.of("Foreign", [Node("/steps/0", "SAY", spec={"value": "hi", "n": 1.5})])
    index = at(whole, "chart")
    lines = [*whole[:index], b'{"chart":' + foreign.to_json() + b"}\n", *whole[index:]]
    assert both(sealed(lines)) == (
        len(lines),
        f"the flow in line [{index + 1}] belongs to no commit",
    )


def test_what_was_given_away_must_be_there(whole: Lines) -> None:
    """A seal, a turn's digest and an anchor are found; a digest of something else is not."""
    import json

    seal = json.loads(whole[-1])["end"]["seal"]
    turn = json.loads(whole[at(whole, "turn", 2)])["turn"]["digest"]
    anchor = json.loads(whole[at(whole, "anchor")])["anchor"]["digest"]
    assert both(whole, (seal, turn.upper(), anchor)) == (0, "")
    assert both(whole, (turn, "ab" * 32)) == (0, f"the digest {'ab' * 32} is not in this bundle")


def test_a_file_is_read(whole: Lines, tmp_path: Any) -> None:
    """A bundle in a file is checked; one that is not there is an error of the caller's."""
    path = tmp_path / "b.jsonl"
    path.write_bytes(b"".join(whole))
    assert verify_bundle(path).ok
    with pytest.raises(CallerError, match=r"cannot be read: No such file"):
        verify_bundle(tmp_path / "none.jsonl")


@settings(max_examples=150, deadline=None)
@given(
    how=st.sampled_from(["byte", "drop", "double", "swap", "cut", "insert"]),
    where=st.integers(0, 2**32),
    place=st.integers(0, 2**32),
)
def test_both_agree_on_any_change(whole: Lines, how: str, where: int, place: int) -> None:
    """Whatever byte or line is changed, both find it, and in the same line."""
    changed = mutated(whole, how, where % len(whole), place)
    if changed == whole:
        return
    report = verify_lines(changed)
    assert not report.ok
    assert report.line == verifier.verify(changed)["line"]


def mutated(whole: Lines, how: str, index: int, place: int) -> Lines:
    lines, line = list(whole), whole[index]
    at = place % len(line)
    if how == "byte":
        lines[index] = line[:at] + bytes([line[at] ^ (1 << (place % 7))]) + line[at + 1 :]
        return b"".join(lines).splitlines(keepends=True)
    if how == "insert":
        lines[index] = line[:at] + b" " + line[at:]
        return lines
    if how == "drop":
        return without(lines, index)
    if how == "double":
        return [*lines[:index], line, *lines[index:]]
    if how == "swap":
        return swapped(lines, index, place % len(lines))
    return [*lines[:index], line[:at]] if at else lines[:index]


@settings(max_examples=100, deadline=None)
@given(
    how=st.sampled_from(["byte", "drop", "double", "insert"]),
    where=st.integers(0, 2**32),
    place=st.integers(0, 2**32),
)
def test_a_forger_with_a_new_seal_is_found(whole: Lines, how: str, where: int, place: int) -> None:
    """Chains, turns, messages and commits hold together without the seal; both tell the same."""
    index = where % (len(whole) - 1)
    changed = sealed([*mutated(whole[:-1], how, index, place), whole[-1]])
    report, told = verify_lines(changed), verifier.verify(changed)
    assert (report.ok, report.line) == ("wrong" not in told, told.get("line", 0))
    if whole[index].startswith((b'{"chain"', b'{"turn"', b'{"message"', b'{"commit"')):
        assert not report.ok
