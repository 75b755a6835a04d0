"""How many examples the random tests try, and whether they are the same each time.

Usually few, so that all tests take minutes, and always the same ones, so that a change is judged by
what it changed. With `SAYWHY_NIGHTLY=1` in the environment many: for a
run at night, with another `--hypothesis-seed` each time:

    SAYWHY_NIGHTLY=1 python -m pytest tests/expr --hypothesis-seed=7
"""

from __future__ import annotations

import os

IS_NIGHTLY = bool(os.environ.get("SAYWHY_NIGHTLY"))


def examples(usual: int, nightly: int) -> int:
    """One number or the other."""
    return nightly if IS_NIGHTLY else usual
