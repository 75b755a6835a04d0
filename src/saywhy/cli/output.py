"""Where commands write: plain text, with colours at a terminal.

What a program may read goes to standard output; what is said about the run goes to standard error.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any, Final, TextIO

from saywhy.errors import DefinitionError, SaywhyError

STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}


class Screen:
    """One stream. At a terminal it has colours, unless NO_COLOR is set; elsewhere plain text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._console: Any = None

    def line(self, text: str = "", style: str = "") -> None:
        """Write a text and a line end, at once."""
        if style and self.is_terminal:
            self._colours().print(text, style=style, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=self.stream)
        self.stream.flush()

    def _colours(self) -> Any:
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.stream)
        return self._console

    @property
    def width(self) -> int:
        """Columns; 100 where nobody knows."""
        return shutil.get_terminal_size((100, 24)).columns if self.is_terminal else 100


def out() -> Screen:
    """Standard output, as it is now."""
    return Screen(sys.stdout)


def err() -> Screen:
    """Standard error, as it is now."""
    return Screen(sys.stderr)


def say_error(error: SaywhyError) -> int:
    """Write an error as one clear message; gives the exit code it stands for.

    1: something is wrong in what an author wrote. 2: the command was used in a way that makes no
    sense.
    """
    screen = err()
    if isinstance(error, DefinitionError):
        for problem in error.problems:
            screen.line(problem.render(), STYLES[problem.severity])
        return 1
    screen.line(f"saywhy: {described(error)}", STYLES["error"])
    return 2


def described(error: SaywhyError) -> str:
    """Place, message and what to try, in one or two lines."""
    place = f"{error.place}: " if error.place else ""
    hint = f"\n    {error.hint}" if error.hint else ""
    return f"{place}{error}{hint}"


def make_streams_safe() -> None:
    """What a terminal cannot show is written as an escape instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
