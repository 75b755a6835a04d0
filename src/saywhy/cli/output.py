"""Where commands write: plain text, with colours at a terminal.

What a program may read goes to standard output; what is said about the run goes to standard error.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

from saywhy.errors import CallerError, DefinitionError, OutsideError, SaywhyError

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All of them but the tab and the line end."""

LONGEST_LINE: Final = 800
"""Characters of a line of an error's message: it repeats what was given, which may be anything."""

STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}


class Screen:
    """One stream. At a terminal it has colours, unless NO_COLOR is set; elsewhere plain text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._console: Any = None

    def line(self, text: str = "", style: str = "") -> None:
        """Write a text and a line end, at once."""
        self.piece(text, style, end="\n")

    def piece(self, text: str, style: str = "", end: str = "") -> None:
        """Write a part of a line, at once.

        At a terminal no control character gets through: what a user or a tool said must not move
        the cursor, change the title or clear the screen of whoever reads about it.
        """
        if self.is_terminal:
            text = _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
        try:
            if style and self.is_terminal:
                options = {"markup": False, "highlight": False, "soft_wrap": True}
                self._colours().print(text, style=style, end=end, **options)
            else:
                print(text, file=self.stream, end=end)
            self.stream.flush()
        except BrokenPipeError:  # whoever read has left: the program ends without a word
            raise
        except OSError as error:
            raise unwritable(self.stream, error) from error

    def _colours(self) -> Any:
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.stream)
        return self._console

    @property
    def width(self) -> int:
        """Columns; 100 where nobody knows."""
        return shutil.get_terminal_size((100, 24)).columns if self.is_terminal else 100


def write_bytes(pieces: Iterable[bytes]) -> None:
    """Write to standard output as it is: what a terminal cannot show must change nothing in it.

    Raises `CallerError` where it is closed: what is asked for in bytes is what the run is for.
    """
    if getattr(sys.stdout, "name", "") == os.devnull:  # see `make_streams_safe`
        raise CallerError("standard output is closed", hint="open it, or name a file: --out FILE")
    try:
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(sys.stdout, error) from error


def unwritable(stream: TextIO, error: OSError) -> OutsideError:
    """What it means that a stream takes no more; what is left for it is dropped."""
    _give_up(stream)
    hint = "the conversation, if there is one, is kept all the same"
    return OutsideError(f"this cannot be written: {error.strerror}", hint=hint)


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
            text = problem.render()
            screen.line(text if problem.excerpt else _cut(text), STYLES[problem.severity])
        return 1
    screen.line(f"saywhy: {described(error)}", STYLES["error"])
    return 2


def described(error: SaywhyError) -> str:
    """Place, message and what to try, in one or two lines."""
    place = f"{error.place}: " if error.place else ""
    hint = f"\n    {error.hint}" if error.hint else ""
    return "\n".join(map(_cut, f"{place}{error}{hint}".split("\n")))


def _cut(line: str) -> str:
    """A line that somebody can read; of a longer one the middle is left out."""
    end = LONGEST_LINE // 4
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - end]} … {line[-end:]}"


def make_streams_safe() -> None:
    """Streams that were closed are empty ones, and no byte or character ends the program.

    What a terminal cannot show is written as an escape; what is no text in its encoding is read as
    question marks.
    """
    for name, mode, errors in (
        ("stdin", "r", "replace"),
        ("stdout", "w", "backslashreplace"),
        ("stderr", "w", "backslashreplace"),
    ):
        stream = getattr(sys, name)
        if stream is None:  # opened in this order, each gets the number it should have
            empty = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, empty)
            continue
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=errors)


def _give_up(stream: TextIO) -> None:
    """What is left in the buffer goes nowhere, or Python would try it again on its way out."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
