"""Makes one text of what flow authors look up: several pages of the reference, for the wheel.

Links between the pages lead to their place in the text; those to other pages become their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

PAGES: Final = ("flow-files", "steps", "templates", "expressions", "tool-files", "helpers")
"""The pages of docs/reference, in the order in which they are read."""

_FOLDER: Final = Path(__file__).parent / "reference"
_FENCE: Final = re.compile(r"^ *`{3,}")
_LINK: Final = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCED_OR_GAP: Final = re.compile(r"^```.*?^```$|\n{3,}", re.MULTILINE | re.DOTALL)
_MARK: Final = re.compile(r"<!-- (?:begin|end)\b.*-->")


def text_of(texts: Mapping[str, str]) -> str:
    """The whole text. `texts` are the pages by name, with their generated parts filled in."""
    titles = {name: text.split("\n", 1)[0].removeprefix("# ") for name, text in texts.items()}
    places = {name: _slug(title) for name, title in titles.items()}
    parts = [
        "# Flow author's reference",
        "For those who write flows: what may stand in the files, and what it does.",
        "\n".join(f"* [{titles[name]}](#{places[name]})" for name in PAGES),
    ]
    parts += ["\n".join(_lines(texts[name], places)).strip("\n") for name in PAGES]
    return _FENCED_OR_GAP.sub(_one_blank_line, "\n\n".join(parts)) + "\n"


def _one_blank_line(found: re.Match[str]) -> str:
    """Code as it stands, and one blank line for several between paragraphs."""
    return found[0] if found[0].startswith("```") else "\n\n"


def read() -> dict[str, str]:
    """The pages as they stand."""
    return {name: (_FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}


def _lines(text: str, places: Mapping[str, str]) -> Iterator[str]:
    """A page one level deeper, without marks for generated parts."""
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or _FENCE.match(line):
            yield line
        elif not _MARK.match(line):
            deeper = f"#{line}" if line.startswith("#") else line
            yield _LINK.sub(lambda link: _link(link, places), deeper)


def _link(link: re.Match[str], places: Mapping[str, str]) -> str:
    """A link to a page of this text leads to its place; any other is its words alone."""
    words, target = link.groups()
    name, _, anchor = target.partition("#")
    if name and name.removesuffix(".md") not in places:
        return words
    return f"[{words}](#{anchor or places[name.removesuffix('.md')]})"


def _slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
