"""What a type checker sees of the public names. Checked by `make check`, never run."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Literal, assert_type

from saywhy import (
    Agent,
    AgentBuilder,
    AgentEvent,
    AgentMemory,
    AgentResult,
    AgentTool,
    Ask,
    BranchResult,
    Budget,
    BudgetExceeded,
    CallerError,
    CancelToken,
    Conditional,
    Conversation,
    Engine,
    FlowExecutionError,
    HeldTurn,
    InstructionContext,
    InstructionOverride,
    LLMCall,
    LLMCalled,
    LLMInstruction,
    Loop,
    MemoryStore,
    ModelReply,
    OutputSchema,
    Parallel,
    Policy,
    Problem,
    Provider,
    RecordingModel,
    ReplayModel,
    Reply,
    Report,
    ResolvedFollowUp,
    ResolvedInstruction,
    RunCancelled,
    Runner,
    RunTimedOut,
    SaywhyError,
    Sequence,
    SequenceResult,
    Session,
    Specialist,
    SqliteStore,
    Store,
    Swarm,
    SwarmResult,
    Team,
    Token,
    Trace,
    TurnEnd,
    TurnReply,
    Variable,
    agent_as_tool,
    apply_decisions,
    apply_instruction_overrides,
    define_instruction,
    evaluate_agent_instructions,
    evaluate_instructions,
    follow,
    load_tools,
    process_instructions,
    quick,
    quick_bind,
    reply_of,
    resilient,
    tool,
    why,
    with_budget,
    with_circuit_breaker,
    with_fallback,
    with_rate_limit,
    with_retries,
    with_retry,
    with_timeout,
)
from saywhy.host import (
    FlowChoice,
    Questions,
    build_ai_request,
    decode_flow_llm,
    decode_flow_system_one,
    from_parameter_answers,
    hedge,
    is_detect_flow_request,
    is_near_miss,
    to_flow_request,
)
from saywhy.testing import check_provider, check_tool
from saywhy.tools.wrappers import approve, break_circuit, cache, keep, limit, prefix


@quick
def double(number: float) -> float:
    return number * 2


async def callback(system: str, user: str, schema: str | None = None, request: Any = None) -> str:
    return "{}"


@tool
def pay(amount: float) -> str:
    return f"paid {amount}"


@tool(effect="reads", cache={"ttl": "5m"}, security={"requiresAuth": True})
async def get_fee(amount: float) -> float:
    return amount * 0.1


def wrapped() -> Engine:
    """What goes into a wrapper comes out as the same kind, so wrappers nest."""
    own = approve([pay, get_fee], when="args.amount > 100", only=["pay"])
    loaded = cache(keep(load_tools("shop.tools.json"), ["search"]), ttl="5m", shared=True)
    shop = prefix(limit(break_circuit(loaded), requests=5, window_ms=60_000), "shop_")
    return Engine(tools=[*own, *shop], is_authenticated=lambda cargo: cargo.get("level") == 3)


async def checked() -> None:
    """A tool's promises are tried with arguments; all but the good ones may be left out."""
    await check_tool(get_fee, good=[{"amount": 80}])
    await check_tool(pay, good=[{"amount": 80}], failing=[{"amount": -1}], probe=lambda: 1)


def stores(path: Path) -> list[Store]:
    """Both stores are what `Engine` takes."""
    return [MemoryStore(), SqliteStore(path), SqliteStore("file.db", synchronous="NORMAL")]


def engines(store: Store) -> list[Engine]:
    """Definitions as files, as data, or mixed; every argument is a keyword and may be left out."""
    return [
        Engine(),
        Engine(flows="pay.flows.json", tools=[Path("pay.tools.json")], store=store),
        Engine(
            flows={"flows": []},
            tools=[],
            functions={"double": double},
            globals={"house": "Saywhy"},
            logger=logging.getLogger("host"),
            model=callback,
            validate_on_init=False,
            language=None,
            ai_timeout=0,
            messages={"en": {"flow_completed_generic": "Done."}},
            guidance={"enabled": False},
            command_words={"it": {"cancel": ["annulla"], "help": {"only": ["aiuto"]}}},
            offer_interruptions=True,
            redact=Policy(names=("card",)),
            partial_match="safe",
            commands=["cancel", "switch", "continue"],
        ),
    ]


async def without_a_store(engine: Engine) -> None:
    session = engine.init_session("user-1")
    assert_type(session, Session)
    session = await engine.update_activity("pay", session)
    session = await engine.update_activity({"role": "user", "content": "80"}, session)
    assert_type(session.response, str | None)
    assert_type(session.cargo, dict[str, Any])
    assert_type(engine.load_session(session.to_json()), Session)
    assert_type(engine.validate(), Report)
    assert_type(engine.validate(["en", "es"], plain_language="en"), Report)
    assert_type(engine.problems, tuple[Problem, ...])
    if session.frame is not None:
        assert_type(session.frame.pending_variable, str | None)


async def on_a_store(store: Store) -> None:
    async with Engine(store=store) as engine:
        reply = await engine.take_turn(
            "c-1", "pay", message_id="m-1", user_id="user-1", cargo={"voice": True}
        )
        assert_type(reply, TurnReply)
        assert_type(reply.response, str | None)
        assert_type(reply.repeated, bool)
        assert_type(await engine.session("c-1"), Session | None)
        assert_type(await engine.recover(), int)
        assert_type(await engine.run_due(), int)
        assert_type(await engine.run_due(1_767_225_600_000, session_id="c-1"), int)
        assert_type(await engine.held(), list[HeldTurn])
        assert_type(await engine.release_held("c1", by="ann"), int)
        assert_type(await engine.abandon_held("c1", by="ann", why="paid by hand"), HeldTurn)
        trace = await engine.trace("c-1")
        assert_type(trace, Trace)
        assert_type(why(trace).text(), str)
        why(trace, Variable("fee", turn=2))
        why(trace, Reply(turn=1))


async def errors(engine: Engine, session: Session) -> None:
    try:
        await engine.update_activity("pay", session)
    except FlowExecutionError as error:
        assert_type(error.name, str)
    except CallerError as error:
        assert_type(error.hint, str)
    except SaywhyError as error:
        assert_type(error.message, str)


async def classify(asked: Questions) -> dict[str, float]:
    return {question["id"]: 0.5 for question in asked["questions"]}


async def hosted(system: str, user: str, schema: str | None = None, request: Any = None) -> str:
    """A request is known once it was asked about; both executors give the same kind of choice."""
    if not is_detect_flow_request(request):
        model = {"name": "m", "reserved_reply_size": 9}
        assert_type(build_ai_request(model, system, user, schema), dict[str, Any])
        return "{}"
    assert_type(request["input"], str)

    async def judged() -> FlowChoice:
        return decode_flow_system_one(request, await classify(to_flow_request(request)))

    async def written() -> FlowChoice:
        return decode_flow_llm(request, await callback(system, user, schema))

    choice = await hedge(judged, written, is_good=lambda one: not is_near_miss(one))
    assert_type(choice, FlowChoice)
    assert_type(from_parameter_answers(request, choice.flow_name, {}), dict[str, Any])
    return choice.reply({})


def sort_out(decision: Any, ctx: InstructionContext) -> None:
    decision.status = ctx.content.status


def instructions(ctx: InstructionContext) -> list[ResolvedInstruction]:
    """Conditions, actions and `decide` need no annotations; what they look at may be anything."""
    rules = [
        LLMInstruction("kind", when=lambda c: c.content["status"] == "denied", text="Be kind."),
        LLMInstruction("why", follow_up=quick_bind("trace", ["id"], strict=True), priority=-1),
        LLMInstruction("all", follow_up=follow("all", lambda c: {"n": len(c.content)}, "All")),
        LLMInstruction("sort", decide=sort_out, safety=True),
    ]
    override = InstructionOverride(suppress=["why"], replace={"kind": {"text": "Be brief."}})
    changed = apply_instruction_overrides(rules, override)
    assert_type(changed, list[LLMInstruction])
    done = process_instructions("{}", changed, ctx, instruction_budget=100)
    assert_type(done.content, str)
    decided = apply_decisions(done.fired, {"status": None}, ctx)
    denied = define_instruction(
        "denied", active_when=lambda d: d.status == "denied", prompt="Help."
    )
    active = evaluate_agent_instructions([denied], decided.decision)
    assert_type(active.prompt_injections, tuple[str, ...])
    return evaluate_instructions(rules, ctx)


# ------------------------------------------------------------------ models


async def bounded(small: Provider, folder: Path) -> None:
    steady: Provider = with_retries(with_timeout(small, 30, 5), 3, backoff=lambda made: made / 2)
    limited = with_rate_limit(steady, requests=60, per_seconds=60, tokens=90_000)
    both = resilient([limited, "openai:a-model"], on_fallback=lambda i, j, error: print(i, error))
    month = Budget(cost=5, prices={"a-model": (0.5, 1.5)})
    model = with_budget(with_circuit_breaker(with_fallback([both, callback])), month)
    try:
        with Budget(calls=3).applied() as budget:
            assert_type(await reply_of(model, Ask("chat")), ModelReply)
        assert_type(budget.spent.tokens, int)
    except BudgetExceeded as error:
        assert_type(error.used, float)
    recorder = RecordingModel(model, folder / "talk.jsonl", redact=lambda record: record)
    assert_type(recorder.dropped, int)
    assert_type(ReplayModel(folder / "talk.jsonl", match="fingerprint").left, int)
    await check_provider(lambda: model, tools=None, probe=lambda: 0)


class Notes:
    """A recorder has the hooks it wants, and no others."""

    def on_llm_call(self, event: LLMCalled) -> None:
        assert_type(event.latency_ms, float)
        assert_type(event.turn_number, int)


def agents(model: Provider, memory: Any) -> list[Agent]:
    """Keywords or steps; a step gives another builder, `build()` the agent."""
    builder = Agent.create(model, name="shop").system("Be brief.").max_iterations(3)
    assert_type(builder, AgentBuilder)
    kept = AgentMemory(memory, "c9", durability="background")
    form = OutputSchema({"type": "object"}, name="order")
    written = Agent("openai:some-model", tools=[pay], pattern="dynamic", memory=kept)
    return [builder.tool(pay).recorder(Notes()).build(), written, Agent(model, output_schema=form)]


async def runners(agent: Agent, model: Provider, signal: CancelToken) -> None:
    """Each runner knows its own kind of result; whatever stands around one is a runner again."""
    call = LLMCall.create(model).system("Be brief.").build()
    row = Sequence(("draft", call), agent, name="letter")
    assert_type(await row.run("a letter"), SequenceResult)
    both = Parallel({"a": call, "b": row}, merge=lambda found: found[0].content)
    assert_type((await both.run("x", signal=signal)).branches, tuple[BranchResult, ...])
    chosen = Conditional.create().when("a", lambda c: "x" in c.message, both).otherwise("b", row)
    assert_type((await chosen.build().run("x")).chosen, str)
    assert_type((await Loop(call, until=lambda one: one.number > 1).run("x")).rounds, int)
    swarm = Swarm(model, [Specialist("a", both, "Knows.")])
    assert_type(await swarm.run("x"), SwarmResult)
    team = Team([agent, Specialist("b", swarm)], routes={"b": []})
    assert_type((await team.run("x")).active, str)
    steady: Runner[Any] = with_fallback(with_retry(team, backoff_ms=5), call)
    assert_type(with_circuit_breaker(swarm).state, Literal["closed", "open", "half_open"])
    assert_type(agent_as_tool(steady, description="Helps."), AgentTool)


async def talk(agent: Agent, signal: CancelToken) -> None:
    """A conversation: words, events, an offered action, a person's answer, and somewhere else."""
    conversation = agent.conversation("user-7")
    assert_type(conversation, Conversation)
    try:
        result = await conversation.run("hi", signal=signal, timeout=30)
    except (RunCancelled, RunTimedOut) as stopped:
        assert_type(stopped.result.paused, bool)
        return
    assert_type(result, AgentResult)
    for offer in result.follow_ups:
        assert_type(offer, ResolvedFollowUp)
        await conversation.follow_up(offer, on_event=lambda event: print(event.to_sse()))
    if result.paused:
        await conversation.resume("yes", timeout=5)
    assert_type(conversation.checkpoint(), bytes)
    assert_type(conversation.trace, Trace)
    async for piece in agent.stream("and now?", timeout=5):
        assert_type(piece, AgentEvent | AgentResult)
        if isinstance(piece, Token):
            assert_type(piece.content, str)
        elif isinstance(piece, TurnEnd):
            assert_type(piece.iterations, int)
