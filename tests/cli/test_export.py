"""`saywhy export`: each format, where it goes, and what does not fit together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def played(run: Run, pay: str) -> None:
    run("chat", pay, "--no-guidance", "--session", "first", stdin="Pay\n80\nAnn\n")
    run("chat", pay, "--no-guidance", "--session", "second", stdin="Pay\n20\n")


@pytest.mark.usefixtures("played")
def test_a_trace_file_is_asked_why(run: Run, folder: Path) -> None:
    """What is exported can be asked elsewhere, as the store can here."""
    done = run("export", "--session", "first", "--out", "t.jsonl")
    assert (done.code, done.out, done.err) == (0, "", "conversation first written to t.jsonl\n")
    here = run("why", "--session", "first", "--turn", "2")
    (folder / "saywhy.db").unlink()
    there = run("why", "--file", "t.jsonl", "--turn", "2")
    assert (there.code, there.err) == (0, "")
    assert there.out == here.out
    told = run("why", "--file", "t.jsonl", "--variable", "fee", "--json").data[0]
    assert told["conversation"] == "t.jsonl"
    done = run("why", "--file", "t.jsonl", "--session", "first")
    assert (done.code, done.err) == (
        2,
        "saywhy: a trace file holds one conversation, and no store is looked into\n"
        "    leave --session and --store out\n",
    )


@pytest.mark.usefixtures("played")
def test_formats(run: Run) -> None:
    """Spans as JSON lines, a picture, a document; without --session of the newest conversation."""
    lines = run("export", "--format", "otel", "--session", "first").data
    spans = [span for one in lines for span in one["resourceSpans"][0]["scopeSpans"][0]["spans"]]
    assert "invoke_workflow Pay" in [span["name"] for span in spans]
    picture = run("export", "--format", "mermaid").lines
    assert picture[:2] == ["flowchart TD", '  subgraph f0["Pay"]']
    document = json.loads(run("export", "--json", "--turn", "1").out)
    assert (document["conversation"], len(document["turns"])) == ("second", 1)
    told = run("export", "--format", "otel", "--session", "first", "--content").out
    assert "saywhy.step" in told


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--json", "--format", "otel"), "--json and --format otel are two formats"),
        (
            ("--turn", "1"),
            "--turn is for a picture or a document: the format trace holds all turns",
        ),
        (("--content",), "--content and --send are about spans"),
        (("--send", "--format", "json"), "--content and --send are about spans"),
    ],
)
def test_what_does_not_fit_together(run: Run, arguments: tuple[str, ...], error: str) -> None:
    """Options that contradict one another are told, and nothing is written."""
    done = run("export", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"saywhy: {error}\n")


@pytest.mark.usefixtures("played")
def test_spans_are_sent_where_something_takes_them(run: Run) -> None:
    """Without a provider that is said; with one, every span arrives in it."""
    done = run("export", "--format", "otel", "--send")
    assert done.code == 2
    assert done.err.startswith(
        "saywhy: spans cannot be sent: no OpenTelemetry is set up in this program\n"
    )
    # The provider is set for a whole process: in one of its own.
    program = """
import sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
from saywhy.cli.main import main

kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
set_tracer_provider(provider)
code = main(["export", "--session", "first", "--format", "otel", "--send"])
print(code, sorted({span.name for span in kept.get_finished_spans()}))
"""
    sent = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert sent.stdout.splitlines() == [
        "the spans of conversation first were handed to OpenTelemetry",
        "0 ['invoke_workflow Pay', 'turn']",
    ]


@pytest.mark.usefixtures("played")
def test_draw_marks_the_path(run: Run, folder: Path, pay: str) -> None:
    """`draw --session` marks what a conversation took, and says where a flow was changed since."""
    done = run("draw", pay, "--session", "first")
    assert (done.code, done.err) == (0, "")
    assert "    class f0_3 visited" in done.lines  # a fee of 8 is high
    assert "    class f0_4 missed" in done.lines
    assert done.lines[-1] == "  linkStyle 0,1,2,4,6,7 stroke:#2e7d32,stroke-width:3px"
    alone = run("draw", pay, "--flow", "Pay", "--session", "second", "--turn", "2")
    assert "    class f0_0 missed" in alone.lines
    path = folder / pay
    path.write_text(path.read_text(encoding="utf-8").replace("No fee.", "Free."), encoding="utf-8")
    done = run("draw", pay, "--session", "first")
    assert done.err == "Pay was changed since: its path is drawn on the steps of today\n"
    done = run("draw", pay, "--turn", "2")
    assert (done.code, done.err) == (
        2,
        "saywhy: --turn and --store are about a conversation\n    --session ID\n",
    )


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize("command", [("export",), ("audit", "export", "--all")])
def test_the_store_is_not_written_over(run: Run, folder: Path, command: tuple[str, ...]) -> None:
    """The store that is read stays as it is; what cannot be written is said without a traceback."""
    before = (folder / "saywhy.db").read_bytes()
    done = run(*command, "--out", "saywhy.db")
    assert (done.code, done.err) == (
        2,
        "saywhy: saywhy.db is the store that is read: writing there would destroy it\n"
        "    name another file\n",
    )
    assert (folder / "saywhy.db").read_bytes() == before
    done = run(*command, "--out", "nodir/x")
    assert (done.code, done.err) == (
        2,
        "saywhy: cannot write nodir/x: no such file or directory\n"
        "    there is no folder nodir: make it first\n",
    )
    assert run(*command, "--out", ".").err.startswith("saywhy: cannot write .: this is a folder\n")


@pytest.mark.parametrize(
    "command",
    [["export", "--format", "json"], ["export", "--format", "mermaid"], ["draw", "PAY"]],
)
@pytest.mark.parametrize("turn", ["0", "99", "-1"])
@pytest.mark.usefixtures("played")
def test_a_turn_that_never_was(run: Run, pay: str, command: list[str], turn: str) -> None:
    """It is refused: an empty document would say that nothing happened in it."""
    named = [pay if one == "PAY" else one for one in command]
    done = run(*named, "--session", "second", "--turn", turn)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        f"saywhy: turn {turn} is not in this record\n    it holds turns 1 to "
    )
