"""Promise: the model of a vendor keeps what any provider promises, bare and wrapped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from saywhy.models.openai import OpenAIModel
from saywhy.models.resilience.budgeted import with_budget
from saywhy.models.resilience.fallback import resilient
from saywhy.models.resilience.rate_limit import with_rate_limit
from saywhy.models.resilience.retries import with_retries
from saywhy.models.resilience.timeout import with_timeout
from saywhy.testing import check_provider
from tests.models.echo_server import echo_server


def bare(model: Any) -> Any:
    return model


def wrapped(model: Any) -> Any:
    limited = with_rate_limit(with_timeout(model, 30), requests=10_000, per_seconds=1)
    return with_budget(resilient([with_retries(limited)]), seconds=100)


@pytest.mark.parametrize("wrap", [bare, wrapped])
def test_over_a_network(wrap: Callable[[Any], Any]) -> None:
    """Text, streams, tools, asks at once; what is cut off is let go of at the server as well."""
    with echo_server() as server:

        def make(key: str) -> Any:
            return wrap(OpenAIModel("echo", api_key=key, base_url=server.base))

        asyncio.run(
            check_provider(
                lambda: make("good"),
                failing=lambda: make("bad"),
                repeatable=True,
                probe=lambda: server.busy,
            )
        )
