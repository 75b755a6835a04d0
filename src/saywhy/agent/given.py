"""What an agent is given by a program, looked at before it is used: is it of the right kind?

Python would tell of a wrong kind much later, as an attribute that something does not have. Whether
what is of the right kind makes sense is for the checks of each part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from saywhy.errors import CallerError

T = TypeVar("T")


def listed(given: Any, kind: type[T], what: str, example: str) -> tuple[T, ...]:
    """The members of a list, all of one kind. Raises `CallerError` for anything else.

    `what` is how the list is called, `example` is a member as it may be written.
    """
    if isinstance(given, (kind, Mapping, str)) or not isinstance(given, Iterable):
        name = type(given).__name__
        raise CallerError(f"{what} are a list, not {name}", hint=f"[{example}, …]")
    members = tuple(given)
    for at, one in enumerate(members):
        only(one, kind, f"{what}: entry {at}", example)
    return members


def only(given: Any, kind: type[T], what: str, example: str) -> T:
    """A value of one kind. Raises `CallerError` for another."""
    if isinstance(given, kind):
        return given
    name = type(given).__name__
    raise CallerError(f"{what} is {name}, not {kind.__name__}", hint=example)
