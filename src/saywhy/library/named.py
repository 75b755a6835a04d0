"""Where are the flows and tools that come with the package, and what does a name stand for?

`library:system` may stand wherever the path of a file may. What is in the files is written as any
flow author's are; nothing here reads them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from saywhy.errors import CallerError, did_you_mean

PREFIX: Final = "library:"
NAMES: Final = ("system", "shop")
"""The libraries that there are. `shop` calls flows of `system`."""

_FOLDER: Final = Path(__file__).parent


def flows(name: str) -> Path:
    """The file with the flows of a library. Raises `CallerError` for one that does not exist."""
    return _FOLDER / f"{_known(name)}.flows.yaml"


def tools(name: str) -> Path:
    """The file with the tools of a library. Raises `CallerError` for one that does not exist."""
    return _FOLDER / f"{_known(name)}.tools.yaml"


def author_reference() -> str:
    """What flow authors look up, in one Markdown text: flows, steps, expressions, tools."""
    return (_FOLDER / "author-reference.md").read_text(encoding="utf-8")


def is_library(path: str | Path) -> bool:
    """Whether a library is named where a path may stand."""
    return str(path).startswith(PREFIX)


def name_in(path: str | Path) -> str:
    """The name behind `library:`."""
    return str(path).removeprefix(PREFIX)


def _known(name: str) -> str:
    if name not in NAMES:
        hint = did_you_mean(name, NAMES) or f"there are {' and '.join(NAMES)}"
        raise CallerError(f'there is no library "{name}"', hint=hint)
    return name
