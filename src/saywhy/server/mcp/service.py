"""What a call of an MCP client does: begins a conversation, goes on with one, or calls a tool.

Conversations are kept in the engine's store, so they outlive the server. A key in the request makes
a repeat harmless: the same key begins no second conversation and is heard as one message. A client
reaches the conversations that were begun this way, and no others of the same store.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from saywhy.errors import SaywhyError, did_you_mean
from saywhy.runtime.conversations import TurnReply
from saywhy.runtime.engine import Engine
from saywhy.runtime.known import begun
from saywhy.runtime.session import Session
from saywhy.server.mcp.offers import Offer, offers_of
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.schema import SchemaCheck, compile_schema, describe
from saywhy.values import dumps, raw

USER: Final = "mcp"
_WAITS_FOR: Final = {"user": "answer", "approval": "approval", "settle": "settlement"}


@dataclass(frozen=True, slots=True)
class Served:
    """The answer to a call: text for a reader, the same as data, and whether it is an error."""

    text: str
    data: Mapping[str, Any] | None = None
    is_error: bool = False


class UnknownOffer(Exception):
    """Nothing is offered under this name."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(f"there is no tool {name}: {hint}")


class McpService:
    """The offers of one engine. `user_id` is who talks, as far as the engine is concerned."""

    def __init__(self, engine: Engine, *, user_id: str = USER, with_tools: bool = True) -> None:
        self.engine = engine
        self.user_id = user_id
        offers = offers_of(engine.library, engine.tools, with_tools=with_tools)
        self.offers: dict[str, Offer] = {one.name: one for one in offers}
        self._checks: dict[str, SchemaCheck] = {}
        self._known = begun()

    async def call(self, name: str, arguments: Mapping[str, Any], key: str = "") -> Served:
        """Do what is offered under a name. Raises `UnknownOffer`; all else is in the answer."""
        offer = self.offers.get(name)
        if offer is None:
            known = tuple(self.offers)
            raise UnknownOffer(name, did_you_mean(name, known) or f"known: {', '.join(known)}")
        try:
            if offer.kind == "tool":
                return await self._call_tool(offer, arguments, key)
            wrong = self._wrong(offer, arguments)
            if wrong:
                return Served(f"these arguments do not fit: {', '.join(wrong)}", is_error=True)
            if offer.kind == "flow":
                return await self._begin(offer, arguments, key)
            return await self._go_on(arguments, key)
        except SaywhyError as error:
            return _failed(error)

    def _wrong(self, offer: Offer, arguments: Mapping[str, Any]) -> list[str]:
        check = self._checks.get(offer.name)
        if check is None:
            check = self._checks[offer.name] = compile_schema(offer.input_schema)
        return [describe(error) for error in check.iter_errors(dict(arguments))]

    # ------------------------------------------------------------ conversations

    async def _begin(self, offer: Offer, arguments: Mapping[str, Any], key: str) -> Served:
        entry = {"content": "", "start": {"flow": offer.target, "arguments": dict(arguments)}}
        conversation = f"mcp-{_digest(offer.target, key) if key else uuid.uuid4().hex}"
        return await self._turn(conversation, entry, key)

    async def _go_on(self, arguments: Mapping[str, Any], key: str) -> Served:
        conversation = str(arguments["conversation"])
        stored = await self.engine.session(conversation)
        if stored is None or stored.user_id != self.user_id:
            # Whether somebody else has one of this name is not told.
            text = f"there is no conversation {conversation}; begin one with the tool of a flow"
            return Served(text, is_error=True)
        message = str(arguments.get("message") or "") or key
        return await self._turn(conversation, str(arguments["text"]), message)

    async def _turn(self, conversation: str, entry: str | dict[str, Any], message: str) -> Served:
        try:
            reply = await self.engine.take_turn(
                conversation, entry, message_id=message or None, user_id=self.user_id
            )
        except SaywhyError as error:
            return _failed(error, conversation)
        session = await self.engine.session(conversation)
        return self._served(conversation, reply, session)

    def _served(self, conversation: str, reply: TurnReply, session: Session | None) -> Served:
        frame = session.frame if session else None
        waits_for = _waits_for(session)
        data: dict[str, Any] = {
            "conversation": conversation,
            "reply": reply.response or "",
            "waiting": waits_for == "answer",
            "waitingFor": waits_for,
        }
        if frame is not None and waits_for == "answer":
            data["question"] = frame.pending_variable_context or ""
            data["sensitive"] = frame.pending_variable_pii
        text = reply.response or self._silence(reply)
        return Served(text, data)

    def _silence(self, reply: TurnReply) -> str:
        if reply.response is None:
            flows = [one.name for one in self.offers.values() if one.kind == "flow"]
            return f"(no flow answers that; these begin one: {', '.join(flows)})"
        return "(nothing was said)"

    # ------------------------------------------------------------ tools

    async def _call_tool(self, offer: Offer, arguments: Mapping[str, Any], key: str) -> Served:
        made = await self.engine.call_tool(
            offer.target,
            arguments,
            user_id=self.user_id,
            key=key or uuid.uuid4().hex,
            known=self._known,
        )
        if made.fault_message is not None:
            return Served(_fault_text(made), is_error=True)
        if self.engine.tools.wants_known:
            self._known = self._known.with_given(made.value)
        value = raw(made.value)
        text = value if isinstance(value, str) else dumps(made.value).decode()
        return Served(text, value if isinstance(value, dict) else None)


def _waits_for(session: Session | None) -> str:
    if session is None or not session.cursor.frames:
        return "nothing"
    need = session.cursor.top.waiting
    return _WAITS_FOR.get(need.kind, "nothing") if need is not None else "nothing"


def _fault_text(made: ToolAnswer) -> str:
    if made.to_approve is not None:
        return f"{made.fault_message}; nobody can be asked here, so it was not called"
    text = str(made.fault_message)
    if made.fault_hint:
        text += f" ({made.fault_hint})"
    return f"{text}. Whether it took effect is not known" if made.may_have_happened else text


def _failed(error: SaywhyError, conversation: str = "") -> Served:
    hint = f" ({error.hint})" if error.hint else ""
    where = f" in conversation {conversation}" if conversation else ""
    return Served(f"that failed{where}: {error}{hint}", is_error=True)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
