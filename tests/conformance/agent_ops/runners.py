"""The operations of the corpus on what runs: calls, retrieval, swarms, branches, wrappers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saywhy.errors import DefinitionError
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.parallel import Parallel
from saywhy.runtime.agents.rag import RAG
from saywhy.runtime.agents.sequence import Sequence as Steps
from saywhy.runtime.agents.swarm import Specialist, Swarm
from saywhy.runtime.agents.wrappers import with_retry
from saywhy.runtime.agents.wrapping import with_circuit_breaker, with_fallback
from saywhy.stores.retriever import Chunk
from saywhy.values import thaw
from tests.conformance.agent_ops import pieces
from tests.conformance.agent_ops.dialogue import Script

LISTS = ("runners", "agents", "steps", "stages", "branches", "specialists")


class Scripted:
    """A runner that answers from a case; `{message}` in a reply stands for what it was given."""

    def __init__(self, spec: Mapping[str, Any], told: list[dict[str, Any]] | None = None) -> None:
        self.spec = spec
        self.name = str(spec.get("id") or spec.get("name") or "runner")
        self.told = told if told is not None else []

    async def run(self, message: str) -> str:
        self.told.append({"id": self.name, "message": message})
        if "raise" in self.spec:
            raise RuntimeError(self.spec["raise"])
        return str(self.spec.get("reply", "")).replace("{message}", message)


class Outcomes:
    """A runner whose runs end as a case says, one after the other; the last one repeats."""

    def __init__(self, name: str, outcomes: Sequence[Any], attempts: list[str]) -> None:
        self.name = name
        self.outcomes = list(outcomes)
        self.attempts = attempts

    async def run(self, message: str) -> str:
        self.attempts.append(self.name)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if "raise" in outcome:
            raise RuntimeError(outcome["raise"])
        return str(outcome["content"])


class Found:
    """A retriever that finds what a case says, and writes down what it was asked."""

    def __init__(self, chunks: Sequence[Mapping[str, Any]]) -> None:
        self.chunks = [Chunk(one["content"], one.get("score")) for one in chunks]
        self.asked: list[dict[str, Any]] = []

    async def retrieve(self, query: str, **limits: Any) -> list[Chunk]:
        self.asked.append({"query": query, **limits})
        return self.chunks


def refusal(error: DefinitionError) -> dict[str, Any]:
    """What is wrong first with what a case wants built."""
    return {"error": error.problems[0].message}


async def told_of(run: Callable[[], Any], show: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """What a run gives, or the error it ends with."""
    try:
        return show(await run())
    except Exception as error:
        return {"error": str(error)}


async def llm_call(given: Mapping[str, Any]) -> dict[str, Any]:
    """A single call, several times."""
    script = Script(given.get("llm") or [])
    runner = LLMCall.create(script).system(given.get("system", "")).build()

    def show(result: Any) -> dict[str, Any]:
        return {"content": result.content, "messages": thaw(list(result.messages))}

    turns = [await told_of(lambda turn=turn: runner.run(turn), show) for turn in given["turns"]]
    return {"calls": script.calls, "turns": turns}


async def rag(given: Mapping[str, Any]) -> dict[str, Any]:
    """A call with what was looked up."""
    script, found = Script(given.get("llm") or []), Found(given.get("chunks") or [])
    limits = {name: given[name] for name in ("top_k", "min_score") if name in given}
    runner = RAG(script, found, system=given.get("system", ""), **limits)

    def show(result: Any) -> dict[str, Any]:
        count = len(result.chunks)
        return {"content": result.content, "query": result.query, "chunk_count": count}

    told = await told_of(lambda: runner.run(given["message"]), show)
    return {"calls": script.calls, "retrievals": found.asked, **told}


async def swarm(given: Mapping[str, Any]) -> dict[str, Any]:
    """An orchestrator and its specialists."""
    script = Script(given.get("llm") or [])
    delegated: list[dict[str, Any]] = []
    specialists = [
        Specialist(one["id"], Scripted(one, delegated), one.get("description", ""))
        for one in given["specialists"]
    ]
    options = {name: given[name] for name in ("max_iterations",) if name in given}
    tools = [pieces.tool(one) for one in given.get("tools") or ()]
    try:
        runner = Swarm(script, specialists, system=given.get("system", ""), tools=tools, **options)
    except DefinitionError as error:
        return refusal(error)

    def show(result: Any) -> dict[str, Any]:
        return {"content": result.content, "agents": list(result.agents)}

    turns = [await told_of(lambda turn=turn: runner.run(turn), show) for turn in given["turns"]]
    return {"calls": script.calls, "delegated": delegated, "turns": turns}


async def parallel(given: Mapping[str, Any]) -> dict[str, Any]:
    """Branches side by side."""
    script = Script(given.get("llm") or [])
    branches = [(one["id"], Scripted(one)) for one in given["branches"]]
    options: dict[str, Any] = {}
    if "merge_prompt" in given:
        options = {"merge_model": script, "merge_prompt": given["merge_prompt"]}
    else:
        joint = str(given.get("merge_join", "\n"))
        options["merge"] = lambda found: joint.join(f"{one.id}={one.content}" for one in found)
    try:
        runner = Parallel(branches, **options)
    except DefinitionError as error:
        return refusal(error)

    def show(result: Any) -> dict[str, Any]:
        return {"content": result.content, "branches": [branch(one) for one in result.branches]}

    told = await told_of(lambda: runner.run(given["message"]), show)
    return {"calls": script.calls, **told}


def branch(one: Any) -> dict[str, Any]:
    """A branch as cases show it."""
    shown = {"id": one.id, "status": one.status, "content": one.content}
    return shown if one.error is None else {**shown, "error": one.error}


async def pipeline(given: Mapping[str, Any]) -> dict[str, Any]:
    """Runners one after the other."""
    script = Script(given.get("llm") or [])
    told_to: list[dict[str, Any]] = []
    named = next((given[name] for name in LISTS if isinstance(given.get(name), list)), [])
    steps: list[Any] = []
    for number, one in enumerate(named, 1):
        own = str(one.get("id") or one.get("name") or f"step-{number}")
        is_call = "reply" not in one and "raise" not in one
        made = LLMCall(script, system=one.get("system", "")) if is_call else Scripted(one, told_to)
        steps.append((own, made))
    try:
        runner = Steps(*steps)
    except DefinitionError as error:
        return refusal(error)

    def show(result: Any) -> dict[str, Any]:
        return {"content": result.content, "agents": list(result.steps)}

    turns = given.get("turns")
    if turns is None:
        told = await told_of(lambda: runner.run(given["message"]), show)
        return {"calls": script.calls, **told}
    every = [await told_of(lambda turn=turn: runner.run(turn), show) for turn in turns]
    return {"calls": script.calls, "turns": every}


async def wrapper(given: Mapping[str, Any]) -> dict[str, Any]:
    """A runner with something around it."""
    attempts: list[str] = []
    primary = Outcomes("primary", given["primary"], attempts)
    made: Any = WRAPPERS[given["kind"]](given, primary, attempts)
    runs: list[dict[str, Any]] = []
    for _ in range(given.get("runs", 1)):
        told = await told_of(lambda: made.run("go"), lambda result: {"content": result.content})
        state = getattr(made, "state", None)
        runs.append({**told, "state": state} if isinstance(state, str) else told)
    return {"runs": runs, "attempts": attempts}


def _retry(given: Mapping[str, Any], primary: Outcomes, attempts: list[str]) -> Any:
    options: dict[str, Any] = {}
    for name in ("max_retries", "backoff_ms", "backoff_multiplier"):
        if name in given:
            options[name] = given[name]
    if "retry_if_contains" in given:
        options["should_retry"] = lambda error: given["retry_if_contains"] in str(error)
    return with_retry(primary, **options)


def _fallback(given: Mapping[str, Any], primary: Outcomes, attempts: list[str]) -> Any:
    fallback = Outcomes("fallback", given["fallback"], attempts)
    if "fallback_if_contains" not in given:
        return with_fallback(primary, fallback)
    text = given["fallback_if_contains"]
    return with_fallback(primary, fallback, should_fallback=lambda error: text in str(error))


def _breaker(given: Mapping[str, Any], primary: Outcomes, attempts: list[str]) -> Any:
    return with_circuit_breaker(primary, **{k: given[k] for k in ("threshold",) if k in given})


WRAPPERS: dict[str, Callable[..., Any]] = {
    "retry": _retry,
    "fallback": _fallback,
    "circuit_breaker": _breaker,
}

OPS = {
    "llm_call": llm_call,
    "rag": rag,
    "swarm": swarm,
    "parallel": parallel,
    "pipeline": pipeline,
    "wrapper": wrapper,
}
