"""What is wrong with how a tool is guarded: `security`, `riskLevel`, `cache`, `circuitBreaker`.

Words that are not known are warnings, and count as the strictest; figures that cannot be used are
errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from saywhy.errors import Place, Problem, did_you_mean
from saywhy.tools.approval import duration_ms
from saywhy.tools.check_outside import unknown_keys
from saywhy.tools.effect import effect_of
from saywhy.tools.security import AUDIT_WORDS, CLASS_WORDS, MASKED, RISKS
from saywhy.tools.wording import below, word

SECURITY_KEYS: Final = ("rateLimit", "requiresAuth", "auditLevel", "dataClassification")
CACHE_KEYS: Final = ("ttl", "size", "shared")
BREAKER_KEYS: Final = ("failures", "windowMs", "openMs")
_WORDS: Final[tuple[tuple[str, Mapping[str, str], str], ...]] = (
    ("auditLevel", AUDIT_WORDS, "none, basic or full"),
    ("dataClassification", CLASS_WORDS, "public, internal, confidential or restricted"),
)


def guard_problems(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """Every problem of the definition at `place` that is about guarding it."""
    name = str(raw.get("id") or raw.get("name") or "")
    security = raw.get("security")
    if isinstance(security, Mapping):
        yield from _security(security, name, below(place, "security"))
    yield from _risk(raw, name, place)
    yield from _cache(raw, name, below(place, "cache"))
    implementation = raw.get("implementation")
    if isinstance(implementation, Mapping):
        where = below(place, "implementation", "circuitBreaker")
        yield from _breaker(implementation.get("circuitBreaker"), name, where)


# ------------------------------------------------------------------ security


def _security(given: Mapping[str, Any], name: str, where: Place) -> Iterator[Problem]:
    for problem in unknown_keys(given, SECURITY_KEYS, f"`security` of tool {name}", where):
        if "did you mean" in problem.hint:  # else a key of the host's own, as ever
            yield replace(problem, severity="warning")
    auth = given.get("requiresAuth")
    if auth is not None and not isinstance(auth, bool):
        yield Problem(
            f"`requiresAuth` of tool {name} must be true or false, not {word(auth)}",
            below(where, "requiresAuth"),
            hint="true refuses calls in sessions that are not authenticated",
        )
    for key, words, ours in _WORDS:
        yield from _word(given.get(key), words, f"`{key}` of tool {name}", ours, below(where, key))


def _word(
    given: Any, words: Iterable[str], what: str, ours: str, where: Place
) -> Iterator[Problem]:
    if given is None or (isinstance(given, str) and given in words):
        return
    yield Problem(
        f"{what} is {ours}, not {word(given)}; it counts as the strictest",
        where,
        hint=did_you_mean(str(given), tuple(words)) or f"write {ours}",
        severity="warning",
        known_names=tuple(words),
    )


def _risk(raw: Mapping[str, Any], name: str, place: Place) -> Iterator[Problem]:
    risk = raw.get("riskLevel")
    if risk is None:
        return
    if risk not in RISKS:
        yield Problem(
            f"`riskLevel` of tool {name} is low, medium or high, not {word(risk)}; "
            "it counts as the strictest",
            below(place, "riskLevel"),
            hint=did_you_mean(str(risk), RISKS) or "write low, medium or high",
            severity="warning",
            known_names=RISKS,
        )
        return
    security = raw.get("security")
    asks = isinstance(security, Mapping) and security.get("requiresAuth")
    if risk in ("high", "critical") and raw.get("approval") is None and not asks:
        yield Problem(
            f"tool {name} is of {risk} risk, but neither a person nor a sign-in is asked for",
            below(place, "riskLevel"),
            hint='add "approval": true or "security": {"requiresAuth": true}; '
            '"approval": false says that it is meant so',
            severity="warning",
        )


# ------------------------------------------------------------------ cache


def _cache(raw: Mapping[str, Any], name: str, where: Place) -> Iterator[Problem]:
    given = raw.get("cache")
    if given is None or given is False:
        return
    if not isinstance(given, Mapping):
        yield Problem(
            f"`cache` of tool {name} must be an object, not {word(given)}",
            where,
            hint='write {"ttl": "5m"}',
        )
        return
    yield from unknown_keys(given, CACHE_KEYS, f"`cache` of tool {name}", where)
    effect = effect_of(raw)
    if effect != "reads":
        yield Problem(
            f"tool {name} cannot have a cache: its effect is {effect}, and only what a tool reads "
            "may be answered from memory",
            where,
            hint='remove `cache`, or write "effect": "reads" if it changes nothing',
        )
    if duration_ms(given.get("ttl")) is None:
        yield Problem(
            f"`ttl` of the cache of tool {name} must be a stretch of time, "
            f"not {word(given.get('ttl'))}",
            where,
            hint='write "90s", "15m", "2h", "1d", or milliseconds',
        )
    yield from _whole_number(given.get("size"), f"`size` of the cache of tool {name}", where)
    yield from _shared(raw, given.get("shared"), name, where)


def _shared(raw: Mapping[str, Any], shared: Any, name: str, where: Place) -> Iterator[Problem]:
    if not isinstance(shared, bool | None):
        yield Problem(
            f"`shared` of the cache of tool {name} must be true or false, not {word(shared)}",
            below(where, "shared"),
            hint="true gives one user the answer that another one got",
        )
    security = raw.get("security")
    data_class = security.get("dataClassification") if isinstance(security, Mapping) else None
    if shared is True and data_class is not None:
        known = CLASS_WORDS.get(str(data_class), "restricted")
        if known in MASKED:
            yield Problem(
                f"users share the answers of tool {name}, whose data is {known}",
                below(where, "shared"),
                hint="leave `shared` out, so that each user gets answers of their own",
                severity="warning",
            )


# ------------------------------------------------------------------ circuit


def _breaker(given: Any, name: str, where: Place) -> Iterator[Problem]:
    if given is None or isinstance(given, bool):
        return
    if not isinstance(given, Mapping):
        yield Problem(
            f"`circuitBreaker` of tool {name} must be true or an object, not {word(given)}",
            where,
            hint='write {"failures": 5, "windowMs": 60000, "openMs": 30000}',
        )
        return
    what = f"`circuitBreaker` of tool {name}"
    yield from unknown_keys(given, BREAKER_KEYS, what, where)
    yield from _whole_number(given.get("failures"), f"`failures` of {what}", where)
    for key in ("windowMs", "openMs"):
        value = given.get(key)
        if value is not None and not _is_figure(value):
            yield Problem(
                f"`{key}` of {what} must be a number above 0, not {word(value)}",
                below(where, key),
                hint="milliseconds; leave it out for the usual",
            )


def _whole_number(value: Any, what: str, where: Place) -> Iterator[Problem]:
    if value is not None and not (_is_figure(value) and value == int(value)):
        yield Problem(
            f"{what} must be a whole number from 1, not {word(value)}",
            where,
            hint="leave it out for the usual",
        )


def _is_figure(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value < float("inf")
