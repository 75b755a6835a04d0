"""Promise: every sentence can be traced to its causes, in real conversations on a real store."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.clock import FakeClock
from saywhy.testing.scenario import Scenario, World, _Player, load_scenarios
from saywhy.trace.causes.chain import Chain
from saywhy.trace.causes.why import Reply, Variable, why
from saywhy.trace.export.file import lines_of, read_trace, trace_of, write_trace
from saywhy.trace.masking.redact import MARK, Policy
from saywhy.trace.narrative.story import narrative
from saywhy.trace.record import encode
from saywhy.trace.trace import Trace
from saywhy.trace.transactions import events, transactions

ROOT = Path(__file__).parent.parent.parent
PAYMENT = ROOT / "examples" / "payment"
CORPUS = ROOT / "tests" / "cases" / "flows"


def payment_functions() -> Mapping[str, Any]:
    spec = importlib.util.spec_from_file_location("payment_functions", PAYMENT / "functions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FUNCTIONS


def payment_engine(store: Path, **options: Any) -> Engine:
    return Engine(
        flows=str(PAYMENT / "payment.flows.json"),
        tools=str(PAYMENT / "payment.tools.json"),
        functions=payment_functions(),
        store=SqliteStore(store),
        clock=FakeClock(),
        guidance={"enabled": False},
        **options,
    )


async def talk(store: Path, *texts: str, engine: Engine | None = None) -> Trace:
    """Takes each text as a turn, every one in an engine of its own unless one is given."""
    for text in texts:
        async with engine or payment_engine(store) as one:
            await one.take_turn("s", text)
    async with engine or payment_engine(store) as one:
        return await one.trace("s")


def told(chain: Chain) -> list[tuple[str, int | None]]:
    """Each line of the text with the line of the flow file it names."""
    found: list[tuple[str, int | None]] = []
    for line in chain.text(400).splitlines():
        text, _, place = line.strip().partition("  ")
        number = re.search(r"payment\.flows\.json:(\d+)$", place.strip())
        found.append((text, int(number[1]) if number else None))
    return found


def line_of(step: str) -> int:
    """On which line of the payment flows a step of this id begins."""
    lines = (PAYMENT / "payment.flows.json").read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if f'"id": "{step}"' in line)
    while "{" not in lines[at]:
        at -= 1
    return at + 1


async def test_the_last_reply_of_a_payment(tmp_path: Path) -> None:
    """Condition with the values it read, tool results behind it, words behind those: each with
    file and line, though every turn ran in an engine of its own."""
    trace = await talk(tmp_path / "store.db", "pay", "80", "Ann", "confirm")
    chain = why(trace)
    assert chain.target.sentence == '"Sent 80 to Ann. The receipt is R-8000." (turn 4)'
    lines = dict(told(chain))
    for text, step in {
        'said by SAY "done" of Pay': "done",
        'amount = 80 was set by SET "to-number" of Pay: `Number(amount)`': "to-number",
        'amount is what the user said in turn 2: "80"': "ask-amount",
        'payee is what the user said in turn 3: "Ann"': "ask-payee",
        'fee = 8 is the result of tool fee-for({"amount": 80})': "get-fee",
        'answer is what the user said in turn 4: "confirm"': "confirm",
    }.items():
        assert text in lines
        assert lines[text] == line_of(step)
    receipt = next(cause for cause in chain.causes if cause.name == "receipt.id")
    assert receipt.sentence == (
        'receipt.id = "R-8000" comes from the result of tool '
        'charge({"amount": 80, "fee": 8, "payee": "Ann"})'
    )
    assert (receipt.flow, receipt.step) == ("Charge", "charge")
    assert receipt.place.line > line_of("done")
    [decision] = [cause for cause in chain.causes if cause.kind == "decision" and cause.place.file]
    assert decision.step == "confirmed"
    assert decision.place.line == line_of("confirmed")
    assert [value for _, value in decision.read] == ["confirm"]
    assert chain.marks == []
    assert chain.left_out == 0


async def test_the_fee_is_explained_by_its_rule(tmp_path: Path) -> None:
    """A CASE shows the condition that held, with the tool's result it looked at."""
    trace = await talk(tmp_path / "store.db", "pay", "80", "Ann")
    texts = [text for text, _ in told(why(trace))]
    assert 'because CASE "explain-fee" of Pay chose `fee > 5` (fee = 8)' in texts
    cheap = await talk(tmp_path / "other.db", "pay", "20", "Ann")
    texts = [text for text, _ in told(why(cheap))]
    assert 'because CASE "explain-fee" of Pay chose default, as no condition held' in texts
    assert "`fee > 5` was false (fee = 2)" in texts


async def test_a_variable_after_its_flow_ended(tmp_path: Path) -> None:
    """The flow is over and its variables are gone; the record still explains them."""
    trace = await talk(tmp_path / "store.db", "pay", "80", "Ann", "confirm", "nothing of that")
    chain = why(trace, Variable("fee"))
    assert chain.target.sentence == 'fee = 8 is the result of tool fee-for({"amount": 80})'
    assert chain.target.place.line == line_of("get-fee")
    before = why(trace, Variable("amount", turn=2))
    assert before.target.sentence == 'amount is what the user said in turn 2: "80"'


async def test_the_explanation_survives_a_file(tmp_path: Path) -> None:
    """A trace that was written to a file explains itself on a machine without the store."""
    trace = await talk(tmp_path / "store.db", "pay", "80", "Ann", "confirm")
    write_trace(trace, tmp_path / "payment.jsonl")
    back = read_trace(tmp_path / "payment.jsonl")
    for turn in (1, 2, 3, 4):
        assert why(back, Reply(turn)).text() == why(trace, Reply(turn)).text()
    assert narrative(back) == narrative(trace)
    assert transactions(back) == transactions(trace)


async def test_transactions_and_events(tmp_path: Path) -> None:
    """What an audit asks: which flows ran, how they ended, which tools were called."""
    trace = await talk(tmp_path / "store.db", "pay", "80", "Ann", "confirm")
    pay, charge = transactions(trace)
    assert (pay.flow_name, pay.state, pay.initiator) == ("Pay", "completed", "user-input")
    assert (charge.flow_name, charge.parent_transaction) == ("Charge", pay.id)
    steps = {step.step_id: step for step in pay.steps}
    assert steps["ask-amount"].result == "80"
    assert steps["done"].result == "Sent 80 to Ann. The receipt is R-8000."
    assert [event.data["tool"] for event in events(trace, "tool_executed")] == ["fee-for", "charge"]
    assert [event.flow for event in events(trace, "flow_exit")] == ["Charge", "Pay"]


# ------------------------------------------------------------------ what must not be shown

CANARY = "CANARY-9f3a7b-4711"

SECRET_FLOW = {
    "id": "secret",
    "name": "Secret",
    "primary": True,
    "prompt": "secret",
    "description": "takes a secret through everything",
    "steps": [
        {"id": "ask", "type": "SAY-GET", "variable": "card", "pii": True, "value": "Card?"},
        {
            "id": "login",
            "type": "CALL-TOOL",
            "tool": "login",
            "args": {"plain": "{{card}}", "note": "card {{card}}"},
            "variable": "found",
        },
        {
            "id": "check",
            "type": "CASE",
            "branches": {
                "condition: card.length > 3": {
                    "id": "copy",
                    "type": "SET",
                    "variable": "copy",
                    "value": "card + '!'",
                },
                "default": {"id": "short", "type": "SAY", "value": "Too short."},
            },
        },
        {"id": "call", "type": "SET", "variable": "made", "value": "shout(card)"},
        {"id": "say", "type": "SAY", "value": "{{card}} {{copy}} {{made}} {{found.echo}}"},
        {"id": "again", "type": "SAY-GET", "variable": "more", "value": "Again {{card}}?"},
        {"id": "later", "type": "SET", "variable": "later", "value": "`${card} ${more}`"},
        {"id": "bad", "type": "SET", "variable": "bad", "value": "nothing[card]"},
        {
            "id": "fail",
            "type": "CALL-TOOL",
            "tool": "fail",
            "args": {"plain": "{{card}}"},
            "variable": "error",
        },
    ],
}


def tool(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": {"plain": {"type": "string"}}},
        "implementation": {"type": "local", "function": name},
    }


def refuse(arguments: Mapping[str, Any]) -> Any:
    raise ValueError(f"refused {arguments['plain']}")


async def test_a_sensitive_answer_is_nowhere_in_the_record(tmp_path: Path) -> None:
    """A sensitive answer goes through every kind of step; no commit, chain, story, file or log
    line has it, and the explanation says that something was masked."""
    logged: list[str] = []

    class Log:
        def debug(self, text: object, *more: object) -> None:
            logged.append(f"{text} {more}")

        info = warn = error = debug

    store = tmp_path / "store.db"
    engine = Engine(
        flows=[SECRET_FLOW],
        tools=[tool("login"), tool("fail")],
        functions={
            "login": lambda arguments: {"echo": json.dumps(dict(arguments))},
            "shout": lambda text: f"{text}!!",
            "fail": refuse,
        },
        store=SqliteStore(store),
        logger=Log(),
        validate_on_init=False,
        redact=Policy(),
    )
    async with engine:
        replies = [await engine.take_turn("s", text) for text in ("secret", CANARY, "yes")]
        trace = await engine.trace("s")
    assert CANARY in (replies[1].response or "")  # the user sees it: the author wrote it so
    chain = why(trace, Reply(2))
    shown = [chain.text(), json.dumps(chain.to_json()), narrative(trace, format="json")]
    shown += [line.decode() for line in lines_of(trace)] + logged
    shown += [str(each) for each in (*transactions(trace), *events(trace))]
    assert [text for text in shown if CANARY in text] == []
    rows = sqlite3.connect(store).execute('select * from "commit"').fetchall()
    assert rows
    assert [row for row in rows if CANARY in str(row)] == []
    assert "card: masked in the record" in chain.marks
    assert MARK in chain.target.sentence


# ------------------------------------------------------------------ the corpus

SCENARIOS = [one for path in sorted(CORPUS.glob("*.json")) for one in load_scenarios(path)]
PLAYED = [one for one in SCENARIOS if one.ai is None and not one.http]


async def record_of(scenario: Scenario) -> Trace:
    player = _Player(scenario, World(), None)
    await player.play()
    return await player.engine.trace(player.session)


@pytest.mark.parametrize("scenario", PLAYED, ids=lambda scenario: scenario.id)
async def test_every_reply_of_the_corpus_reaches_its_roots(scenario: Scenario) -> None:
    """Whatever a conversation does, no chain ends before a root and none is in doubt; the story is
    told; and the record comes back from a file as it was."""
    trace = await record_of(scenario)
    for message in trace.messages():
        if message.role != "assistant" or not message.text:
            continue
        chain = why(trace, Reply(message.turn))
        effects = {link.effect for link in chain.links}
        ends = [cause for cause in chain.causes if cause.id not in effects]
        assert [cause.sentence for cause in ends if not cause.root] == []
        assert [cause.sentence for cause in ends if cause.root == "unrecorded"] == []
        assert chain.marks == []
        assert chain.left_out == 0
        assert chain.target.sentence.endswith(f"(turn {message.turn})")
        assert len(chain.text().splitlines()) > 1
    assert narrative(trace)
    back = trace_of(lines_of(trace))
    assert [encode(commit) for commit in back] == [encode(commit) for commit in trace]
    assert narrative(back) == narrative(trace)


async def test_what_a_host_started_a_flow_with_is_a_root() -> None:
    """A variable the host gave has no cause of its own: the chain ends there, and says so."""
    flow = {"id": "f", "name": "F", "steps": [{"id": "say", "type": "SAY", "value": "{{amount}}"}]}
    engine = Engine(flows=[flow], validate_on_init=False)
    entry = {"content": "", "start": {"flow": "F", "arguments": {"amount": 80}}}
    session = await engine.update_activity(entry, engine.init_session("ann"))
    chain = why(session.trace, Reply())
    given = next(cause for cause in chain.causes if cause.name == "amount")
    assert (given.sentence, given.root) == ("amount = 80 was given when F was started", "host")


async def test_an_expression_that_failed_is_part_of_the_reason() -> None:
    """A text with a hole, a value that is an error and a branch not taken each say what failed."""
    flow = {
        "id": "pay",
        "name": "Pay",
        "primary": True,
        "steps": [
            {"id": "fee", "type": "SET", "variable": "fee", "value": "cargo.a.b"},
            {
                "id": "pick",
                "type": "CASE",
                "branches": {
                    "condition: rate(fee) > 5": {"id": "high", "type": "SAY", "value": "High."},
                    "default": {"id": "low", "type": "SAY", "value": "Low {{nothing(1)}}{{fee}}"},
                },
            },
        ],
    }
    engine = Engine(flows=[flow], validate_on_init=False, guidance={"enabled": False})
    session = await engine.update_activity("Pay", engine.init_session("ann", "s"))
    told = why(await engine.trace(session), Reply(1)).text(400)
    lines = [line.strip() for line in told.splitlines()]
    places = {
        line.split(" in Pay")[0]: line.rpartition(": ")[2] for line in lines if "warn" in line
    }
    assert places == {
        "with a warning: {{nothing(1)}}": "nothing is not defined",
        "with a warning: {{rate(fee) > 5}}": "rate is not defined; fee is text",
        "with a warning: {{cargo.a.b}}": "cannot read property 'b' of undefined; cargo.a is "
        "undefined",
    }
