"""Promise: the loop is a chart of known stages and edges, in two forms made of the same ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.follow_up import quick_bind
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.build import AgentLoopResult, build_agent_loop
from saywhy.agent.loop.config import (
    SUBFLOW_MESSAGE_KEY,
    AgentLoopConfig,
    AgentPattern,
    RoutingBranch,
    RoutingConfig,
)
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.loop.structure import edges_of
from saywhy.chart.build import Builder
from saywhy.errors import DefinitionError
from tests.agent.loop.conftest import Form, Model, answers, config, talk, tool

RULE = AgentInstruction("always", prompt="Be kind.")


class Store:
    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def load(self, conversation_id: str) -> Any:
        return self.kept.get(conversation_id)

    def save(self, conversation_id: str, messages: Any) -> None:
        self.kept[conversation_id] = messages


def edges(built: Any) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """The ways forward and the ways back."""
    found = list(edges_of(built.chart))
    forward = [(source, target, label) for source, target, label, back in found if not back]
    return forward, [(source, target) for source, target, _, back in found if back]


@pytest.mark.parametrize(
    ("fields", "back"),
    [
        ({}, "call-llm"),
        ({"instructions": [RULE]}, "call-llm"),
        ({"pattern": AgentPattern.DYNAMIC}, "sf-system-prompt"),
        ({"pattern": AgentPattern.DYNAMIC, "instructions": [RULE]}, "sf-instructions-to-llm"),
    ],
)
def test_the_edges_of_the_loop(fields: dict[str, Any], back: str) -> None:
    """Order and loop edge, by pattern and with instructions."""
    chart = build_agent_loop(AgentLoopConfig(**fields)).chart
    forward, loops = edges(chart)
    has_rules = "instructions" in fields
    order = [
        "seed",
        *(["sf-instructions-to-llm"] if has_rules else []),
        "sf-system-prompt",
        "sf-messages",
        "sf-tools",
        "assemble-prompt",
        "call-llm",
        "parse-response",
        "route-response",
    ]
    assert list(chart.chart.nodes) == [*order, "tool-calls", "final"]
    assert forward == [
        *((one, other, "") for one, other in pairwise(order)),
        ("route-response", "tool-calls", "tool-calls"),
        ("route-response", "final", "final"),
        ("final", "", ""),
    ]
    assert loops == [("tool-calls", back)]


@pytest.mark.parametrize(
    ("fields", "back"),
    [
        ({}, "context"),
        ({"instructions": [RULE]}, "context"),
        ({"pattern": AgentPattern.DYNAMIC}, "context"),
        ({"pattern": AgentPattern.DYNAMIC, "instructions": [RULE]}, "sf-injection-engine"),
    ],
)
def test_the_edges_of_the_form_with_a_selector(fields: dict[str, Any], back: str) -> None:
    """It goes back to the selector, or to what is judged right before it; never to the seed."""
    chart = build_message_api_chart(AgentLoopConfig(**fields), agent=True)
    forward, loops = edges(chart)
    engine = ["sf-injection-engine"] if "instructions" in fields else []
    order = ["seed", *engine, "context", "message-api", "call-llm", "sf-route"]
    assert list(chart.chart.nodes) == [*order, "tool-calls", "final"]
    assert forward == [
        *((one, other, "") for one, other in pairwise(order)),
        ("sf-route", "tool-calls", "tool-calls"),
        ("sf-route", "final", "final"),
        ("final", "", ""),
    ]
    assert loops == [("tool-calls", back)]
    branches = [name for name, _ in chart.chart.nodes["context"].spec["branches"]]
    assert branches == ["sf-system-prompt", "sf-messages", "sf-tools"]


def test_a_store_adds_the_stage_that_keeps() -> None:
    """In the loop it is passed every time; with the selector it ends the branch of the answer."""
    made = AgentLoopConfig(store=Store())
    forward, loops = edges(build_agent_loop(made).chart)
    assert {("tool-calls", "commit-memory", ""), ("final", "commit-memory", "")} <= set(forward)
    assert loops == [("commit-memory", "call-llm")]
    forward, loops = edges(build_message_api_chart(made))
    assert forward[-2:] == [("final", "commit-memory", ""), ("commit-memory", "", "")]
    assert loops == [("tool-calls", "context")]


def test_the_structure_comes_along_where_it_is_wanted() -> None:
    """As plain data."""
    made = build_agent_loop(AgentLoopConfig(), capture_spec=True)
    assert isinstance(made, AgentLoopResult)
    assert made.spec["start"] == "seed"
    assert not hasattr(build_agent_loop(AgentLoopConfig()), "spec")


async def test_the_strict_follow_up_of_the_last_run() -> None:
    """The first that fired, with the tool it came from; None when none did."""
    bind = quick_bind("explain", "t", strict=True)
    rules = [LLMInstruction("why", when=lambda ctx: ctx.content["t"] > 0, follow_up=bind)]
    tools = [tool("order", instructions=rules), tool("explain")]
    model = Model(
        [("1", "order", {"t": 1}), ("2", "order", {"t": 2})], "a", [("3", "order", {"t": 0})], "b"
    )
    loop = build_agent_loop(config(model, *tools))
    assert loop.get_strict_follow_up() is None
    await loop.chart.run({"message": "go"})
    found = loop.get_strict_follow_up()
    assert found is not None
    assert (found.follow_up.params, found.source_tool_id) == ({"t": 1}, "order")
    await loop.chart.run({"message": "go"})
    assert loop.get_strict_follow_up() is None


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"max_iterations": -1}, "max_iterations is -1"),
        ({"tool_concurrency": 0}, "tool_concurrency is 0"),
        ({"durability": "maybe"}, 'durability is "maybe"'),
        ({"store": object()}, "object is no memory store: it has no load"),
        (
            {"routing": RoutingConfig(lambda s: "a", [], "a")},
            "the routing route-response has no branches",
        ),
        (
            {
                "routing": RoutingConfig(
                    lambda s: "a", [RoutingBranch("a"), RoutingBranch("a")], "b"
                )
            },
            'the routing route-response has two branches "a"',
        ),
        (
            {"routing": RoutingConfig(lambda s: "a", [RoutingBranch("a")], "b")},
            'the default branch "b" of route-response is none of its branches: a',
        ),
        (
            {"routing": RoutingConfig(lambda s: "a", [RoutingBranch("a")], "a")},
            "none of the branches of route-response ends, so that no run would ever be over",
        ),
        (
            {
                "routing": RoutingConfig(
                    lambda s: "a", [RoutingBranch("a"), RoutingBranch("b", ends=True)], "a"
                )
            },
            'the default branch "a" of route-response does not end, so that the limit on rounds '
            "would end nothing",
        ),
    ],
)
def test_what_makes_no_loop_is_refused(fields: dict[str, Any], text: str) -> None:
    """All at once, when it is built."""
    with pytest.raises(DefinitionError, match=text.replace("(", r"\(")):
        build_agent_loop(AgentLoopConfig(**fields))


# ------------------------------------------------------------------ inside another chart


async def test_a_loop_is_mounted_in_another_chart(form: Form) -> None:
    """The words come by the well-known name; the answer goes where the mount says."""
    model = Model([("1", "work", {})], "It is done.")
    top = Builder("top")
    top.stage(id="ask")(lambda s: s.__setattr__("question", "Do it"))
    top.mount(
        form.build(config(model, tool("work"))),
        id="helper",
        inputs={SUBFLOW_MESSAGE_KEY: "question"},
        outputs={"answer": "result", "rounds": "loopCount"},
    )
    result = await top.build().run()
    assert model.handed(0) == [{"role": "user", "content": "Do it"}]
    assert result.state == {"question": "Do it", "answer": "It is done.", "rounds": 1}
    assert list(result.cursor.state.scopes) == ["args", "state"]


async def test_two_loops_in_one_chart_ask_their_own_models(form: Form) -> None:
    """Each has an id of its own; instructions, tools and models are not mixed up."""
    models = {name: Model([("1", "work", {})], f"{name} is done") for name in ("one", "two")}
    top = Builder("top")
    for name, model in models.items():
        rule = AgentInstruction("r", prompt=f"You are {name}.")
        made = config(model, tool("work", lambda args, n=name: n), instructions=[rule], name=name)
        top.mount(form.build(made), inputs={"message": "args.text"}, into=name)
    result = await top.build().run({"text": "go"})
    assert result.state == {"one": "one is done", "two": "two is done"}
    for name, model in models.items():
        assert model.asked[0].system == f"You are {name}."
        assert answers(model.handed()) == {"1": name}


# ------------------------------------------------------------------ patterns and routing


async def test_dynamic_follows_the_decision_and_regular_does_not(form: Form) -> None:
    """Prompt and tools of an instruction come and go; a tool that is not offered is unknown."""

    def note(decision: Any, ctx: Any) -> None:
        decision.status = ctx.content["status"]

    rule = LLMInstruction("note", decide=note)
    refund = AgentInstruction(
        "refund",
        active_when=lambda d: d.status == "denied",
        prompt="Be kind.",
        tools=[tool("pay", lambda args: "paid")],
        on_tool_result=[LLMInstruction("soft", text="Softly.")],
    )
    order = tool("order", lambda args: {"status": args["s"]}, instructions=[rule])
    script: list[Any] = [
        [("1", "order", {"s": "denied"})],
        [("2", "pay", {})],
        [("3", "order", {"s": "ok"})],
        [("4", "pay", {})],
        "done",
    ]
    seen: dict[AgentPattern, Model] = {}
    for pattern in AgentPattern:
        model = seen[pattern] = Model(*script)
        fields = {"pattern": pattern, "instructions": [refund], "decision": {"status": "new"}}
        result = await form.run(config(model, order, system_prompt="S", **fields))
        assert result.state["decision"] == {"status": "ok"}
    dynamic, regular = seen[AgentPattern.DYNAMIC], seen[AgentPattern.REGULAR]
    kind = "S\n\nBe kind."
    assert [ask.system for ask in dynamic.asked] == ["S", kind, kind, "S", "S"]
    assert [len(ask.tools or ()) for ask in dynamic.asked] == [1, 2, 2, 1, 1]
    said = answers(dynamic.handed())
    assert said["2"] == "paid\n\n[INSTRUCTION] Softly."
    assert said["3"] == '{"status":"ok"}\n\n[INSTRUCTION] Softly.'
    assert said["4"] == '{"error":true,"message":"Tool \'pay\' not found"}'
    assert {ask.system for ask in regular.asked} == {"S"}
    assert "not found" in answers(regular.handed())["2"]


async def test_requests_of_a_regular_run_differ_by_what_was_added(form: Form) -> None:
    """Also with a window: what the first pass chose stays, and the history is not forgotten."""
    from saywhy.agent.slots.strategies import sliding_window

    history = [{"role": "user", "content": str(n)} for n in range(5)]
    model = Model([("1", "work", {})], [("2", "work", {})], "done")
    made = config(model, tool("work"), message_strategy=sliding_window(2))
    result = await form.run(made, "go", {"history": history})
    handed = [model.handed(number) for number in range(3)]
    assert [one["content"] for one in handed[0]] == ["4", "go"]
    assert handed[1][: len(handed[0])] == handed[0]
    assert handed[2][: len(handed[1])] == handed[1]
    assert len(talk(result)) == 5 + 1 + 4 + 1


async def test_a_routing_of_ones_own(form: Form) -> None:
    """Its branches replace the usual ones; the limit on rounds comes first."""
    seen: list[str] = []

    def count(s: Any) -> None:
        s.loopCount += 1
        seen.append("again")

    routing = RoutingConfig(
        lambda s: "again" if s.loopCount < 5 else "stop",
        [RoutingBranch("again", count), RoutingBranch("stop", ends=True)],
        "stop",
        decider_id="my-route",
    )
    model = Model("a", "b", "c")
    result = await form.run(config(model, routing=routing, max_iterations=2))
    assert (seen, result.value) == (["again", "again"], "c")
    decided = [one.decision for one in result.commits if one.node == "my-route"]
    assert [one.chosen for one in decided if one] == ["again", "again", "stop"]
    assert decided[-1] is not None
    assert decided[-1].label == "round limit reached"


# ------------------------------------------------------------------ memory


async def test_what_is_stored_is_loaded_once_and_kept_at_the_end(form: Form) -> None:
    """Also in the Dynamic pattern; nothing is kept of a run that fails."""
    for pattern in AgentPattern:
        store = Store()
        store.kept["c"] = [
            {"role": "system", "content": "old"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "1"},
        ]
        model = Model([("1", "work", {})], "2")
        made = config(model, tool("work"), system_prompt="S", store=store, pattern=pattern)
        await form.run(made, "two", {"conversationId": "c"})
        assert [one["content"] for one in store.kept["c"]] == [
            "S",
            "one",
            "1",
            "two",
            "",
            "{}",
            "2",
        ]
        assert [one["content"] for one in model.handed()] == ["S", "one", "1", "two", "", "{}"]
        before = store.kept["c"]
        with pytest.raises(Exception, match="down"):
            await form.run(
                config(Model(RuntimeError("down")), store=store, conversation_id="c"), "three"
            )
        assert store.kept["c"] is before


async def test_saving_may_go_on_behind_the_run(form: Form) -> None:
    """A failure is told to whoever wants to know, and the run has its answer."""
    import asyncio

    told: list[Exception] = []
    done = asyncio.Event()

    class Slow(Store):
        async def save(self, conversation_id: str, messages: Any) -> None:  # type: ignore[override]
            await done.wait()
            raise RuntimeError("disk full")

    made = config(
        Model("hi"),
        store=Slow(),
        conversation_id="c",
        durability="background",
        on_save_error=told.append,
    )
    result = await form.run(made)
    assert (result.value, told) == ("hi", [])
    done.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [str(one) for one in told] == ["disk full"]
