"""Promise: an option that cannot work is refused when the engine is made, with what would do."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import CallerError, Engine
from saywhy.runtime.choices import commands_of, milliseconds, must_fit
from saywhy.testing import FakeClock

SWITCHES = (
    *("clarify", "offer_interruptions", "keep_empty_says", "validate_on_init", "strict"),
    *("validate_tool_returns", "log_tool_failures", "durable_actions"),
)


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", ["false", 1, None])
def test_a_switch_is_true_or_false(name: str, value: Any) -> None:
    """The text "false" would be true."""
    with pytest.raises(CallerError, match=f"^{name} is True or False, not {value!r}") as caught:
        Engine(**{name: value})
    assert caught.value.hint == f"{name}=True"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("max_steps", 0, "max_steps is a whole number from 1 on, not 0"),
        ("max_depth", True, "max_depth is a whole number from 1 on, not True"),
        ("default_max_retries", -1, "default_max_retries is a whole number, 0 for none, not -1"),
        ("default_max_retries", 1.5, "default_max_retries is a whole number, 0 for none, not 1.5"),
        ("lease_seconds", 0, "lease_seconds is a number of seconds above 0, not 0"),
        ("lease_seconds", "9", "lease_seconds is a number of seconds above 0, not '9'"),
        ("language", [], "language is text, or None for one that is found out, not list"),
        ("language", 5, "language is text, or None for one that is found out, not 5"),
        ("globals", ["secret"], "globals is values by name, not list"),
        ("guidance", 5, "guidance is settings by name, not 5"),
        ("command_words", "stop", "command_words is words by language, not 'stop'"),
        ("commands", "cancel", "commands is True, False or a list of commands, not 'cancel'"),
        ("commands", None, "commands is True, False or a list of commands, not None"),
        ("clock", "x", r"clock is an object with now\(\) and sleep\(\), not 'x'"),
        ("store", 5, "store is a store, not 5"),
        ("redact", None, "redact is a Policy, not None"),
        ("is_authenticated", "x", "is_authenticated is a function of cargo, or None, not 'x'"),
        ("new_id", None, "new_id is a function without parameters, not None"),
        ("inactivity", "5", "inactivity is milliseconds, 0 for no limit, not '5'"),
        ("inactivity", -1, "inactivity is milliseconds, 0 for no limit, not -1"),
        ("function_timeout", True, "function_timeout is milliseconds, 0 for no limit, not True"),
        ("model", {}, "model is a function or a provider, not dict"),
    ],
)
def test_an_option_of_the_wrong_kind(name: str, value: Any, told: str) -> None:
    """The message names the option and what it takes, and quotes nothing that may be long."""
    with pytest.raises(CallerError, match=f"^{told}"):
        Engine(**{name: value})


def test_what_fits_is_taken() -> None:
    """Nothing, and one of each kind; names that are not listed are nobody's here."""
    must_fit({})
    must_fit({"clarify": True, "max_steps": 1, "default_max_retries": 0, "lease_seconds": 0.5})
    must_fit({"clock": FakeClock(0), "new_id": lambda: "x", "language": None, "another": object()})
    assert milliseconds("ai_timeout", None) == milliseconds("ai_timeout", float("inf")) == 0
    assert commands_of(("cancel", "help")) == commands_of(["help", "cancel"])
