"""Promise: whichever step a sensitive value goes through, and fails in, it is nowhere else.

What `test_canary` does not do: refused answers, retries, thrown errors, silence, voice, languages,
branches by value, and every way to leave a flow.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, SqliteStore
from tests.journeys.canary import FUNCTIONS, canary, flow, found_in, only_plain, step, tool, without
from tests.journeys.searched import Place, overheard

GUARDS = (
    "refused",
    "thrown",
    "required",
    "retried",
    "silent",
    "branched",
    "left",
    "voiced",
    "formed",
)
"""What is declared, each with a canary called like it."""


def refusing(variables: dict[str, Any], frame: Any) -> dict[str, Any]:
    """Refuse an answer once, and quote it; the one without its last letter is fine."""
    answer = str(variables["wordRefused"])
    told = [f"{answer} is not right, nor {answer[::-1]}"]
    return {"isValid": answer != canary("refused"), "errors": told}


def choosy(variables: dict[str, Any], frame: Any) -> dict[str, Any]:
    """The same for an input of a form."""
    answer = str((variables.get("form") or {}).get("pin"))
    return {"isValid": answer != canary("formed"), "errors": [f"not {answer[::-1]} at all"]}


def busy(args: Any) -> Any:
    """Fail in a way that a rule of the step knows."""
    raise RuntimeError(f"busy with {args['text']}, {str(args['text']).upper()}")


def guarded(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    """A flow that declares its variable, `word` in its steps, under a name of its own: what one
    flow declares holds for that name in all of them."""
    variables = {"word": {"type": "string", "pii": name.lower()}}
    made = flow(name, *steps, variables=variables, interruptable=True)
    return json.loads(json.dumps(made).replace("word", f"word{name}"))


ASK = step("SAY-GET", variable="word", value="Word?")
MORE = step("SAY-GET", variable="more", value="More of {{word}}?")


def flows() -> list[dict[str, Any]]:
    """A flow for each guard, and those they call."""
    said = step("SAY", value="It is {{word}}, {{word.toUpperCase()}}.")
    return [
        guarded("Refused", *_refused(), said),
        guarded("Thrown", ASK, *_thrown(), said, MORE),
        guarded("Required", ASK, _required(), said),
        guarded("Retried", ASK, *_retried(), said),
        guarded("Silent", ASK, *_silent(), said),
        guarded("Branched", ASK, *_branched(), said),
        guarded("Left", ASK, *_left()),
        guarded("Voiced", *_voiced(), said),
        flow("Formed", _formed(), step("SAY", value="It is {{form.pin}}.")),
        flow("Ended", step("SAY", value="Ends with {{inner}}."), step("END")),
        flow("Gone", step("SAY", value="Gone with {{inner}}."), step("DISPATCH")),
        flow("Replaced", step("SAY", value="Now {{inner}}."), step("RETURN", value="inner")),
    ]


def _refused() -> list[dict[str, Any]]:
    checks = {
        "customValidator": "refusing",
        "patterns": [{"field": "word", "pattern": "^kn", "message": "It begins with kn."}],
    }
    return [step("SAY-GET", variable="word", value="Word?", inputValidation=checks)]


def _formed() -> dict[str, Any]:
    entry = {"name": "pin", "kind": "text", "prompt": "Pin?", "label": "pin", "pii": "formed"}
    return step(
        "FORM",
        variable="form",
        inputs=[{**entry, "inputValidation": {"customValidator": "choosy"}}],
    )


def _thrown() -> list[dict[str, Any]]:
    """Errors of JavaScript, of functions and of templates, all with the value in their words."""
    thrown = (
        "(() => { throw new Error(word) })()",
        "JSON.parse(word)",
        "BigInt(word)",
        "new RegExp('(' + word)",
        "word.nowhere.deep",
        "null[word]",
        "refuse(word)",
        "((s) => { throw {s} })(word)",
    )
    sets = [step("SET", variable="x", value=f"{{{{{one}}}}}") for one in thrown]
    says = [step("SAY", value=f"So {{{{{one}}}}}.") for one in thrown]
    cases = [
        step("CASE", branches={f"condition: {one}": step("SAY", value="Yes."), "default": none()})
        for one in thrown
    ]
    return [*sets, *says, *cases]


def none() -> dict[str, Any]:
    """A step that says nothing of anything."""
    return step("SAY", value="So be it.")


def _required() -> dict[str, Any]:
    return step("SET", variable="x", value="{{word.length > 999 && word}}", requireTrue=True)


def _retried() -> list[dict[str, Any]]:
    given: dict[str, Any] = {"tool": "busy", "args": {"text": "{{word}}"}, "variable": "got"}
    other = step("SAY", value="Fell back on {{word}}.")
    rules: list[dict[str, Any]] = [
        {"errorPattern": "busy with", "action": "fallback", "fallbackStep": other},
    ]
    return [
        step("CALL-TOOL", **given, retryOnConditions=rules),
        step("CALL-TOOL", **given, retryOnConditions=[{"errorPattern": "busy", "action": "skip"}]),
        step("CALL-TOOL", **given, maxRetries=1, retryDelay=0, onFail=[
            step("SET", variable="why", value="'it was ' + JSON.stringify(got)"),
            step("SAY", value="It failed: {{why}}."),
        ]),
        step("CALL-TOOL", tool="echo", args={"text": "{{word}}"}, variable="got", undo={
            "tool": "echo", "args": {"text": "{{got.turned}}"}, "text": "Undo {{word}}?",
        }),
    ]  # fmt: skip


def _silent() -> list[dict[str, Any]]:
    timeout = {
        "after": 60_000,
        "max": 1,
        "ask": "Still there, {{word}}?",
        "value": "{{word}}",
        "then": step("SAY", value="I put down {{more}}."),
    }
    return [step("SAY-GET", variable="more", value="More?", timeout=timeout)]


def _branched() -> list[dict[str, Any]]:
    return [
        step("SWITCH", variable="word", branches={"a": none(), "default": none()}),
        step("CASE", branches={
            "condition: word === 'no' || word.includes('nothing')": none(),
            "condition: turned(word).length > 3": step("SAY", value="Long: {{word}}."),
            "default": none(),
        }),
        step("SAY", value="Of {{word}} in English.", value_de="Von {{word}} auf Deutsch."),
        step("SET", variable="list", value="[word, [word]].flat()"),
        step("SET", variable="cargo.kept", value="{of: list.join('; ')}"),
        step("SAY", value="{{list.join()}} {{cargo.kept.of}}", keepSay=True),
    ]  # fmt: skip


def _left() -> list[dict[str, Any]]:
    inner = {"parameters": {"inner": "{{word}}"}}
    return [
        step("FLOW", value="Ended", **inner),
        step("FLOW", value="{{'Nowhere ' + word}}", onFail=step("SAY", value="No {{word}}.")),
        step("SAY-GET", variable="way", value="Which way?"),
        step("CASE", branches={
            "condition: way === 'replace'": step(
                "FLOW", value="Replaced", callType="replace", **inner
            ),
            "condition: way === 'reboot'": step(
                "FLOW", value="Replaced", callType="reboot", **inner
            ),
            "condition: way === 'unknown'": step("FLOW", value="{{word}}"),
            "default": step("FLOW", value="Gone", **inner),
        }),
    ]  # fmt: skip


def _voiced() -> list[dict[str, Any]]:
    keys = step("SAY-GET", variable="word", value="Word?", digits={"min": 4, "max": 9},
                asSpoken="{{turned('') === ''}}")  # fmt: skip
    return [keys, step("SAY", value="Heard {{word.split('').join(' ')}}.")]


def engine_of(place: Place, left_out: str) -> Engine:
    """An engine with all of it."""
    return Engine(
        flows=without(left_out, flows()),
        tools=[tool("echo"), tool("busy")],
        functions={**FUNCTIONS, "refusing": refusing, "choosy": choosy, "busy": busy, "echo": echo},
        guidance={"enabled": False},
        validate_on_init=False,
        logger=place.log,
        log_tool_failures=True,
        store=SqliteStore(place.path),
    )


def echo(args: Any) -> dict[str, Any]:
    """Give back what was given, turned round."""
    return {"turned": str(args["text"])[::-1], "city": "Bern"}


# ------------------------------------------------------------------ conversations

Talk = Callable[[Place, str], Coroutine[Any, Any, None]]


async def plainly(place: Place, name: str) -> None:
    """Asked, answered, and on to the end."""
    for text in (name, canary(name), "and more"):
        await place.say(name, text)


async def refused(place: Place, name: str) -> None:
    """A wrong answer first; the right one is another canary's."""
    await place.say(name, name)
    await place.say(name, canary(name))
    await place.say(name, "nothing like it")
    await place.say(name, f"{canary(name)}.")


async def in_silence(place: Place, name: str) -> None:
    """Nobody answers, twice."""
    await place.say(name, name)
    await place.say(name, canary(name))
    for minutes in (1, 2, 4):
        await place.engine.run_due(time.time() * 1000 + minutes * 61_000)


async def by_every_way(place: Place, name: str) -> None:
    """Once for each way to leave, and for one that leads nowhere."""
    for way in ("replace", "reboot", "unknown", "away"):
        session_id = name if way == "away" else f"{name}-{way}"
        for text in (name, canary(name), way):
            await place.say(session_id, text)


async def by_voice(place: Place, name: str) -> None:
    """Said, not typed."""
    await place.say(name, name, cargo={"voice": True})
    await place.say(name, canary(name), cargo={"voice": True})


TALKS: dict[str, Talk] = {
    "refused": refused,
    "formed": refused,
    "silent": in_silence,
    "left": by_every_way,
    "voiced": by_voice,
}


async def written(folder: Path, left_out: str = "") -> bytes:
    """Everything that the conversations left anywhere, those of one guard or all of them."""
    place = Place(folder / "talk.sqlite3").with_engine(lambda own: engine_of(own, left_out))
    ways = [f"left-{way}" for way in ("replace", "reboot", "unknown")]
    async with place.engine:
        for name in GUARDS:
            await TALKS.get(name, plainly)(place, name)
        store = place.engine.store
        assert store is not None
        for output in await store.unsent():
            assert await store.mark_sent(output.output_id)
        for name in (*GUARDS, *ways):
            await place.say(name, "cancel")
            await place.say(name, "nothing", cargo={"kept": None})
            await place.look(name)
    return place.written()


async def test_no_canary_is_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither in what worked nor in what failed."""
    caplog.set_level(logging.DEBUG)
    data = await written(tmp_path) + overheard(caplog, capfd)
    assert found_in(data, GUARDS) == set()
    assert b"Of [REDACTED] in English." in data


@pytest.mark.parametrize("name", GUARDS)
async def test_a_declaration_left_out_lets_its_canary_escape(name: str, tmp_path: Path) -> None:
    """Each declaration guards its canary, alone."""
    data = await written(tmp_path, name)
    assert only_plain(data, name)
    assert found_in(data, GUARDS) == {name}


@pytest.mark.parametrize("is_declared", [True, False])
async def test_an_amount_in_another_currency(is_declared: bool, tmp_path: Path) -> None:
    """A form repeats what it refuses, which is as sensitive as what it takes."""
    amount = {"name": "amount", "kind": "amount", "prompt": "How much?", "label": "amount"}
    entry = {**amount, "money": {"currency": "EUR"}, "pii": is_declared}
    flows = [flow("Pay", step("FORM", variable="form", inputs=[entry]))]

    def engine(place: Place) -> Engine:
        return Engine(flows=flows, logger=place.log, store=SqliteStore(place.path))

    place = Place(tmp_path / "talk.sqlite3").with_engine(engine)
    async with place.engine:
        await place.say("c", "Pay")
        assert "8801993 dollars" in str(await place.say("c", "8801993 dollars"))
        await place.say("c", "7712 euros")
        await place.say("c", "nothing")
        await place.look("c")
    assert (b"8801993" in place.written()) is not is_declared
