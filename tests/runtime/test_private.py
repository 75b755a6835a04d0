"""Promise: an engine masks what its host, its tools and its flows call sensitive, and no more."""

from __future__ import annotations

from typing import Any

from saywhy import Engine, Policy
from saywhy.trace.masking.redact import USUAL


def engine(*steps: dict[str, Any], **options: Any) -> Engine:
    """An engine with one flow."""
    numbered = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    flows = [{"id": "f", "name": "F", "steps": numbered}]
    return Engine(flows=flows, validate_on_init=False, **options)


def policy_of(made: Engine) -> Policy:
    return made._policy  # pyright: ignore[reportPrivateUsage]


def test_nothing_declared_is_the_usual_policy() -> None:
    """The same object: nothing is looked for that nobody asked for."""
    made = engine({"type": "SAY", "value": "{{name}}"}, globals={"name": "Ann", "apiKey": True})
    assert policy_of(made) is USUAL
    assert not made._machinery.world.watches  # pyright: ignore[reportPrivateUsage]


def test_secret_globals_are_masked_wherever_they_are_nested() -> None:
    """Their texts everywhere, and what flows make of those that they name."""
    secrets = {"apiKey": "sk-12345", "partner": {"login": {"password": "p4ssw0rd"}}, "x": "y"}
    made = engine({"type": "SAY", "value": "{{partner.login.user}}"}, globals=secrets)
    policy = policy_of(made)
    assert policy.secrets == ("sk-12345", "p4ssw0rd")
    assert policy.declared.paths == (("globals", "partner", "login", "password"),)


def test_paths_of_the_host_count_like_those_of_flows() -> None:
    """And then it matters what arguments are made of."""
    call = {"type": "CALL-TOOL", "tool": "t", "args": {"a": "{{cargo.ssn}}"}}
    made = engine(call, redact=Policy(paths=("cargo.ssn",)))
    declared = policy_of(made).declared
    assert declared.paths == (("cargo", "ssn"),)
    assert declared.parts == {("F", "/steps/0"): {"a": (("cargo", "ssn"),)}}
    assert made._machinery.world.watches  # pyright: ignore[reportPrivateUsage]
