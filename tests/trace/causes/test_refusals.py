"""Why an answer was refused: the rules that did it, each with its place in the author's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from saywhy.runtime.engine import Engine
from saywhy.trace.causes.why import Reply, why
from saywhy.trace.masking.redact import MARK
from saywhy.trace.narrative.story import narrative
from saywhy.trace.trace import Trace

FLOWS = """[
  { "id": "pay", "name": "Pay", "version": "1.0", "primary": true, "prompt": "pay",
    "description": "Pays an amount",
    "steps": [
      { "id": "ask", "type": "SAY-GET", "variable": "amount", "value": "How much?", PII
        "inputValidation": {
          "patterns": [
            {"field": "amount", "pattern": "^[0-9]+$", "message": "digits only"},
            {"field": "amount", "pattern": "^.{1,9}$"}
          ],
          "customValidator": "even" } },
      { "id": "done", "type": "SAY", "value": "Paid {{amount}}.",
        "onFail": { "id": "sorry", "type": "SAY", "value": "Sorry." },
        "inputValidation": {"patterns": [
          {"field": "amount", "pattern": "^8"}
        ]} }
    ] }
]"""


def even(variables: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
    amount = variables["amount"]
    return {"isValid": amount.isdigit() and int(amount) % 2 == 0, "errors": ["must", "be even"]}


async def traced(folder: Path, *words: str, pii: bool = False) -> Trace:
    """What was recorded of a conversation on the flow above."""
    file = folder / "pay.json"
    file.write_text(FLOWS.replace("PII", '"pii": true,' if pii else ""))
    engine = Engine(flows=str(file), functions={"even": even}, guidance={"enabled": False})
    session = engine.init_session("ann", "c1")
    for text in ("pay", *words):
        session = await engine.update_activity(text, session)
    return session.trace


def lines(text: str, folder: Path) -> list[str]:
    """The text without indentation, single blanks before places."""
    return [" ".join(line.replace(f"{folder}/", "").split()) for line in text.splitlines()]


async def test_each_rule_that_refused_is_named_with_its_place(tmp_path: Path) -> None:
    """Patterns with the value they refused, a validator with what it said."""
    trace = await traced(tmp_path, "abc")
    told = lines(why(trace).text(400), tmp_path)
    assert told[1:7] == [
        'asked by SAY-GET "ask" of Pay, as the input was not right pay.json:5',
        'because the pattern `^[0-9]+$` refused amount = "abc" pay.json:8',
        'amount is what the user said in turn 2: "abc" pay.json:5',
        "because the validator `even` refused what was entered: must, be even pay.json:11",
        'the user said in turn 2: "abc"',
        'because Pay was started, as the user said in turn 1: "pay"',
    ]


async def test_only_rules_that_refused_are_named(tmp_path: Path) -> None:
    """The first pattern held, the second did not; a step that says refuses as one that asks."""
    trace = await traced(tmp_path, "12345678901", "44")
    refused = lines(why(trace, Reply(2)).text(400), tmp_path)
    assert refused[2] == (
        'because the pattern `^.{1,9}$` refused amount = "12345678901" pay.json:9'
    )
    assert "[0-9]" not in " ".join(refused[2:])
    later = lines(why(trace, Reply(3)).text(400), tmp_path)
    assert later[1:3] == [
        'asked by SAY "done" of Pay, as the input was not right pay.json:12',
        'because the pattern `^8` refused amount = "44" pay.json:15',
    ]


async def test_a_validator_before_a_step_that_takes_no_answer() -> None:
    """What it may have looked at is told: it is handed every variable."""
    steps = [
        {"id": "put", "type": "SET", "variable": "amount", "value": "'7a'"},
        {
            "id": "done",
            "type": "SAY",
            "value": "Paid.",
            "inputValidation": {"customValidator": "even"},
        },
    ]
    flows = [{"id": "pay", "name": "Pay", "steps": steps}]
    engine = Engine(
        flows=flows, functions={"even": even}, guidance={"enabled": False}, validate_on_init=False
    )
    session = await engine.update_activity("Pay", engine.init_session("ann"))
    told = [" ".join(line.split()) for line in why(session.trace).text(400).splitlines()]
    assert told[2:4] == [
        "because the validator `even` refused what was entered: must, be even",
        'amount = "7a" is written in SET "put" of Pay',
    ]


async def test_a_step_that_gave_up(tmp_path: Path) -> None:
    """What runs instead is explained by the rule that refused the last answer."""
    trace = await traced(tmp_path, "44", *["no"] * 5)
    told = lines(why(trace).text(400), tmp_path)
    assert told[0].startswith('"Sorry." (turn 7)')
    assert told[2] == (
        'because SAY "done" of Pay failed: the input is still not right after 5 tries:'
        " Field amount does not match required pattern pay.json:12"
    )
    assert told[3] == 'because the pattern `^8` refused amount = "no" pay.json:15'


async def test_the_story_tells_it_too(tmp_path: Path) -> None:
    """In the order in which it happened: the answer, what refused it, the question."""
    trace = await traced(tmp_path, "abc")
    story = narrative(trace)
    assert (
        'The pattern `^[0-9]+$` refused amount = "abc". '
        "The validator `even` refused what was entered: must, be even. Asked"
    ) in " ".join(story.split())


async def test_a_sensitive_answer_is_not_told(tmp_path: Path) -> None:
    """The rule is named, what it refused is masked, and the chain says so."""
    chain = why(await traced(tmp_path, "hunter2hunter2", pii=True))
    assert "hunter2" not in chain.text(400) + str(chain.to_json())
    rule = next(each for each in chain.causes if each.sentence.startswith("the pattern"))
    assert rule.sentence == f"the pattern `^[0-9]+$` refused amount = {MARK}"
    assert any(mark.startswith("amount: ") for mark in rule.marks)


async def test_the_decision_stands_in_the_record(tmp_path: Path) -> None:
    """A step that refused has decided so, for these rules and with this evidence."""
    trace = await traced(tmp_path, "abc")
    (commit,) = [each for each in trace.decisions if each.flow == "Pay"]
    assert commit.decision is not None
    assert commit.decision.chosen == "refused"
    assert [(each.text, each.branch) for each in commit.decision.conditions] == [
        ("^[0-9]+$", "/inputValidation/patterns/0"),
        ("even", "/inputValidation/customValidator"),
    ]
