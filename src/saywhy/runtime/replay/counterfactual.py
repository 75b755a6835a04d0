"""What if it had not been there: the turns since a piece came in, run again without it.

Up to the piece the conversation runs as it is on record. From there it runs twice: as it was, which
shows what each model was asked, and without the piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.models.provider import Provider
from saywhy.runtime.replay.causes import Causes
from saywhy.runtime.replay.changed import Baseline, Changed
from saywhy.runtime.replay.compare import Comparison
from saywhy.runtime.replay.conversation import Begun
from saywhy.runtime.replay.entries import NO_BEGINNING, RecordedTurn, recorded_turns
from saywhy.runtime.replay.masked import Gap
from saywhy.runtime.replay.removal import RecalledTexts, Removal
from saywhy.runtime.replay.result import Difference, worded
from saywhy.runtime.replay.run import ReplayRun
from saywhy.runtime.replay.whatif import Counterfactual
from saywhy.runtime.session import Session

LEFT_OUT: Final = "the turn is left out"


class WhatIf:
    """One question: what would a turn have answered without this piece?"""

    def __init__(
        self, begun: Begun, lesser: Begun, removal: Removal, model: Provider | None
    ) -> None:
        self.begun = begun
        self.lesser = lesser
        """The same conversation where the piece is not there."""
        self.removal = removal
        self.baseline = Baseline()
        self.changed = Changed(removal, self.baseline, self._recalled, model)
        self.lesser.on_missing(self.changed.function)
        self.lesser.computes = True
        self.gaps: list[Gap] = []
        self.difference: Difference | None = None
        self._comparison = Comparison(begun.trace.charts)
        self._causes = Causes(begun.trace.charts, begun.world.charts, changed=False)
        self._texts: dict[int, RecalledTexts] = {}

    def _recalled(self, turn: int) -> RecalledTexts:
        if turn not in self._texts:
            self._texts[turn] = RecalledTexts(self.begun.trace, turn)
        return self._texts[turn]

    async def answer(self) -> Counterfactual:
        """Run the turns. Raises `CallerError` where the turn is not on record."""
        removal, turns = self.removal, list(recorded_turns(self.begun.trace))
        before = [one for one in turns if one.number < removal.first]
        since = [one for one in turns if removal.first <= one.number <= removal.turn]
        if not since or since[-1].number != removal.turn:
            known = f"turns {turns[0].number} to {turns[-1].number}" if turns else "no turns"
            raise CallerError(f"turn {removal.turn} is not on record", hint=f"{known} are")
        session = self.begun.session
        self.gaps += self.begun.absent()
        for turn in before if not self.gaps else ():
            if not await self._as_it_was(turn, session):
                break
        twin = session.copy()
        self.lesser.masked.go_on_from(self.begun.masked)
        last: ReplayRun | None = None
        was: ReplayRun | None = None
        if not self.gaps:
            for turn in since:
                was = await self.begun.take(turn, session, self.baseline)
                if all(gap.turn != turn.number for gap in self.begun.masked.gaps):
                    self._is_as_recorded(turn, was)
                last = await self._without(turn, twin, was) or last
                if last is not None and last.stopped is not None:
                    break  # what would have been said next, and to what question, nobody knows
        return self._result(since[-1].reply, was, last)

    async def _as_it_was(self, turn: RecordedTurn, session: Session) -> bool:
        if turn.entry is None:
            self.gaps.append(Gap(turn.number, 0, "the turn", NO_BEGINNING))
            return False
        run = await self.begun.take(turn, session)
        return self._is_as_recorded(turn, run)

    def _is_as_recorded(self, turn: RecordedTurn, run: ReplayRun) -> bool:
        """Whether a turn gave its record once more: else nothing that follows would be sure."""
        if run.stopped is not None:
            self.gaps.append(Gap(turn.number, run.seq, run.stopped.name, "not on record"))
            return False
        pairs = zip(turn.commits, run.recorder.kept, strict=False)
        for one, other in pairs:
            found = self._comparison.first(one, other)
            if found is not None:
                what = worded(found.field)
                self.gaps.append(Gap(turn.number, one.seq, what, "not as on record here"))
                return False
        return True

    async def _without(self, turn: RecordedTurn, twin: Session, was: ReplayRun) -> ReplayRun | None:
        begun = self.removal.entry(turn)
        if begun is None:
            self.difference = self._left_out(turn, was)
            return None
        run = await self.lesser.take(begun, twin, self.changed)
        if self.difference is None:
            self.difference = self._first(was, run)
        return run

    def _left_out(self, turn: RecordedTurn, was: ReplayRun) -> Difference:
        seq = turn.commits[0].seq if turn.commits else 0
        replies = (was.reply, None)
        said = turn.entry.text if turn.entry is not None else ""
        return Difference(
            turn.number, seq, "turn", said, LEFT_OUT, "", "answer", "nobody said it", replies
        )

    def _first(self, was: ReplayRun, run: ReplayRun) -> Difference | None:
        """The first step of a turn that is another one."""
        one, other = was.recorder.kept, run.recorder.kept
        replies = (was.reply, run.reply)
        for place in range(max(len(one), len(other))):
            left: Commit | None = one[place] if place < len(one) else None
            right: Commit | None = other[place] if place < len(other) else None
            if left is None or right is None:
                return self._causes.of_missing(was.turn, left, right, run.stopped, replies)
            found = self._comparison.first(left, right)
            if found is not None:
                return self._causes.of(left, right, found, replies)
        return None

    def _result(
        self, recorded: str | None, was: ReplayRun | None, run: ReplayRun | None
    ) -> Counterfactual:
        changed = self.changed
        # Turns before came to what is on record, so what they did with something masked is known.
        since = (gap for gap in self.begun.masked.gaps if gap.turn >= self.removal.first)
        gaps = [*self.gaps, *since, *self.lesser.masked.gaps]
        is_whole = was is not None and was.turn == self.removal.turn
        if was is not None and is_whole and not gaps and _reply(was) != recorded:
            gaps.append(Gap(self.removal.turn, was.seq, "the reply", "not as on record here"))
        return Counterfactual(
            self.begun.session.session_id,
            self.removal.turn,
            self.removal.ref,
            recorded,
            _reply(run),
            self.removal.applied,
            self.difference,
            tuple(dict.fromkeys(changed.assumed)),
            tuple(dict.fromkeys(changed.would_call)),
            changed.asked,
            ""
            if run is None or run.error is None
            else run.recorder.redactor.text(told_error(run.error, gaps)),
            tuple(dict.fromkeys(gaps)),
            hidden=_differs_hidden(was, run),
        )


def _differs_hidden(was: ReplayRun | None, run: ReplayRun | None) -> bool:
    """Whether two replies that look the same once they are masked are not."""
    if was is None or run is None or run.stopped is not None:
        return False
    return was.reply == run.reply and was.session.response != run.session.response


def told_error(error: Exception, gaps: Sequence[Gap]) -> str:
    """What a turn fails with; where a mask stood in for a value, the mask is to blame."""
    gap = next((one for one in gaps if one.why in ("masked", "cut")), None)
    if gap is None:
        return str(error)
    return f"{gap.what} is {gap.why} in the record, and a step cannot work with that"


def _reply(run: ReplayRun | None) -> str | None:
    """What a turn answers, as it may be shown."""
    return None if run is None or run.stopped is not None else run.reply


__all__ = ["WhatIf"]
