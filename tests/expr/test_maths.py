"""Promise: what the engine takes from the C library gives what a person expects."""

from __future__ import annotations

import math

import pytest

from .conftest import Runner


@pytest.mark.parametrize("root", [-30, -3, 0, 1, 2, 3, 10, 99, 1000, 12345])
def test_cube_roots_of_cubes_are_whole(run: Runner, root: int) -> None:
    """The cube root of a cube is the very number, never one digit beside it."""
    assert run.value("Math.cbrt(cube)", {"cube": root**3}) == root


def test_cube_roots_of_other_numbers(run: Runner) -> None:
    """Other numbers, texts and what is no number go the usual way."""
    assert run.value("Math.cbrt(2)") == pytest.approx(2 ** (1 / 3))
    assert run.value("Math.cbrt('8')") == 2
    assert run.value("Object.is(Math.cbrt(-0), -0)") is True
    assert run.value("[Math.cbrt.name, Math.cbrt.length].join()") == "cbrt,1"
    assert math.isnan(run.value("Math.cbrt()"))
