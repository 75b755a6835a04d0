"""Patterns that authors write, searched for in texts without ever taking long.

Python's own `re` can be kept busy for hours by forty characters. The engine of the schema library
takes JavaScript's syntax, needs time linear in the text for all patterns without look-around and
back-references, and stops after a number of steps for the others; the text is cut as well.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

MAX_PATTERN: Final = 1_000
MAX_TEXT: Final = 10_000
"""Characters of a text that are looked at."""
BACKTRACK_LIMIT: Final = 100_000
"""Steps of a search that can go back; then it counts as not found. A few milliseconds."""


def pattern_problem(pattern: str) -> str | None:
    """Why `pattern` cannot be used, or None."""
    if len(pattern) > MAX_PATTERN:
        return f"the pattern is longer than {MAX_PATTERN} characters"
    try:
        _compiled(pattern, False)
    except ValueError:
        return f"{pattern} is no regular expression"
    return None


def found(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Whether `pattern` occurs anywhere in `text`.

    What is no regular expression is looked for as it stands. A search that takes too many steps
    finds nothing.
    """
    text = text[:MAX_TEXT].encode("utf-8", "replace").decode()
    if pattern_problem(pattern) is not None:
        if ignore_case:
            return pattern.casefold() in text.casefold()
        return pattern in text
    return _compiled(pattern, ignore_case).is_valid(text)


@lru_cache(maxsize=1_000)
def _compiled(pattern: str, ignore_case: bool) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        {"type": "string", "pattern": f"(?i){pattern}" if ignore_case else pattern},
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
    )
