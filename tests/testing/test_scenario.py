"""Scenarios being played: every key of a turn, every kind of expectation, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.testing.scenario import Result, World, load_scenario, run_scenario

ASK = {"id": "ask", "type": "SAY-GET", "variable": "x", "value": "X?"}


def say(value: str, **keys: Any) -> dict[str, Any]:
    return {"id": "say", "type": "SAY", "value": value, **keys}


class Play:
    """Writes a scenario and plays it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def __call__(
        self, steps: list[Any], *turns: dict[str, Any], world: World | None = None, **keys: Any
    ) -> Result:
        flows = [{"id": "f", "name": "F", "steps": steps}]
        document = {
            "id": "s",
            "flows": flows,
            "engine": {"guidance": {"enabled": False}},
            "turns": [{"content": "F", **turn} for turn in turns],
            **keys,
        }
        path = self.folder / "s.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return await run_scenario(load_scenario(path), world)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


def told(result: Result) -> list[tuple[int, str, Any, Any]]:
    return [(one.turn, one.key, one.expected, one.actual) for one in result.failures]


async def test_a_conversation_passes(play: Play) -> None:
    """All that is expected came."""
    first = {"expect": {"response": "X?", "active_flow": "F", "error": None, "stack": [["F"]]}}
    second = {"content": " 5 ", "expect": {"response": "5!", "active_flow": None, "cargo": {}}}
    result = await play([ASK, say("{{x}}!")], first, second)
    assert (result.passed, result.failures, result.not_run) == (True, (), "")


async def test_standard_functions_are_there_where_they_are_asked_for(play: Play) -> None:
    """Only with the switch, and behind a function of the scenario with the same name."""
    steps = [say("{{last4('4111 1111 1111 1234')}}")]
    own = {"last4": {"kind": "constant", "value": "own"}}
    turn = {"expect": {"response": "1234"}}
    assert (await play(steps, turn, standard_functions=True)).passed
    assert not (await play(steps, turn)).passed
    result = await play(steps, turn, standard_functions=True, functions=own)
    assert told(result) == [(1, "response", "1234", "own")]


@pytest.mark.parametrize(
    ("expect", "failure"),
    [
        ({"response": "Y?"}, ("response", "Y?", "X?")),
        ({"response": None}, ("response", None, "X?")),
        ({"response_contains": ["?", "X"]}, ("response_contains", "X", "X?")),
        ({"active_flow": None}, ("active_flow", None, "F")),
        ({"stack": [["F"], ["G"]]}, ("stack", [["F"], ["G"]], [["F"]])),
        ({"variables": {"n": True}}, ("variables.n", True, 1)),
        ({"variables": {"list": [1]}}, ("variables.list", [1], [1, 2])),
        ({"variables": {"list": [2, 1]}}, ("variables.list", [2, 1], [1, 2])),
        ({"variables": {"o": {"a": 2}}}, ("variables.o", {"a": 2}, {"a": 1, "b": 2})),
        ({"cargo": {"c": "no"}}, ("cargo.c", "no", "yes")),
        ({"error": {"contains": "x"}}, ("error", {"contains": "x"}, None)),
        ({"outcome": {"outcome": "ok"}}, ("outcome", {"outcome": "ok"}, None)),
        ({"dispatch": {"fromFlow": "F"}}, ("dispatch", {"fromFlow": "F"}, None)),
        ({"tool_calls": [{"tool": "T"}]}, ("tool_calls", [{"tool": "T"}], [])),
        ({"http": [{"path": "/"}]}, ("http", [{"path": "/"}], [])),
        ({"ai_calls": ["voice"]}, ("ai_calls", ["voice"], [])),
    ],
)
async def test_each_expectation_can_fail(
    play: Play, expect: dict[str, Any], failure: tuple[str, Any, Any]
) -> None:
    """A difference is told with turn, key, expected and actual value."""
    steps = [
        {"id": "n", "type": "SET", "variable": "n", "value": 1},
        {"id": "l", "type": "SET", "variable": "list", "value": [1, 2]},
        {"id": "o", "type": "SET", "variable": "o", "value": {"a": 1, "b": 2}},
        ASK,
    ]
    result = await play(steps, {"expect": expect}, cargo={"c": "yes"})
    assert not result.passed
    assert told(result) == [(1, *failure)]


async def test_values_are_compared_as_values(play: Play) -> None:
    """1 is 1.0, objects may hold more, undefined is what is not there."""
    steps = [
        {"id": "n", "type": "SET", "variable": "n", "value": "3 / 3"},
        {"id": "o", "type": "SET", "variable": "o", "value": {"a": 1, "b": [1.0]}},
        {"id": "m", "type": "SET", "variable": "m", "value": "0 / 0"},
        ASK,
    ]
    variables = {
        "n": 1.0,
        "o": {"b": [1]},
        "m": {"$num": "NaN"},
        "gone": {"$undefined": True},
    }
    assert (await play(steps, {"expect": {"variables": variables}})).passed


CASE = {"id": "c", "type": "CASE", "branches": {"condition: false": say("no")}}


@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        ({"contains": "no conditions matched"}, True),
        ({"contains": "JSFEExecutionError"}, True),
        ({"contains": "other"}, False),
        ({"name": "Error"}, True),
        ({"name": "JSFEExecutionError"}, True),
        ({"name": "JSFERequiredSetFailed"}, False),
        ({"name": "Error", "message": "other"}, False),
        (None, False),
    ],
)
async def test_errors(play: Play, expected: Any, passes: bool) -> None:
    """An error is compared by name and message; the name Error stands for any."""
    result = await play([CASE], {"expect": {"error": expected, "response": None}})
    assert result.passed is passes


async def test_an_error_nobody_mentions_is_a_failure(play: Play) -> None:
    """A turn that raises has failed, and says what and where."""
    result = await play([CASE], {"expect": {"active_flow": None}})
    ((turn, key, expected, actual),) = told(result)
    assert (turn, key, expected) == (1, "error", None)
    assert actual["name"] == "JSFEExecutionError"
    assert actual["message"].startswith("CASE step: no conditions matched")
    assert actual["place"]


async def test_it_goes_on_after_an_error(play: Play) -> None:
    """The next turn runs on the repaired session."""
    expect = {"error": {"contains": "no conditions"}}
    again = {"content": "none of ours", "expect": {"response": None, "error": None}}
    assert (await play([CASE], {"expect": expect}, again)).passed


async def test_turns_as_written(play: Play) -> None:
    """Cargo is set, the session goes through JSON, a host starts a flow, the assistant speaks."""
    steps = [ASK, say("{{x}} {{cargo.mode}} {{extra}}")]
    result = await play(
        steps,
        {"role": "assistant", "content": "hello", "expect": {"response": None}},
        {"start": {"flow": "F", "arguments": {"extra": "e"}}, "expect": {"response": "X?"}},
        {
            "content": "a",
            "roundtrip": True,
            "set_cargo": {"mode": "night"},
            "expect": {"response": "a night e", "cargo": {"mode": "night"}},
        },
    )
    assert told(result) == []


async def test_a_user_who_signs_in(play: Play) -> None:
    """What the host says of the user holds for later turns, until it says otherwise."""
    tool = {
        "id": "orders",
        "name": "Orders",
        "parameters": {"type": "object"},
        "implementation": {"type": "mock", "mockResponse": {"n": 2}},
        "security": {"requiresAuth": True},
    }
    refused = [{"id": "no", "type": "RETURN", "value": "'who are you?'"}]
    call = {"id": "c", "type": "CALL-TOOL", "tool": "orders", "variable": "r", "onFail": refused}
    no, yes = {"response": "who are you?"}, {"response": "2"}
    result = await play(
        [call, say("{{r.n}}")],
        {"expect": no},
        {"authenticated": True, "expect": yes},
        {"expect": yes, "roundtrip": True},
        {"authenticated": False, "expect": no},
        tools=[tool],
    )
    assert told(result) == []


async def test_waiting_takes_no_time(play: Play) -> None:
    """Pauses and time limits pass on the clock of the scenario, and flows see them pass."""
    steps = [
        {"id": "t", "type": "SET", "variable": "t", "value": "current_time"},
        ASK,
        say("{{current_time - t >= 3600000}}"),
    ]
    result = await play(
        steps,
        {"expect": {"response": "X?"}},
        {"content": "y", "wait_ms": 3_600_000, "expect": {"response": "true"}},
    )
    assert told(result) == []


async def test_silence_takes_no_time(play: Play) -> None:
    """What falls due in a silence is played in order, and what was said in it is one reply."""
    timeout = {"after": 60_000, "max": 1, "ask": "Hm?", "value": "none"}
    result = await play(
        [{**ASK, "timeout": timeout}, say("{{x}}")],
        {"expect": {"response": "X?"}},
        {"content": None, "silence_ms": 59_999, "expect": {"response": None, "active_flow": "F"}},
        {"content": None, "silence_ms": 3_600_000, "expect": {"response": "Hm?\n\nnone"}},
    )
    assert told(result) == []
    silent = {"content": None, "silence_ms": 5, "expect": {"response": "Hm?"}}
    assert told(await play([ASK], {"expect": {}}, silent)) == [(2, "response", "Hm?", None)]


async def test_silence_with_functions_of_the_programs_own(play: Play) -> None:
    """Where the clock is the machine's nobody waits either: the moments come at once."""
    timeout = {"after": 3_600_000, "max": 1, "ask": "Hm?", "value": "none"}
    result = await play(
        [{**ASK, "timeout": timeout}, say("{{f()}} {{x}}")],
        {"expect": {"response": "X?"}},
        {"content": None, "silence_ms": 3_600_000 * 1.5, "expect": {"response": "Hm?"}},
        {"content": None, "silence_ms": 3_600_000 * 2, "expect": {"response": "ours none"}},
        world=World(functions={"f": lambda: "ours"}),
    )
    assert told(result) == []


TOOL = {
    "id": "t",
    "name": "T",
    "parameters": {"type": "object", "properties": {}},
    "implementation": {"type": "local", "function": "f", "timeout": 200},
}
CALL = {"id": "call", "type": "CALL-TOOL", "tool": "t", "variable": "r", "onFail": say("{{r}}")}


async def test_slow_functions_meet_time_limits(play: Play) -> None:
    """A function that takes longer than the tool allows is cut off, at once for us."""
    result = await play(
        [CALL],
        {"expect": {"response_contains": ["timeout after 200ms"]}},
        tools=[TOOL],
        functions={"f": {"kind": "slow", "value": 1, "ms": 60_000}},
    )
    assert told(result) == []


async def test_tool_calls(play: Play) -> None:
    """Each attempted call is compared by the keys that are named."""
    steps = [{**CALL, "onFail": None}, say("{{r}}")]
    calls = [{"tool": "T", "implementation": "local"}]
    result = await play(
        steps,
        {"expect": {"response": "9", "tool_calls": calls}},
        tools=[TOOL],
        functions={"f": {"kind": "constant", "value": 9}},
    )
    assert told(result) == []


async def test_files_beside_the_scenario(play: Play, tmp_path: Path) -> None:
    """Flows may stand in files, which are found from where the scenario is."""
    (tmp_path / "more.yaml").write_text(
        "- {id: g, name: G, steps: [{id: s, type: SAY, value: from a file}]}\n", encoding="utf-8"
    )
    turn = {"content": "G", "expect": {"response": "from a file"}}
    assert told(await play([ASK], turn, files=["more.yaml"])) == []
    missing = await play([ASK], turn, files=["gone.yaml"])
    ((_, key, _, actual),) = told(missing)
    assert key == "scenario"
    assert "gone.yaml: error: cannot read this file: no such file or directory" in actual


async def test_a_function_that_is_no_kind(play: Play) -> None:
    """A scenario that cannot be played fails and says why."""
    result = await play([ASK], {"expect": {"response": "X?"}}, functions={"f": {"kind": "odd"}})
    ((_, key, _, actual),) = told(result)
    assert key == "scenario"
    assert actual.startswith("the function f has no known kind (odd)")


async def test_a_program_hands_things_over(play: Play) -> None:
    """Functions, globals and cargo of the program; the scenario's own go before them."""
    world = World({"up": str.upper}, {"g": "world", "own": "world"}, {"c": "cargo"})
    turn = {"expect": {"response": "WORLD scenario cargo"}}
    steps = [say("{{up(g)}} {{own}} {{cargo.c}}")]
    assert told(await play(steps, turn, world=world, globals={"own": "scenario"})) == []


MODEL = [{"for": "detect_flow", "raise": "must not be called"}]


async def test_a_model_that_is_not_asked(play: Play) -> None:
    """A scenario with a scripted model is played as long as nobody would ask it."""
    turn = {"expect": {"response": "X?", "ai_calls": []}}
    assert told(await play([ASK, say("{{x}}")], turn, {"content": "5"}, ai=MODEL)) == []


async def test_a_model_that_fails(play: Play) -> None:
    """The turn in which it is asked raises, and what differed before is told too."""
    turns = [{"expect": {"response": "Y?"}}, {"content": "5"}, {"content": "how are you"}]
    result = await play([ASK, say("{{x}}")], *turns, ai=MODEL)
    assert [(each.turn, each.key) for each in result.failures] == [(1, "response"), (3, "error")]
    assert "AI communication failed: must not be called" in str(result.failures[1].actual)


async def test_scenarios_do_not_share_anything(play: Play) -> None:
    """Each has its own engine, session, functions and cargo."""
    steps = [{"id": "s", "type": "SET", "variable": "n", "value": "count()"}, say("{{n}}")]
    functions = {"count": {"kind": "sequence", "values": [1, 2, 3]}}
    for _ in range(2):
        turn = {"expect": {"response": "1"}}
        assert told(await play(steps, turn, functions=functions)) == []


async def test_a_scenario_calls_nobody_else(play: Play) -> None:
    """A tool with the address of a real service gets the answer of the scenario's web server."""
    implementation = {
        "type": "http",
        "method": "GET",
        "url": "https://api.example.com/{id}",
        "headers": {"X-Key": "{{userId}}"},
    }
    call = {"id": "c", "type": "CALL-TOOL", "tool": "T", "args": {"id": 7}, "variable": "r"}
    request = {"method": "GET", "path": "/7", "headers": {"x-key": "user-1"}}
    for headers in ([], ["X-Key"]):
        result = await play(
            [call, say("{{r.n}}")],
            {"expect": {"response": "5", "http": [request]}},
            tools=[{"id": "T", "name": "T", "implementation": implementation}],
            http=[{"path": "/7", "body": {"n": 5}}],
            record_headers=headers,
        )
        assert (told(result), result.not_run) == ([], "")


@pytest.mark.parametrize(
    ("request_", "is_so"),
    [
        ({}, True),
        ({"method": "POST"}, True),
        ({"body": {"id": 7, "who": "Ann"}}, True),
        ({"body": {"id": 7}}, False),
        ({"body": None}, False),
        ({"query": None}, True),
        ({"query": "a=1"}, False),
        ({"headers": {"x-key": "user-1"}}, True),
        ({"headers": {"x-key": "user-2"}}, False),
        ({"headers": {"x-other": "user-1"}}, False),
    ],
)
async def test_a_request_is_compared_in_what_is_named(
    play: Play, request_: dict[str, Any], is_so: bool
) -> None:
    """All else may be as it is; a body is compared whole, and null means that there is none."""
    implementation = {
        "type": "http",
        "method": "POST",
        "url": "https://api.example.com/in",
        "headers": {"X-Key": "{{userId}}", "X-More": "1"},
    }
    args = {"id": 7, "who": "Ann"}
    call = {"id": "c", "type": "CALL-TOOL", "tool": "T", "args": args, "variable": "r"}
    result = await play(
        [call],
        {"expect": {"http": [request_]}},
        tools=[{"id": "T", "name": "T", "implementation": implementation}],
        http=[{"method": "POST", "path": "/in", "body": {}}],
    )
    assert (result.passed, result.not_run) == (is_so, "")


async def test_a_difference_has_its_place(play: Play) -> None:
    """That of the key that expects it; an error nobody expects has that of its turn."""
    result = await play([ASK, say("{{x}}!")], {"expect": {"variables": {"x": 1}}})
    (failure,) = result.failures
    assert failure.place.pointer == "/turns/0/expect/variables"
    assert failure.render().startswith(f"turn 1, variables.x  {failure.place.file}:1\n")
    turn = {"content": "what", "expect": {"active_flow": "F"}}
    result = await play([ASK], turn, ai=[{"raise": "line down"}])
    places = {one.key: one.place.pointer for one in result.failures}
    assert places["error"] == "/turns/0"


async def test_a_misspelt_answer_of_the_web_server(play: Play) -> None:
    """It is a mistake in the scenario, which then is not played."""
    result = await play([say("a")], {"expect": {"response": "a"}}, http=[{"pth": "/7"}])
    assert result.not_run == (
        '"pth" is no key of an answer of the stub server\n    did you mean "path"?'
    )
