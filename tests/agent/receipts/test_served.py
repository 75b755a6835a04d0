"""Promise: what a model was handed is rebuilt from the record and compared with its receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from saywhy import Trace
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.served import (
    Absence,
    Served,
    Unread,
    receipt_at,
    receipts_of,
    served_all,
    served_at,
)
from saywhy.chart.built import Result
from saywhy.chart.commit import Commit, Op
from saywhy.trace.masking.redact import Policy, Redactor
from saywhy.values import FrozenDict, dumps, freeze, loads, set_path, thaw
from tests.agent.receipts.conftest import TOOLS, answered, hashes, plain_state, run, talking


def altered(result: Result, name: str, change: Callable[[Any], Any], *, nth: int = 0) -> Result:
    """The run with the value of one operation on a variable changed: the n-th one on it."""
    seen = 0
    commits: list[Commit] = []
    for commit in result.commits:
        ops: list[Op] = []
        for op in commit.ops:
            if op.key[1] == name:
                if seen == nth:
                    op = Op(op.verb, op.key, freeze(change(thaw(op.value))))  # noqa: PLW2901
                seen += 1
            ops.append(op)
        commits.append(msgspec.structs.replace(commit, ops=tuple(ops)))
    return Result(result.cursor, tuple(commits), result.need)


def with_content(text: str) -> Callable[[Any], Any]:
    """A message, or the first of a list, with other words."""

    def change(value: Any) -> Any:
        message = value[0] if isinstance(value, list) else value
        message["content"] = text
        return value

    return change


# ------------------------------------------------------------------ verified


@pytest.mark.parametrize("calls", [1, 5])
async def test_a_loop_of_k_calls_has_k_receipts(calls: int) -> None:
    """Each with its number, each fitting what the state was at its call."""
    result = await run(calls)
    receipts = receipts_of(result)
    assert [receipt.basis.call for receipt in receipts] == list(range(1, calls + 1))
    served = served_all(result)
    assert [each.verdict for each in served] == ["verified"] * calls
    assert [each.receipt for each in served] == receipts
    assert [len(each.view.messages) for each in served if each.view] == list(range(1, 2 * calls, 2))


async def test_the_view_is_what_the_model_got() -> None:
    """As of the call, not as of the end."""
    served = served_at(await run(3), 2)
    assert served.view is not None
    assert served.view.system == "Be brief."
    assert [message["role"] for message in served.view.messages] == ["user", "assistant", "tool"]
    assert served.view.tools == freeze(TOOLS)
    assert served.view.params == {"model": "m-1", "temperature": 0.5}
    assert (served.absence, served.mismatches, served.unread) == (None, (), ())


async def test_a_trace_and_its_commits_serve_as_well() -> None:
    """The same answers from all kinds of record, after JSON too."""
    result = await run(3)
    trace = Trace(result.commits)
    commits = [
        msgspec.json.decode(msgspec.json.encode(commit, enc_hook=_plain), type=Commit)
        for commit in result.commits
    ]
    for record in (trace, result.commits, commits):
        assert receipts_of(record) == receipts_of(result)
        assert [each.verdict for each in served_all(record)] == ["verified"] * 3
        assert receipt_at(record, 3) == receipt_at(result, 3)


def _plain(value: Any) -> Any:
    return msgspec.json.decode(dumps(value))


async def test_the_state_alone_serves_for_a_history_that_only_grew() -> None:
    """Of the end of a run the messages of each call are the first ones, and the hashes prove it."""
    state = plain_state(await run(3))
    assert [each.verdict for each in served_all(state)] == ["verified"] * 3
    assert receipt_at(state, 2) == receipt_at(await run(3), 2)


async def test_served_at_and_served_all_agree() -> None:
    """One at a time or all in one pass: the same answers."""
    result = altered(await run(4), "messages", with_content("other"), nth=2)
    assert [served_at(result, n) for n in range(1, 5)] == served_all(result)


async def test_two_runs_have_nothing_in_common() -> None:
    """The same conversation in two runs side by side: disjoint hashes."""
    one, other = await run(3, run_id="run-1"), await run(3, run_id="run-2")
    first: set[str] = set().union(*map(hashes, receipts_of(one)))
    second: set[str] = set().union(*map(hashes, receipts_of(other)))
    assert first.isdisjoint(second)


async def test_a_run_again_with_the_same_id_gives_the_same_receipts() -> None:
    """Nothing but the request and the basis goes into one."""
    assert receipts_of(await run(3)) == receipts_of(await run(3))


# ------------------------------------------------------------------ mismatch


async def test_one_character_is_found() -> None:
    """In exactly that message, at exactly the calls that saw it."""
    result = altered(await run(3), "messages", with_content("answer to call I"), nth=1)
    served = served_all(result)
    assert [each.verdict for each in served] == ["verified", "mismatch", "mismatch"]
    for each in served[1:]:
        assert each.mismatches == ("messages[1]", "slots.messages", "root")


async def test_one_character_in_the_state_is_found() -> None:
    """Where the snapshot is the state alone, in the same words."""
    state = plain_state(await run(2))
    path = ("messages", 2, "content")
    tampered = set_path(state, path, "at c-2")
    assert served_at(tampered, 1).verdict == "verified"
    assert served_at(tampered, 2).mismatches == ("messages[2]", "slots.messages", "root")


@pytest.mark.parametrize(
    ("name", "change", "found"),
    [
        ("assembledSystem", lambda text: text + "!", ("system", "slots.system", "root")),
        ("assembledSystem", lambda text: None, ("system", "slots.system", "root")),
        (
            "toolDescriptions",
            lambda tools: [tools[1], tools[0], tools[2]],
            ("tools[0]", "tools[1]", "slots.tools", "root"),
        ),
        ("toolDescriptions", lambda tools: tools[:2], ("tools[2]", "slots.tools", "root")),
        (
            "toolDescriptions",
            lambda tools: None,
            ("tools", "tools[0]", "tools[1]", "tools[2]", "slots.tools", "root"),
        ),
        ("settings", lambda held: {**held, "temperature": 1}, ("params", "slots.params", "root")),
        (
            "messages",
            lambda messages: [*messages, *messages],
            ("messages[1]", "slots.messages", "root"),
        ),
    ],
)
async def test_each_part_is_named(
    name: str, change: Callable[[Any], Any], found: tuple[str, ...]
) -> None:
    """With its slot and the root, and no other."""
    served = served_at(altered(await run(1), name, change), 1)
    assert (served.verdict, served.mismatches) == ("mismatch", found)


async def test_an_altered_receipt_is_found() -> None:
    """Its root does not fit what it says of itself, though every part does."""
    result = altered(await run(1), "receipts", lambda entry: {**entry, "iteration": 9}, nth=1)
    alone = Trace(result.commits)
    served = served_at(alone, 1)
    assert (served.verdict, served.mismatches) == ("mismatch", ("root",))


async def test_an_altered_chain_is_found() -> None:
    """The slot's hash and no part."""
    other = receipts_of(await run(1, run_id="x"))[0]

    def change(entry: Any) -> Any:
        from saywhy.agent.receipts.stored import stored_form

        slots = {**entry["slots"], "tools": stored_form(other)["slots"]["tools"]}
        return {**entry, "slots": slots}

    result = altered(await run(1), "receipts", change, nth=1)
    assert served_at(Trace(result.commits), 1).mismatches == ("slots.tools",)


async def test_an_altered_label_is_found() -> None:
    """A role is no part of a hash's text, and still none may be exchanged."""

    def change(entry: Any) -> Any:
        hashed, chars, _ = entry["messages"][0]
        return {**entry, "messages": [[hashed, chars, "system"]]}

    result = altered(await run(3), "receipts", change, nth=1)
    served = served_all(Trace(result.commits))
    assert [each.mismatches for each in served] == [("messages[0]",)] * 3


# ------------------------------------------------------------------ unverifiable


def redacted(result: Result, *secrets: str, names: tuple[str, ...] = ()) -> Trace:
    """The run as a record keeps it that masks these."""
    redactor = Redactor(Policy(names=names, secrets=secrets))
    return Trace(redactor.commit(commit) for commit in result.commits)


async def test_what_was_masked_is_said_to_be() -> None:
    """No mismatch, since nobody altered anything; the other parts are still compared."""
    trace = redacted(await run(2, {"message": "My code is hunter-22."}), "hunter-22")
    served = served_at(trace, 2)
    assert (served.verdict, served.mismatches) == ("unverifiable", ())
    assert served.unread == (Unread("messages[0]", "redacted"),)
    assert served.view is not None
    assert served.view.messages[0]["content"] == "My code is [REDACTED]."


async def test_a_variable_masked_as_a_whole_is_said_to_be() -> None:
    """Each part of it."""
    served = served_at(redacted(await run(1), names=("assembledSystem",)), 1)
    assert (served.verdict, served.unread) == ("unverifiable", (Unread("system", "redacted"),))
    served = served_at(redacted(await run(1), names=("toolDescriptions",)), 1)
    parts = ("tools", "tools[0]", "tools[1]", "tools[2]")
    assert served.unread == tuple(Unread(part, "redacted") for part in parts)


async def test_a_masked_receipt_is_said_to_be() -> None:
    """A host that masks a name which stands in receipts has none to compare with."""
    served = served_at(redacted(await run(1), names=("slots",)), 1)
    assert served.absence == Absence("receipt-unreadable", "redacted")


async def test_what_was_cut_is_taken_from_the_state() -> None:
    """A record keeps so much of one value; a run's own result has the rest."""
    result = await run(3, {"message": "long " * 100})
    redactor = Redactor(Policy(max_value_bytes=300))
    commits = tuple(redactor.commit(commit) for commit in result.commits)
    served = served_all(Result(result.cursor, commits))
    assert [each.verdict for each in served] == ["verified"] * 3
    alone = served_at(Trace(commits), 3)
    assert alone.verdict != "verified"
    assert alone.absence == Absence("receipt-unreadable", "entry-before-missing")


async def test_tampering_beside_something_masked_is_found() -> None:
    """A mask hides its own part and no other."""
    result = altered(
        await run(2, {"message": "My code is hunter-22."}), "messages", with_content("x"), nth=1
    )
    served = served_at(redacted(result, "hunter-22"), 2)
    assert served.verdict == "mismatch"
    assert served.mismatches == ("messages[1]", "slots.messages", "root")
    assert served.unread == (Unread("messages[0]", "redacted"),)


async def test_a_record_that_begins_late_says_so() -> None:
    """What was written before it is not known, so nothing is claimed."""
    result = await run(3)
    late = Trace(result.commits[3:])
    served = served_at(late, 1)
    assert (served.verdict, served.absence) == (
        "absent",
        Absence("receipt-unreadable", "entry-before-missing"),
    )


async def test_a_secret_salt_has_to_be_handed_in() -> None:
    """Without it nothing can be said; with it everything; with a wrong one nothing fits."""
    result = await run(2, secret_salt="hush")
    assert served_at(result, 2).unread == (Unread("receipt", "secret-salt-missing"),)
    assert served_at(result, 2).verdict == "unverifiable"
    assert [each.verdict for each in served_all(result, secret_salt="hush")] == ["verified"] * 2
    assert served_at(result, 1, secret_salt="other").verdict == "mismatch"


async def test_strict_labels_verify_as_well() -> None:
    """The labels are hashed anew before they are compared."""
    result = await run(2, strict_labels=True)
    assert [each.verdict for each in served_all(result)] == ["verified"] * 2


# ------------------------------------------------------------------ absent


async def test_without_a_run_id_the_view_is_there_and_no_receipt() -> None:
    """The absence is stated with its cause."""
    result = await run(2, run_id=None)
    served = served_at(result, 2)
    assert (served.verdict, served.receipt) == ("absent", None)
    assert served.absence == Absence("no-receipt-on-chart", "no-receipt-committed")
    assert served.view is not None
    assert len(served.view.messages) == 3
    assert (receipts_of(result), receipt_at(result, 1)) == ([], None)
    alone = served_at(plain_state(result), 1)
    assert alone.absence == Absence("no-receipt-on-chart", "no-receipt-committed")


@pytest.mark.parametrize("n", [0, 3, -1, 99])
async def test_a_call_that_was_not_made(n: int) -> None:
    """Is told as one."""
    for snapshot in (result := await run(2), Trace(result.commits), result.state):
        nothing = Served(None, None, "absent", Absence("no-such-call", "call-not-reached"))
        assert served_at(snapshot, n) == nothing
        assert receipt_at(snapshot, n) is None


async def test_a_receipt_of_another_version() -> None:
    """Is not guessed at."""
    result = altered(await run(1), "receipts", lambda entry: {**entry, "version": 2}, nth=1)
    served = served_at(Trace(result.commits), 1)
    assert served.absence == Absence("receipt-unreadable", "unknown-version")
    assert served.view is not None


@pytest.mark.parametrize("snapshot", [{}, [], (), {"receipts": 3}, FrozenDict({}), Trace()])
def test_nothing_raises_for_an_empty_record(snapshot: Any) -> None:
    """It has no receipts, and says so."""
    assert receipts_of(snapshot) == []
    assert receipt_at(snapshot, 1) is None
    assert served_at(snapshot, 1).verdict == "absent"


# ------------------------------------------------------------------ across processes and runs


async def test_a_run_that_rests_and_goes_on_elsewhere() -> None:
    """The result of going on has the calls before it from its state, and its own from commits."""
    paused = await talking(3).run(None)
    assert paused.paused
    assert [each.verdict for each in served_all(paused)] == ["verified"]
    resumed = await talking(3).resume(
        paused.checkpoint(), "answer to call 1", answerers={"model": answered}
    )
    assert receipts_of(resumed) == receipts_of(await run(3))
    assert [each.verdict for each in served_all(resumed)] == ["verified"] * 3
    whole = Trace([*paused.commits, *resumed.commits])
    assert served_all(whole) == served_all(await run(3))


async def test_calls_of_one_run_among_several() -> None:
    """In a record of two runs, `run` counts the calls of one."""
    one, other = await run(2, run_id="run-1"), await run(3, {"message": "Again"}, run_id="run-2")
    shift = len(one.commits)
    later = [msgspec.structs.replace(c, seq=c.seq + shift) for c in other.commits]
    trace = Trace([*one.commits, *later])
    assert len(receipts_of(trace)) == 5
    assert [receipt.basis.call for receipt in receipts_of(trace, run="run-2")] == [1, 2, 3]
    served = served_at(trace, 1, run="run-2")
    assert served.verdict == "verified"
    assert served.view is not None
    assert served.view.messages[0]["content"] == "Again"
    assert served_at(trace, 3, run="run-1").verdict == "absent"
    assert receipt_at(trace, 4) == receipt_at(trace, 2, run="run-2")


async def test_receipts_are_never_rewritten() -> None:
    """Whatever is appended later, what stood there stands there."""
    result = await run(4)
    entries = [op for commit in result.commits for op in commit.ops if op.key[1:] == ("receipts",)]
    assert [op.verb for op in entries] == ["set", *["append"] * 4]


async def test_a_receipt_survives_its_own_json_and_that_of_the_state() -> None:
    """Both ways give the same value."""
    result = await run(2)
    for receipt in receipts_of(loads(dumps(result.state))):
        assert Receipt.from_json(receipt.to_json()) == receipt
    assert receipts_of(plain_state(result)) == receipts_of(result)
