"""How texts become a reply."""

from __future__ import annotations

import pytest

from saywhy.errors import FlowExecutionError
from saywhy.flows.speech import (
    MAX_QUEUE,
    QUEUE,
    REPLY,
    TENTATIVE,
    deliver,
    drop_tentative,
    here,
    joined,
    language_of,
    localized,
    plain,
    prompt_for,
    prompt_of,
    queue_text,
    say_more,
    take_queue,
)
from saywhy.flows.world import Options
from saywhy.values import UNDEFINED, thaw
from tests.flows.conftest import flow, scope_at, world_of

MAIN = flow({"type": "SAY", "value": "x"}, prompt="Plain", prompt_es="Español")


def test_a_taken_queue_is_joined_and_gone() -> None:
    """Each text keeps the commit that wrote it; the gaps belong to nobody."""
    world = world_of(MAIN)
    scope = scope_at(world)
    scope.state.seq = 10
    for text in ("a", "", "  ", "b"):
        queue_text(world, scope, text)
    pieces = take_queue(scope)
    assert pieces == [["a", 11], ["\n\n", 0], ["b", 11]]
    assert plain(pieces) == "a\n\nb"
    assert take_queue(scope) == []
    assert scope.peek(QUEUE) is UNDEFINED


def test_empty_texts_are_kept_where_the_host_wants_them() -> None:
    """The behaviour of old, as an option."""
    world = world_of(MAIN, options=Options(keep_empty_says=True))
    scope = scope_at(world)
    for text in ("", "a", " "):
        queue_text(world, scope, text)
    assert plain(take_queue(scope)) == "\n\na\n\n "


def test_a_flow_that_never_stops_talking_fails() -> None:
    """The error names the usual cause; other texts of the library may still be added."""
    world = world_of(MAIN)
    scope = scope_at(world)
    for _ in range(MAX_QUEUE):
        say_more(world, scope, "again")
    with pytest.raises(FlowExecutionError, match="more than 200 texts were said") as caught:
        say_more(world, scope, "again")
    assert caught.value.hint == "usually a loop of SAYs: give it a condition to stop"
    queue_text(world, scope, "Resuming")
    assert len(scope.peek(QUEUE)) == MAX_QUEUE + 1


def test_groups_are_joined_where_they_hold_something() -> None:
    """No blank line at the beginning, none at the end."""
    assert joined() == []
    assert joined([], [["a", 1]], []) == [["a", 1]]
    assert plain(joined([["a", 1]], [], [["b", 2], ["c", 3]])) == "a\n\nbc"


def test_two_deliveries_in_a_turn_are_one_reply() -> None:
    """What was delivered first stands first."""
    scope = scope_at(world_of(MAIN))
    deliver(scope, here(scope, "a"))
    deliver(scope, here(scope, "b"))
    assert plain(thaw(scope.peek(REPLY))) == "a\n\nb"


def test_the_placeholder_goes_once() -> None:
    """Dropped, it is given back; a second time there is none."""
    scope = scope_at(world_of(MAIN))
    scope.set(TENTATIVE, "Processing")
    assert drop_tentative(scope) == "Processing"
    assert drop_tentative(scope) == ""


def test_the_language_is_the_sessions_else_the_engines() -> None:
    """A conversation may speak another language than the engine."""
    scope = scope_at(world_of(MAIN, language="es"))
    assert language_of(world_of(MAIN, language="es"), scope) == "es"
    scope.state.scopes["session"]["language"] = "fr"
    assert language_of(world_of(MAIN, language="es"), scope) == "fr"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"value": "plain", "value_es": "español"}, "español"),
        ({"value": "plain", "value_es": ""}, "plain"),
        ({"value": "plain", "value_fr": "français"}, "plain"),
        ({"value": True}, "true"),
        ({"value": 1.0}, "1"),
        ({"value": {"a": [None]}}, '{"a":[null]}'),
        ({"value": None}, ""),
        ({}, ""),
    ],
)
def test_localized_texts(spec: dict[str, object], text: str) -> None:
    """The text of the language where there is one, else the plain one, always as text."""
    assert localized(spec, "value", "es") == text


def test_prompts() -> None:
    """The prompt in the language, the plain one, the flow's name; nothing for no flow."""
    world = world_of(MAIN, flow({"type": "SAY", "value": "x"}, name="Bare"))
    main, bare = world.charts.find("Main"), world.charts.find("Bare")
    assert main is not None
    assert bare is not None
    assert [prompt_for(main, language) for language in ("es", "fr")] == ["Español", "Plain"]
    assert prompt_for(bare, "es") == "Bare"
    assert prompt_of(world.charts, main.digest, "es") == "Español"
    assert prompt_of(world.charts, "nobody", "es") == ""
