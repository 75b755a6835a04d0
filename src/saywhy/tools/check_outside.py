"""What is wrong with what a tool says of people: `approval` and `reconcile`.

Whether the functions it names exist is for `flows.check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from saywhy.errors import Place, Problem
from saywhy.expr.names import read_expression
from saywhy.expr.template import condition_source
from saywhy.tools.approval import duration_ms
from saywhy.tools.wording import below, word

APPROVAL_KEYS: Final = ("when", "expires", "by")
RECONCILE_KEYS: Final = ("function", "timeout")


def outside_problems(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """Every problem of `approval` and `reconcile` in the definition at `place`."""
    name = str(raw.get("id") or raw.get("name") or "")
    yield from _approval(raw.get("approval"), name, below(place, "approval"))
    yield from _reconcile(raw, name, below(place, "reconcile"))


def _approval(given: Any, name: str, where: Place) -> Iterator[Problem]:
    if given is None or isinstance(given, bool):
        return
    if not isinstance(given, Mapping):
        yield Problem(
            f"`approval` of tool {name} must be true or an object, not {word(given)}",
            where,
            hint='write true, or {"when": "args.amount > 100", "expires": "15m"}',
        )
        return
    yield from unknown_keys(given, APPROVAL_KEYS, f"`approval` of tool {name}", where)
    yield from _when(given.get("when"), name, below(where, "when"))
    expires = given.get("expires")
    if expires is not None and duration_ms(expires) is None:
        yield Problem(
            f"`expires` of tool {name} must be a stretch of time, not {word(expires)}",
            below(where, "expires"),
            hint='write "90s", "15m", "2h", "1d", or milliseconds; leave it out for a day',
        )
    if not isinstance(given.get("by") or "", str):
        yield Problem(
            f"`by` of tool {name} must be text, not {word(given['by'])}",
            below(where, "by"),
            hint="say whom to ask, such as treasury",
        )


def _when(given: Any, name: str, where: Place) -> Iterator[Problem]:
    if given is None:
        return
    hint = 'write an expression over the arguments, such as "args.amount > 100"'
    if not isinstance(given, str) or not given.strip():
        message = f"`when` of tool {name} must be an expression, not {word(given)}"
        yield Problem(message, where, hint=hint)
        return
    source = condition_source(given)
    problem = read_expression(source).error
    if problem is not None:
        message = f"`when` of tool {name} cannot be read: {problem.message}"
        yield Problem(message, where, hint=problem.hint or hint, excerpt=source, span=problem.span)
    elif not any(path[:1] == ("args",) for path in read_expression(source).reads):
        message = f"`when` of tool {name} looks at no argument"
        yield Problem(message, where, hint=hint, severity="warning")


def _reconcile(raw: Mapping[str, Any], name: str, where: Place) -> Iterator[Problem]:
    given = raw.get("reconcile")
    if given is None:
        return
    hint = 'name an approved function: "find-charge"'
    if isinstance(given, Mapping):
        yield from unknown_keys(given, RECONCILE_KEYS, f"`reconcile` of tool {name}", where)
        timeout = given.get("timeout")
        bad = not isinstance(timeout, int | float) or isinstance(timeout, bool) or timeout <= 0
        if timeout is not None and bad:
            yield Problem(
                f"`timeout` of `reconcile` of tool {name} must be a number above 0, "
                f"not {word(timeout)}",
                below(where, "timeout"),
                hint="milliseconds; leave it out for 5000",
            )
    function = given.get("function") if isinstance(given, Mapping) else given
    if not isinstance(function, str) or not function:
        message = f"`reconcile` of tool {name} must name a function, not {word(function)}"
        yield Problem(message, where, hint=hint)
    elif raw.get("effect") == "reads":
        message = f"`reconcile` of tool {name} is never asked: what only reads is done again"
        yield Problem(message, where, hint="remove it, or say another `effect`", severity="warning")


def unknown_keys(
    given: Mapping[str, Any], known: tuple[str, ...], what: str, where: Place
) -> Iterator[Problem]:
    """Each key of an object that has no meaning there."""
    for key in given:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            hint = f'did you mean "{close[0]}"?' if close else f"it has {', '.join(known)}"
            message = f'{what} has the unknown key "{key}"'
            yield Problem(message, below(where, str(key)), hint=hint)
