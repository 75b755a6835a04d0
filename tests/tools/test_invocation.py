"""Promise: an error becomes a text and a name that a conversation can work with."""

from __future__ import annotations

import pytest

from saywhy.errors import ModelError, RequiredSetFailed
from saywhy.tools.invocation import fault_of


class Declined(Exception):
    """An error of a host that names itself."""

    name = "CardDeclined"


def caught(code: str) -> BaseException:
    try:
        exec(code, {})
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ValueError("no funds"), ("no funds", "ValueError")),
        (ValueError(" no funds\n"), ("no funds", "ValueError")),
        (ValueError(), ("ValueError", "ValueError")),
        (TimeoutError(), ("TimeoutError", "TimeoutError")),
        (KeyError("amount"), ("KeyError: 'amount'", "KeyError")),
        (Declined("no"), ("no", "CardDeclined")),
        (RequiredSetFailed("no"), ("no", "JSFERequiredSetFailed")),
        (ModelError("late"), ("late", "Error")),
        (caught("ghost"), ("name 'ghost' is not defined", "NameError")),
        (caught("(1).ghost"), ("'int' object has no attribute 'ghost'", "AttributeError")),
    ],
)
def test_fault_of_an_error(error: BaseException, fault: tuple[str, str]) -> None:
    """The message is never empty, and the name is that of the error's class."""
    assert fault_of(error) == fault
