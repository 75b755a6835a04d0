"""Patterns that authors write, searched for in texts without ever taking long.

Python's own `re` can be kept busy for hours by forty characters. The engine of the schema library
takes JavaScript's syntax. Patterns without look-around and back-references take time linear in the
text; the others are stopped after a number of steps and look at short texts only.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

MAX_PATTERN: Final = 1_000
"""Characters of a pattern."""
MAX_TEXT: Final = 2_000
"""Characters of a text for a pattern that may go back; in a longer one it finds nothing."""
BACKTRACK_LIMIT: Final = 100_000
"""Times a search may go back; then it has found nothing. The worst we met took 25 ms."""


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

    What is no regular expression is looked for as it stands.
    """
    text = text.encode("utf-8", "replace").decode()
    if len(pattern) <= MAX_PATTERN:
        with suppress(ValueError):
            check, is_linear = _compiled(pattern, ignore_case)
            return (is_linear or len(text) <= MAX_TEXT) and check.is_valid(text)
    return pattern.casefold() in text.casefold() if ignore_case else pattern in text


@lru_cache(maxsize=1_000)
def _compiled(pattern: str, ignore_case: bool) -> tuple[Any, bool]:
    """The pattern, and whether its time is linear. Raises `ValueError` for what is no pattern."""
    import jsonschema_rs

    schema = {"type": "string", "pattern": f"(?i){pattern}" if ignore_case else pattern}
    with suppress(ValueError):
        linear = jsonschema_rs.RegexOptions()
        return jsonschema_rs.Draft202012Validator(schema, pattern_options=linear), True
    careful = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
    return jsonschema_rs.Draft202012Validator(schema, pattern_options=careful), False
