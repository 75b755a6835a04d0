"""`saywhy chat` over pipes: replies, going on, errors, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from saywhy.testing import StubServer

from .conftest import Run, write

PLAIN = "--no-guidance"


def test_a_conversation(run: Run, pay: str) -> None:
    """Each line is a message, each reply is text; the rest goes to standard error."""
    done = run("chat", pay, PLAIN, stdin="Pay\n80\nAnn\n")
    assert (done.code, done.out) == (0, "How much?\nFee 8.\n\nWho gets it?\n80 for Ann.\n")
    assert re.fullmatch(
        r"new conversation \d{8}-\d{6}-[0-9a-f]{4} in saywhy\.db; flows here: Pay\n", done.err
    )


def test_guidance_is_on_unless_switched_off(run: Run, pay: str) -> None:
    """Questions tell the way out, as they do in a program."""
    done = run("chat", pay, stdin="Pay\n")
    assert done.out.startswith("Processing pay somebody - You can also 'cancel flow' or request")


def test_it_goes_on_where_it_was(run: Run, pay: str) -> None:
    """A conversation with an open question is taken up, and what was said last is shown."""
    run("chat", pay, PLAIN, stdin="Pay\n80\n")
    done = run("chat", pay, PLAIN, stdin="Ann\n")
    assert done.out == "80 for Ann.\n"
    assert re.search(
        r"^conversation \S+ goes on; the last reply was:\nFee 8\.\n\nWho gets it\?$",
        done.err,
        re.MULTILINE,
    )


def test_a_new_one_begins(run: Run, pay: str) -> None:
    """After the end of all flows, and with --new, a new conversation begins."""
    run("chat", pay, PLAIN, stdin="Pay\n80\nAnn\n")
    assert run("chat", pay, PLAIN, stdin="Pay\n").err.startswith("new conversation")
    assert run("chat", pay, PLAIN, "--new", stdin="Pay\n").err.startswith("new conversation")


def test_other_flows_are_another_conversation(run: Run, folder: Path, pay: str) -> None:
    """An open conversation of flows that are not there is left alone."""
    run("chat", pay, PLAIN, stdin="Pay\n")
    step = {"id": "s", "type": "SAY", "value": "Hi."}
    other = write(folder / "other.json", [{"id": "o", "name": "Other", "steps": [step]}])
    done = run("chat", other, stdin="Other\n")
    assert "new conversation" in done.err
    assert done.out == "Hi.\n"


def test_changed_flows(run: Run, folder: Path, pay: str) -> None:
    """A conversation goes on with the flows it began with, and says so."""
    run("chat", pay, PLAIN, stdin="Pay\n80\n")
    text = (folder / pay).read_text(encoding="utf-8")
    write(folder / pay, text.replace("{{amount}} for", "Changed for"))
    done = run("chat", pay, PLAIN, stdin="Ann\n")
    assert "goes on with the flows as they were when it began (--new begins another)" in done.err
    assert done.out == "80 for Ann.\n"
    assert run("chat", pay, PLAIN, stdin="Pay\n80\nAnn\n").out.endswith("Changed for Ann.\n")


def test_session_user_and_store(run: Run, folder: Path, pay: str) -> None:
    """A named conversation in a named file; another user's is not taken up."""
    options = ["--store", "kept.db", "--session", "mine", "--user", "ann"]
    assert "new conversation mine in kept.db" in run("chat", pay, *options, stdin="Pay\n").err
    assert "conversation mine goes on" in run("chat", pay, *options).err
    assert not (folder / "saywhy.db").exists()
    assert run("chat", pay, "--store", "kept.db", "--user", "ann").err.startswith(
        "conversation mine goes on"
    )
    assert run("chat", pay, "--store", "kept.db", "--user", "bob").err.startswith("new")


def test_the_store_of_the_environment(
    run: Run, folder: Path, pay: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAYWHY_STORE names the file where nothing else does."""
    monkeypatch.setenv("SAYWHY_STORE", "elsewhere.db")
    run("chat", pay, stdin="Pay\n")
    assert (folder / "elsewhere.db").exists()
    assert not (folder / "saywhy.db").exists()


def test_a_name_that_is_taken(run: Run, pay: str) -> None:
    """--new with the id of a conversation that exists is misuse."""
    run("chat", pay, "--session", "mine", stdin="Pay\n")
    done = run("chat", pay, "--session", "mine", "--new", stdin="Pay\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith('saywhy: there is a conversation "mine" already\n')


def test_words_no_flow_knows(run: Run, pay: str) -> None:
    """A message that no flow answers has a reply of its own, which names the flows."""
    done = run("chat", pay, PLAIN, stdin="what?\nPay\n")
    assert done.out == "(no flow answers that; flows here: Pay)\nHow much?\n"


@pytest.mark.parametrize("option", ["--user", "--session"])
def test_ids_that_are_no_text(run: Run, pay: str, option: str) -> None:
    """Bytes of another encoding are refused before anything begins."""
    done = run("chat", pay, "--new", option, "\udcff\udcfe", stdin="Pay\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"saywhy: {option} is no text: ")


def test_language(run: Run, folder: Path) -> None:
    """--lang chooses the texts."""
    step = {"id": "s", "type": "SAY", "value": "Hello", "value_es": "Hola"}
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": [step]}])
    assert run("chat", path, "--lang", "es", stdin="A\n").out == "Hola\n"
    assert run("chat", path, stdin="A\n").out == "Hello\n"
    done = run("chat", path, "--lang", "spanish", "--store", "new.db", stdin="A\n")
    assert done.err == 'saywhy: "spanish" is no language\n    write en, es or pt-BR\n'
    assert not (folder / "new.db").exists()


def test_cargo_is_for_new_conversations(run: Run, folder: Path) -> None:
    """What a flow changed in cargo is not put back when the conversation goes on."""
    steps = [
        {"id": "w", "type": "SET", "variable": "w", "value": "cargo.n = cargo.n + 1"},
        {"id": "q", "type": "SAY-GET", "variable": "x", "value": "{{cargo.n}}?"},
        {"id": "s", "type": "SAY", "value": "{{cargo.n}}!"},
    ]
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": steps}])
    write(folder / "c.yaml", "n: 1\n")
    options = [path, PLAIN, "--cargo", "c.yaml"]
    assert run("chat", *options, stdin="A\n").out == "2?\n"
    assert run("chat", *options, stdin="x\n").out == "2!\n"


def test_an_error_does_not_end_the_chat(run: Run, folder: Path) -> None:
    """A turn that fails is shown with its place, and the next message is taken."""
    case = {
        "id": "c",
        "type": "CASE",
        "branches": {"condition: false": {"id": "s", "type": "SAY", "value": "x"}},
    }
    flow = {"id": "a", "name": "A", "version": "1.0", "description": "Fails", "steps": [case]}
    path = write(folder / "a.json", [flow])
    done = run("chat", path, stdin="A\nhello\n")
    assert done.code == 0
    assert done.lines[0].startswith(
        "(that turn failed: a.json:8:7: CASE step: no conditions matched"
    )
    assert done.lines[-1] == "(no flow answers that; flows here: A)"


def test_mistakes_in_flows_are_told_at_the_start(run: Run, folder: Path) -> None:
    """A flow with a mistake can be tried; what is wrong with it stands on standard error."""
    steps = [
        {"id": "s", "type": "SAY", "value": "Hi."},
        {"id": "t", "type": "CALL-TOOL", "tool": "none"},
    ]
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": steps}])
    done = run("chat", path, stdin="A\n")
    assert 'a.json:14:17  /0/steps/1/tool: error: no tool has the id "none"' in done.err
    assert done.out.startswith("Hi.")


def test_what_a_program_may_hand_over_is_no_mistake(run: Run, folder: Path) -> None:
    """A function that nobody named is no finding at the start, unless others were named."""
    step = {"id": "s", "type": "SAY", "value": "{{shout('hi')}}!"}
    keys = {"version": "1.0", "description": "Greets"}
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": [step], **keys}])
    write(folder / "house_c.py", "def whisper(text):\n    return text\n")
    assert "error: " not in run("chat", path, stdin="hi\n").err
    named = run("chat", path, "--functions", "house_c", stdin="hi\n")
    assert (
        'a.json:9:21  /0/steps/0/value: error: no approved function is called "shout"' in named.err
    )


def test_files_that_cannot_be_read(run: Run, folder: Path, pay: str) -> None:
    """A broken file ends the command with 1 and all that is wrong with the files."""
    broken = write(folder / "broken.json", "[{]")
    done = run("chat", pay, broken, "gone.json", stdin="Pay\n")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("broken.json:1:3: error: not valid JSON")
    assert "gone.json: error: cannot read this file: no such file or directory" in done.err


def test_no_flow_at_all(run: Run, folder: Path) -> None:
    """A file without flows is no conversation."""
    done = run("chat", write(folder / "empty.json", "[]"), stdin="hi\n")
    assert (done.code, done.out) == (1, "")
    assert "empty.json: error: there is no flow in this file" in done.err


def test_a_store_that_is_none(run: Run, folder: Path, pay: str) -> None:
    """A file that is no store is left as it was, with one message."""
    write(folder / "saywhy.db", "this is a text, and no database at all" * 100)
    done = run("chat", pay, stdin="Pay\n")
    assert (done.code, done.out) == (2, "")
    assert "saywhy.db" in done.err
    assert "Traceback" not in done.err
    assert (folder / "saywhy.db").read_text().startswith("this is a text")


# ------------------------------------------------------------------ JSON


def test_json(run: Run, pay: str) -> None:
    """One object before the first message, then one a message."""
    lines = ["Pay", {"content": "80", "message_id": "m-2"}, {"content": "80", "message_id": "m-2"}]
    stdin = "".join(json.dumps(line) + "\n" for line in lines)
    done = run("chat", pay, PLAIN, "--json", "--session", "mine", stdin=stdin)
    start, first, second, again = done.data
    assert start == {
        "conversation": "mine",
        "resumed": False,
        "reply": None,
        "flow": None,
        "question": None,
    }
    assert first == {
        "turn": 1,
        "response": "How much?",
        "repeated": False,
        "error": None,
        "flow": "Pay",
        "question": "How much?",
    }
    assert (second["turn"], second["response"]) == (2, "Fee 8.\n\nWho gets it?")
    assert again == {**second, "repeated": True}

    (start,) = run("chat", pay, PLAIN, "--json", "--session", "mine").data
    assert start["resumed"]
    assert (start["reply"], start["question"]) == (second["response"], "Who gets it?")


def test_json_that_is_none(run: Run, pay: str) -> None:
    """A line that cannot be understood has an error for a reply, and the next is taken."""
    stdin = 'Pay\n[1]\n{"role": "robot", "content": "x"}\n' + "[" * 5000 + '\n"Pay"\n'
    _, no_json, no_message, no_role, deep, right = run(
        "chat", pay, PLAIN, "--json", stdin=stdin
    ).data
    assert no_json["error"]["message"].startswith("this line is no JSON: ")
    assert deep["error"]["message"].startswith("this line is no JSON: maximum recursion depth")
    assert no_message["error"]["message"].startswith("a message is a text, or an object like ")
    assert no_role["error"]["name"] == "CallerError"
    assert no_role["error"]["message"].startswith('Unsupported role "robot".')
    assert right["response"] == "How much?"


def test_json_starts_a_flow(run: Run, pay: str) -> None:
    """An object has the keys of an entry, so a host's start can be tried."""
    stdin = json.dumps({"start": {"flow": "pay"}}) + "\n"
    _, reply = run("chat", pay, PLAIN, "--json", stdin=stdin).data
    assert reply["response"] == "How much?"


def test_expressions_may_be_isolated(run: Run, pay: str) -> None:
    """A conversation is the same with expressions in processes of their own."""
    done = run("chat", pay, PLAIN, "--expressions", "isolated", stdin="Pay\n80\nAnn\n")
    assert (done.code, done.out) == (0, "How much?\nFee 8.\n\nWho gets it?\n80 for Ann.\n")


def test_http_tools_on_this_machine(run: Run, folder: Path) -> None:
    """Private addresses are refused until --allow-private names their host."""
    with StubServer([{"path": "/fee", "body": {"fee": 8}}]) as web:
        call = {"id": "c", "type": "CALL-TOOL", "tool": "fee", "args": {"a": 1}, "variable": "r"}
        call["onFail"] = {"id": "f", "type": "RETURN", "value": "r"}  # type: ignore[assignment]
        say = {"id": "s", "type": "SAY", "value": "Fee {{r.fee}}."}
        implementation = {"type": "http", "url": f"{web.base}/fee", "method": "GET"}
        files = [
            write(folder / "a.json", [{"id": "f", "name": "Fee", "steps": [call, say]}]),
            write(folder / "b.json", {"tools": [{"id": "fee", "implementation": implementation}]}),
        ]
        refused = run("chat", *files, PLAIN, stdin="Fee\n")
        allowed = run("chat", *files, PLAIN, "--allow-private", "127.0.0.1", stdin="Fee\n")
        as_json = run("chat", *files, PLAIN, "--json", "--new", stdin='"Fee"\n')
    assert refused.out == "Address refused: 127.0.0.1 is a loopback address\n"
    hint = "fee: Address refused: 127.0.0.1 is a loopback address (HttpSettings"
    assert f"hint: {hint}" in refused.err
    assert allowed.out == "Fee 8.\n"
    assert "hint: " not in allowed.err
    assert as_json.data[1]["hints"][0].startswith(hint)


def test_hints_of_failed_calls_are_masked(run: Run, folder: Path) -> None:
    """A secret that a tool's error repeats is no more shown in its hint than in the record."""
    ask = {"id": "q", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True}
    call = {"id": "c", "type": "CALL-TOOL", "tool": "t", "args": {"n": "{{pin}}"}, "variable": "r"}
    call["onFail"] = {"id": "f", "type": "SAY", "value": "Sorry."}  # type: ignore[assignment]
    schema = {"type": "object", "properties": {"n": {"type": "string", "maxLength": 2}}}
    path = write(folder / "a.json", [{"id": "p", "name": "P", "steps": [ask, call]}])
    tool = {"id": "t", "parameters": schema, "implementation": {"type": "mock"}}
    tools = write(folder / "t.json", {"tools": [tool]})
    done = run("chat", path, tools, PLAIN, stdin="P\n4711\n")
    assert done.out == "PIN?\nSorry.\n"
    assert (
        "hint: t: Tool argument validation failed: n must have at most 2 characters (" in done.err
    )
    assert "4711" not in done.err


MODEL = """
import json

def answer(system, user, schema=None):
    if "pound" in user:
        raise OSError("line down")
    found = "Pay" if "bill" in user else "None"
    return json.dumps({"flowName": found, "parameters": {}})
"""


def test_a_model_finds_the_flow(run: Run, folder: Path, pay: str) -> None:
    """Words that are no flow's name; where the model fails, that is told and the chat goes on."""
    (folder / "model.py").write_text(MODEL)
    words = "my bill\ncancel\npound\nhello\nthe bill\n"
    done = run("chat", pay, PLAIN, "--model", "model.py:answer", stdin=words)
    assert done.out.startswith("How much?\n")
    assert done.out.endswith("How much?\n")
    assert "AI task processing failed: AI communication failed: line down" in done.out


def test_a_model_that_is_none_begins_nothing(run: Run, pay: str) -> None:
    """The options are read before the conversation."""
    done = run("chat", pay, "--model", "nowhere.py:answer", stdin="Pay\n")
    assert done.code == 2
    assert "there is no file nowhere.py" in done.err
    assert done.out == ""


def test_a_model_by_its_name(run: Run, folder: Path, pay: str) -> None:
    """A script in a file is one; a name that is none begins nothing."""
    (folder / "script.json").write_text('[{"reply": {"flowName": "Pay", "parameters": {}}}]')
    done = run("chat", pay, PLAIN, "--model", "scripted:script.json", stdin="my bill\n")
    assert done.out == "How much?\n"
    done = run("chat", pay, "--model", "scripted:nowhere.json", stdin="Pay\n")
    assert (done.code, done.out) == (2, "")
    assert "--model scripted:nowhere.json: nowhere.json cannot be read" in done.err


def test_a_library_of_the_package_by_name(run: Run, tmp_path: Path) -> None:
    """Its flows and its tools are there: the missing functions of tools are told, the rest runs."""
    done = run(
        "chat", "library:system", "--functions", "saywhy.helpers:STANDARD_FUNCTIONS", PLAIN,
        "--store", tmp_path / "kept.db", stdin="GetCellOrEmail\nstop\n",
    )  # fmt: skip
    assert done.code == 0
    assert done.out.endswith("All right, I have stopped that. What else can I do for you?\n")
    assert 'no approved function is called "sendCodeBySMS"' in done.err
    assert "flows here: SwitchToText" in done.err
