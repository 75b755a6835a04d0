"""`saywhy functions`: the standard functions for flows, each with what its example gives."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from saywhy.cli.options import JsonFlag
from saywhy.cli.output import Screen, out
from saywhy.errors import CallerError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from saywhy.helpers.catalogue import Helper

_INDENT: Final = "    "
_WIDEST: Final = 100


def functions(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAMES", help="These alone, told in full."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the standard functions for flows.

    Each comes with what its example gives. A program hands them to its engine:
    `Engine(functions={**STANDARD_FUNCTIONS, …})`.
    """
    helpers = chosen(names or [])
    if as_json:
        import json

        out().line(json.dumps([as_data(one) for one in helpers], indent=2, ensure_ascii=False))
        return
    write(helpers, out(), in_full=bool(names))


def chosen(names: Sequence[str]) -> list[Helper]:
    """The functions of these names, all of them for no name. Raises `CallerError`."""
    from saywhy.helpers.catalogue import CATALOGUE

    known = {helper.name: helper for helper in CATALOGUE}
    for name in names:
        if name not in known:
            raise CallerError(
                f"no standard function is called {name}",
                hint=did_you_mean(name, tuple(known)) or "saywhy functions lists them all",
            )
    return [known[name] for name in names] or list(CATALOGUE)


def write(helpers: Sequence[Helper], screen: Screen, *, in_full: bool) -> None:
    """Group by group: the call, what it gives, and the example."""
    from saywhy.helpers.examples import text_of_value, value_of

    for number, (group, members) in enumerate(groupby(helpers, lambda one: one.group)):
        if number:
            screen.line()
        screen.line(group, "bold")
        for helper in members:
            screen.line()
            screen.line(f"  {helper.signature}", "cyan")
            texts = [helper.summary, *(helper.details.split("\n") if in_full else [])]
            for text in filter(None, texts):
                for line in textwrap.wrap(text, min(screen.width, _WIDEST) - len(_INDENT)):
                    screen.line(_INDENT + line)
            screen.line(f"{_INDENT}{helper.example}")
            screen.line(f"{_INDENT}→ {text_of_value(value_of(helper))}")


def as_data(helper: Helper) -> dict[str, Any]:
    """One function as JSON data."""
    from saywhy.helpers.examples import value_of

    return {
        "name": helper.name,
        "group": helper.group,
        "signature": helper.signature,
        "summary": helper.summary,
        "details": helper.details,
        "example": helper.example,
        "value": value_of(helper),
    }
