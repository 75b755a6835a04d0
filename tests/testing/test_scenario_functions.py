"""Functions of scenarios: what each kind gives."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.helpers import At, validate_otp
from saywhy.testing.clock import FakeClock
from saywhy.testing.scenario_functions import ScriptedError, function_from_data, text_of
from saywhy.values import UNDEFINED


def make(**spec: Any) -> Any:
    return function_from_data("f", spec, FakeClock())


@pytest.mark.parametrize(
    ("spec", "args", "gives"),
    [
        ({"kind": "constant", "value": [1]}, (), [1]),
        ({"kind": "constant", "value": None}, (1, 2), None),
        ({"kind": "echo"}, ({"a": 1},), {"a": 1}),
        ({"kind": "echo"}, (1, 2), [1, 2]),
        ({"kind": "echo"}, (), UNDEFINED),
        ({"kind": "add", "args": ["x", "y"]}, ({"x": "2", "y": 3, "z": 9},), 5),
        ({"kind": "add", "args": ["x"]}, ({"x": "2.5"},), 2.5),
        ({"kind": "concat", "separator": "-"}, ("a", 1.0, None), "a-1-null"),
        ({"kind": "upper"}, ("abc",), "ABC"),
        ({"kind": "pick", "key": "k"}, ({"k": 0},), 0),
        ({"kind": "pick", "key": "k"}, ({},), UNDEFINED),
    ],
)
def test_kinds(spec: dict[str, Any], args: tuple[Any, ...], gives: Any) -> None:
    """Each kind gives what the reference says."""
    assert make(**spec)(*args) == gives


def test_a_constant_is_fresh() -> None:
    """What a flow changes in a constant does not come back."""
    function = make(kind="constant", value={"list": []})
    function()["list"].append(1)
    assert function() == {"list": []}


def test_sequence() -> None:
    """Values come in order, then the last one; an error among them is raised."""
    function = make(kind="sequence", values=[1, {"$raise": "down"}, 3])
    assert function() == 1
    with pytest.raises(ScriptedError, match=r"^down$"):
        function()
    assert [function(), function()] == [3, 3]


def test_raise() -> None:
    """An error with the message."""
    with pytest.raises(ScriptedError, match=r"^no luck$"):
        make(kind="raise", message="no luck")(1)


def test_slow_takes_time_of_the_clock() -> None:
    """A slow function takes the time it says, and none of ours."""
    clock = FakeClock()
    function = function_from_data("f", {"kind": "slow", "value": 1, "ms": 90_000}, clock)
    before = clock.now()
    assert asyncio.run(function()) == 1
    assert clock.now() - before == 90_000


def test_valid_if() -> None:
    """A validator compares by text and tells its message."""
    function = make(kind="valid_if", field="n", message="no", **{"in": ["1", "2"]})
    assert function({"n": 1}, {}) == {"isValid": True}
    assert function({"n": "3"}, {}) == {"isValid": False, "errors": ["no"]}
    assert function({}, {})["isValid"] is False


def test_set_cargo() -> None:
    """The object that was handed in is changed."""
    cargo: dict[str, Any] = {}
    assert make(kind="set_cargo", key="k", value="v")(cargo) is True
    assert cargo == {"k": "v"}


def test_one_time_code() -> None:
    """The code is noted as `validateOTP` wants it, in the last argument, whichever they are."""
    cargo: dict[str, Any] = {}
    send = make(kind="one_time_code", code="271828")
    assert send("account", "+15550100", cargo) == {"success": True}
    at = At(cargo["otpTimestamp"])
    assert validate_otp("111111", cargo, context=at) is False
    assert validate_otp("271828", cargo, context=at) is True
    with pytest.raises(ScriptedError, match="needs an object to be noted in, as last argument"):
        send("account", "+15550100")


def test_unknown_kinds_are_told() -> None:
    """A kind that does not exist, and a key that is missing, are named."""
    with pytest.raises(CallerError, match="function f has no known kind") as caught:
        make(kind="constnat")
    assert caught.value.hint == 'did you mean "constant"?'
    with pytest.raises(CallerError, match="function f of kind add needs the key 'args'"):
        make(kind="add")


def test_text() -> None:
    """Values as JavaScript writes them."""
    values = [True, None, UNDEFINED, 1.0, 2.5, [1, None, "a"], {"a": 1}]
    assert list(map(text_of, values)) == [
        "true", "null", "undefined", "1", "2.5", "1,,a", '{"a":1}',
    ]  # fmt: skip
