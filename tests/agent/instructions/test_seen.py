"""Promise: a condition sees ordinary values, and each look is noted with what stood there."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from saywhy.agent.instructions.seen import (
    LONGEST_VALUE,
    MOST_LOOKS,
    Look,
    Looks,
    SeenDict,
    SeenList,
    seen,
)
from saywhy.values import freeze

ORDER = {
    "status": "denied",
    "lines": [{"sku": "a", "n": 2}, {"sku": "b", "n": 0}],
    "tags": ["x", "y"],
    "buyer": {"name": "Ann", "address": {"city": "Oslo"}},
    "none": None,
}


def watched(value: Any = ORDER) -> tuple[Any, Looks]:
    looks = Looks()
    return seen(copy.deepcopy(value), ("content",), looks), looks


def read(looks: Looks) -> list[tuple[str, Any]]:
    return [(look.path, look.value) for look in looks.taken()]


def test_items_and_attributes_are_the_same_look() -> None:
    """`c["status"]` and `c.status` give the value and note its path."""
    for look_at in (lambda c: c["status"], lambda c: c.status, lambda c: c.get("status")):
        content, looks = watched()
        assert look_at(content) == "denied"
        assert read(looks) == [("content.status", "denied")]


def test_only_the_end_of_a_path_is_noted() -> None:
    """What was walked through is no look; where nothing inside is looked at, it is one."""
    content, looks = watched()
    assert content.buyer.address.city == "Oslo"
    assert read(looks) == [("content.buyer.address.city", "Oslo")]
    content, looks = watched()
    assert content.buyer is not None
    assert read(looks) == [("content.buyer", "<object of 2>")]


@pytest.mark.parametrize(
    ("look_at", "path", "value"),
    [
        (list, "content", "<object of 5>"),
        (len, "content", "<object of 5>"),
        (bool, "content", "<object of 5>"),
        (lambda c: c.keys(), "content", "<object of 5>"),
        (lambda c: c == {}, "content", "<object of 5>"),
        (repr, "content", "<object of 5>"),
        (lambda c: c.copy(), "content", "<object of 5>"),
        (lambda c: "x" in c.tags, "content.tags", "<list of 2>"),
        (lambda c: len(c.tags), "content.tags", "<list of 2>"),
        (lambda c: c.tags[-1], "content.tags.1", "y"),
        (lambda c: c.none, "content.none", None),
        (lambda c: "none" in c, "content.none", None),
        (lambda c: "gone" in c, "content.gone", "<absent>"),
        (lambda c: c.get("gone", 7), "content.gone", "<absent>"),
    ],
)
def test_what_is_noted(look_at: Any, path: str, value: Any) -> None:
    """Going through all of an object or list notes the whole, looking for a part that part."""
    content, looks = watched()
    look_at(content)
    assert (path, value) in read(looks)


def test_a_loop_notes_what_it_looked_at() -> None:
    """Items of a list are watched as well."""
    content, looks = watched()
    assert any(line["n"] == 0 for line in content.lines)
    assert ("content.lines.1.n", 0) in read(looks)
    assert ("content.lines", "<list of 2>") in read(looks)


def test_stepping_into_what_is_not_there_raises() -> None:
    """A missing field raises as it would in a dict, and is noted as absent."""
    content, looks = watched()
    with pytest.raises(KeyError, match="gone"):
        content["gone"]
    with pytest.raises(AttributeError, match=r'content\.buyer has no "age"'):
        _ = content.buyer.age
    with pytest.raises(AttributeError):
        _ = content.none.x
    with pytest.raises(IndexError):
        content.tags[9]
    assert ("content.gone", "<absent>") in read(looks)
    assert ("content.buyer.age", "<absent>") in read(looks)
    assert ("content.tags.9", "<absent>") in read(looks)


def test_they_are_dicts_and_lists() -> None:
    """A condition may ask for the type, compare, unpack, match and write JSON."""
    content, _ = watched()
    assert isinstance(content, dict)
    assert isinstance(content.tags, list)
    assert content == ORDER
    assert (content != ORDER) is False
    assert content.tags == ["x", "y"]
    assert (content.tags != ["x", "y"]) is False
    assert content.buyer == {"name": "Ann", "address": {"city": "Oslo"}}
    assert dict(content) == ORDER
    assert {**content} == ORDER
    assert [*content.tags] == ["x", "y"]
    assert list(reversed(content.tags)) == ["y", "x"]
    assert content.tags[0:1] == ["x"]
    assert json.loads(json.dumps(content)) == ORDER
    assert [value for _, value in content.items()] == list(content.values())
    match content:
        case {"status": "denied", "buyer": {"name": name}}:
            assert name == "Ann"
        case _:
            pytest.fail("an object is a mapping to `match`")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.__setitem__("status", 1),
        lambda c: setattr(c, "status", 1),
        lambda c: c.pop("status"),
        lambda c: c.update(a=1),
        lambda c: c.clear(),
        lambda c: c.tags.append("z"),
        lambda c: c.tags.sort(),
        lambda c: c.tags.__setitem__(0, "z"),
    ],
)
def test_a_condition_changes_nothing(change: Any) -> None:
    """Whatever changes a value is refused, with what to use instead."""
    content, _ = watched()
    with pytest.raises(TypeError, match="a condition only looks at values; `decide` is what"):
        change(content)
    assert content == ORDER


def test_copies_are_plain_and_may_be_changed() -> None:
    """`copy` and `deepcopy` give what is nobody else's."""
    content, _ = watched()
    for plain in (content.copy(), copy.deepcopy(content)):
        assert type(plain) is dict
        plain["buyer"]["name"] = "Bob"
    for plain in (content.tags.copy(), copy.deepcopy(content.tags)):
        assert type(plain) is list
    assert content.buyer.name == "Ann"
    assert freeze(content) == freeze(ORDER)


def test_notes_stay_small() -> None:
    """Long texts are cut, and a loop over a long list does not fill the record."""
    content, looks = watched({"text": "a" * 1000, "many": list(range(1000))})
    _ = content.text, [n for n in content.many if n < 0]
    found = dict(read(looks))
    assert found["content.text"] == "a" * LONGEST_VALUE + "…"
    assert len(found) <= MOST_LOOKS


def test_other_objects_are_handed_over_as_they_are() -> None:
    """What is no JSON is seen as itself."""
    thing = object()
    looks = Looks()
    assert seen(thing, ("content",), looks) is thing
    assert read(looks) == [("content", "<object>")]


def test_a_look_as_json() -> None:
    """A record has the path and the value."""
    assert Look(("content", "a"), 1).to_value() == ["content.a", 1]


def test_no_look_is_made_for_python_itself() -> None:
    """Names between underscores are not fields."""
    content, looks = watched()
    assert not hasattr(content, "__json__")
    assert [path for path, _ in read(looks)] == ["content"]
    assert SeenDict.__hash__ is None
    assert SeenList.__hash__ is None
