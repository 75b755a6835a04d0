"""The way into the program `saywhy`: Ctrl-C ends it without a word also while it is read in.

What the program is, and how each run ends, is `main`'s question.
"""

from __future__ import annotations

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended, as shells give it."""


def main() -> int:
    """Run a command and give the exit code."""
    try:
        from saywhy.cli.main import main as run  # takes a while, and nothing before it can fail

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
