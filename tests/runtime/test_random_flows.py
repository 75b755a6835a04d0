"""Promise: whatever an author wrote and a user types, a turn ends or is refused by name.

Flows are made at random from all kinds of steps, sensible and senseless ones. A turn may raise
nothing but our own errors, leaves a session that goes through JSON unchanged, and the next turn
takes it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saywhy.errors import SaywhyError
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock

NAMES = ("Alpha", "Beta", "Gamma")
VARIABLES = ("a", "b", "c")

texts = st.sampled_from(
    ["hi", "", " ", "{{a}}", "{{a}} and {{b.x}}", "{{upper(a)}}", "{{later(b)}}", "{{", "{{a", "}}",
     "{{cargo.n}}", "{{ghost}}", "{{bad(a)}}", "{{userInput}}", "{{JSON.stringify(cargo)}}"]
)  # fmt: skip
expressions = st.sampled_from(
    ["1", "'x'", "a", "a + 1", "cargo.n = (cargo.n || 0) + 1", "({x: [1, {y: 2}]})", "[]",
     "b.x.push(3)", "upper(a)", "later(a)", "bad(a)", "ghost", "not an expression", "{{a}}", "0/0",
     "new Date(0)", "12n", "undefined", "null", "true", "a === 'yes'", "touch(cargo)", "delete b.x",
     "a = 5", ""]
)  # fmt: skip
variables = st.sampled_from([*VARIABLES, *VARIABLES, "cargo", "language", "", "a.b"])
questions = st.one_of(st.just("a?"), st.just("{{a}}?"), texts)
arguments = st.sampled_from(
    [{}, {"k": "{{cargo}}"}, {"k": {"l": ["{{b}}"]}, "m": "x{{a}}"}, {"k": "{{a}}"}]
)
targets = st.sampled_from([*NAMES, *NAMES, "{{a}}", "{{later('Beta')}}", "?"])
any_json = st.sampled_from([None, True, 0, -1, 2.5, "x", "", [], [1], {}, {"k": "v"}, "{{a}}"])
patterns = st.sampled_from(["^yes$", "[", "a", ""])
calls = st.sampled_from(["call", "replace", "reboot", "nonsense", None])


def objects(fields: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(fields, optional=optional)


repair: dict[str, Any] = {
    "maxRetries": st.sampled_from([0, 1, 2, "two", None]),
    "retryStrategy": st.sampled_from(["immediate", "linear", "exponential", "manual", "odd"]),
    "retryDelay": st.sampled_from([0, 10, "soon"]),
    "outcome": st.sampled_from(["resolved", "unresolved", "{{a}}", "{{later('o')}}", ""]),
    "reason": texts,
    "inputValidation": objects(
        {},
        {
            "patterns": st.lists(
                objects({"field": variables, "pattern": patterns}, {"message": texts}), max_size=2
            ),
            "customValidator": st.sampled_from(["fits", "later_fits", "bad", "nobody"]),
        },
    ),
}


def step_of(inner: st.SearchStrategy[Any] | None) -> st.SearchStrategy[dict[str, Any]]:
    """A step; with `inner`, one that may hold further steps."""
    more = dict(repair)
    if inner is not None:
        more["onFail"] = st.one_of(inner, st.lists(inner, max_size=2))
        more["retryOnConditions"] = st.lists(
            objects(
                {
                    "errorPattern": st.sampled_from(["", "boom", "timeout", "("]),
                    "action": st.sampled_from(["retry", "skip", "ask_user", "fallback", "odd"]),
                },
                {"fallbackStep": inner},
            ),
            max_size=2,
        )
    say = objects({"type": st.just("SAY"), "value": st.one_of(texts, texts, any_json)}, more)
    ask = objects(
        {"type": st.just("SAY-GET"), "value": questions, "variable": variables},
        {
            **more,
            "pii": st.sampled_from([True, "a === 'yes'", "["]),
            "digits": st.sampled_from([{"min": 1, "max": "{{a}}"}, {"max": 1}, 5]),
            "asSpoken": st.sampled_from([True, "ghost"]),
            "timeout": silence(inner),
        },
    )
    put = objects(
        {"type": st.just("SET"), "variable": variables, "value": st.one_of(expressions, any_json)},
        {**more, "requireTrue": st.booleans()},
    )
    call = objects(
        {"type": st.just("CALL-TOOL"), "tool": st.sampled_from(["work", "fail", "flaky", "no"])},
        {**more, "variable": variables, "args": arguments},
    )
    flow = objects(
        {"type": st.just("FLOW"), "value": targets},
        {
            **more,
            "callType": calls,
            "parameters": st.dictionaries(
                st.sampled_from(["a", "{{b}}", ""]), st.one_of(texts, any_json), max_size=2
            ),
            "discardSay": st.booleans(),
            "initializeDefaults": st.booleans(),
        },
    )
    kinds = [say, say, ask, ask, ask, ask, put, put, call, call, call, flow, flow, leave(more)]
    if inner is not None:
        kinds += [branching(inner, more), branching(inner, more)]
    return st.one_of(kinds)


def silence(inner: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    """What to do when nobody answers, sensible or not."""
    steps = {} if inner is None else {"then": st.one_of(inner, st.lists(inner, max_size=2))}
    told = {
        "max": st.sampled_from([0, 1, 3, -1, "two"]),
        "ask": texts,
        "value": any_json,
        **steps,
    }
    return st.one_of(
        st.sampled_from([1000, -5, "x"]),
        objects({"after": st.sampled_from([1, 1000, 1000, 0, "soon"])}, told),
    )


def leave(more: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A step that ends something, or that nobody knows."""
    return st.one_of(
        objects(
            {"type": st.just("RETURN")},
            {**more, "value": st.one_of(expressions, any_json), "keepSay": st.booleans()},
        ),
        objects({"type": st.sampled_from(["END", "DISPATCH", "FORM", "", "SET", "SAY-GET"])}, more),
    )


def branching(inner: Any, more: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A CASE or a SWITCH, mostly with a default."""
    conditions = expressions.map(lambda text: f"condition: {text}")
    keys = st.one_of(conditions, st.just("other"))
    values = st.sampled_from(["yes", "1", "true"])
    rest = st.one_of(st.just({}), *[st.fixed_dictionaries({"default": inner})] * 3)
    return st.one_of(
        objects(
            {
                "type": st.just("CASE"),
                "branches": st.tuples(st.dictionaries(keys, inner, max_size=2), rest).map(merged),
            },
            more,
        ),
        objects(
            {
                "type": st.just("SWITCH"),
                "variable": variables,
                "branches": st.tuples(st.dictionaries(values, inner, max_size=2), rest).map(merged),
            },
            more,
        ),
    )


def merged(parts: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return {**parts[0], **parts[1]}


steps = step_of(step_of(step_of(None)))


@st.composite
def libraries(draw: st.DrawFn) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = []
    for name in NAMES[: draw(st.integers(1, 3))]:
        made = draw(st.lists(steps, min_size=1, max_size=5))
        flow: dict[str, Any] = {
            "id": name.lower(),
            "name": name,
            "steps": [{"id": f"s{number}", **step} for number, step in enumerate(made)],
            "interruptable": draw(st.booleans()),
            "scope": draw(st.sampled_from(["shared", "isolated"])),
            "variables": draw(
                st.dictionaries(
                    st.sampled_from(VARIABLES),
                    any_json.map(lambda value: {"type": "string", "value": value}),
                    max_size=2,
                )
            ),
        }
        flows.append(flow)
    return flows


inputs = st.sampled_from(
    ["Alpha", "Beta", "gamma", "yes", "yes", "no", "", "cancel", "help", "status", "5", "be", "x"]
)
entries = st.one_of(
    inputs,
    inputs,
    inputs,
    st.sampled_from(
        [
            {"role": "assistant", "content": "hm"},
            {"role": "user", "content": {"text": "yes"}},
            {"role": "timer"},
            *({"role": "timer", "timestamp": moment} for moment in (4e12, 5e12, 6e12)),
            {"role": "user", "content": "x", "start": {"flow": "alpha", "arguments": {"a": [1]}}},
        ]
    ),
)


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


async def later_fits(variables: dict[str, Any], frame: dict[str, Any]) -> Any:
    variables["c"] = "touched"
    return {"isValid": variables.get("a") != "no", "errors": "not this"}


def bad(*values: Any) -> None:
    raise RuntimeError("boom")


def touch(value: Any) -> bool:
    value["touched"] = True
    return True


class World:
    """Functions and tools, one of which works every other time."""

    def __init__(self) -> None:
        self.calls = 0
        self.clock = FakeClock()

    def flaky(self, args: dict[str, Any]) -> Any:
        self.calls += 1
        if self.calls % 2:
            raise RuntimeError("timeout of the other side")
        return {"n": self.calls}

    def work(self, args: dict[str, Any]) -> Any:
        if isinstance(args.get("k"), dict):
            args["k"]["seen"] = [self.calls]
        return args

    def engine(
        self, flows: list[dict[str, Any]], *, effect: str = "once", **options: Any
    ) -> Engine:
        """An engine with these flows and all that they may use."""
        tools = [
            {
                "id": name,
                "name": name,
                "effect": effect,
                "parameters": {"type": "object", "properties": {}},
                "implementation": {"type": "local", "function": name},
            }
            for name in ("work", "fail", "flaky")
        ]
        functions = {
            "upper": lambda value: str(value).upper(),
            "later": later,
            "later_fits": later_fits,
            "fits": lambda variables, frame: {"isValid": variables.get("a") == "yes"},
            "bad": bad,
            "fail": bad,
            "touch": touch,
            "flaky": self.flaky,
            "work": self.work,
        }
        return Engine(
            flows=flows,
            tools=tools,
            functions=functions,
            globals={"b": {"x": [1]}},
            validate_on_init=False,
            logger=Nowhere(),
            clock=self.clock,
            max_steps=60,
            **options,
        )


class Nowhere:
    """A logger for what is broken on purpose."""

    def debug(self, text: str) -> None:
        """Nothing."""

    info = warn = error = debug


async def turn(engine: Engine, entry: Any, session: Session) -> Session:
    try:
        return await engine.update_activity(entry, session)
    except SaywhyError as error:
        return getattr(error, "session", None) or session


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(libraries(), st.lists(entries, min_size=1, max_size=6), st.booleans())
def test_no_turn_breaks(flows: list[dict[str, Any]], said: list[Any], voice: bool) -> None:
    """Only errors of ours are raised, and the conversation can always go on.

    One that goes through JSON after each turn is the same as one that never does.
    """

    async def converse() -> None:
        engine, other = World().engine(flows), World().engine(flows)
        session, never = (each.init_session("ann", "c1") for each in (engine, other))
        session.cargo["voice"] = never.cargo["voice"] = voice
        for entry in ["Alpha", *said]:
            session = await turn(engine, entry, session)
            never = await turn(other, entry, never)
            written = session.to_json()
            assert written == never.to_json()
            session = engine.load_session(written)
            assert session.to_json() == written

    asyncio.run(converse())
