"""Receipts in a bundle: an agent's agree with themselves, and one that was made up does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from saywhy import Agent, ScriptedModel
from saywhy.agent.receipts.log import receipts_in
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import stored_form
from saywhy.chart.commit import Commit, Op
from saywhy.runtime.audit import verifier
from saywhy.runtime.audit.receipts import Receipts
from saywhy.runtime.audit.report import Report, Wrong
from saywhy.values import dumps, loads_raw


def made(**loop: Any) -> list[Receipt]:
    """The receipts of a run of two calls."""

    async def scene() -> list[Receipt]:
        agent = Agent(
            ScriptedModel([{"reply": "one"}, {"reply": "two"}]), system="Be kind.", loop=loop
        )
        found: list[Receipt] = []
        for words in ("hi", "ho"):
            await agent.run(words)
            found += [one for one in receipts_in(agent.get_snapshot()) if isinstance(one, Receipt)]
        return found

    return asyncio.run(scene())


def commit_with(*entries: Any, verb: Any = "append") -> Commit:
    value = entries[0] if verb == "append" else list(entries)
    op = Op(verb, ("s1", "receipts"), value)
    return Commit(1, 1, 1, "c", "desk", "n", "stage", ops=(op,))


def read(*commits: Commit) -> tuple[Report, dict[str, Any]]:
    """What both readers make of the receipts in some commits."""
    receipts, report, other = Receipts(), Report(), verifier.Receipts()
    for commit in commits:
        receipts.take_commit(commit, report)
        other.take_ops(loads_raw(dumps(commit.ops)))
    return report, {"agreed": other.agreed, "unread": other.unread}


def test_receipts_of_an_agent_agree() -> None:
    """Whole entries and those that follow one are read, one by one or as a list."""
    first, second = made()
    entries = [stored_form(first), stored_form(second)]
    for commits in (
        [commit_with(entries[0]), commit_with(entries[1])],
        [commit_with(*entries, verb="set")],
    ):
        report, other = read(*commits)
        assert (report.receipts, report.receipts_not_comparable) == (2, 0)
        assert other == {"agreed": 2, "unread": 0}


def test_one_that_is_made_up_disagrees() -> None:
    """Another root, another slot or another part: the receipt contradicts itself."""
    receipt = made()[0]
    forged = [
        replace(receipt, root="ab" * 32),
        replace(receipt, slots={**receipt.slots, "messages": "ab" * 32}),
        replace(receipt, params=replace(receipt.params, hash="ab" * 32)),
        replace(receipt, basis=replace(receipt.basis, call=7)),
    ]
    for one in forged:
        commit = commit_with(stored_form(one))
        with pytest.raises(Wrong, match=r"the receipt of call \d disagrees"):
            Receipts().take_commit(commit, Report())
        with pytest.raises(verifier.Wrong, match=r"the receipt of call \d disagrees"):
            verifier.Receipts().take_ops(loads_raw(dumps(commit.ops)))


def test_what_cannot_be_compared_is_counted() -> None:
    """A masked entry, one whose predecessor is gone, and one with a salt of the host's."""
    first, _ = made()
    entry = stored_form(first)
    lost = {**entry, "after": "AAAAAAAAAAAA"}
    del lost["run"]
    hosted = stored_form(made(secret_salt="a secret of ours")[0])
    for one in ({**entry, "root": "[REDACTED]"}, lost, hosted, "[REDACTED]"):
        report, other = read(commit_with(one))
        assert (report.receipts, report.receipts_not_comparable) == (0, 1)
        assert other == {"agreed": 0, "unread": 1}
