"""Promise: the examples run as they stand, offline.

Those of flows pass `saywhy check` and their scenarios; those of agents hand their model exactly
what their texts promise, by themselves and in `saywhy agent`.
"""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pages import fences
from saywhy import DefinitionError

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDERS = sorted(path for path in EXAMPLES.iterdir() if (path / "scenarios").is_dir())

AGENTS = sorted(EXAMPLES.glob("*.py"))

folders = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)


def saywhy(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("saywhy")
    return ran(str(program), *arguments, given=given)


def ran(*command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=EXAMPLES,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@folders
def test_flows_have_no_problem(folder: Path) -> None:
    """`saywhy check` finds neither errors nor warnings in the flow and tool files."""
    files = [
        path.relative_to(EXAMPLES).as_posix()
        for path in sorted(folder.iterdir())
        if path.name.endswith((".flows.json", ".flows.yaml", ".tools.json"))
    ]
    functions = ["--functions", f"{folder.name}.functions:FUNCTIONS"]
    done = saywhy("check", *files, *(functions if (folder / "functions.py").exists() else []))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(": 0 errors, 0 warnings"), done.stdout


@folders
def test_scenarios_pass(folder: Path) -> None:
    """`saywhy test` passes every scenario of the example."""
    done = saywhy("test", folder.name)
    assert done.returncode == 0, done.stdout + done.stderr
    count = len(list((folder / "scenarios").glob("*.json")))
    assert done.stdout.splitlines()[-1] == f"{count} passed, 0 failed"


def test_the_tutorial_ends_with_the_example() -> None:
    """The files of "a wrong answer, found" are those of the example but for the planted fault."""
    pages = fences(EXAMPLES.parent / "docs" / "tutorial" / "wrong-answer.md")
    shown = {fence.file: fence.text for fence in pages if fence.file}
    assert len(shown) == 6
    for name, text in shown.items():
        there = (EXAMPLES / name).read_text(encoding="utf-8")
        fault = "returns.flows.json" in name
        assert text == (there.replace("order.delivered", "order.ordered") if fault else there), name
        assert (text != there) == fault


# ------------------------------------------------------------------ agents


def example(name: str) -> ModuleType:
    """A fresh copy of an example, with a model that nobody has asked yet."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def played(name: str) -> ModuleType:
    """An example after its own `main`."""
    module = example(name)
    asyncio.run(module.main())
    return module


SAID = {
    "desk": "money | This month means until the 31st.",
    "evidence": '{"day":"Friday","from":9,"to":20} mismatch messages[2]',
    "inventory": "leave it as the tool's author wrote it, or add a stricter one; "
    "allow_unsafe=True permits this",
    "loan": 'it read: {"steps":["income 1,900 a month","instalment 1,100 a month","limit 40 %"]}',
    "orders": "It is on the van and should be with you today.",
    "refund": "['check_order', 'refund'] | You answer for a shop. / The order was denied. Be kind, "
    "and pay back what was paid.",
}


def test_every_agent_is_listed() -> None:
    """No example is forgotten here, nor on the page about them."""
    names = [path.stem for path in AGENTS]
    assert names == sorted(SAID)
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in names if f"[{name}]({name}.py)" not in page] == []


@pytest.mark.parametrize("name", SAID)
def test_an_agent_runs_by_itself(name: str) -> None:
    """`python examples/NAME.py` needs no key and no network, and comes to its last line."""
    done = ran(sys.executable, "-W", "error", f"{name}.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].strip() == SAID[name]


@pytest.mark.parametrize("name", SAID)
def test_an_agent_can_be_talked_to(name: str) -> None:
    """`saywhy agent` takes each of them, and every call of its model is verified."""
    done = saywhy("agent", f"{name}.py:agent", given="hello\n/receipt\n")
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == next(one["reply"] for one in script_of(name) if "reply" in one)
    calls = [line for line in rest if line.startswith("call ")]
    assert calls and all(": verified (" in line for line in calls)


def script_of(name: str) -> list[dict[str, str]]:
    return list(example(name).model._left)


def test_loan() -> None:
    """The offer names the id from the answer; "why" makes the call with it, without the model."""
    model = played("loan").model
    judged = model.asked[1].messages[-1]["content"]
    assert judged == (
        '{"status":"denied","trace_id":"tr_8f3a91c0d2"}\n\n'
        "[AVAILABLE ACTION]\n"
        "Action: Read how the decision was reached\n"
        "Tool: read_record\n"
        'Parameters: {"trace_id":"tr_8f3a91c0d2"}\n'
        "Use when: User asks why the loan was denied\n\n"
        "[INSTRUCTION] Say it gently. Do not promise that the decision will change."
    )
    assert len(model.asked) == 3  # the second turn asked it once: for the words
    words, call, record = model.asked[2].messages[-3:]
    assert (words["role"], words["content"]) == ("user", "Why was it denied?")
    [made] = call["tool_calls"]
    assert (made["name"], dict(made["arguments"])) == (
        "read_record",
        {"trace_id": "tr_8f3a91c0d2"},
    )
    assert record["tool_call_id"] == made["id"]
    assert "instalment 1,100" in record["content"]


def test_loan_asked_something_else() -> None:
    """Words about something else make no call: the model is asked with them, and that is all."""
    module = example("loan")
    talk = module.agent.conversation()

    async def run() -> None:
        await talk.run("I am Ann. Can I borrow 60000?")
        await talk.run("When do you close today?")

    asyncio.run(run())
    newest = module.model.asked[2].messages[-1]
    assert (newest["role"], newest["content"]) == ("user", "When do you close today?")


def test_loan_granted() -> None:
    """An answer to which no rule applies reaches the model as it is."""
    module = example("loan")
    module.model._left[0]["tool_calls"][0]["arguments"]["amount"] = 5000
    result = asyncio.run(module.agent.run("I am Ann. Can I borrow 5000?"))
    assert module.model.asked[1].messages[-1]["content"] == '{"status":"granted"}'
    assert result.follow_ups == ()


def test_orders() -> None:
    """Kindness stands before safety, which is last; a shipped order has an offer and neither."""
    model = played("orders").model
    cancelled = model.asked[1].messages[-1]["content"]
    assert cancelled.partition("\n\n")[2] == (
        "[INSTRUCTION] The order was cancelled. Be kind, and offer to order anew.\n\n"
        "[INSTRUCTION] The answer holds personal data. Never repeat it."
    )
    shipped = model.asked[3].messages[-1]["content"].partition("\n\n")[2]
    assert 'Parameters: {"parcel":"PX-5583-0091-77"}' in shipped
    assert "[INSTRUCTION]" not in shipped
    tracked = model.asked[4].messages[-1]
    assert tracked["content"] == '{"parcel":"PX-5583-0091-77","where":"on the van"}'


def test_orders_of_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """An unknown order is a failed call: only the rule about it fires, and no condition raises."""
    module = example("orders")
    module.model._left[0]["tool_calls"][0]["arguments"]["order"] = "o-77"
    asyncio.run(module.agent.run("What about order o-77?"))
    told = module.model.asked[1].messages[-1]["content"].split("\n\n")
    assert told[0] == '{"error":true,"message":"KeyError: \'o-77\'"}'
    assert told[1:] == ["[INSTRUCTION] The order was not found. Ask for its id again."]
    assert caplog.messages == []


def test_refund() -> None:
    """The denied order brings prompt, tool and rule in the next round, not before."""
    model = played("refund").model
    before, denied, paid = model.asked
    assert before.system == "You answer for a shop."
    assert [tool["name"] for tool in before.tools or ()] == ["check_order"]
    assert denied.system == (
        "You answer for a shop.\n\nThe order was denied. Be kind, and pay back what was paid."
    )
    assert [tool["name"] for tool in denied.tools or ()] == ["check_order", "refund"]
    assert paid.messages[-1]["content"] == (
        '{"order":"o-9","refunded":1500}\n\n'
        "[INSTRUCTION] Say how much was paid back, and that it takes five days."
    )


def test_refund_of_a_paid_order() -> None:
    """Where the order was not denied the tool is not offered, and calling it all the same fails."""
    module = example("refund")
    module.model._left[0]["tool_calls"][0]["arguments"]["order"] = "o-1"
    module.model._left[1]["tool_calls"][0]["arguments"]["order"] = "o-1"
    result = asyncio.run(module.agent.run("What happened to order o-1?"))
    asked = module.model.asked
    assert [tool["name"] for tool in asked[1].tools] == ["check_order"]
    assert asked[2].messages[-1]["content"] == (
        '{"error":true,"message":"Tool \'refund\' not found"}'
    )
    assert dict(result.decision) == {"status": "paid", "risk": "high"}


def test_inventory() -> None:
    """One rule is gone, one says something else, one is added; that of safety is as it was."""
    module = played("inventory")
    assert module.model.asked[1].messages[-1]["content"].split("\n\n")[1:] == [
        "[INSTRUCTION] Sold out. Suggest the showroom, where one may be left.",
        "[INSTRUCTION] Offer to write as soon as it is back.",
        "[INSTRUCTION] Never promise a date of delivery.",
    ]
    assert [rule.id for rule in module.CHECK_STOCK.instructions] == [
        *("few-left", "sold-out", "no-dates")
    ]
    with pytest.raises(DefinitionError, match='reaches the safety instruction "no-dates"'):
        module.careless()


def test_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    """Both calls are verified with what the model really had, and the forged record is not."""
    model = played("evidence").model
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["call 1: verified, 1 messages", "call 2: verified, 3 messages"]
    asked = model.asked[1]
    assert lines[3] == asked.system.replace("\n\n", " / ")
    assert lines[4] == asked.messages[-1]["content"]
    assert lines[-1].endswith("mismatch messages[2]")


def test_desk() -> None:
    """Whoever took over read it all, asked the board inside the run, and went on in the next."""
    module = played("desk")
    asked = module.model.asked
    assert [ask.system.split()[0] for ask in asked] == ["Find", "You", "You", "You"]
    assert asked[2].messages[-1]["content"] == (
        "sales: Yes, it is a large order.\ncosts: Yes, but only this month."
    )
    assert [one["role"] for one in asked[3].messages][-2:] == ["assistant", "user"]
    assert module.agent.checkpoint().count(b'"carried":{"active":"money"}') == 1
