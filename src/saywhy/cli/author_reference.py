"""`saywhy author-reference`: what flow authors look up, as one text."""

from __future__ import annotations

from saywhy.cli.output import out


def author_reference() -> None:
    """Print what flow authors look up, as one text.

    Flow files, steps, templates, expressions, tool files and standard functions in Markdown: for an
    editor, a search, or a language model that is to write flows.
    """
    from saywhy.library import author_reference as text

    out().line(text().rstrip("\n"))
