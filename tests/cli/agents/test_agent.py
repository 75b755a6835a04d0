"""`saywhy agent`: what is shown, what is kept, what can be asked, and how everything fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..conftest import Run, write
from .conftest import ASK, FIND, SHOP, script

# ------------------------------------------------------------------ talking


def test_lines_are_messages(run: Run) -> None:
    """Each line is said to the agent, each answer is a line; the rest is on standard error."""
    done = run("agent", "shop.py", "--script", script("Hello.", "Bye."), stdin="hi\n\nbye\n")
    assert (done.code, done.out) == (0, "Hello.\nBye.\n")
    assert done.err == "a new conversation with shop; /help says what can be typed\n"


def test_pieces_are_shown_once(run: Run) -> None:
    """An answer that comes in pieces is one line, and not repeated when it is whole."""
    chunks = script({"chunks": ["Hel", "lo", "."]}, "Bye.")
    done = run("agent", "shop.py", "--script", chunks, stdin="hi\nbye\n")
    assert done.out == "Hello.\nBye.\n"


def test_calls_are_shown_when_wanted(run: Run) -> None:
    """--verbose shows each call with its arguments and what it gave; without it nothing of that."""
    answers = script({**FIND, "reply": "Let me see."}, "It is on its way.")
    done = run("agent", "shop.py", "--script", answers, "--verbose", stdin="order 17?\n")
    assert done.out == "Let me see.\nIt is on its way.\n  /1  Track the parcel\n"
    assert '→ find_order({"id": "17"})\n← {"id":"17","parcel":"PX-1"}\n' in done.err
    quiet = run("agent", "shop.py", "--script", answers, stdin="order 17?\n")
    assert "find_order" not in quiet.out + quiet.err


def test_offered_actions(run: Run) -> None:
    """What a tool offered is numbered, and /1 carries it out as it was offered."""
    answers = script(FIND, "It is on its way.", "At PX-1.")
    done = run("agent", "shop.py", "--script", answers, "--verbose", stdin="17?\n/1\n/1\n")
    assert done.out == "It is on its way.\n  /1  Track the parcel\nAt PX-1.\n"
    assert '→ track({"parcel": "PX-1"})\n← at PX-1\n' in done.err
    assert done.err.endswith("there is no action /1\n    nothing is offered now\n")


def test_a_person_is_asked(run: Run) -> None:
    """The question stands where an answer would, and the next line is what the person says."""
    answers = script(ASK, "To Rome, then.")
    done = run("agent", "shop.py", "--script", answers, "--verbose", stdin="send it\nRome\n")
    assert done.out == "? Which town?\nTo Rome, then.\n"


PAY = """from saywhy import Agent, tool


@tool(approval={"by": "the boss"}, effect="once")
def pay(amount: int):
    '''Pays an amount.

    Args:
        amount: How much.
    '''
    return f"paid {amount}"


def agent(model):
    return Agent(model, name="payer", tools=[pay])
"""


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("Yes", "← paid 5\n"),
        ("no", '← failed: {"error":true,"message":"not approved"}\n'),
        ("too much", '← failed: {"error":true,"message":"not approved: too much"}\n'),
    ],
)
def test_a_call_is_approved(run: Run, folder: Path, word: str, told: str) -> None:
    """A call that a person must approve is made after a plain yes; all else is a reason not to."""
    write(folder / "payer.py", PAY)
    answers = script({"tool_calls": [{"name": "pay", "arguments": {"amount": 5}}]}, "Done.")
    lines = f"pay 5\n{word}\n"
    done = run("agent", "payer.py", "--script", answers, "--verbose", stdin=lines)
    assert done.out == '? May pay be called with {"amount":5}? (yes, or why not)\nDone.\n'
    assert told in done.err


def test_a_slash_can_be_said(run: Run) -> None:
    """// begins a message with a slash; a command that does not exist is told, and nothing sent."""
    model = "shop.py:careful"
    done = run("agent", "shop.py", "--model", model, stdin="//why\n/wyh\n/\n")
    assert done.out == "careful: /why\n"
    assert 'there is no command /wyh\n    did you mean "/why"?\n' in done.err
    assert done.err.endswith("/help lists them; //text says a text with a slash\n")


def test_an_end_by_command(run: Run) -> None:
    """/quit leaves at once, and /help says so."""
    done = run("agent", "shop.py", "--script", script("Hello."), stdin="/help\n/quit\nhi\n")
    assert done.out.startswith("/why         what the last run did, step by step\n")
    assert "Hello." not in done.out


def test_stopping_early_is_told(run: Run, folder: Path) -> None:
    """An answer that the limit of rounds forced is not taken for a real one."""
    write(
        folder / "short.py",
        SHOP.replace('name="shop",', 'name="shop", max_iterations=0,'),
    )
    done = run("agent", "short.py", "--script", script({**FIND, "reply": "Hm."}), stdin="17?\n")
    assert done.out == "Hm.\n"
    assert done.err.endswith("(it stopped after 0 rounds of tools, still wanting more)\n")


# ------------------------------------------------------------------ what can be talked to


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("builder_function", "built"),
        ("later", "later"),
        ("call", "one"),
        ("pair", "second"),
    ],
)
def test_whatever_answers(run: Run, name: str, said: str) -> None:
    """Agents, calls of a model, runners made of others, and functions that make one of them."""
    assert run("agent", f"shop.py:{name}", "--message", "hi").out == f"{said}\n"


def test_a_builder_gets_the_model(run: Run) -> None:
    """Another model stands in before anything asks for the key of the first one."""
    done = run("agent", "shop.py:builder", "--script", script("Yes."), "--message", "hi")
    assert (done.code, done.out) == (0, "Yes.\n")


def test_the_model_is_replaced(run: Run) -> None:
    """--model takes a function or a name in place of what the agent was made with."""
    done = run("agent", "shop.py:call", "--model", "shop.py:careful", "--message", "hi")
    assert done.out == "careful: hi\n"
    scripted = f"scripted:{script('From the script.')}"
    assert run("agent", "shop.py:call", "--model", scripted, "--message", "hi").out == (
        "From the script.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["shop.py:number"], "saywhy: shop.py:number is int, which cannot be talked to\n"),
        (["shop.py:agnet"], 'saywhy: shop.py has no agnet\n    did you mean "agent"?\n'),
        (["shop.py:needy"], "saywhy: shop.py:needy needs shop\n"),
        (["shop.py"], "saywhy: shop.py:agent needs a model\n    --model openai:NAME, or --script"),
        (["nowhere.py"], "saywhy: there is no file nowhere.py\n"),
        (["shop"], "saywhy: shop names no agent\n    saywhy agent takes FILE.py:NAME or MODULE"),
        (["shop.py:call", "--model", "openai:x"], "saywhy: --model openai:x: there is no key for"),
        (["shop.py:call", "--script", "none.json"], "saywhy: none.json cannot be read: No such"),
        (["shop.py:call", "--script", "shop.py"], "saywhy: shop.py is no JSON: "),
        (
            ["shop.py:call", "--script", "a.json", "--model", "openai:x"],
            "saywhy: --model and --script name two models\n    leave one of them out\n",
        ),
        (
            ["shop.py:pair", "--model", "shop.py:careful"],
            'saywhy: shop.py:pair: "pair" has no model of its own: it is made of other runners\n',
        ),
        (["shop.py:call", "--session", "no/x"], "saywhy: --session no/x: there is no folder no\n"),
    ],
)
def test_what_makes_no_sense(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    """A use that makes no sense ends with one sentence and what to try, and exit code 2."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = run("agent", *arguments, stdin="hi\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(told)


def test_a_function_that_raises(run: Run, folder: Path) -> None:
    """What went wrong in somebody's file is told with its line, without a traceback."""
    line = SHOP[: SHOP.index("raise ValueError")].count("\n") + 1
    done = run("agent", "shop.py:broken")
    where = f"saywhy: {folder / 'shop.py'}:{line}: shop.py:broken failed: ValueError: no shelf\n"
    assert (done.code, done.err.removeprefix("saywhy: ")) == (2, where.removeprefix("saywhy: "))


def test_an_agent_that_is_wrong(run: Run, folder: Path) -> None:
    """Everything wrong with an agent is told, each with what to try."""
    write(
        folder / "wrong.py",
        SHOP.replace("tools=[FIND, TRACK, ask_human()]", "tools=[FIND, FIND], max_iterations=-1"),
    )
    done = run("agent", "wrong.py", "--script", script("x"), "--message", "hi")
    assert done.code == 1
    assert "ToolRegistry: tool 'find_order' already registered\n    give each an id" in done.err
    assert 'offers the tool "track", which the agent does not have' in done.err
    assert "Traceback" not in done.err


# ------------------------------------------------------------------ one shot


def test_one_message(run: Run) -> None:
    """--message says one thing and ends: the answer alone, and 0."""
    done = run("agent", "shop.py", "--script", script("Hello."), "--message", "hi")
    assert (done.code, done.out, done.err) == (0, "Hello.\n", "")


def test_one_message_that_fails(run: Run) -> None:
    """A failed run is one sentence and exit code 1."""
    failing = script({"raise": "the server is full", "code": "server"})
    done = run("agent", "shop.py", "--script", failing, "--message", "hi")
    assert (done.code, done.out) == (1, "")
    assert done.err == "LLM call failed: [server] the server is full\n"


def test_one_message_and_a_question(run: Run) -> None:
    """A question that nobody keeps is not taken for an answer."""
    done = run("agent", "shop.py", "--script", script(ASK), "--message", "send it")
    assert (done.code, done.out) == (1, "? Which town?\n")
    assert (
        done.err == "it still asks; with --session FILE the question is kept for the next start\n"
    )


def test_json(run: Run) -> None:
    """--json writes every event and what the run came to, one object a line."""
    answers = script(FIND, {"chunks": ["On", " it."], "usage": {"input_tokens": 5}})
    done = run("agent", "shop.py", "--script", answers, "--message", "17?", "--json")
    assert [one["type"] for one in done.data] == [
        *("turn_start", "llm_start", "llm_end", "tool_start", "tool_end"),
        *("llm_start", "token", "token", "llm_end", "turn_end", "result"),
    ]
    result = done.data[-1]
    assert (result["content"], result["paused"], result["stop_reason"]) == (
        "On it.",
        False,
        "final",
    )
    assert result["follow_ups"][0]["params"] == {"parcel": "PX-1"}
    assert result["usage"] == {"input_tokens": 5, "output_tokens": 0, "calls": 2}


def test_json_lines(run: Run) -> None:
    """With --json lines are JSON too; what fails is an object as well, and the rest goes on."""
    answers = script("Hello.", {"raise": "full", "code": "server"}, "Bye.")
    lines = '"hi"\nnope\n"x"\n7\n' + "[" * 5000 + '\n"bye"\n"/receipt"\n"/why"\n'
    done = run("agent", "shop.py", "--script", answers, "--json", stdin=lines)
    told = [one for one in done.data if one["type"] in {"result", "failed", "receipts", "why"}]
    assert [one["type"] for one in told] == [
        *("result", "failed", "failed", "failed", "failed", "result", "receipts", "why")
    ]
    assert told[1]["message"] == "this line is no JSON: Expecting value: line 1 column 1 (char 0)"
    assert (told[2]["name"], told[2]["message"]) == (
        "ModelError",
        "LLM call failed: [server] full",
    )
    assert told[3]["message"] == 'a message is a text like "hello", or a list of blocks'
    assert told[4]["message"].startswith("this line is no JSON: maximum recursion depth")
    [call] = told[6]["data"]
    assert (call["call"], call["verdict"]) == (1, "verified")
    assert call["receipt"]["basis"]["run_id"] == told[5]["run_id"]
    assert done.code == 0


# ------------------------------------------------------------------ asking about it


def test_why(run: Run) -> None:
    """/why tells the steps of the last run, /receipt verifies each of its calls."""
    answers = script(FIND, "It is on its way.")
    done = run("agent", "shop.py", "--script", answers, stdin="17?\n/why\n/receipt\n")
    story = done.out.partition("  /1  Track the parcel\n")[2]
    assert story.startswith("Turn 1 (")
    assert 'find_order({"id": "17"}) gave' in story
    receipts = story.splitlines()[-2:]
    assert re.fullmatch(
        r"call 1: verified \(system 22 chars, messages 1, tools 3; root [0-9a-f]{12}\)", receipts[0]
    )
    assert receipts[1].startswith("call 2: verified (system 22 chars, messages 3, tools 3;")


def test_why_counts_messages_as_a_receipt_does(run: Run) -> None:
    """The system prompt is none of them, in the first run and in those after it."""
    answers = script("Hello.", "And hello again.")
    done = run("agent", "shop.py", "--script", answers, stdin="hi\nhi again\n/why\n/receipt\n")
    assert done.code == 0, done.err
    assert 'The user said "hi again", after 2 messages.' in done.out
    assert "  3 messages: 2 of the user, 1 of the model." in done.out
    assert "messages 3, tools 3;" in done.lines[-1]


def test_why_before_anything(run: Run) -> None:
    """Asked too early, each command says so and the conversation goes on."""
    done = run(
        "agent", "shop.py", "--script", script("Hello."), stdin="/why\n/receipt\n/save\nhi\n"
    )
    assert done.out == "Hello.\n"
    assert done.err.count("there is no record: nothing has run here yet\n    run(message)\n") == 2
    assert done.err.endswith("/save needs a file\n    /save talk.json\n")


def test_no_receipts(run: Run, folder: Path) -> None:
    """An agent without ids of runs has no receipts, and the cause is told."""
    write(folder / "bare.py", SHOP.replace('name="shop",', 'name="shop", new_id=None,'))
    done = run("agent", "bare.py", "--script", script("Hello."), stdin="hi\n/receipt\n")
    assert done.out.splitlines()[1] == (
        "call 1: absent: no-receipt-on-chart, no-receipt-committed "
        "(system 22 chars, messages 1, tools 3)"
    )


# ------------------------------------------------------------------ failing


def test_a_run_that_fails(run: Run) -> None:
    """A failed run is one sentence, and the conversation goes on without it."""
    answers = script({"raise": "the server is full", "code": "server"}, "Hello.")
    done = run("agent", "shop.py", "--script", answers, stdin="hi\nhi again\n")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err.endswith("\nLLM call failed: [server] the server is full\n")


def test_an_answer_that_breaks_off(run: Run) -> None:
    """Half an answer ends its line before the failure is told."""
    answers = script({"chunks": ["Hel"], "raise": "connection lost", "code": "network"})
    done = run("agent", "shop.py", "--script", answers, stdin="hi\n")
    assert done.out == "Hel\n"
    assert done.err.endswith("\nLLM call failed: [network] connection lost\n")


OWN = """from saywhy import Agent, ScriptedModel


def mistake(given):
    return {}["shelf"]


asked = Agent(mistake)
prompted = Agent(ScriptedModel([{"reply": "x"}]), prompt_provider=mistake)
"""


def test_a_mistake_in_the_file(run: Run, folder: Path) -> None:
    """What raises in somebody's own code is told with its kind and line, without a traceback."""
    write(folder / "own.py", OWN)
    done = run("agent", "own.py:prompted", "--message", "hi")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"{folder / 'own.py'}:5: KeyError: 'shelf'\n"
    done = run("agent", "own.py:asked", "--message", "hi")
    assert (done.code, done.err) == (1, "KeyError: 'shelf'\n")


def test_a_file_that_breaks(run: Run, folder: Path) -> None:
    """What is wrong with an agent where it is made is told with that line, not with one of ours."""
    write(folder / "own.py", OWN.replace("Agent(mistake)", "Agent(mistake, max_iterations=-1)"))
    done = run("agent", "own.py:asked", "--message", "hi")
    assert done.code == 2
    where = f"saywhy: {folder / 'own.py'}:8: own.py cannot be imported: error: "
    assert done.err.startswith(f"{where}max_iterations is -1")
