"""What stops a run from inside: a step that raised, a fork one of whose branches failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saywhy.chart.cursor import Frame
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer
from saywhy.errors import RunError, SaywhyError


class StepFailed(RunError):
    """A step raised and nothing took care of it; its frame is closed, the others go on.

    `__cause__` is what was raised; `node`, `flow` and `place` say where; `commit` is its record.
    `path` is the node and, where the failure came up from an awaited chart or a branch, the nodes
    inside.
    """

    name = "StepFailed"

    def __init__(self, error: Exception, frame: Frame, node: Node, commit: int) -> None:
        self.error = error
        self.frame = frame.id
        self.flow = frame.name
        self.node = node.id
        self.commit = commit
        self.path: tuple[str, ...] = (node.id, *getattr(error, "path", ()))
        self.result: Any = None
        """What the run had come to; see `built.Result`."""
        super().__init__(failure_text(error), place=node.where)
        self.__cause__ = error


class ForkFailed(RunError):
    """A branch of a fork failed, so the fork did; the other branches were closed.

    `failures` has what stopped each failed branch, by its name.
    """

    name = "ForkFailed"

    def __init__(self, failures: Sequence[tuple[str, Exception]]) -> None:
        self.failures = dict(failures)
        self.path: tuple[str, ...] = getattr(failures[0][1], "path", ())
        texts = [f"branch {name} failed: {failure_text(error)}" for name, error in failures]
        super().__init__("; ".join(texts))
        self.__cause__ = failures[0][1]


class AwaitedFailed(RunError):
    """What a step waited for failed, and only the text of the failure is left."""

    name = "AwaitedFailed"


def cause_of(error: Exception) -> Exception:
    """What a stage raised, however deep in mounted charts it stood."""
    while isinstance(error, StepFailed):
        error = error.error
    return error


def failure_text(error: BaseException) -> str:
    """What an error says; its class name when it says nothing, or raises when it is asked."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # a class of somebody else's
        return type(error).__name__


def failure_name(error: BaseException) -> str:
    """The name hosts match on: ours, or the class of somebody else's error."""
    return error.name if isinstance(error, SaywhyError) else type(error).__name__


def failed_answer(error: Exception) -> Answer:
    """A failure as the answer that the waiting step's commit records."""
    return Answer(None, failure_text(error), failure_name(error))
