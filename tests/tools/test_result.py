"""Promise: what a tool answers becomes a value without loss, or is refused with its place."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from collections import OrderedDict, UserDict, namedtuple
from decimal import Decimal
from typing import Any

import msgspec
import pydantic
import pytest

from saywhy.errors import StateValueError
from saywhy.tools.result import as_value
from saywhy.values import BigInt, Date, dumps, freeze, loads, same


class Size(enum.Enum):
    LARGE = "large"


class Word(str, enum.Enum):  # noqa: UP042 - an enum of texts that prints its own name
    YES = "yes"


class Item(pydantic.BaseModel):
    name: str
    price: Decimal


@dataclasses.dataclass
class Order:
    id: int
    items: list[Item]
    placed: datetime.date


class Reply(msgspec.Struct, rename="camel", tag="reply"):
    is_ok: bool
    size: Size


Pair = namedtuple("Pair", ["a", "b"])


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (None, None),
        ("text", "text"),
        ({"a": [1, 2.5, True, None]}, {"a": [1, 2.5, True, None]}),
        ((1, 2), [1, 2]),
        (Pair(1, 2), [1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (UserDict(a=Decimal(1)), {"a": "1"}),
        (Size.LARGE, "large"),
        (Word.YES, "yes"),
        ([Word.YES, {"w": Word.YES}], ["yes", {"w": "yes"}]),
        (Decimal("10.50"), "10.50"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (datetime.date(2026, 1, 31), "2026-01-31"),
        (datetime.time(12, 30), "12:30:00"),
        (datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC), Date(0)),
        (
            {"at": datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC), "d": Decimal(1)},
            {"at": Date(0), "d": "1"},
        ),
        (BigInt(2**70), BigInt(2**70)),
        (Item(name="pen", price=Decimal("1.10")), {"name": "pen", "price": "1.10"}),
        (
            Order(7, [Item(name="pen", price=Decimal(2))], datetime.date(2026, 1, 31)),
            {"id": 7, "items": [{"name": "pen", "price": "2"}], "placed": "2026-01-31"},
        ),
        (Reply(is_ok=True, size=Size.LARGE), {"type": "reply", "isOk": True, "size": "large"}),
    ],
)
def test_converted(answer: Any, value: Any) -> None:
    """The value is what its object means as data, and survives being stored."""
    made = as_value(answer)
    assert same(made, freeze(value))
    assert same(loads(dumps(made)), made)


class Plain:
    pass


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({1, 2}, "the answer is a set, which a conversation cannot hold"),
        ({"a": [1, {2}]}, "the answer.a.1 is a set, which a conversation cannot hold"),
        (b"x", "the answer is a bytes, which a conversation cannot hold"),
        (Plain(), "the answer is a Plain, which a conversation cannot hold"),
        (Plain, "the answer is a type, which a conversation cannot hold"),
        (Order, "the answer is a type, which a conversation cannot hold"),
        (
            Order(1, [Plain()], datetime.date.min),  # type: ignore[list-item]
            "the answer.items.0 is a Plain, which a conversation cannot hold",
        ),
        ({1: "a"}, "the answer has the key 1, which is no text"),
        (datetime.timedelta(1), "the answer is a timedelta, which a conversation cannot hold"),
        ((n for n in ()), "the answer is a generator, which a conversation cannot hold"),
    ],
)
def test_refused(answer: Any, message: str) -> None:
    """What would come back as something else is refused, naming where it stands."""
    with pytest.raises(StateValueError) as caught:
        as_value(answer)
    assert caught.value.message == message


def test_an_endless_answer_is_refused() -> None:
    """An object that contains itself is too deep, not an endless loop."""
    ring: dict[str, Any] = {}
    ring["self"] = ring
    with pytest.raises(StateValueError, match="nested deeper than 200 levels"):
        as_value(ring)


def test_the_answer_is_not_shared() -> None:
    """What the function does to its object later does not reach the conversation."""
    answer = {"items": [1]}
    value = as_value(answer)
    answer["items"].append(2)
    assert same(value, {"items": [1]})
