"""Keeping what the machine reports: masked once, bounded, handed on to whoever listens.

A `Recorder` is the `record` callable of a run. What it keeps is what a store may write and what a
`Trace` may be made of; nothing else of a run is ever recorded. How a commit is masked and cut is
answered by `masking.redact`, how long texts are stored once by `shorten`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.commits import CommitLog
from saywhy.errors import CallerError
from saywhy.trace.masking.redact import USUAL, Policy, Redactor
from saywhy.values import dumps, loads_into

Listener = Callable[[Commit], object]

_DECODER: Final = msgspec.json.Decoder(Commit)

logger = logging.getLogger("saywhy.trace")


class Recorder:
    """Takes the commits of one conversation as they happen.

    `secrets` are texts known to be sensitive from earlier turns. A step that finds out that a text
    is sensitive says so in `commit.secrets`; commits kept by then and not yet taken are masked
    again, but what a listener has already heard cannot be called back. `sensitive` says where
    sensitive values stood when an earlier turn ended.
    """

    def __init__(
        self,
        policy: Policy = USUAL,
        *,
        secrets: Iterable[str] = (),
        sensitive: Mapping[str, Any] | None = None,
        listeners: Iterable[Listener] = (),
    ) -> None:
        self.redactor = redactor = Redactor(policy, secrets, sensitive)
        self.warn: Callable[[Commit], None] | None = None
        """Is given what came with a warning, after it was kept, as it was: not masked."""
        self.has_masked_again = False
        """Whether a commit was masked once more after it was kept."""
        self._generation = redactor.generation
        self._kept = CommitLog()
        self._listeners = list(listeners)
        if not policy.kept:
            self.keep = self._pass_by

    def keep(self, commit: Commit) -> None:
        """Keep one commit."""
        kept = self.redactor.commit(commit)
        if kept is not commit:  # else nothing was learnt from it
            self._mask_again()
        self._kept.append(kept)
        if self._listeners:
            self._tell(kept)
        if commit.warnings and self.warn is not None:
            self.warn(commit)

    def __call__(self, commit: Commit) -> None:
        self.keep(commit)

    def _pass_by(self, commit: Commit) -> None:
        """Keep nothing, but learn what is sensitive: messages and the log are still masked."""
        redactor = self.redactor
        if commit.secrets or redactor.generation or redactor.taint is not None:
            redactor.commit(commit)
        if commit.warnings and self.warn is not None:
            self.warn(commit)

    def listen(self, listener: Listener) -> None:
        """Hand every further commit to `listener` as well, masked, while the run goes on.

        A listener that raises is logged and dropped.
        """
        self._listeners.append(listener)

    def pack_soon(self) -> None:
        """Have the older commits of a long run kept packed, once the event loop has time for it."""
        self._kept.pack_soon()

    def take(self) -> list[Commit]:
        """The commits kept since the last `take`, for a store to write."""
        taken, self._kept = self._kept, CommitLog()
        return list(taken)

    @property
    def kept(self) -> tuple[Commit, ...]:
        """The commits that were not taken yet."""
        return tuple(self._kept.so_far())

    def _mask_again(self) -> None:
        """Mask what is kept already, where secrets have been learnt since."""
        redactor = self.redactor
        if redactor.generation != self._generation:
            self._generation = redactor.generation
            kept = list(self._kept)
            masked = [redactor.commit(earlier, again=True) for earlier in kept]
            self._kept = CommitLog(masked)
            same = all(one is other for one, other in zip(kept, masked, strict=True))
            self.has_masked_again = self.has_masked_again or not same

    def _tell(self, commit: Commit) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(commit)
            except Exception:
                self._listeners.remove(listener)
                logger.exception("a listener raised at commit %d and was dropped", commit.seq)


def encode(commit: Commit) -> bytes:
    """The commit as JSON text; `decode` gives an equal one back."""
    return dumps(commit)


def decode(data: bytes | str) -> Commit:
    """The commit written by `encode`. Raises `CallerError` for anything else."""
    try:
        return loads_into(data, _DECODER)
    except (ValueError, RecursionError) as error:
        raise CallerError(f"this is no commit: {error}") from error


def from_tree(tree: Any) -> Commit:
    """The commit in a parsed document. Raises `msgspec.ValidationError`, a `ValueError`."""
    return msgspec.convert(tree, Commit)
