"""What stands around a call besides its arguments: who may make it, is it known, is it hopeless.

One `Guards` belongs to one engine and holds what is remembered between calls, in memory: answers
that may be given again, and circuits. What a definition asks for stands in `security`, `cache` and
`breaker`; rate limits are counted in the store (`limit`).
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from saywhy.tools.answer import Around, Make, ToolAnswer
from saywhy.tools.approval import digest_of
from saywhy.tools.breaker import Breakers, has_failed, open_text
from saywhy.tools.cache import AnswerCache, CacheRule
from saywhy.tools.invocation import CallContext, Invocation
from saywhy.tools.tool import Tool
from saywhy.values import dumps


class Refusal(NamedTuple):
    """A call that is not made. `circuit`: `open` where that is the reason."""

    message: str
    name: str
    hint: str
    circuit: str = ""


class Guards:
    """What one engine remembers of its tools."""

    def __init__(self) -> None:
        self.cache = AnswerCache()
        self.breakers = Breakers()

    def refusal(self, tool: Tool, context: CallContext, now_ms: float) -> Refusal | None:
        """Why the call may not be made, before anything is counted; None: it may."""
        if tool.security.requires_auth and not context.authenticated:
            return Refusal(
                f"{tool.name} is for users who have signed in; this session is not authenticated",
                "NotAuthenticated",
                "once the program knows who the user is: take_turn(…, authenticated=True), or "
                "session.authenticated = True",
            )
        return self._open_circuit(tool, now_ms)

    async def make(
        self, invocation: Invocation, call: Make, around: Around | None, *, resumed: bool
    ) -> ToolAnswer | Refusal:
        """Make the call, or give the answer that is known, or say why it is not made.

        A call that is `resumed` after a crash has its place in the journal, so it is always taken
        there: what came of it may be on record.
        """
        tool = invocation.tool
        if tool.cache is None and tool.breaker is None:
            return await (call() if around is None else around(call))
        rule = tool.cache
        key = cache_key(invocation, rule) if rule else ""
        if rule and not resumed:
            known = self.cache.get(tool.id, key, invocation.clock.now())
            if known is not None:
                return known
        if not resumed:  # once more: approval and checks may have taken their time
            refusal = self._open_circuit(tool, invocation.clock.now())
            if refusal is not None:
                return refusal
        probe = self.breakers.enter(tool.id) if tool.breaker else None
        if tool.breaker:
            call = partial(self._counted, invocation, call, probe is not None)
        try:
            answer = await (call() if around is None else around(call))
        finally:
            if probe is not None:
                self.breakers.release(tool.id, probe)
        if rule:
            self.cache.keep(tool.id, key, answer, rule, invocation.clock.now())
        return answer

    def _open_circuit(self, tool: Tool, now_ms: float) -> Refusal | None:
        rule = tool.breaker
        wait = self.breakers.wait_ms(tool.id, rule, now_ms) if rule else None
        if rule is None or wait is None:
            return None
        hint = f"tried again in {wait / 1000:.0f} seconds" if wait else "one call is trying it now"
        return Refusal(open_text(tool.name, rule), "CircuitOpen", hint, "open")

    async def _counted(self, invocation: Invocation, call: Make, probe: bool) -> ToolAnswer:
        """The call, and what its end says about the tool."""
        tool, clock = invocation.tool, invocation.clock
        rule = tool.breaker
        assert rule is not None, "asked for tools with a circuit only"
        failed: bool | None = None
        try:
            answer = await call()
            failed = has_failed(answer)
        finally:
            became = self.breakers.leave(tool.id, rule, failed, clock.now(), probe=probe)
        return msgspec.structs.replace(answer, circuit=became) if became else answer


def cache_key(invocation: Invocation, rule: CacheRule) -> str:
    """What two calls must have in common to share an answer, as a digest: it may hold secrets.

    The texts that a flow put into the definition count like arguments: they make the request.
    """
    user = "" if rule.shared else invocation.context.user_id
    filled = dumps(sorted((invocation.filled or {}).items()))
    salt = blake2b(dumps([user, filled.decode()]), digest_size=32).hexdigest()
    return digest_of(invocation.tool.id, invocation.arguments, salt)
