"""`inputValidation`: what a validator is handed, what it may change, what patterns may cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import FlowExecutionError
from saywhy.flows.validation import first_problem, matches
from tests.flows.conftest import Lines, ask, engine_of, flow, say, scope_at, talk, world_of


def checked(rules: Any) -> dict[str, Any]:
    return say("x", inputValidation=rules)


def test_all_findings_in_one_text() -> None:
    """Joined by commas, for the field of the first."""
    rules = {
        "patterns": [
            {"field": "a", "pattern": "^x", "message": "one"},
            {"field": "b", "pattern": "^y"},
            {"field": "c", "pattern": "^z", "message": "never: it is empty"},
            {"field": "n", "pattern": "^z", "message": "never: it is no text"},
        ]
    }
    world = world_of(flow(checked(rules)))
    scope = scope_at(world, a="1", b="2", c="", n=5)
    problem = first_problem(world, scope.node, scope)
    assert problem is not None
    assert problem.message == "one, Field b does not match required pattern"
    assert problem.field == "a"


@pytest.mark.parametrize(("language", "told"), [("es", "dos cifras"), ("de", "two digits")])
async def test_a_message_in_the_language_of_the_user(language: str, told: str) -> None:
    """`message_es` for users of that language, `message` for all others."""
    rule = {
        "field": "a",
        "pattern": "^[0-9]{2}$",
        "message": "two digits",
        "message_es": "dos cifras",
    }
    engine = engine_of(flow(ask("a", inputValidation={"patterns": [rule]})))
    refused = await talk(engine, "Main", "x", session=engine.init_session("ann", None, language))
    assert str(refused.response).startswith(f"❌ {told}\n\n")


@pytest.mark.parametrize("rules", [None, "text", [], {}, {"patterns": None}, {"patterns": []}])
def test_rules_that_are_none(rules: Any) -> None:
    """Nothing is checked."""
    world = world_of(flow(checked(rules)))
    scope = scope_at(world, a="1")
    assert first_problem(world, scope.node, scope) is None


def test_patterns_search() -> None:
    """By JavaScript's rules, anywhere in the text, whatever the author wrote in it."""
    world = world_of(flow(say("x")))
    assert matches(world, "b+", "abbc")
    assert matches(world, r"^\p{L}+$".replace(r"\p{L}", "[a-zä]"), "bär")
    assert not matches(world, "^b", "ab")
    assert matches(world, "'\"`${x}", "'\"`${x}".replace("${x}", "")) is False


def test_a_pattern_that_cannot_be_tried() -> None:
    """The author is told which, and why."""
    world = world_of(flow(say("x")))
    with pytest.raises(FlowExecutionError, match=r"the pattern '\[' cannot be tried"):
        matches(world, "[", "a")


def test_a_pattern_that_takes_too_long() -> None:
    """An author's carelessness does not stop a server."""
    world = world_of(flow(say("x")))
    with pytest.raises(FlowExecutionError, match="cannot be tried"):
        matches(world, "^(a+)+$", "a" * 60 + "!")


async def test_what_a_validator_is_handed() -> None:
    """Variables with globals below them, and what hosts know of a flow."""
    seen: list[Any] = []

    def check(variables: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
        seen.append((variables, frame))
        return {"isValid": True}

    engine = engine_of(
        flow(ask("a", inputValidation={"customValidator": "check"}), say("ok"), version="3"),
        functions={"check": check},
        globals={"g": 1, "a": "hidden"},
    )
    assert (await talk(engine, "Main", "x")).response == "ok"
    ((variables, frame),) = seen
    assert variables == {"g": 1, "a": "x"}
    assert frame["flowName"] == "Main"
    assert (frame["flowId"], frame["flowVersion"], frame["userId"]) == ("main", "3", "user-1")
    assert (frame["inputStack"], frame["language"]) == (["x"], "en")


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_validator_changes_stays_changed(is_async: bool) -> None:
    """As with every function that is handed an object; it sees a copy of the globals."""

    def check(variables: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
        variables["a"] = variables["a"].upper()
        variables["deep"]["n"] = 1
        variables["fresh"] = True
        variables["g"]["n"] = 2
        return {"isValid": True}

    async def check_later(variables: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return check(variables, frame)

    engine = engine_of(
        flow(
            {"type": "SET", "variable": "deep", "value": {"n": 0}},
            ask("a", inputValidation={"customValidator": "check"}),
            say("{{a}} {{deep.n}} {{fresh}} {{g.n}}"),
        ),
        functions={"check": check_later if is_async else check},
        globals={"g": {"n": 0}},
    )
    assert (await talk(engine, "Main", "x")).response == "X 1 true 2"
    assert (await talk(engine, "Main", "x")).response == "X 1 true 2"


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ({"isValid": False, "errors": ["a", "b"]}, "❌ a, b"),
        ({"isValid": False, "errors": "one text"}, "❌ one text"),
        ({"isValid": False}, "❌ not valid"),
        ({"isValid": False, "errors": [1]}, "❌ 1"),
        ({"isValid": 0}, None),
        ({"isValid": True, "errors": ["a"]}, None),
        (None, None),
        (False, None),
        ("no", None),
    ],
)
async def test_verdicts(verdict: Any, told: str | None) -> None:
    """Only `isValid: false` refuses; everything else lets pass."""
    engine = engine_of(
        flow(ask("a", inputValidation={"customValidator": "check"}), say("ok")),
        functions={"check": lambda variables, frame: verdict},
    )
    session = await talk(engine, "Main", "x")
    assert (session.response or "").split("\n")[0] == (told or "ok")


@pytest.mark.parametrize(
    ("language", "verdict", "told"),
    [
        ("es-MX", {"errors": ["bad"], "errors_es": ["malo"]}, "❌ malo"),
        ("fr", {"errors": ["bad"], "errors_es": ["malo"]}, "❌ bad"),
        ("es", {"errors": ["bad"], "errors_es": []}, "❌ bad"),
        ("es", {}, "❌ no es válido"),
        ("de", {"errors_es": ["malo"]}, "❌ nicht gültig"),
    ],
)
async def test_what_a_validator_says_in_the_users_language(
    language: str, verdict: dict[str, Any], told: str
) -> None:
    """`errors_es` before `errors`; where it says nothing the library does."""
    engine = engine_of(
        flow(ask("a", inputValidation={"customValidator": "check"}), say("ok")),
        functions={"check": lambda variables, frame: {"isValid": False, **verdict}},
        language=language,
    )
    session = await talk(engine, "Main", "x")
    assert (session.response or "").split("\n")[0] == told


async def test_a_validator_that_raises_is_warned_of() -> None:
    """The answer passes, and the host's log says why it was not checked."""

    async def later(variables: Any, frame: Any) -> None:
        raise LookupError("no database")

    def now(variables: Any, frame: Any) -> None:
        raise LookupError("no database")

    for check in (now, later):
        log = Lines()
        engine = engine_of(
            flow(ask("a", inputValidation={"customValidator": "check"}), say("ok")),
            functions={"check": check},
            logger=log,
        )
        assert (await talk(engine, "Main", "x")).response == "ok"
        assert log.lines == ["W approved function check raised LookupError: no database"]


async def test_a_validator_that_nobody_handed_over_is_warned_of() -> None:
    """The warning names it and the step."""
    log = Lines()
    engine = engine_of(
        flow(ask("a", inputValidation={"customValidator": "check"}), say("ok")), logger=log
    )
    await talk(engine, "Main", "x")
    assert log.lines == [
        "W /0/steps/0: the validator check is no approved function; nothing checked"
    ]
