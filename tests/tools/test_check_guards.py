"""Promise: what is wrong with how a tool is guarded is said with its place and a way out."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of


def found(**keys: Any) -> list[str]:
    implementation = {"type": "local", "function": "pay", **keys.pop("implementation", {})}
    raw = {"id": "pay", "implementation": implementation, **keys}
    return [
        f"{one.place.pointer} {one.severity}: {one.message} | {one.hint}"
        for one in problems_of(raw, Place())
    ]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (
            {"security": {"auditLevel": "ful"}},
            "/security/auditLevel warning: `auditLevel` of tool pay is none, basic or full, "
            'not "ful"; it counts as the strictest | did you mean "full"?',
        ),
        (
            {"security": {"auditLevel": 3}},
            "/security/auditLevel warning: `auditLevel` of tool pay is none, basic or full, "
            "not 3; it counts as the strictest | write none, basic or full",
        ),
        (
            {"security": {"dataClassification": "restrictd"}},
            "/security/dataClassification warning: `dataClassification` of tool pay is public, "
            'internal, confidential or restricted, not "restrictd"; it counts as the strictest | '
            'did you mean "restricted"?',
        ),
        (
            {"security": {"requiresAuth": "yes"}},
            "/security/requiresAuth error: `requiresAuth` of tool pay must be true or false, "
            'not "yes" | true refuses calls in sessions that are not authenticated',
        ),
        (
            {"security": {"requireAuth": True}},
            "/security/requireAuth warning: `security` of tool pay has the unknown key "
            '"requireAuth" | did you mean "requiresAuth"?',
        ),
        (
            {"riskLevel": "hihg"},
            "/riskLevel warning: `riskLevel` of tool pay is low, medium or high, "
            'not "hihg"; it counts as the strictest | did you mean "high"?',
        ),
        (
            {"riskLevel": "high"},
            "/riskLevel warning: tool pay is of high risk, but neither a person nor a sign-in is "
            'asked for | add "approval": true or "security": {"requiresAuth": true}; '
            '"approval": false says that it is meant so',
        ),
        (
            {"cache": True, "effect": "reads"},
            '/cache error: `cache` of tool pay must be an object, not true | write {"ttl": "5m"}',
        ),
        (
            {"cache": {"ttl": "1m"}},
            "/cache error: tool pay cannot have a cache: its effect is once, and only what a tool "
            "reads may be answered from memory | remove `cache`, or write "
            '"effect": "reads" if it changes nothing',
        ),
        (
            {"cache": {"size": 3}, "effect": "reads"},
            "/cache error: `ttl` of the cache of tool pay must be a stretch of time, not nothing | "
            'write "90s", "15m", "2h", "1d", or milliseconds',
        ),
        (
            {"cache": {"ttl": "1m", "size": 0}, "effect": "reads"},
            "/cache error: `size` of the cache of tool pay must be a whole number from 1, not 0 | "
            "leave it out for the usual",
        ),
        (
            {"cache": {"ttl": "1m", "shred": True}, "effect": "reads"},
            '/cache/shred error: `cache` of tool pay has the unknown key "shred" | '
            'did you mean "shared"?',
        ),
        (
            {"cache": {"ttl": "1m", "shared": "yes"}, "effect": "reads"},
            "/cache/shared error: `shared` of the cache of tool pay must be true or false, "
            'not "yes" | true gives one user the answer that another one got',
        ),
        (
            {
                "cache": {"ttl": "1m", "shared": True},
                "effect": "reads",
                "security": {"dataClassification": "financial"},
            },
            "/cache/shared warning: users share the answers of tool pay, whose data is "
            "confidential | leave `shared` out, so that each user gets answers of their own",
        ),
        (
            {"implementation": {"circuitBreaker": 5}},
            "/implementation/circuitBreaker error: `circuitBreaker` of tool pay must be true or an "
            'object, not 5 | write {"failures": 5, "windowMs": 60000, "openMs": 30000}',
        ),
        (
            {"implementation": {"circuitBreaker": {"failures": 1.5}}},
            "/implementation/circuitBreaker error: `failures` of `circuitBreaker` of tool pay must "
            "be a whole number from 1, not 1.5 | leave it out for the usual",
        ),
        (
            {"implementation": {"circuitBreaker": {"openMs": 0}}},
            "/implementation/circuitBreaker/openMs error: `openMs` of `circuitBreaker` of tool pay "
            "must be a number above 0, not 0 | milliseconds; leave it out for the usual",
        ),
        (
            {"implementation": {"circuitBreaker": {"open": 5}}},
            "/implementation/circuitBreaker/open error: `circuitBreaker` of tool pay has the "
            'unknown key "open" | did you mean "openMs"?',
        ),
    ],
)
def test_mistakes(keys: dict[str, Any], problem: str) -> None:
    """One problem for one mistake."""
    assert found(**keys) == [problem]


@pytest.mark.parametrize(
    "keys",
    [
        {"security": {"auditLevel": "critical", "dataClassification": "customer_service"}},
        {"security": {"requiresAuth": False, "owner": "payments"}},
        {"riskLevel": "high", "approval": False},
        {"riskLevel": "high", "approval": True},
        {"riskLevel": "critical", "security": {"requiresAuth": True}},
        {"riskLevel": "medium"},
        {"cache": {"ttl": 500, "size": 3, "shared": True}, "effect": "reads"},
        {"cache": False},
        {"implementation": {"circuitBreaker": True}},
        {"implementation": {"circuitBreaker": False}},
        {"implementation": {"circuitBreaker": {"failures": 3, "windowMs": 1e3, "openMs": 5}}},
    ],
)
def test_nothing_to_say(keys: dict[str, Any]) -> None:
    """Older words, keys of the host's own, and what is meant so."""
    assert found(**keys) == []
