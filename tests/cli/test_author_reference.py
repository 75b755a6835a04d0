"""`saywhy author-reference`: the text that comes with the package, as it is."""

from __future__ import annotations

from saywhy import library

from .conftest import Run


def test_it_prints_the_text(run: Run) -> None:
    """Nothing is added and nothing is wrapped."""
    done = run("author-reference")
    assert (done.code, done.err) == (0, "")
    assert done.out == library.author_reference()


def test_check_takes_a_library_by_name(run: Run) -> None:
    """Flows and tools are checked together; an unknown name is told like a file that is missing."""
    done = run("check", "library:system", "library:shop", "--languages", "en,es")
    assert done.code == 0
    assert "16 flows" in done.out and "9 tools: 0 errors, 0 warnings" in done.out
    unknown = run("check", "library:sytem")
    assert unknown.code == 1
    assert 'library:sytem: error: there is no library "sytem"\n    did you mean "system"?' in (
        unknown.out
    )
