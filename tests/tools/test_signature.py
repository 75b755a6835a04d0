"""Promise: a function's signature is read as it is meant, and its arguments arrive converted."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from decimal import Decimal
from typing import Annotated, Any, Literal

import pydantic
import pytest

from saywhy.errors import CallerError
from saywhy.marks import is_quick, quick
from saywhy.tools.signature import KeywordFunction, describe_function, is_async


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Item(pydantic.BaseModel):
    name: str
    count: int = 1


@dataclasses.dataclass
class Spot:
    x: int
    y: int


def everything(
    text: str,
    number: int,
    money: Decimal,
    day: datetime.date,
    size: Size,
    item: Item,
    spot: Spot,
    kind: Literal["a", "b"] = "a",
    tags: list[str] | None = None,
    note: Annotated[str, pydantic.Field(description="a word", max_length=5)] = "",
    anything=None,
) -> list[Any]:
    return [text, number, money, day, size, item, spot, kind, tags, note, anything]


def test_arguments_arrive_as_annotated() -> None:
    """JSON becomes dates, enums, models and data classes; what is not given has its default."""
    function = KeywordFunction(everything)
    given = {
        "text": "t",
        "number": 3,
        "money": "1.10",
        "day": "2026-01-31",
        "size": "large",
        "item": {"name": "pen"},
        "spot": {"x": 1, "y": 2},
    }
    assert function(given) == [
        "t",
        3,
        Decimal("1.10"),
        datetime.date(2026, 1, 31),
        Size.LARGE,
        Item(name="pen", count=1),
        Spot(1, 2),
        "a",
        None,
        "",
        None,
    ]


def test_the_schema_says_what_the_annotations_say() -> None:
    """Types, choices, limits and descriptions are all there, and no made-up titles."""
    schema = KeywordFunction(everything).schema()
    properties = schema["properties"]
    assert schema["required"] == ["text", "number", "money", "day", "size", "item", "spot"]
    assert properties["text"] == {"type": "string"}
    assert properties["day"] == {"type": "string", "format": "date"}
    assert properties["kind"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert properties["note"] == {
        "type": "string",
        "description": "a word",
        "maxLength": 5,
        "default": "",
    }
    assert properties["anything"] == {"default": None}
    assert properties["item"] == {"$ref": "#/$defs/Item"}
    assert "title" not in schema


def test_what_cannot_be_converted_is_refused() -> None:
    """The refusal names the argument and the reason."""
    with pytest.raises(ValueError) as caught:
        KeywordFunction(everything)({"text": "t", "number": "x", "item": {"name": 3}})
    text = str(caught.value)
    assert text.startswith(
        "Tool argument validation failed: number Input should be a valid integer"
    )
    assert "item.name Input should be a valid string" in text
    assert "money Field required" in text


def test_names_that_a_model_could_not_have() -> None:
    """A parameter may be called like anything Python allows."""

    def odd(copy: int, _id: int, model_config: int, json: int = 4) -> list[int]:
        return [copy, _id, model_config, json]

    function = KeywordFunction(odd)
    assert list(function.schema()["properties"]) == ["copy", "_id", "model_config", "json"]
    assert function({"copy": 1, "_id": 2, "model_config": 3}) == [1, 2, 3, 4]


def test_defaults_are_the_functions_own() -> None:
    """What was not given is not passed, so that the function decides."""

    def given(**names: int) -> dict[str, int]:
        return names

    assert KeywordFunction(given, convert=False)({"a": 1}) == {"a": 1}


def test_context_is_passed_where_it_is_asked_for() -> None:
    """A function without the parameter is called without it."""

    def asks(a: int, context: Any = None) -> Any:
        return context

    assert KeywordFunction(asks)({"a": 1}, context="c") == "c"
    assert KeywordFunction(lambda a: a)({"a": 1}, context="c") == 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda *items: items, "<lambda> takes `*items`, which a schema cannot name"),
        (lambda **names: names, "<lambda> takes `**names`, which a schema cannot name"),
        (lambda a, /: a, "<lambda> takes `a` by position only"),
    ],
)
def test_signatures_that_no_schema_can_describe(function: Any, message: str) -> None:
    """The host is told while it defines the tool, not when it is called."""
    with pytest.raises(CallerError) as caught:
        KeywordFunction(function)
    assert caught.value.message == message
    assert caught.value.hint


def test_a_given_schema_is_not_read_from_the_signature() -> None:
    """Without conversion there is nothing to read."""
    with pytest.raises(CallerError, match="was given, not read from its signature"):
        KeywordFunction(charge_later, convert=False).schema()


async def charge_later(amount: float) -> float:
    """  Charges later.  """  # fmt: skip
    return amount


class Caller:
    """A thing to call."""

    async def __call__(self, amount: float) -> float:
        return amount


def test_what_is_async() -> None:
    """Async functions, objects with an async call and wrapped ones are told from the rest."""
    assert is_async(charge_later)
    assert is_async(Caller())
    assert is_async(KeywordFunction(charge_later))
    assert not is_async(KeywordFunction(everything))
    assert not is_async(len)


def test_what_is_quick() -> None:
    """The mark holds for the function itself and for its adapter."""

    @quick
    def at_once(a: int) -> int:
        return a

    assert is_quick(at_once)
    assert is_quick(KeywordFunction(at_once))
    assert not is_quick(KeywordFunction(everything))
    assert not is_quick(len)
    assert at_once(1) == 1


def test_description() -> None:
    """Name and first line of the docstring."""
    assert describe_function(charge_later) == ("charge_later", "Charges later.")
    assert describe_function(Caller()) == ("Caller", "A thing to call.")
    assert describe_function(everything) == ("everything", "")
