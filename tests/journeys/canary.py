"""An application full of canaries: values that must be nowhere but in the live state.

Each declaration of `pii` guards one canary of its own, so that leaving it out lets just that one
escape. What the conversations write is searched for every canary, turned round and in capitals as
well, since what is made of a sensitive value is sensitive too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus
from zlib import crc32

NAMES = (
    "question",
    "variable",
    "form",
    "parameter",
    "argument",
    "answer",
    "cargo",
    "set",
    "say",
    "tool",
    "return",
    "flow",
    "agent",
    "correction",
    "early",
    "late",
)
"""The declarations, each with a canary called like it."""


def canary(name: str) -> str:
    """A text that nobody would say by chance, with all that encodings trip over.

    Its numbers are its own, as those of one value are masked in others as well.
    """
    number = str(1_000 + crc32(name.encode()) % 9_000)
    return f'k{number[:2]}t{number[2:]} "{name}"/{number[:2]}-{number[2:]} ö&{name[::-1]}'


def spellings(name: str) -> Iterator[str]:
    """The canary as it may stand in a file, and what flows make of it."""
    text = canary(name)
    for made in (text, text[::-1], text.upper(), base64.b64encode(text.encode()).decode()):
        yield made
        yield json.dumps(made)[1:-1]
        yield json.dumps(made, ensure_ascii=False)[1:-1]
        yield quote(made, safe="")
        yield quote_plus(made)


def found_in(data: bytes, names: Iterable[str] = NAMES) -> set[str]:
    """The canaries that stand in some bytes."""
    return {
        name for name in names if any(spelling.encode() in data for spelling in spellings(name))
    }


def only_plain(data: bytes, name: str) -> bool:
    """Whether the canary itself stands in some bytes."""
    return canary(name).encode() in data or json.dumps(canary(name))[1:-1].encode() in data


# ------------------------------------------------------------------ functions and tools


def turned(text: str) -> str:
    """The text turned round."""
    return str(text)[::-1]


def coded(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(str(text).encode()).decode()


def refuse(text: str) -> str:
    """Fail, and quote what was given in the error."""
    raise ValueError(f"cannot work on {text} or {str(text)[::-1]}")


def made(name: str) -> str:
    """A value that no user ever typed."""
    return canary(name)


FUNCTIONS: dict[str, Any] = {"turned": turned, "coded": coded, "refuse": refuse, "made": made}


def echo(args: dict[str, Any]) -> dict[str, Any]:
    """Give back what was given, turned round."""
    given = str(args.get("text", ""))
    return {"echo": given, "turned": given[::-1], "city": "Bern"}


def person(args: dict[str, Any]) -> dict[str, Any]:
    """Somebody's data, one field of it sensitive."""
    return {"person": {"ssn": canary("answer"), "city": "Bern"}}


def fail(args: dict[str, Any]) -> dict[str, Any]:
    """Fail, and say on what."""
    refuse(str(args.get("text", "")))
    return {}


def give(args: dict[str, Any]) -> dict[str, Any]:
    """The canary that a step's own declaration guards."""
    return {"value": canary("tool")}


TOOL_FUNCTIONS: dict[str, Any] = {"echo": echo, "person": person, "fail": fail, "give": give}


def tool(name: str, **more: Any) -> dict[str, Any]:
    """A local tool that takes a text."""
    return {
        "id": name,
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        "implementation": {"type": "local", "function": name},
        "effect": "reads",
        **more,
    }


def tools() -> list[dict[str, Any]]:
    """The tools, mapped and unmapped ones."""
    guarded = {"type": "object", "properties": {"text": {"type": "string", "pii": "argument"}}}
    returns = {"type": "object", "properties": {"ssn": {"type": "string", "pii": "answer"}}}
    mapped = {
        "type": "object",
        "mappings": {"first": "echo", "second": {"path": "turned"}, "city": "city"},
    }
    mapping = {"responseMapping": mapped, "type": "local", "function": "echo"}
    return [
        tool("echo"),
        tool("fail"),
        tool("give"),
        tool("mapped", implementation=mapping),
        tool("guarded", parameters=guarded, implementation={"type": "local", "function": "echo"}),
        tool("person", returns={"type": "object", "properties": {"person": returns}}),
        tool("approved", approval=True, implementation={"type": "local", "function": "echo"}),
    ]


# ------------------------------------------------------------------ flows


def step(kind: str, **more: Any) -> dict[str, Any]:
    """A step with an id made of what it holds."""
    number = crc32(json.dumps([kind, more], sort_keys=True).encode())
    return {"id": f"s{number}", "type": kind, **more}


def every_use(name: str) -> list[dict[str, Any]]:
    """Steps that send a variable through everything a flow can do."""
    value = f"{{{{{name}}}}}"
    return [
        step("SET", variable="back", value=f"{name}.split('').reverse().join('')"),
        step("SET", variable="code", value=f"coded({name})"),
        step("SET", variable="held", value=f"({{all: [{name}, {{deep: {name}.toUpperCase()}}]}})"),
        step("SAY", value=f"Got {value}, or {{{{back}}}}, {{{{held.all[1].deep}}}} and nothing."),
        step("SAY", value=f"{{{{{name}.toUpperCase()}}}}"),
        step("CALL-TOOL", tool="echo", args={"text": value}, variable="told"),
        step("SAY", value="The tool said {{told.turned}} of {{told.city}}."),
        step("CALL-TOOL", tool="mapped", args={"text": "{{back}}"}, variable="mapped"),
        step("SAY", value="{{mapped.first}} {{mapped.second}}"),
        step(
            "CASE",
            branches={
                f"condition: {name}.length > 3": step("SAY", value=f"It is long: {value}."),
                "default": step("SAY", value="It is short."),
            },
        ),
        step("SWITCH", variable="back", branches={"default": step("SAY", value="{{code}}")}),
        step(
            "CALL-TOOL",
            tool="fail",
            args={"text": value},
            variable="never",
            maxRetries=0,
            onFail=step("SAY", value=f"It failed on {value}."),
        ),
        step("SET", variable="refused", value=f"refuse({name})"),
        step("FLOW", value="Inner", parameters={"inner": value, "other": "plain words"}),
        step("FLOW", value="Apart", parameters={"inner": "{{back}}"}),
        step("SET", variable="whole", value="JSON.stringify(currentContext)"),
    ]


def last(name: str) -> dict[str, Any]:
    """A step that ends the flow and says why."""
    reason = f"because of {{{{{name}}}}} and {{{{back}}}}"
    return step("RETURN", value=f"'done ' + {name}", outcome="unresolved", reason=reason)


def flow(name: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A flow that may be started by its name."""
    return {
        "id": name.lower(),
        "name": name,
        "version": "1.0",
        "description": name,
        "primary": True,
        "steps": list(steps),
        **more,
    }


def flows() -> list[dict[str, Any]]:
    """One flow for each declaration, and those that they call. `pii` names the declaration."""
    return [*_asking(), *_given(), *_declared_steps()]


def _asking() -> list[dict[str, Any]]:
    ask = step("SAY-GET", variable="code1", value="Code?", pii="question")
    inner = step("SAY", value="Inside: {{inner}}, {{inner.toUpperCase()}}, {{other}}.")
    secret = {"secret": {"type": "string", "pii": "variable"}}
    entry = {"name": "pin", "kind": "text", "prompt": "Pin?", "label": "pin", "pii": "form"}
    timeout = {"after": 60_000, "ask": "Still there, {{secret}}? {{back}}", "max": 1}
    return [
        flow("Inner", inner, step("SET", variable="x", value="turned(inner)")),
        flow("Apart", inner, step("SET", variable="x", value="coded(inner)"), scope="isolated"),
        flow("Question", ask, *every_use("code1"), last("code1"), interruptable=True),
        flow(
            "Variable",
            step("SAY-GET", variable="secret", value="Secret?"),
            *every_use("secret"),
            step("SAY-GET", variable="more", value="Is {{secret}} right?", timeout=timeout),
            step("CALL-TOOL", tool="approved", args={"text": "{{secret}}"}, variable="ok"),
            step("SAY", value="Approved: {{ok.turned}}"),
            last("secret"),
            variables=secret,
            interruptable=True,
        ),
        flow(
            "Form",
            step("FORM", variable="form", inputs=[entry]),
            step("SAY", value="{{form.pin}} and {{form.pin.toUpperCase()}}"),
            step("SET", variable="back", value="turned(form.pin)"),
        ),
        flow("Other", step("SAY", value="Something else.")),
        *_asking_for_numbers(),
    ]


def _asking_for_numbers() -> list[dict[str, Any]]:
    """What users say of it elsewhere: to correct an answer, and before they are asked."""
    note = step("SAY-GET", variable="note", value="A note?")
    use = step("SAY", value="Noted: {{note}}, {{note.toUpperCase()}}.")
    send = step("CALL-TOOL", tool="echo", args={"text": "{{note}}"}, variable="told")
    pin = step("SAY-GET", variable="pinCode", value="Pin?", pii="correction")
    card = step("SAY-GET", variable="cardNumber", value="Card?", pii="early")
    found = step("SAY-GET", variable="found", value="Found {{note}}. What is it?", pii="late")
    more = step("SAY-GET", variable="more", value="Is {{note.toUpperCase()}} right?")
    return [
        flow("Correction", pin, note, use, send, step("SAY", value="{{told.turned}}")),
        flow("Early", note, use, send, card),
        flow("Late", note, use, send, found, more, step("SAY", value="{{told.turned}} {{note}}")),
    ]


def _given() -> list[dict[str, Any]]:
    card = [{"name": "card", "description": "card", "pii": "parameter"}]
    given = {"text": "{{cargo.five}}"}
    return [
        flow("Parameter", step("FLOW", value="Card", parameters={"card": "{{cargo.card}}"})),
        flow("Card", *every_use("card"), last("card"), parameters=card, scope="isolated"),
        flow(
            "Argument",
            step("CALL-TOOL", tool="guarded", args=given, variable="found"),
            step("SAY", value="{{found.turned}} {{found.echo}} {{found.city}}"),
        ),
        flow(
            "Answer",
            step("CALL-TOOL", tool="person", args={}, variable="found"),
            step("SAY", value="{{found.person.ssn}} lives in {{found.person.city}}"),
            step("SET", variable="mine", value="found.person.ssn"),
            step("SET", variable="city", value="found.person.city"),
            *every_use("mine"),
        ),
        flow(
            "Cargo",
            step("SET", variable="number", value="cargo.customer.ssn"),
            step("SET", variable="town", value="cargo.customer.city"),
            *every_use("number"),
            last("number"),
            pii=["cargo"],
        ),
    ]


def _declared_steps() -> list[dict[str, Any]]:
    given = {"inner": "{{cargo.given}}"}
    agent = {"agent": "helper", "variable": "said", "history": "none"}
    return [
        flow("Set", step("SET", variable="x", value="made('set')", pii="set"), *every_use("x")),
        flow("Say", step("SAY", value="It is {{made('say')}}.", pii="say")),
        flow(
            "Tool",
            step("CALL-TOOL", tool="give", args={}, variable="got", pii="tool"),
            step("SET", variable="mine", value="got.value"),
            *every_use("mine"),
        ),
        flow("Return", step("RETURN", value="made('return')", pii="return")),
        flow("Flow", step("FLOW", value="Inner", parameters=given, pii="flow")),
        flow("Agent", step("AGENT", pii="agent", **agent), *every_use("said")),
    ]


def without(name: str, tree: Any) -> Any:
    """The definitions as an author writes them, with every declaration but the one named."""
    if isinstance(tree, list):
        return [without(name, one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    told = {key: without(name, one) for key, one in tree.items()}
    declared = told.get("pii")
    if declared == ["cargo"]:
        told["pii"] = [] if name == "cargo" else ["cargo.customer.ssn"]
    elif isinstance(declared, str):
        del told["pii"]
        if declared != name:
            told["pii"] = True
    return told
