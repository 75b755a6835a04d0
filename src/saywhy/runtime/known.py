"""The memory of a conversation for arguments that must be known: where it begins, and is read."""

from __future__ import annotations

import secrets
from typing import Final

import msgspec

from saywhy.flows.given import KNOWN
from saywhy.flows.world import World
from saywhy.runtime.session import Session
from saywhy.tools.known import NOTHING, Known
from saywhy.values import UNDEFINED, freeze

SALT_BYTES: Final = 8


def begun() -> Known:
    """A memory with nothing in it, under a salt of its own."""
    return Known(secrets.token_hex(SALT_BYTES))


def begin_known(world: World, session: Session) -> None:
    """Begin to remember, where a tool asks for it and nothing was remembered yet."""
    scope, name = KNOWN
    if world.tools.wants_known and session.state.get(scope, name) is UNDEFINED:
        session.state.scopes[scope][name] = freeze(begun().to_value())


def known_to(world: World, session: Session) -> Known:
    """What was given in a conversation so far."""
    if not world.tools.wants_known:
        return NOTHING
    held = session.state.get(*KNOWN)
    known = NOTHING if held is UNDEFINED else Known.of(held)
    return msgspec.structs.replace(known, constants=world.globals)
