"""What commands write, and what they keep from a terminal."""

from __future__ import annotations

from io import StringIO

import pytest

from saywhy.cli.output import STYLES, Screen


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("title\x1b]0;mine\x07", "title\\x1b]0;mine\\x07"),
        ("over\rwritten\x08\x7f\x9b1A\x00", "over\\x0dwritten\\x08\\x7f\\x9b1A\\x00"),
        ("two\nlines\tand é 😀", "two\nlines\tand é 😀"),
    ],
)
def test_a_terminal_gets_no_control_characters(
    said: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said by anybody cannot act on the screen of whoever reads it; a pipe gets it all."""
    monkeypatch.setenv("TERM", "xterm")
    terminal, pipe = Terminal(), StringIO()
    Screen(terminal).line(said)
    Screen(pipe).line(said)
    assert terminal.getvalue() == f"{shown}\n"
    assert pipe.getvalue() == f"{said}\n"


def test_styles_are_added_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own colours are no control characters of somebody else's."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    Screen(terminal).line("no \x1b[0m", STYLES["error"])
    assert "\x1b[1;31m" in terminal.getvalue()
    assert "no \\x1b[0m" in terminal.getvalue()
