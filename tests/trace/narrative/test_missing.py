"""Promise: what a record does not have is said in a sentence, not only by a mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy.chart.commit import Commit, Op
from saywhy.messages import Message, Span
from saywhy.trace.export.file import lines_of, read_trace
from saywhy.trace.narrative.sentences import sentence_of
from saywhy.trace.narrative.story import narrative
from saywhy.trace.phrases import usual
from saywhy.trace.trace import Trace


def later(trace: Trace, first: int) -> Trace:
    """The record from a commit on."""
    return Trace([one for one in trace if one.seq >= first], trace.charts, trace.messages())


@pytest.mark.parametrize(
    ("language", "begins", "none"),
    [
        (
            "en",
            "(The record begins with commit {0}, in turn 2: what came before is missing.)",
            "(No step of this turn is on record.)",
        ),
        (
            "es",
            "(El registro empieza con el paso {0}, en el turno 2: falta lo anterior.)",
            "(No consta ningún paso de este turno.)",
        ),
        (
            "de",
            "(Die Aufzeichnung beginnt mit Schritt {0}, in Runde 2: Was davor war, fehlt.)",
            "(Kein Schritt dieser Runde ist verzeichnet.)",
        ),
    ],
)
def test_a_record_that_begins_late(payment: Any, language: str, begins: str, none: str) -> None:
    """It says with which commit it begins, and of which turns it has what was said alone."""
    first = payment.trace.turn(2).commits[2].seq
    told = narrative(later(payment.trace, first), language=language).splitlines()
    assert told[1] == f"  {none}"
    at = next(number for number, line in enumerate(told) if line.startswith("  2.1"))
    assert told[at - 1] == f"  {begins.format(first)}"


def test_a_whole_record_lacks_nothing(payment: Any) -> None:
    """So nothing is said of it."""
    text = narrative(payment.trace)
    assert "missing" not in text
    assert "on record" not in text


def test_in_other_forms(payment: Any) -> None:
    """Markdown and JSON say it as well, and lines are counted with it."""
    first = payment.trace.turn(2).commits[1].seq
    record = later(payment.trace, first)
    sentence = f"The record begins with commit {first}, in turn 2: what came before is missing."
    assert f"- *{sentence}*" in narrative(record, format="markdown").splitlines()
    assert f'"missing":["{sentence}"]' in narrative(record, 2, format="json")
    told = narrative(record, 2, most=4).splitlines()
    assert told[1:4] == [
        f"  ({sentence})",
        '  2.1  The answer is amount = "80".',
        "  ... 1 more line",
    ]


def test_a_file_that_was_cut_off(payment: Any, tmp_path: Path) -> None:
    """A reply whose steps are gone is said to be that."""
    path = tmp_path / "t.jsonl"
    lines = list(lines_of(payment.trace))
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    told = narrative(read_trace(path)).splitlines()
    assert told[-1].startswith("  Reply: ")
    ends = "  (The record ends before this reply was made: the steps that made it are missing.)"
    spans = payment.trace.messages()[-1].spans
    assert (ends in told) == (bool(spans) and spans[-1].commit >= payment.trace.last)
    short = Trace(
        [
            Commit(
                1, 1, 1, "c", "F", "n", "SAY", ops=(Op("append", ("session", "queue"), ["a", 1]),)
            )
        ],
        messages=[Message(1, "assistant", "a b", 1, spans=(Span(0, 1, 1), Span(2, 3, 2)))],
    )
    assert narrative(short).splitlines()[1:] == [ends, '  1.1  Said "a".', '  Reply: "a b"']


def step(value: Any, *tags: str) -> Commit:
    return Commit(3, 1, 1, "c", "F", "n", "SET", ops=(Op("set", ("v", "x"), value),), tags=tags)


def test_texts_that_were_cut() -> None:
    """A text without its message has no quotes, and the sentence behind it says what is missing."""
    gone = step({"of": ["[CUT: message 7 is not part of this trace]"]}, "cut")
    assert sentence_of(Trace(), gone) == (
        "Set x = {of}. The text of message 7 is missing from the record."
    )
    whole = step("[CUT: message 7 is not part of this trace]", "cut")
    assert sentence_of(Trace(), whole, usual("es")) == (
        "Se puso x = [CUT: message 7 is not part of this trace]. "
        "Falta en el registro el texto del mensaje 7."
    )
    long = step("y" * 90 + "[CUT: 70000 characters]", "cut")
    assert sentence_of(Trace(), long, usual("de")) == (
        f'Gesetzt: x = "{"y" * 77}...". Etwas darin war zu lang, um ganz aufbewahrt zu werden.'
    )
    fields = step({"a": 1, "[CUT: 12 more fields]": None}, "cut")
    assert sentence_of(Trace(), fields).endswith("Something in it was too long to be kept whole.")


def test_what_only_looks_cut() -> None:
    """Words of a user's that look like a note of ours are words."""
    assert sentence_of(Trace(), step("see [CUT: 3 characters]")) == (
        'Set x = "see [CUT: 3 characters]".'
    )
