"""A trace goes into a file and comes back, so that it can be asked elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.runtime.forget.recordings import take_out
from saywhy.trace.causes.why import why
from saywhy.trace.export.file import lines_of, read_trace, trace_of, write_trace
from saywhy.trace.narrative.story import narrative
from saywhy.trace.record import encode

Make = Callable[..., Any]


def test_a_trace_survives_its_file(payment: Any, tmp_path: Path) -> None:
    """Explanations, stories and commits are the same before and after."""
    path = tmp_path / "payment.trace.jsonl"
    write_trace(payment.trace, path)
    back = read_trace(path)
    assert why(back).text() == why(payment.trace).text()
    assert narrative(back) == narrative(payment.trace)
    assert [encode(commit) for commit in back] == [encode(commit) for commit in payment.trace]
    assert back.messages() == payment.trace.messages()


def test_long_texts_stand_in_the_file_once(make_flow: Make, make_talk: Make) -> None:
    """What was said is not written a second time with the commits."""
    talk = make_talk(
        make_flow("Ask", {"id": "ask", "type": "SAY-GET", "variable": "x", "value": "Tell me."})
    )
    talk.says("go")
    story = "Once upon a time " * 40
    talk.says(story)
    written = b"".join(lines_of(talk.trace))
    assert written.count(story.strip().encode()) == 1
    back = trace_of(written.splitlines(keepends=True))
    assert back.value_at(back.key("x")).value == story.strip()


def test_sensitive_texts_stay_out_of_the_file(make_flow: Make, make_talk: Make) -> None:
    """Messages go in as they may be shown; nothing sensitive is in any line."""
    talk = make_talk(
        make_flow(
            "Login",
            {"id": "ask", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True},
            {"id": "say", "type": "SAY", "value": "Your PIN is {pin}."},
        )
    )
    talk.says("login")
    talk.says("481516")
    assert b"481516" not in b"".join(lines_of(talk.trace))
    back = trace_of(lines_of(talk.trace))
    assert why(back).target.sentence == '"Your PIN is [REDACTED]." (turn 2)'


def test_a_file_may_name_its_conversation(payment: Any, tmp_path: Path) -> None:
    """By that it is found when the person is forgotten; it is read as any other."""
    path = tmp_path / "payment.trace.jsonl"
    write_trace(payment.trace, path, conversation_id="talk 1")
    first, *rest = path.read_bytes().splitlines(keepends=True)
    assert first == b'{"saywhy":"trace","format":1,"conversation":"talk 1"}\n'
    assert rest == list(lines_of(payment.trace))[1:]
    assert read_trace(path).messages() == payment.trace.messages()
    assert take_out(path, [], ["talk 1"]) == len(rest) + 1


def test_a_file_that_was_cut_off_is_read_up_to_there(payment: Any) -> None:
    """A writer that was stopped in the middle of a line loses that line only."""
    lines = list(lines_of(payment.trace))
    lines[-1] = lines[-1][: len(lines[-1]) // 2]
    assert trace_of(lines).last == payment.trace.last - 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([b"hello\n"], "x.jsonl:1: this is no line of a trace: "),
        ([b"[" * 5000 + b"\n"], "x.jsonl:1: this is no line of a trace: "),
        ([b"{}\n"], 'a trace begins with {"saywhy": "trace"}'),
        ([b'{"saywhy":"trace","format":9}\n'], "format 9 is not known here, only 1 is"),
        (
            [b'{"saywhy":"trace","format":1}\n', b'{"chart":{"name":1}}\n'],
            "x.jsonl:2: this is no line of a trace: ",
        ),
        (
            [b'{"saywhy":"trace","format":1}\n', b'{"note":1}\n', b"\n"],
            "x.jsonl:2: this is no line of a trace: it is a note, not a chart, message or commit",
        ),
        ([], "x.jsonl holds no trace"),
    ],
)
def test_what_is_no_trace(lines: list[bytes], message: str) -> None:
    """Anything else is refused with the line and what is wrong with it."""
    with pytest.raises(CallerError) as caught:
        trace_of(lines, "x.jsonl")
    place = f"{caught.value.place}: " if caught.value.place else ""
    assert message in f"{place}{caught.value}"


def test_an_audit_bundle_is_no_trace() -> None:
    """It is told what it is, and who reads it."""
    with pytest.raises(CallerError) as caught:
        trace_of([b'{"saywhy":"audit","format":1}\n'], "b.jsonl")
    assert caught.value.hint == "this is an audit bundle: saywhy audit verify FILE"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is named."""
    with pytest.raises(CallerError, match=r"no\.jsonl cannot be read: No such file"):
        read_trace(tmp_path / "no.jsonl")


@pytest.mark.parametrize("key", [[], ["input"], ["input", "x"], ["input", "9" * 5000]])
@pytest.mark.parametrize("where", ["reads", "ops", "condition", "part"])
def test_keys_that_lead_nowhere(payment: Any, where: str, key: list[str]) -> None:
    """They are refused with their line, so that no explanation trips over them."""
    lines = list(lines_of(payment.trace))
    at, line = next(
        (number, tree)
        for number, tree in enumerate(map(json.loads, lines))
        if tree.get("commit", {}).get("decision")
    )
    condition = {"text": "x", "result": True, "read": [[key, 1]]}
    line["commit"] |= {
        "reads": {"reads": [key]},
        "ops": {"ops": [["set", key, 1]]},
        "condition": {"decision": {"chosen": "a", "conditions": [condition]}},
        "part": {
            "decision": {
                "chosen": "a",
                "conditions": [{"text": "any", "result": True, "parts": [condition]}],
            }
        },
    }[where]
    lines[at] = json.dumps(line).encode() + b"\n"
    with pytest.raises(
        CallerError, match=r"no line of a trace: commit \d+ speaks of .* no vari"
    ) as e:
        trace_of(lines, "x.jsonl")
    assert str(e.value.place) == f"x.jsonl:{at + 1}"
    assert len(str(e.value)) < 200
