"""Promise: what runs a conversation again can reach nobody, whatever its steps want."""

from __future__ import annotations

from saywhy import quick
from saywhy.flows.load import load_definitions
from saywhy.runtime.replay.inert import on_flows
from tests.runtime.replay.conftest import PAYING, Outside, ask, engine_of, flow_of, put, say, talk


async def test_an_error_of_a_function_comes_with_its_warning() -> None:
    """Its text and its kind, also as JavaScript's own errors."""
    outside = Outside()

    def broken(value: object) -> None:
        raise ValueError(f"{value} is odd")

    async def later(value: object) -> None:
        raise KeyError("nothing")

    flow = flow_of(
        ask("x", "?"), put("y", "broken(x)"), put("z", "later(x)"), say("end", "{{y}}{{z}}.")
    )
    functions = {"broken": broken, "later": later}
    engine = engine_of(outside, [flow], tools=[], functions=functions)
    session = await talk(engine, "Pay", "3")
    found = await engine.replay(session)
    assert found.same, found.text()


async def test_what_a_function_changed_in_its_arguments_is_changed_again() -> None:
    """The variable keeps what the function put into it."""

    def add(items: list[int]) -> int:
        items.append(9)
        return len(items)

    flow = flow_of(
        ask("x", "?"), put("items", "[1]"), put("n", "add(items)"), say("e", "{{items}}")
    )
    engine = engine_of(Outside(), [flow], tools=[], functions={"add": add})
    session = await talk(engine, "Pay", "3")
    found = await engine.replay(session)
    assert found.same, found.text()


async def test_a_validator_answers_from_the_record() -> None:
    """Also the one that said no."""
    outside = Outside()

    def long_enough(variables: dict[str, str], frame: object) -> dict[str, object]:
        assert not outside.gone, "nobody may be called any more"
        return {"isValid": len(variables["x"]) > 2, "errors": ["too short"]}

    step = ask("x", "?", inputValidation={"customValidator": "long_enough"})
    engine = engine_of(
        outside,
        [flow_of(step, say("e", "{{x}}"))],
        tools=[],
        functions={"long_enough": long_enough},
    )
    session = await talk(engine, "Pay", "a", "abc")
    outside.gone = True
    found = await engine.replay(session)
    assert found.same, found.text()


async def test_only_what_just_computes_is_called_with_something_new() -> None:
    """In a counterfactual a function that is marked as quick; another one ends the turn."""
    flow = flow_of(ask("who", "?"), ask("x", "??"), say("e", "{{twice(x)}} {{who}}"))
    double = quick(lambda value: f"{value}{value}")
    engine = engine_of(Outside(), [flow], tools=[], functions={"twice": double})
    session = await talk(engine, "Pay", "a", "b")
    session = await engine.update_activity("Pay", session)
    session = await engine.update_activity("c", session)
    session = await engine.update_activity("d", session)
    found = await engine.counterfactual(session, "message:3", turn=3)
    assert found.would_call == ()
    plain = engine_of(Outside(), [flow], tools=[], functions={"twice": lambda value: value})
    session = await talk(plain, "Pay", "a", "b", "c", "Pay")
    assert (await plain.replay(session)).same


async def test_other_flows_leave_what_is_no_flow() -> None:
    """Routing, corrections and agents stay."""
    engine = engine_of(Outside())
    world = engine._machinery.world  # pyright: ignore[reportPrivateUsage]
    other = on_flows(world, load_definitions([flow_of(say("x", "y"), name="Other")]))
    kinds = {chart.kind for chart in world.charts} - {"flow"}
    assert {chart.kind for chart in other.charts} - {"flow"} == kinds
    assert [flow.name for flow in other.order] == ["Other"]
    assert other.charts.find(PAYING["id"]) is None
