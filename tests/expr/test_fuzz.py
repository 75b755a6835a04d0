"""Promise: no text at all makes the parser, the templates or the engine crash or run on."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import examples

from .grammar import SHAPES, expressions

HERE: Final = Path(__file__).parent
CASES: Final = HERE.parent / "cases" / "expressions"
DEADLINE_SECONDS: Final = 60
MOST_SECONDS: Final = 5.0
"""Of processor time: three evaluations with a second for the calls each makes, and parsing."""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of the process is bounded by /proc"
)

CORPUS: Final = tuple(
    case["expr"]
    for path in sorted(CASES.glob("*.json"))
    if path.stem != "hostile"
    for case in json.loads(path.read_text(encoding="utf-8"))
)
WORDS: Final = r"""
    ( ) [ ] { } {{ }} ${ ` ' " / \ // /* */ => ... ?. ?? ; : , . = + - * ** % & | ^ ~ ! < > << >>>
    async await yield function* class static new this super import eval delete in of instanceof
    typeof void let const var for while do switch case try catch finally throw return break get set
    __proto__ constructor prototype arguments # @ 0x 1e999 1n 08 \u{ (?<= (?<n> \k<n> [^ {1,9} /u /v
    .raw $& undefined NaN null f(1) a.push(a) o.o=o
"""
TOKENS: Final = (*WORDS.split(), "\u2028", "\ud800", "\0", "\ufeff")


class Worker:
    """The process that takes the texts, started anew when it is gone."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def take(self, text: str) -> dict[str, Any]:
        """How the text fared. Fails when the process dies of it or is still busy with it."""
        process = self._running()
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps({"text": text}).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], DEADLINE_SECONDS)
        line = process.stdout.readline() if ready else b""
        if line:
            return json.loads(line)
        died = process.poll() if ready else None
        complaint = self.stop()
        pytest.fail(f"{text!r}: {'still busy' if not ready else f'died, {died}'} {complaint}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            root = str(HERE.parent.parent)
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "fuzz_worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": root},
            )
        return self._process

    def stop(self) -> str:
        """End the process; gives the end of what it complained of."""
        if self._process is None:
            return ""
        self._process.kill()
        _, complaint = self._process.communicate()
        self._process = None
        return complaint.decode(errors="replace")[-2000:]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


def fares_well(worker: Worker, text: str) -> None:
    answer = worker.take(text)
    kind, reading, said, _, holds = answer["ended"]
    assert kind in ("Evaluated", "Raised", "Suspended"), text
    assert (said, holds) == ("str", "tuple"), text
    assert reading == "read" or kind == "Raised", text
    assert answer["seconds"] < MOST_SECONDS, (text, answer)
    assert answer["well"], text


@settings(max_examples=examples(100, 5_000))
@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda data: b"{{" + data + b"}}"))
def test_random_bytes(worker: Worker, data: bytes) -> None:
    """Bytes as text, one for one."""
    fares_well(worker, data.decode("latin-1"))


@settings(max_examples=examples(100, 5_000))
@given(
    st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=25), st.sampled_from(["", " "])
)
def test_random_tokens(worker: Worker, tokens: list[str], between: str) -> None:
    """What JavaScript and templates are made of, in any order."""
    fares_well(worker, between.join(tokens))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """An expression or template in which parts are missing, doubled, swapped or foreign."""
    leaves = [shape for shapes in SHAPES.values() for shape in shapes]
    text = draw(expressions() | st.sampled_from(CORPUS) | st.sampled_from(leaves))
    if draw(st.booleans()):
        text = draw(st.sampled_from(["{{%s}}", "a {{%s}} b {{%s", "{{ %s }}}}"])).replace(
            "%s", text
        )
    for _ in range(draw(st.integers(1, 4))):
        one, other = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        part = text[one:other]
        match draw(st.sampled_from(["drop", "double", "token", "character", "reverse", "repeat"])):
            case "drop":
                text = text[:one] + text[other:]
            case "double":
                text = text[:other] + part + text[other:]
            case "token":
                text = text[:one] + draw(st.sampled_from(TOKENS)) + text[one:]
            case "character":
                text = text[:one] + draw(st.characters(exclude_categories=[])) + text[one + 1 :]
            case "reverse":
                text = text[:one] + part[::-1] + text[other:]
            case _:
                text = text[:one] + part[:20] * draw(st.sampled_from([3, 50, 400])) + text[other:]
    return text[:3_000]  # hundreds of holes that fail take seconds, and may


@settings(max_examples=examples(200, 10_000))
@given(mutated())
def test_mutated_expressions(worker: Worker, text: str) -> None:
    """Nearly right is where crashes hide."""
    fares_well(worker, text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 9_000,
        "[" * 4_000 + "]" * 4_000,
        "x=>" * 3_000 + "x",
        "`${" * 3_000,
        "{{" * 5_000,
        "!" * 9_999 + "n",
        "-" * 9_999 + "n",
        "n" + "?.a" * 3_000,
        "n" + " ? n : n" * 1_200,
        "n" + "+n" * 4_900,
        "{a:" * 2_000 + "1" + "}" * 2_000,
        "/" + "(a+)+" * 1_500 + "/.test(s)",
        "/(a*)*b/.test('a'.repeat(5000))",
        "((((((((((a)+)+)+)+)+)+)+)+)+)",
        "f(" * 1_500 + ")" * 1_500,
        "new " * 2_000 + "n",
        "a" * 10_001,
        "async () => {" * 700 + "}" * 700,
        "class { static { " * 500 + "} }" * 500,
        "'\ud800' + `\udc00`",
        "\0\0\0",
        "{{\0}} {{\ud800}}",
    ],
    ids=lambda text: text[:12].encode("ascii", "backslashreplace").decode(),
)
def test_texts_that_go_deep(worker: Worker, text: str) -> None:
    """Nesting in the parser, in the engine and in patterns ends at a limit."""
    fares_well(worker, text)


def test_a_process_that_dies_is_noticed(worker: Worker) -> None:
    """The test would see a crash."""
    worker.take("1")
    process = worker._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    process.wait()
    with pytest.raises((pytest.fail.Exception, BrokenPipeError)):
        worker.take("1")
    worker.stop()
    assert worker.take("1")["well"]
