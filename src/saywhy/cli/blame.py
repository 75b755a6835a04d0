"""Whose line an error came from, and what it says, for people who read no tracebacks."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Final

from saywhy.errors import Place, SaywhyError

OURS: Final = str(Path(__file__).parent.parent)
PYTHON: Final = sysconfig.get_paths()["stdlib"]
PACKAGES: Final = sysconfig.get_paths()["purelib"]


def said(error: BaseException) -> str:
    """What went wrong, with its kind where that is none of ours."""
    return str(error) if isinstance(error, SaywhyError) else f"{type(error).__name__}: {error}"


def place_of(error: BaseException) -> Place | None:
    """The line of somebody's own code in which it happened; None where there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        installed = frame.filename.startswith((OURS, PYTHON, PACKAGES, "<"))
        if not installed:
            return Place(frame.filename, frame.lineno or 0)
    return None
