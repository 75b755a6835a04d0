"""Reads our Markdown pages: the fenced examples, the headings and the links.

No general Markdown reader: just what tests/test_docs.py asks about. How examples are run stands
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OPEN = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>\w*) *(?P<info>.*)$")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block; `line` is that of its first line of text."""

    language: str
    info: str
    text: str
    line: int

    @property
    def values(self) -> dict[str, str]:
        """The `key=value` of the info string."""
        return dict(word.split("=", 1) for word in self.info.split() if "=" in word)

    @property
    def file(self) -> str:
        """The file name in `file=NAME`, or empty text."""
        return self.values.get("file", "")

    @property
    def variables(self) -> list[str]:
        """The names in `vars=a,b`."""
        return self.values.get("vars", "").split(",") if "vars" in self.values else []

    @property
    def words(self) -> list[str]:
        """The words of the info string that are no `key=value`."""
        return [word for word in self.info.split() if "=" not in word]


def fences(page: Path) -> list[Fence]:
    """The fenced blocks of a page, in order."""
    found: list[Fence] = []
    opened: re.Match[str] | None = None
    body: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        match = _OPEN.match(line)
        if opened is None:
            if match:
                opened, body = match, []
        elif line.strip() == opened["ticks"]:
            text = "\n".join(body) + "\n"
            start = number - len(body)
            found.append(Fence(opened["language"], opened["info"], text, start))
            opened = None
        else:
            body.append(line.removeprefix(opened["indent"]))
    assert opened is None, f"{page}: a fence is never closed"
    return found


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page outside its fenced blocks."""
    ticks = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        match = _OPEN.match(line)
        if ticks:
            ticks = "" if line.strip() == ticks else ticks
        elif match:
            ticks = match["ticks"]
        else:
            yield number, line


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, spelled as code hosts spell them."""
    found: set[str] = set()
    for _, line in prose(page):
        if match := _HEADING.match(line):
            found.add(_unique(_slug(match.group(1)), found))
    return found


def _slug(heading: str) -> str:
    text = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def _unique(slug: str, taken: set[str]) -> str:
    candidates = (slug, *(f"{slug}-{number}" for number in range(1, 1000)))
    return next(candidate for candidate in candidates if candidate not in taken)


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Line and target of each link."""
    for number, line in prose(page):
        for match in _LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            yield number, match.group(1)
