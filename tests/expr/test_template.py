"""Promise: what stands between braces is found, and paths are filled in without an engine."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.expr.template import (
    Hole,
    condition_source,
    fill_paths,
    parse_template,
    path_of,
    path_problems,
)
from saywhy.values import UNDEFINED, Date, FrozenList, freeze, same

from .conftest import Variables


def sources(text: str) -> list[str]:
    return [hole.source for hole in parse_template(text).holes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", []),
        ("{{a}}", ["a"]),
        ("{{ a }}", ["a"]),
        ("{{\n a + 1\n}}", ["a + 1"]),
        ("{{a}} and {{b}}", ["a", "b"]),
        ("{{a}}{{b}}", ["a", "b"]),
        ("{{ f({a: {b: 1}}) }}!", ["f({a: {b: 1}})"]),
        ("{{{a: 1}}}", ["{a: 1}"]),
        ("{{ {a: {b: {}}} }}", ["{a: {b: {}}}"]),
        ("{{ '}}' }}", ["'}}'"]),
        ("{{ `${ {a: '}}'}.a }}}` }}", ["`${ {a: '}}'}.a }}}`"]),
        ("{{ /}}/.test(a) }}", ["/}}/.test(a)"]),
        ("{{ a /* }} */ }}", ["a /* }} */"]),
        ("{{a}}}", ["a"]),
        ("{{}}", [""]),
        ("{ {a} }", []),
        ("{{it's}} and {{that's}}", ["it's", "that's"]),
        ("{{f(}} and {{b}}", ["f(", "b"]),
        ("it's {{a}}, isn't it", ["a"]),
        ("¡{{ n }}! 😀{{ m }}", ["n", "m"]),
        ("a {{ b", []),
        ("{{ a }} {{ b", ["a"]),
        ("}} {{a}}", ["a"]),
    ],
)
def test_holes(text: str, expected: list[str]) -> None:
    """Braces, texts, comments and templates inside a hole do not end it; a mistake ends early."""
    assert sources(text) == expected


def test_offsets() -> None:
    """A hole knows where it stands and where its source begins."""
    text = "¡Hola {{  name }}!"
    (hole,) = parse_template(text).holes
    assert hole == Hole("name", 6, 17, 10)
    assert text[hole.start : hole.end] == "{{  name }}"
    assert text[hole.at : hole.at + len(hole.source)] == hole.source


def test_kinds_of_templates() -> None:
    """A plain text has no holes; a single hole is all of the text."""
    assert parse_template("plain").is_plain
    assert parse_template("plain").single is None
    assert parse_template("").is_plain
    assert parse_template("").parts == ()
    assert parse_template("{{a}}").single == Hole("a", 0, 5, 2)
    assert parse_template("{{a}} ").single is None
    assert parse_template("{{a}}{{b}}").single is None
    assert not parse_template("x {{a}}").is_plain
    assert parse_template("x {{a}} y").parts == ("x ", Hole("a", 2, 7, 4), " y")


def test_braces_without_end_stay_and_are_reported() -> None:
    """A `{{` that is never closed is shown as it stands, and a check hears of it."""
    template = parse_template("Hi {{ name")
    assert template.parts == ("Hi {{ name",)
    (problem,) = template.problems
    assert problem.message == '"{{" without "}}": it is shown as it stands'
    assert (problem.span, problem.hint) == ((3, 5), "close it with }}")
    assert parse_template("{{a}} }}").problems == ()


def test_templates_are_remembered() -> None:
    """The same text gives the same template."""
    assert parse_template("same {{text}}") is parse_template("same {{text}}")


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from("{}`'\"$/*\\ab \n([])")))
def test_any_text_is_cut_without_loss(text: str) -> None:
    """Whatever the text, its parts are the text again, and every hole has its braces."""
    template = parse_template(text)
    whole = "".join(
        part if isinstance(part, str) else text[part.start : part.end] for part in template.parts
    )
    assert whole == text
    for hole in template.holes:
        assert text[hole.start : hole.start + 2] == "{{"
        assert text[hole.end - 2 : hole.end] == "}}"


def test_a_hostile_text_is_cut_quickly() -> None:
    """Deep nesting and many openers cost no stack and no time without end."""
    parse_template("{{" + "`${" * 20_000 + "}}")
    chance = random.Random(1)
    parse_template("".join(chance.choice("{}`'") for _ in range(2_000)))


# ------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x > 1", "x > 1"),
        ("{{x}} == 2", "(x) == 2"),
        ("{{ x > 1 }}", "(x > 1)"),
        ("{{a}} && {{b}}", "(a) && (b)"),
        ("{{ a && {{b}} }}", "(a && (b))"),
        ("'{{x}}' == {{x}}", "'{{x}}' == (x)"),
        ("`{{a}}` === {{b}}", "`{{a}}` === (b)"),
        ("`${ {{a}} }`", "`${ (a) }`"),
        ("{{x // note\n}} > 1", "(x // note\n) > 1"),
        ("(() => {{ return 1 }})()", "(() => {{ return 1 }})()"),
        ("{{s === 'open'}}", "(s === 'open')"),
        ("{{x", "{{x"),
    ],
)
def test_condition_source(condition: str, expected: str) -> None:
    """In a condition, braces outside of texts are brackets."""
    assert condition_source(condition) == expected


# ----------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a", ("a",)),
        (" a.b ", ("a", "b")),
        ("a.b[0].c", ("a", "b", 0, "c")),
        ("a[ 0 ]['x y'][\"z\"]", ("a", 0, "x y", "z")),
        ("a.0", ("a", 0)),
        ("$args.p", ("$args", "p")),
        ("naïve.é", ("naïve", "é")),
        ("list.length", ("list", "length")),
        ("1+1", None),
        ("a || 'x'", None),
        ("a.b()", None),
        ("a[b]", None),
        ("a?.b", None),
        ("'a'", None),
        ("1", None),
        ("", None),
        ("a.", None),
        ("a b", None),
    ],
)
def test_path_of(source: str, expected: Any) -> None:
    """Names, dots and written-down keys make a path; everything else is none."""
    assert path_of(source) == expected


VALUES = {
    "a": {"b": [{"c": 1.5}], "x y": 1},
    "s": "héy😀",
    "nothing": None,
    "list": [1, 2],
    "when": Date(0),
    "flag": False,
    "box": {"length": 7},
    "big": 2**60,
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        (5, 5),
        (None, None),
        ("{{a.b[0].c}}", 1.5),
        ("{{ a.b }}", [{"c": 1.5}]),
        ("{{flag}}", False),
        ("{{when}}", Date(0)),
        ("{{big}}", 2**60),
        ("x{{a.b}}y{{flag}}", 'x[{"c":1.5}]yfalse'),
        ("n={{big}}", f"n={2**60}"),
        ("{{nothing}}", ""),
        ("{{nope.x}}", ""),
        ("v={{nothing}}.{{nope}}.", "v=.."),
        ("{{1+1}}", ""),
        ("v={{s || 'z'}}.", "v=."),
        ("{{s.length}}", 5),
        ("{{list.length}}", 2),
        ("{{box.length}}", 7),
        ("{{flag.length}}", ""),
        ("{{list[1]}}{{list[2]}}", "2"),
        ({"k": ["{{s}}", {"{{s}}": "{{flag}}"}]}, {"k": ["héy😀", {"{{s}}": False}]}),
    ],
)
def test_fill_paths(value: Any, expected: Any) -> None:
    """One path alone keeps its type; in a text it is written out; missing and null are empty."""
    filled, _ = fill_paths(value, Variables(VALUES))
    assert same(freeze(filled), freeze(expected))


def test_filled_objects_are_handed_over_as_they_are() -> None:
    """A value is not copied: the frozen one of the variable is handed over."""
    filled, reads = fill_paths({"all": "{{list}}"}, Variables(VALUES))
    assert isinstance(filled["all"], FrozenList)
    assert reads == (("list",),)


def test_reads_of_paths() -> None:
    """Every path that was looked up is told, once; what is no path reads nothing."""
    _, reads = fill_paths(["{{s}}", "{{a.b}} {{s}}", "{{s || 1}}"], Variables(VALUES))
    assert reads == (("s",), ("a", "b"))


def test_keys() -> None:
    """Keys are filled in where that is asked for, and left out where they come out empty."""
    value = {"{{s}}": 1, "n{{flag}}": 2, "{{nope}}": 3, "plain": {"{{s}}": 4}}
    filled, _ = fill_paths(value, Variables(VALUES), fill_keys=True)
    assert filled == {"héy😀": 1, "nfalse": 2, "plain": {"héy😀": 4}}
    assert fill_paths({"": 1}, Variables(VALUES))[0] == {"": 1}


def test_arguments() -> None:
    """`$args` names the arguments of a call, also in single braces inside a text."""
    filled, reads = fill_paths(
        ["{{$args.p}}", "p={$args.p} q={{$args.q[0]}}", "{$args.nope}", "{$args.p}"],
        Variables(VALUES),
        arguments={"p": 5, "q": ["x"]},
    )
    assert filled == [5, "p=5 q=x", "", "5"]
    assert reads == ()
    assert fill_paths("{$args.p}", Variables(VALUES))[0] == "{$args.p}"
    assert fill_paths("{{$args.p}}", Variables({"$args": {"p": UNDEFINED}}))[0] == ""


def test_path_problems() -> None:
    """What would be filled in as nothing is found beforehand, with its place."""
    text = "{{s || 'z'}} {{a.b}} {{1+1}} {{"
    unclosed, first, second = path_problems(text)
    assert unclosed.message == '"{{" without "}}": it is shown as it stands'
    assert first.message == (
        "\"s || 'z'\" is no path, and only a path like a.b[0] may stand here; "
        "it gives an empty text"
    )
    assert text[slice(*first.span)] == "s || 'z'"
    assert first.hint == "compute it in a SET step before, and name its variable here"
    assert text[slice(*second.span)] == "1+1"
    assert list(path_problems("{{a.b[0]}} x")) == []
