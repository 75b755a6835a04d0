"""What a session remembers of sensitive places and texts, so that later turns mask them too.

It is written the moment it is found: what a turn leaves behind when it stops anywhere knows of all
that had been recorded by then. Nothing of it is an operation, as a record would tell it.
"""

from __future__ import annotations

from saywhy.flows.speech import QUEUE
from saywhy.runtime.session import Session
from saywhy.trace.masking.redact import Redactor
from saywhy.trace.masking.taint import SENSITIVE, Taint, pruned
from saywhy.trace.masking.texts import MAX_HELD
from saywhy.values import freeze, raw

SECRETS = "secrets"


def remember(redactor: Redactor, session: Session) -> None:
    """Have the session keep what its redactor learns."""
    taint = redactor.taint
    if taint is None:
        return

    def learnt(taint: Taint, texts: list[str]) -> None:
        facts = session.cursor.state.scopes["session"]
        if texts:
            held = dict.fromkeys([*(facts.get(SECRETS) or ()), *texts])
            facts[SECRETS] = freeze(list(held)[-MAX_HELD:])
        facts[SENSITIVE] = freeze(taint.kept())

    redactor.on_learnt = learnt
    if redactor.policy.paths or redactor.policy.declared.paths:
        session.cursor.state.scopes["session"][SENSITIVE] = freeze(taint.kept())


def end_turn(redactor: Redactor, session: Session) -> None:
    """Keep only what a later turn may need."""
    facts = session.cursor.state.scopes["session"]
    kept = facts.get(SENSITIVE)
    if kept is None or redactor.taint is None:
        return
    scopes = session.cursor.state.scopes
    queued = [str(text) for text, _ in raw(facts.get(str(QUEUE[1]))) or ()]
    alive = [name for name in scopes if name not in ("session", "turn", "routing", "cargo")]
    left = pruned(raw(kept), redactor.taint.declared, alive, queued)
    if left:
        facts[SENSITIVE] = freeze(left)
    else:
        del facts[SENSITIVE]
