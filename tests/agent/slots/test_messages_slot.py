"""Promise: a round of the messages looks at what is new, and a stored history is neither lost nor
repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.agent.slots.history import saved_history
from saywhy.agent.slots.injected import (
    ContextEvicted,
    SlotComposed,
    context_events,
    injections_of,
)
from saywhy.agent.slots.injection import fact, memory, rag
from saywhy.agent.slots.messages_slot import messages_slot
from saywhy.agent.slots.strategies import full_history, sliding_window, summary, token_budget
from saywhy.chart.built import Result
from saywhy.chart.failure import StepFailed
from saywhy.errors import CallerError
from saywhy.stores.chat_memory import KeyValueChatMemory, LocalChatMemory
from saywhy.stores.retriever import Chunk
from saywhy.values import dumps, freeze, thaw
from tests.agent.slots.conftest import Run

Texts = Callable[[Any], list[str]]


def saved(result: Result) -> list[Any]:
    """What is to be saved after a run."""
    state = result.state
    lists = state.get("memory_storedHistory"), state.get("memory_preparedMessages")
    return thaw(saved_history(*lists, state["messages"]))


def stored(*texts: str) -> LocalChatMemory:
    store = LocalChatMemory()
    store.save("c", [{"role": "user", "content": one} for one in texts])
    return store


# ------------------------------------------------------------------ without a store


async def test_new_messages_are_recorded_once(run: Run) -> None:
    """Each message is recorded in the round in which it is new, at its place."""
    result = await run(4, messages={})
    found = [
        (one.iteration, one.record.position, one.record.source)
        for one in injections_of(result.commits)
    ]
    assert found == [
        (0, 0, "user"),
        (1, 1, "assistant"),
        (2, 2, "assistant"),
        (3, 3, "assistant"),
    ]
    notes = [one for one in context_events(result.commits) if isinstance(one, SlotComposed)]
    assert [one.budget.used for one in notes] == [2, 10, 18, 26]
    assert notes[-1].source_breakdown["assistant"].count == 3
    assert [one.record.as_recency for one in injections_of(result.commits)] == ["latest"] * 4


async def test_a_round_writes_what_is_new(run: Run) -> None:
    """A round's record has the same size in a long conversation as in a short one."""
    result = await run(60, messages={})
    sizes: dict[int, int] = {}
    for one in context_events(result.commits):
        commit = next(commit for commit in result.commits if commit.seq == one.seq)
        sizes[one.iteration] = len(dumps(commit.ops))
    assert sizes[59] < sizes[2] * 1.2
    assert not [
        op
        for one in result.commits
        for op in one.ops
        if op.verb == "set" and op.key[1] == "messages" and len(op.value) > 1
    ]


async def test_two_equal_messages_are_two(run: Run) -> None:
    """The same text at two places is recorded twice."""
    slot = messages_slot()
    twice = [{"role": "user", "content": "same"}] * 2
    result = await slot.run(state={"currentMessages": twice, "loopCount": 0})
    first, second = injections_of(result.commits)
    assert first.record.content_hash == second.record.content_hash
    assert first.key != second.key
    assert thaw(result.state["messages"]) == twice


async def test_what_a_window_leaves_out_is_told(run: Run, texts: Texts) -> None:
    """What leaves the window is told when it does; what stays is not recorded again."""
    result = await run(4, messages={"strategy": sliding_window(2)})
    assert texts(result.state["messages"]) == ["answer 1", "answer 2", "answer 3"]
    gone = [one for one in context_events(result.commits) if isinstance(one, ContextEvicted)]
    assert [(one.iteration, one.summaries) for one in gone] == [(2, ("hi",)), (3, ("answer 0",))]
    assert len(injections_of(result.commits)) == 4
    last = [one for one in context_events(result.commits) if isinstance(one, SlotComposed)][-1]
    assert last.source_breakdown["assistant"].chars == last.budget.used == 16
    assert last.ordering_strategy == "sliding-window (kept 2 of 3)"


async def test_memory_is_put_in_front_once(run: Run, texts: Texts) -> None:
    """What is remembered is asked for once a run, stays in place, and is marked."""
    asked: list[str] = []

    def recall(context: Any) -> str:
        asked.append(context.message)
        return "You met."

    result = await run(3, messages={"injections": [memory(recall)]})
    assert texts(result.state["messages"])[:2] == ["You met.", "hi"]
    assert len(result.state["messages"]) == 5
    assert asked == ["hi"]
    [record] = [one.record for one in injections_of(result.commits, source="memory")]
    assert (record.as_role, record.expires_after, record.position) == ("system", "run", 0)
    assert result.state["messages"][0]["injected"] == "memory:memory"


async def test_what_holds_for_a_round_is_replaced(run: Run, texts: Texts) -> None:
    """What holds for a round only is asked again, and takes the place of what it said before."""
    said = memory(lambda context: f"round {context.loop_iteration}", expires_after="iteration")
    result = await run(3, messages={"injections": [said]})
    assert texts(result.state["messages"]) == ["round 2", "hi", *(f"answer {n}" for n in range(3))]


async def test_the_next_run_begins_anew(run: Run, texts: Texts) -> None:
    """What an earlier run put in goes when the next one begins."""
    slot = messages_slot(injections=[memory("new")])
    left = {"role": "system", "content": "old", "injected": "memory:memory"}
    messages = [left, {"role": "user", "content": "hi"}]
    result = await slot.run(state={"messages": messages, "loopCount": 0})
    assert texts(result.state["messages"]) == ["new", "hi"]


async def test_what_is_found_says_how_well(run: Run, texts: Texts) -> None:
    """A retrieval is a message behind the system messages, with its score in the record."""

    class Finder:
        async def retrieve(self, query: str, /, **limits: Any) -> list[Chunk]:
            return [Chunk("Alpha.", 0.9, "a")]

    given = [{"role": "system", "content": "S"}, {"role": "user", "content": "q?"}]
    slot = messages_slot(injections=[rag(Finder(), min_score=0.3)])
    result = await slot.run(state={"messages": given, "loopCount": 0})
    assert texts(result.state["messages"])[0] == "S"
    assert texts(result.state["messages"])[1].endswith("[1] Alpha.")
    [record] = [one.record for one in injections_of(result.commits, source="rag")]
    assert (record.retrieval_score, record.threshold, record.upstream_ref) == (0.9, 0.3, "a")


async def test_a_summary_is_marked(run: Run) -> None:
    """The message a strategy makes is told from the host's own system messages."""
    given = [{"role": "user", "content": str(n)} for n in range(4)]
    slot = messages_slot(summary(1, lambda older: f"{len(older)} older"))
    result = await slot.run(state={"messages": given, "loopCount": 0})
    assert thaw(result.state["messages"])[0] == {
        "role": "system",
        "content": "3 older",
        "injected": "memory:summary",
    }


# ------------------------------------------------------------------ with a store


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(
    "strategy",
    [None, full_history(), sliding_window(2), token_budget(4), summary(1, lambda older: "old")],
)
async def test_nothing_is_lost_or_repeated(
    run: Run, texts: Texts, rounds: int, strategy: Any
) -> None:
    """Whatever the strategy shows, everything that was said is saved once, in order."""
    kept = {"store": stored("one", "two"), "conversation_id": "c", "strategy": strategy}
    result = await run(rounds, messages=kept)
    assert texts(saved(result)) == ["one", "two", "hi", *(f"answer {n}" for n in range(rounds))]


async def test_a_store_is_asked_once(run: Run, texts: Texts) -> None:
    """In later rounds the history is what was loaded and has grown since."""
    asked: list[str] = []

    class Store:
        async def load(self, conversation_id: str) -> list[Any]:
            asked.append(conversation_id)
            return [{"role": "user", "content": "one"}]

    result = await run(3, messages={"store": Store(), "conversation_id": "c"})
    assert asked == ["c"]
    assert texts(result.state["messages"])[:2] == ["one", "hi"]
    assert len(result.state["messages"]) == 5


async def test_the_prompt_in_front_may_change(run: Run) -> None:
    """A system message that was put in front, or has changed, does not shift what is new."""
    before = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    prepared = before[1:]
    for front in ([], [{"role": "system", "content": "S"}]):
        now = [*front, *prepared, {"role": "assistant", "content": "x"}]
        kept = saved_history(freeze(before), freeze(prepared), freeze(now))
        assert thaw(kept) == [*before, {"role": "assistant", "content": "x"}]


async def test_injections_are_not_saved(run: Run, texts: Texts) -> None:
    """What was put in front of the model for a run is no part of the conversation."""
    kept = {"store": stored("one"), "conversation_id": "c", "injections": [memory("You met.")]}
    result = await run(2, messages=kept)
    assert texts(result.state["messages"])[0] == "You met."
    assert texts(saved(result)) == ["one", "hi", "answer 0", "answer 1"]


async def test_who_the_conversation_is(run: Run, texts: Texts) -> None:
    """The conversation is named, found by a function, or stands in the run's env."""
    for named in ("c", lambda s: "c"):
        result = await run(messages={"store": stored("one"), "conversation_id": named})
        assert texts(result.state["messages"])[0] == "one"
    result = await run(messages={"store": stored("one")}, env={"conversation_id": "c"})
    assert texts(result.state["messages"])[0] == "one"
    with pytest.raises(StepFailed) as caught:
        await run(messages={"store": stored("one")})
    assert "nobody said which conversation it is" in str(caught.value.__cause__)


async def test_a_store_that_gives_nonsense(run: Run) -> None:
    """What is no list of messages is refused, naming what came."""

    class Store:
        def load(self, conversation_id: str) -> Any:
            return {"messages": []}

    with pytest.raises(StepFailed) as caught:
        await run(messages={"store": Store(), "conversation_id": "c"})
    assert "the store gave dict instead of messages" in str(caught.value.__cause__)


async def test_stages_with_a_store() -> None:
    """A chart with a store has a stage before and one behind; the last hundred are shown."""
    store = KeyValueChatMemory({})
    slot = messages_slot(store=store, conversation_id="c")
    assert list(slot.chart.nodes) == ["load-history", "apply-strategy", "track-prepared"]
    assert list(messages_slot().chart.nodes) == ["apply-strategy"]


def test_an_injection_for_another_slot() -> None:
    """An injection that belongs to the system prompt is refused."""
    with pytest.raises(CallerError, match="is for the slot system-prompt, not for the messages"):
        messages_slot(injections=[fact("x")])
