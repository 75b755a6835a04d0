"""Functions, globals and cargo from the command line, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.cli.given import load_functions, load_model, load_object
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
        ("F = [print]", "host:F", "--functions host:F: this is a list, not a dict"),
        (
            "F = {}",
            "host.py:F",
            "host.py is a file, not a module\n"
            "    --functions takes MODULE:NAME, with dots and no .py: host:F",
        ),
        ("F = {}", "pack/host.py", "with dots and no .py: pack.host"),
        ("F = {'a': 1}", "host:F", "--functions host:F: a in it is no function"),
        ("FUNCS = {}", "host:FUNC", 'host has no FUNC\n    did you mean "FUNCS"?'),
        (
            "import os\nfrom json import dumps\ndef first(): ...\nSECOND = {}",
            "host:nope",
            "--functions takes MODULE:NAME; it has first, SECOND",
        ),
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


def test_a_model_of_a_file_or_a_module(folder: Path) -> None:
    """A function, or an object that answers; the file may import those beside it."""
    module(folder, "sub/beside_m", "WORD = 'hi'\n")
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from beside_m import WORD\n"
        "def answer(system, user): return WORD\n"
        "@dataclass\n"
        "class Other:\n"
        "    word: str\n"
        "    async def ask(self, ask): return self.word\n"
        "other = Other('x')\n"
    )
    module(folder, "sub/host_m", text)
    assert load_model("sub/host_m.py:answer")("", "") == "hi"
    assert load_model("sub/host_m.py:other").word == "x"
    assert load_model(f"{folder / 'sub' / 'host_m.py'}:answer")("", "") == "hi"
    module(folder, "host_n", "class A:\n    @staticmethod\n    def f(a, b, c): return b\n")
    assert load_model("host_n:A.f")("", "u", "") == "u"


@pytest.mark.parametrize(
    ("text", "spec", "told"),
    [
        ("", "host_w", "--model host_w names no function\n    --model takes FILE.py:NAME"),
        ("", "host_w.py:", "names no function"),
        ("", "no_such.py:f", "there is no file no_such.py"),
        ("", "no_such:f", "there is no module no_such\n    --model takes FILE.py:NAME or MODULE"),
        ("answer = 1", "host_w.py:answers", 'host_w.py has no answers\n    did you mean "answer"?'),
        ("f = 1", "host_w.py:f", "--model host_w.py:f: model is a function or a provider, not int"),
        ("def f(a): pass", "host_w.py:f", "takes 1 arguments by position"),
        ("1 / 0", "host_w.py:f", "host_w.py cannot be imported: ZeroDivisionError"),
        ("import no_such_thing", "host_w.py:f", "host_w.py cannot be imported: ModuleNotFound"),
        ("raise SystemExit", "host_w.py:f", "the module host_w.py ends the program when imported"),
    ],
)
def test_a_model_that_cannot_be_used(folder: Path, text: str, spec: str, told: str) -> None:
    """Known before the conversation begins."""
    module(folder, "host_w", text + "\n")
    with pytest.raises(CallerError) as caught:
        load_model(spec)
    assert told in described(caught.value)
