"""What a session remembers of sensitive places and texts, so that later turns mask them too.

It is written the moment it is found: what a turn leaves behind when it stops anywhere knows of all
that had been recorded by then. Nothing of it is an operation, as a record would tell it. What is
logged meanwhile is masked by what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from saywhy.chart.commit import Commit
from saywhy.flows.speech import QUEUE
from saywhy.runtime.session import Session
from saywhy.trace.masking.kept import pruned
from saywhy.trace.masking.redact import Redactor
from saywhy.trace.masking.taint import SENSITIVE, Taint
from saywhy.trace.masking.texts import MAX_HELD
from saywhy.values import freeze, raw

if TYPE_CHECKING:
    from saywhy.runtime.machinery import Machinery

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
    questions = (frame.data.get("question") for frame in session.cursor.walk())
    queued += [one for one in questions if isinstance(one, str)]  # it may be repeated
    alive = [name for name in scopes if name not in ("session", "turn", "routing", "cargo")]
    left = pruned(raw(kept), redactor.taint.declared, alive, queued)
    if left:
        facts[SENSITIVE] = freeze(left)
    else:
        del facts[SENSITIVE]


def logging_of(machinery: Machinery, redactor: Redactor) -> Callable[[Commit], None]:
    """What logs the warnings of a commit.

    No method of the run: what holds its holder is left to the garbage collector.
    """

    def log(commit: Commit) -> None:
        for warning in commit.warnings:
            loud = commit.facts.get("error") == warning
            (machinery.error if loud else machinery.warn)(redactor.text(warning))

    return log
