"""How many examples the random tests try.

Usually few, so that all tests take minutes. With `SAYWHY_NIGHTLY=1` in the environment many: for a
run at night, with another `--hypothesis-seed` each time:

    SAYWHY_NIGHTLY=1 python -m pytest tests/expr --hypothesis-seed=7
"""

from __future__ import annotations

import os


def examples(usual: int, nightly: int) -> int:
    """One number or the other."""
    return nightly if os.environ.get("SAYWHY_NIGHTLY") else usual
