"""Promise: every value, key and character of a text is found again in the author's file."""

from __future__ import annotations

import pytest

from saywhy.errors import Place
from saywhy.flows.json_text import read_json
from saywhy.flows.source import SourceMap, join, parent_of
from saywhy.flows.yaml_text import read_yaml

JSON = '[\n  {"id": "a", "value": "tab\\tand \\"{{ name }}\\" \\ud83d\\ude00 {{ other }}"}\n]\n'


def test_values_and_keys() -> None:
    """A pointer gives line and column of the value; the key in front has a place of its own."""
    source = read_json(JSON, "f.json").source
    assert source.place("/0/value") == Place("f.json", 2, 24, "/0/value")
    assert source.key_place("/0/value") == Place("f.json", 2, 15, "/0/value")
    assert source.key_place("/0") == source.place("/0") == Place("f.json", 2, 3, "/0")


def test_what_is_missing_is_placed_by_what_is_around_it() -> None:
    """A key that the author forgot is shown at the object that should have it."""
    source = read_json(JSON, "f.json").source
    assert source.place("/0/steps/3") == Place("f.json", 2, 3, "/0/steps/3")
    assert source.place("/7") == Place("f.json", 1, 1, "/7")


@pytest.mark.parametrize("piece", ["{{ name", "{{ other"])
def test_a_spot_behind_json_escapes(piece: str) -> None:
    """Escapes are one character, a surrogate pair too."""
    document = read_json(JSON, "f.json")
    offset = document.value[0]["value"].index(piece)
    place = document.source.place_inside("/0/value", document.value[0]["value"], offset)
    assert place.line == 2
    assert JSON.splitlines()[1][place.column - 1 :].startswith(piece)


@pytest.mark.parametrize(
    "written",
    [
        "plain {{ here }}",
        "'it''s {{ here }}'",
        '"caf\\xe9 \\u00e9 {{ here }}"',
        "|\n      two\n        lines {{ here }}\n      three",
        "|-\n      {{ here }}",
        ">\n      folded\n      {{ here }}",
        "several\n      lines {{ here }}",
        '"several\n      li\\\\nes\\\\t {{ here }}"',
        "'sev''eral\n      lines {{ here }}'",
        ">2\n      folded\n\n      with more {{ here }}",
        "|4\n      indented\n       more {{ here }}",
    ],
)
def test_a_spot_in_each_way_of_writing_yaml(written: str) -> None:
    """Indentation, doubled quotes and escapes are seen through; folded texts are searched."""
    text = f"- value: {written}\n  other: '{{{{ here }}}}'\n"
    document = read_yaml(text, "f.yaml")
    assert document.problems == ()
    offset = document.value[0]["value"].index("{{ here")
    place = document.source.place_inside("/0/value", document.value[0]["value"], offset)
    line = text.splitlines()[place.line - 1]
    assert line[place.column - 1 :].startswith("{{ here }}")
    assert "other" not in line


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"condition: \\"a\\" == ammount": 1}', read_json),
        ("'condition: a''b == ammount': 1", read_yaml),
        ("condition ammount: 1", read_yaml),
    ],
)
def test_a_spot_inside_a_key(text: str, read: object) -> None:
    """Conditions are keys; a name inside one has a column too."""
    document = read_json(text, "f") if read is read_json else read_yaml(text, "f")
    (key,) = document.value
    place = document.source.place_inside(join("", key), key, key.index("ammount"), key=True)
    assert text[place.column - 1 :].startswith("ammount")


def test_lines_end_in_three_ways() -> None:
    """Files from any system count lines alike."""
    source = SourceMap("f", "a\r\nb\rc\nd")
    assert [source.at(offset).line for offset in (0, 3, 5, 7)] == [1, 2, 3, 4]
    assert [source.line_at(offset) for offset in (0, 3, 5, 7)] == ["a", "b", "c", "d"]


def test_pointers() -> None:
    """Slashes and tildes in keys are escaped, as JSON pointers want it."""
    assert join("/0", "branches", "a/b ~ c", 3) == "/0/branches/a~1b ~0 c/3"
    assert parent_of("/0/branches") == "/0"
    assert parent_of("/0") == parent_of("") == ""
