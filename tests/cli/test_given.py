"""Functions, globals and cargo from the command line, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.cli.given import load_functions, load_object
from saywhy.cli.output import described
from saywhy.errors import CallerError, DefinitionError
from saywhy.values import UNDEFINED


def module(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_dict(folder: Path) -> None:
    """NAME may be a dict; the names are its keys."""
    module(folder, "host_a", "F = {'up': str.upper}\n")
    assert load_functions("host_a:F")["up"]("x") == "X"


def test_a_module(folder: Path) -> None:
    """A module stands for the public functions that it defines itself."""
    text = "from json import dumps\nclass C: pass\ndef a(): return 1\ndef _b(): pass\nN = 1\n"
    module(folder, "host_b", text)
    assert list(load_functions("host_b")) == ["a"]


def test_a_namespace_and_a_package(folder: Path) -> None:
    """A class with functions, in a module of a folder."""
    module(folder, "pack/host_c", "class F:\n    @staticmethod\n    def a(x): return x\n")
    assert load_functions("pack.host_c:F")["a"](3) == 3


@pytest.mark.parametrize(
    ("text", "spec", "told"),
    [
        ("", "no_such", "there is no module no_such"),
        ("F = {}", "host:F", "--functions host:F: there is no function in it"),
        ("F = {'a': 1}", "host:F", "--functions host:F: a in it is no function"),
        ("FUNCS = {}", "host:FUNC", 'host has no FUNC\n    did you mean "FUNCS"?'),
        ("import no_such_thing", "host", "host cannot be imported: ModuleNotFoundError"),
        ("1 / 0", "host", "host cannot be imported: ZeroDivisionError: division by zero"),
        ("def", "host", "host is no Python: "),
        ("raise SystemExit", "host", "the module host ends the program when imported"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, text: str, spec: str, told: str) -> None:
    """One message, with the line where a module of the user's broke."""
    module(folder, "host", text + "\n")
    with pytest.raises(CallerError) as caught:
        load_functions(spec)
    message = described(caught.value)
    assert told in message
    if "cannot be imported" in told or "no Python" in told:
        assert message.startswith(f"{folder / 'host.py'}:1: ")


def test_an_object(folder: Path) -> None:
    """JSON and YAML, values that JSON lacks as tags."""
    (folder / "a.json").write_text('{"a": {"$undefined": true}}')
    (folder / "b.yaml").write_text("a: [1, two]\n")
    assert load_object(folder / "a.json") == {"a": UNDEFINED}
    assert load_object(folder / "b.yaml") == {"a": [1, "two"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1]", "g.json:1:1: error: an object is wanted here, this is a list"),
        ("{", "g.json:1:2: error: "),
        (None, "g.json: error: cannot read this file: no such file or directory"),
    ],
)
def test_an_object_that_is_none(folder: Path, text: str | None, told: str) -> None:
    """The place and what is wanted."""
    if text is not None:
        (folder / "g.json").write_text(text)
    with pytest.raises(DefinitionError) as caught:
        load_object(Path("g.json"))
    assert caught.value.problems[0].render().startswith(told)
