"""Carries out a call of an HTTP tool: request, attempts, answer.

`retries` of the definition repeats what may pass by itself: a broken connection, a time-out, 429
and 5xx. All attempts carry the same idempotency key. spec: flow-engine 6.3
"""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.tools.http.address import Unfit
from saywhy.tools.http.answer import status_trouble, value_of
from saywhy.tools.http.client import HttpAnswer, HttpClient
from saywhy.tools.http.pause import pause_seconds
from saywhy.tools.http.progress import Progress
from saywhy.tools.http.request import WITHOUT_BODY, HttpRequest, build
from saywhy.tools.http.secrets import masked
from saywhy.tools.http.trouble import HttpTrouble
from saywhy.tools.invocation import DOUBT, Invocation, Outcome, refused


class _Attempt(msgspec.Struct, frozen=True):
    """How one attempt went; `retry_after` is what the server asked for."""

    outcome: Outcome
    passing: bool = False
    retry_after: str = ""


async def invoke(invocation: Invocation) -> Outcome:
    """The answer of the server as a value, or what went wrong, without any secret in it."""
    client = invocation.http
    tool = invocation.tool
    if client is None:
        return refused("HTTP tools need a client to call with", "hand in http=HttpClient()")
    try:
        request = build(
            tool,
            invocation.arguments,
            key=invocation.context.key,
            filled=invocation.filled,
            user_agent=client.settings.user_agent,
        )
    except Unfit as unfit:
        return refused(unfit.message, unfit.hint)
    refusal = client.refusal(request)
    if refusal is not None:
        return refused(masked(refusal.message, request.secrets), refusal.hint)
    return await _attempts(invocation, client, request)


async def _attempts(invocation: Invocation, client: HttpClient, request: HttpRequest) -> Outcome:
    delay = invocation.tool.implementation.raw.get("retryDelay")
    number = 0
    while True:
        attempt = await _attempt(invocation, client, request)
        if not attempt.passing or number >= invocation.tool.implementation.retries:
            return attempt.outcome
        wait = pause_seconds(number, delay, attempt.retry_after, invocation.clock.now())
        if wait > client.settings.max_wait_seconds:
            hint = f"the server asks to come back in {wait:.0f} seconds"
            return msgspec.structs.replace(attempt.outcome, hint=hint)
        await invocation.clock.sleep(wait)
        number += 1


async def _attempt(invocation: Invocation, client: HttpClient, request: HttpRequest) -> _Attempt:
    invocation.record()
    raw = invocation.tool.implementation.raw
    accepted: frozenset[int] = frozenset(raw.get("acceptStatus") or ())
    limit_ms = invocation.tool.implementation.timeout_ms
    progress = Progress()
    answer: HttpAnswer | None = None
    try:
        answer = await invocation.clock.wait_for(
            _caught(client.send(request, progress, take=accepted)), limit_ms / 1000
        )
        if not (200 <= answer.status < 300 or answer.status in accepted):
            raise status_trouble(answer)
        value, is_data = value_of(answer, walk_xml=bool(raw.get("responseMapping")))
    except TimeoutError:
        timeout = HttpTrouble(f"Request timeout after {limit_ms:g}ms", "TimeoutError", passing=True)
        return _failed(invocation, request, progress, timeout, "")
    except HttpTrouble as trouble:
        retry_after = answer.headers.get("retry-after", "") if answer else ""
        return _failed(invocation, request, progress, trouble, retry_after)
    return _Attempt(Outcome(value=value, is_data=is_data, http_status=answer.status))


async def _caught(sending: Any) -> HttpAnswer:
    """So that a `TimeoutError` from below is told from our own limit."""
    try:
        return await sending
    except TimeoutError as error:
        raise HttpTrouble(f"fetch failed: {error}", "FetchFailed", passing=True) from None


def _failed(
    invocation: Invocation,
    request: HttpRequest,
    progress: Progress,
    trouble: HttpTrouble,
    retry_after: str,
) -> _Attempt:
    """A fault, with whether the effect may have happened all the same.

    A refusal with 4xx is the server's answer, and it did nothing. With 5xx, or an answer that was
    cut short or cannot be read, nobody knows; nor where the request was out and nothing came back.
    """
    acts = invocation.tool.effect != "reads" and request.method not in WITHOUT_BODY
    doubtful = progress.sent and (
        not trouble.answered or trouble.status is None or not 300 <= trouble.status < 500
    )
    unknown = acts and doubtful
    hint = trouble.hint
    if unknown and not hint:
        hint = DOUBT
    outcome = Outcome(
        fault=masked(trouble.message, request.secrets),
        fault_name=trouble.name,
        hint=masked(hint, request.secrets),
        may_have_happened=unknown,
        http_status=trouble.status,
    )
    return _Attempt(outcome, trouble.passing, retry_after)


__all__ = ["invoke"]
