"""Promise: a story of what was masked is true: it says what is withheld, and never that none was.

Names of tools, flows and instructions are always told; what the record cannot show is no "nothing".
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from saywhy import Agent, Engine, LLMInstruction, MemoryStore, define_tool, follow
from saywhy.chart.commit import Answered, Commit, Op
from saywhy.models.scripted import ScriptedModel
from saywhy.trace.agents import told
from saywhy.trace.handed import instructions, slot
from saywhy.trace.masking.redact import MARK
from saywhy.trace.phrases import ENGLISH, usual
from saywhy.trace.rounds import answered, settled
from saywhy.trace.trace import Trace

NUMBER = "INS-4417-9921-QZ"
PRIVATE = {"variables": {"n": {"type": "string", "pii": True}}}
ABSENT = re.compile(
    r'nothing|nada|nichts|No message|no system prompt|gave ""|\(\)| null|0 tools:|No instruction'
)
"""Words that would claim that there was none."""


def flow(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A flow of these steps, started by its name."""
    named = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    about = {"name": "Who", "version": "1", "primary": True, "prompt": "Who"}
    return {"id": "who", "description": "who", "steps": named, **about, **more}


def ask(**more: Any) -> dict[str, Any]:
    return {"type": "SAY-GET", "variable": "n", "value": "Number?", **more}


def lab(**more: Any) -> Any:
    """A tool whose answer fires an instruction that offers a strict follow-up."""
    again = follow(
        "lab", lambda ctx: {"n": ctx.content.value}, "Look again", "User asks again", strict=True
    )

    def values(given: dict[str, Any]) -> dict[str, str]:
        return {"value": f"value of {given.get('n')}"}

    return define_tool(
        "lab",
        "Lab values",
        {"type": "object", "properties": {"n": {"type": "string"}}},
        values,
        effect="reads",
        instructions=[LLMInstruction("gentle", text="Be gentle.", follow_up=again)],
        **more,
    )


WANTS: dict[str, Any] = {"tool_calls": [{"name": "lab", "arguments": {"n": NUMBER}}]}


def agent(*replies: Any, tools: Any = ()) -> Agent:
    return Agent(ScriptedModel(list(replies)), name="d", system="r", tools=list(tools))


async def record(flows: dict[str, Any], *messages: str, agents: Any = (), **more: Any) -> Trace:
    """The record of a conversation."""
    engine = Engine(
        flows=[flows], agents=list(agents), store=MemoryStore(), guidance={"enabled": False}, **more
    )
    async with engine:
        for message in messages:
            await engine.take_turn("s", message)
        return await engine.trace("s")


def lines(trace: Trace, turn: int, language: str = "en") -> list[str]:
    """The lines of a turn, without times and numbers."""
    text = trace.narrative(turn, language=language)
    found = [line.strip() for line in text.splitlines()[1:]]
    return [re.sub(r"^[\d.]+  | \(\d+ ms\)", "", line) for line in found]


GIVEN = {"type": "AGENT", "agent": "d", "value": "number {{n}}", "variable": "told"}


async def test_an_agent_that_is_told_something_sensitive() -> None:
    """Its tools and instructions have names; arguments, results and words are withheld."""
    helper = agent(WANTS, {"reply": f"It is {NUMBER}."}, tools=[lab()])
    trace = await record(flow(ask(), GIVEN, **PRIVATE), "Who", NUMBER, agents=[helper])
    told = lines(trace, 2)
    assert told[:4] == [
        "The user said [REDACTED].",
        "The answer is n = [REDACTED].",
        "Asked agent d: [REDACTED].",
        "Was handed [REDACTED].",
    ]
    assert "Offered 1 tool: lab." in told
    assert "Worked out the messages; what came of it is withheld." in told
    assert "Called lab(n = [REDACTED]): value = [REDACTED]." in told
    (gave,) = [line for line in told if " gave " in line]
    assert gave.startswith('lab([REDACTED]) gave [REDACTED]. Instruction "gentle" fired. It offers')
    assert "The model said [REDACTED]." in told
    assert "The run ended after 1 round of tools. Its answer is [REDACTED]." in told
    assert "Agent d answered [REDACTED]: told = [REDACTED]." in told
    assert told[-2:] == ["Flow Who ended: completed.", 'Reply: "Flow completed."']
    assert not [line for line in told if ABSENT.search(line) or NUMBER in line]


async def test_in_other_languages() -> None:
    """What is withheld is said in the language of the story."""
    helper = agent(WANTS, {"reply": f"It is {NUMBER}."}, tools=[lab()])
    trace = await record(flow(ask(), GIVEN, **PRIVATE), "Who", NUMBER, agents=[helper])
    for language, sentences in {
        "es": [
            "El usuario dijo [REDACTED].",
            "Se preparó: los mensajes; el contenido no se muestra.",
            "Se ofreció: 1 herramienta: lab.",
            "La ejecución terminó después de 1 ronda de herramientas. Su respuesta es [REDACTED].",
        ],
        "de": [
            "Der Benutzer sagte [REDACTED].",
            "Zusammengestellt: die Nachrichten; der Inhalt wird nicht gezeigt.",
            "Angeboten: 1 Werkzeug: lab.",
            "Der Lauf endete nach 1 Durchgang mit Werkzeugen. Die Antwort ist [REDACTED].",
        ],
    }.items():
        told = lines(trace, 2, language)
        for sentence in sentences:
            assert sentence in told, told
        assert not [line for line in told if ABSENT.search(line)]


async def test_an_answer_that_a_tool_declares_sensitive() -> None:
    """What the model wanted was not sensitive and is told; what the tool gave is withheld."""
    returns = {"type": "object", "properties": {"value": {"type": "string", "pii": True}}}
    wants = {"tool_calls": [{"name": "lab", "arguments": {"n": "late"}}]}
    helper = agent(wants, {"reply": "It is fine."}, tools=[lab(returns=returns)])
    step = {"type": "AGENT", "agent": "d", "value": "A"}
    told = lines(await record(flow(step), "Who", agents=[helper]), 1)
    assert 'The model wants lab({"n": "late"}).' in told
    (gave,) = [line for line in told if " gave " in line]
    assert gave.startswith('lab({"n": "late"}) gave [REDACTED]. Instruction "gentle" fired.')
    assert not [line for line in told if ABSENT.search(line)]


async def test_a_model_that_really_said_nothing() -> None:
    """Nothing stays nothing: only then the story says so."""
    trace = await record(
        flow(ask(), GIVEN, **PRIVATE), "Who", NUMBER, agents=[agent({"reply": ""})]
    )
    told = lines(trace, 2)
    assert "The model said nothing." in told
    assert 'Agent d answered nothing: told = "".' in told
    assert "Offered 0 tools." in told


async def test_a_follow_up_with_sensitive_arguments() -> None:
    """That it was carried out without the model is told, and that the call is withheld."""
    again = {"type": "AGENT", "agent": "d", "value": "{{q}}"}
    more = {"type": "SAY-GET", "variable": "q", "value": "More?"}
    helper = agent(WANTS, {"reply": "It is."}, {"reply": "Still."}, tools=[lab()])
    trace = await record(
        flow(ask(), GIVEN, more, again, **PRIVATE), "Who", NUMBER, "User asks again",
        agents=[helper],
    )  # fmt: skip
    told = lines(trace, 3)
    handed = next(line for line in told if line.startswith("Was handed"))
    assert handed.endswith(
        "A follow-up is carried out without the model; which call that is, is withheld."
    )
    assert not [line for line in told if ABSENT.search(line)]


async def test_steps_of_flows() -> None:
    """A mark that stands for a whole value has no quotes; no mark is cut in half."""
    steps = (
        ask(pii=True),
        {"type": "SET", "variable": "whole", "value": "({ text: 'x'.repeat(67), n })"},
        {"type": "SAY", "value": "{{n}}"},
        {"type": "SAY", "value": "{{'x'.repeat(70)}} {{n}}", "pii": False},
        {"type": "RETURN", "value": "'bye ' + n"},
    )
    trace = await record(flow(*steps), "Who", NUMBER)
    assert "El flujo Who terminó: con RETURN." in lines(trace, 2, "es")
    assert "Ablauf Who endete: mit RETURN." in lines(trace, 2, "de")
    told = lines(trace, 2)
    assert told[:2] == ["The user said [REDACTED].", "The answer is n = [REDACTED]."]
    assert "Set whole = [REDACTED], from `({ text: 'x'.repeat(67), n })`." in told
    assert "Said [REDACTED]." in told
    assert f'Said "{"x" * 70} [REDACTED]...".' in told or f'Said "{"x" * 70} [REDACTED]".' in told
    assert "Returned [REDACTED] and ended every flow." in told


# ------------------------------------------------------------------ parts that are masked alone


def step(**more: Any) -> Commit:
    about: dict[str, Any] = {"chart": "c", "flow": "F", "node": "n", "kind": "stage"}
    values: dict[str, Any] = {**about, "tags": ("redacted",), **more}
    return Commit(1, 1, 1, **values)


def back(value: Any) -> Commit:
    return step(answered=Answered("model", "chat", value))


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (MARK, "The model said [REDACTED].", "Das Modell sagte [REDACTED]."),
        (
            {"content": "", "tool_calls": MARK},
            "The model answered; what it said or wants is withheld.",
            "Das Modell antwortete; was es sagt oder will, wird nicht gezeigt.",
        ),
        (
            {"content": "hm", MARK: [{"name": "lab"}]},
            'The model said "hm"; whether it wants calls is withheld.',
            'Das Modell sagte "hm"; ob es Aufrufe will, wird nicht gezeigt.',
        ),
        (
            {"content": MARK, "tool_calls": [{"name": "lab", "arguments": MARK}]},
            "The model said [REDACTED] and wants lab([REDACTED]).",
            "Das Modell sagte [REDACTED] und will lab([REDACTED]).",
        ),
        (
            {"content": "hm", "usage": {"input_tokens": MARK, "output_tokens": 2}},
            'The model said "hm".',
            'Das Modell sagte "hm".',
        ),
        ({"content": ""}, "The model said nothing.", "Das Modell sagte nichts."),
    ],
)
def test_answers_of_models(value: Any, english: str, german: str) -> None:
    """Each part of an answer may be masked alone."""
    assert answered(back(value), ENGLISH) == english
    assert answered(back(value), usual("de")) == german


def written(**values: Any) -> dict[str, Op]:
    return {name: Op("set", ("v", name), value) for name, value in values.items()}


def test_parts_of_a_request() -> None:
    """A masked list of pieces is no empty one."""
    noted = {"slot": "system-prompt"}
    withheld = "Worked out the system prompt; what came of it is withheld."
    assert slot(written(slotComposed=noted, systemPromptInjections=MARK), ENGLISH) == withheld
    assert slot(written(slotComposed=MARK, systemPrompt=MARK), ENGLISH) == withheld
    assert slot(written(slotComposed=noted, systemPromptInjections=[]), ENGLISH) == (
        "There is no system prompt."
    )
    messages = {"slot": "messages", "sources": MARK}
    assert slot(written(slotComposed=messages), ENGLISH) == (
        "Worked out the messages; what came of it is withheld."
    )
    tools = {"slot": "tools"}
    assert slot(
        written(slotComposed=tools, resolvedTools=MARK, toolDescriptions=MARK), ENGLISH
    ) == ("Offered the tools.")
    assert instructions(step(facts={"instructions": MARK}), ENGLISH) == (
        "Which instructions apply is withheld."
    )
    assert instructions(step(facts={"instructions": []}), ENGLISH) == "No instruction applies."


def test_rules_are_told_for_the_call_they_are_about() -> None:
    """Where the ids of calls are masked and a tool was called twice, they are told for none."""

    def made(tool: str) -> dict[str, Any]:
        return {"tool": tool, "callId": MARK, "error": False}

    def about(tool: str, rule: str) -> dict[str, Any]:
        log = [{"id": rule, "outcome": "fired", "fired": True}]
        return {"tool": tool, "callId": MARK, "log": log, "fired": [], "added": ""}

    facts = {
        "calls": [made("a"), made("b"), made("b")],
        "instructions": [about("b", "late"), about("a", "early")],
    }
    assert settled(Trace(), step(facts=facts), ENGLISH) == (
        'a([REDACTED]) gave [REDACTED]. Instruction "early" fired. b([REDACTED]) gave [REDACTED]. '
        'b([REDACTED]) gave [REDACTED]. Instruction "late" fired.'
    )


def test_the_end_of_a_run() -> None:
    """Why it ended and how many messages were kept is not guessed."""
    ended = step(ops=tuple(written(result="ok", stopReason=MARK).values()))
    assert told(Trace(), ended) == 'The run ended. Its answer is "ok".'
    kept = step(node="commit-memory", answered=Answered("task"), facts={"saved": MARK})
    assert told(Trace(), kept) == "Kept the conversation in the store."
