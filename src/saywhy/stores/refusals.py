"""What every store refuses, in the same words whoever keeps the rows."""

from __future__ import annotations

from saywhy.errors import CallerError, Fenced, PersistenceMismatch, QueueFull, SessionBusy
from saywhy.stores.store import Claim, Mode


def fenced(claim: Claim) -> Fenced:
    """The claim is over: its turn ended, or its lease did and another worker came."""
    return Fenced(
        f'turn {claim.turn_no} of conversation "{claim.session_id}" is no longer run by this '
        f"worker (fence {claim.fence}): it ended, or another one took it over",
        hint="drop what was computed; whoever runs it now goes on from the journal",
    )


def other_owner(session_id: str, user_id: str) -> CallerError:
    """The id of a conversation is in use by somebody else."""
    if not user_id:
        return CallerError(
            f'conversation "{session_id}" belongs to a user, and no user_id was given',
            hint="hand over the user_id it was begun with",
        )
    return CallerError(
        f'conversation "{session_id}" belongs to another user than "{user_id}"',
        hint="use a conversation id of that user's own",
    )


def other_mode(session_id: str, current: Mode, mode: Mode) -> PersistenceMismatch:
    """What is on record of a conversation would mean something else from here on."""
    return PersistenceMismatch(
        f'conversation "{session_id}" began with action_persistence "{current}" and keeps to it; '
        f'"{mode}" was asked for',
        hint=f'go on with it on an engine with action_persistence="{current}"; this message was '
        "not accepted",
    )


def lease_runs(session_id: str) -> SessionBusy:
    """Somebody works on the conversation, and would write over what is changed now."""
    return SessionBusy(
        f'somebody is running a turn of conversation "{session_id}"',
        hint="wait for its end, or stop the program that runs it and wait for the end of its lease",
    )


def queue_full(session_id: str, most: int) -> QueueFull:
    """More messages would wait than anybody can be waiting for."""
    return QueueFull(
        f'{most:,} messages of conversation "{session_id}" wait already; this one was not accepted',
        hint="send it again, under the same message id, when earlier ones were answered",
    )


def version_moved(session_id: str, current: int, version: int) -> CallerError:
    """A document was made from a version that is not the current one."""
    return CallerError(
        f'conversation "{session_id}" is at version {current}, not at {version}',
        hint="read it again, repeat the change on what is there now, then save",
    )


def turn_open(session_id: str) -> SessionBusy:
    """A document cannot be stored beside a turn that will store its own."""
    return SessionBusy(
        f'a turn of conversation "{session_id}" is open',
        hint="wait for its reply, or hand the change in with the next message",
    )


def no_such_call(claim: Claim, seq: int) -> CallerError:
    """A result came for a call that nobody announced."""
    return CallerError(
        f'turn {claim.turn_no} of conversation "{claim.session_id}" has no call {seq}',
        hint="note the intent of a call before its result",
    )


def message_taken(session_id: str) -> CallerError:
    """A message would replace an older one; they are only ever added."""
    return CallerError(
        f'a message of conversation "{session_id}" has a number that is taken',
        hint="number messages on from the newest one of the conversation",
    )


def check_prune(older_than_seconds: float, limit: int) -> None:
    """Refuse what would prune turns of the future, or nothing for ever."""
    if not older_than_seconds >= 0 or limit < 1:
        raise CallerError(
            f"pruning {limit} turns older than {older_than_seconds:g} seconds makes no sense",
            hint="an age is zero or more, and at least one turn is pruned at a time",
        )


def check_rate(requests: int, window_ms: float) -> None:
    """Refuse a limit that could never let anything through."""
    if requests < 1 or window_ms < 1:
        raise CallerError(
            f"a limit of {requests} requests in {window_ms:g} ms lets nothing through",
            hint="allow at least one request in a window of at least a millisecond",
        )
