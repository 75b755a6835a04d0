"""A chart written in Python, ready to run: data, the functions beside it, and a way to run both.

`run` and `resume` are for a chart that stands alone. Where it is part of a conversation, its
`charts` and its `language()` join those of flows and agents on one `machine.advance`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, Unpack

from saywhy.cancel import Cancelled, CancelToken
from saywhy.chart.brought import Running, brought_answerer
from saywhy.chart.commit import Commit
from saywhy.chart.commits import CommitLog
from saywhy.chart.cursor import Cursor
from saywhy.chart.drive import (
    Answerer,
    Emit,
    Listener,
    Signal,
    Signals,
    Stopped,
    drive,
    stream,
    watched,
)
from saywhy.chart.failure import StepFailed
from saywhy.chart.language import Language
from saywhy.chart.machine import Limits, Record, advance, cancel
from saywhy.chart.model import Chart, Charts
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Need
from saywhy.chart.plan import Plans
from saywhy.chart.stack import open_frame
from saywhy.chart.stages import Stages
from saywhy.chart.task import run_task
from saywhy.clock import Clock, SystemClock
from saywhy.errors import ChartError, Problem, RunError
from saywhy.values import FrozenDict, freeze

STATE: Final = "state"
ARGS: Final = "args"
"""Scope ids of a chart that runs alone: its variables, and what it was given."""

LIMITS: Final = Limits(steps=100_000, depth=50, branches=1000)
"""Loops of such charts have bounds of their own, so this one is wide."""


class RunCancelled(Cancelled):
    """The run's signal was cancelled, and the run with it. `result` is what it had come to."""

    name = "RunCancelled"

    def __init__(self, reason: str, result: Result) -> None:
        self.result = result
        super().__init__(reason)


class RunTimedOut(RunError):
    """A run took longer than it may; it was cancelled. `result` is what it had come to."""

    name = "RunTimedOut"

    def __init__(self, seconds: float, result: Result) -> None:
        self.result = result
        super().__init__(f"the run took longer than {seconds:g} seconds and was cancelled")


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """What a run has come to: its end, or the need it rests at."""

    cursor: Cursor
    commits: Sequence[Commit]
    """All of its steps; a tuple, or for a long run `Commits`, which are packed."""
    need: Need | None = None
    """What is asked of somebody outside; None at the end."""

    def __repr__(self) -> str:
        # Without what it holds: `asyncio.run` asks for this text at its end, and throws it away.
        at = f"rests at a need for {self.need.kind}" if self.need else "over"
        return f"<Result: {at}, {len(self.commits)} commits>"

    @property
    def value(self) -> Any:
        """What the last stage returned."""
        return self.cursor.returned

    @property
    def state(self) -> FrozenDict:
        """The variables."""
        return FrozenDict(self.cursor.state.scopes.get(STATE, {}))

    @property
    def paused(self) -> bool:
        """Whether somebody has to answer `need` before it goes on."""
        return self.need is not None

    def checkpoint(self) -> bytes:
        """Where it rests, as JSON, for `Built.resume` in this or another process."""
        return self.cursor.to_json()


class RunOptions(TypedDict, total=False):
    """How a chart is run; all may be left out."""

    env: Mapping[str, Any]
    """Live objects that stages see as `s.env`."""
    timeout: float | None
    """Seconds until the run is cancelled; None: never."""
    signal: CancelToken | None
    """Cancels the run. Without it, `env["signal"]` does."""
    propagate_signal: bool
    """Whether the signal cancels what is being answered as well, a model call say, and is found in
    `env` by stages; it is unless told. False: what was asked is waited for, then the run ends; to
    cancel a model call all the same, put a signal into `env`."""
    answerers: Mapping[str, Answerer]
    """By kind of need: who answers it. `task` and `timer` are answered unless replaced here, and
    so is what a stage brings its own answerer for."""
    listener: Listener
    """Is sent the signals of stages and answerers."""
    record: Record
    """Is given each commit as it happens."""
    limits: Limits
    clock: Clock
    turn: int
    """Number of the turn that commits belong to, where the run is one of a conversation's."""
    beside: Iterable[Built]
    """Other charts written in Python that are mounted by id."""
    charts: Iterable[Chart]
    """Charts of other makes that are mounted by id, with their `language`."""
    language: Language


@dataclass(frozen=True, slots=True)
class Built:
    """A chart, the charts it leads to, and the functions of all of them."""

    chart: Chart
    charts: tuple[Chart, ...]
    functions: Mapping[str, Callable[..., Any]]
    """`chart/node` → a stage's function; `chart/node#purpose` → its others."""
    warnings: tuple[Problem, ...] = ()
    plans: Plans = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plans", Plans(self.functions))

    def language(self, env: Mapping[str, Any] | None = None, emit: Emit | None = None) -> Language:
        """The table that runs these charts on `machine.advance`."""
        return self.stages(env, emit).language()

    def stages(self, env: Mapping[str, Any] | None = None, emit: Emit | None = None) -> Stages:
        """What is behind `language()`; `task.run_task` needs it to answer async stages."""
        return Stages(self.plans, env, emit)

    def beside(self, others: Iterable[Built]) -> Built:
        """The same with other charts along, which its stages may `Invoke` by their digest.

        Raises `ChartError` when two of them bring different functions for one node.
        """
        listed = [self, *others]
        if len(listed) == 1:
            return self
        charts = {chart.digest: chart for one in listed for chart in one.charts}
        warnings = tuple(problem for one in listed for problem in one.warnings)
        return Built(self.chart, tuple(charts.values()), functions_of(listed), warnings)

    async def run(
        self,
        args: Mapping[str, Any] | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        **options: Unpack[RunOptions],
    ) -> Result:
        """Run from the start until the end, or until somebody outside is needed.

        `args` can be read as `s.args`; `state` are variables to begin with. Raises `StepFailed`
        when a stage raised (`__cause__` is what it raised, `result` what the run had come to),
        `RunTimedOut`, and `RunCancelled` when its signal was cancelled. Cancelling leaves nothing
        half written.
        """
        cursor = Cursor()
        cursor.state.turn = options.get("turn", 0)
        scopes = cursor.state.scopes
        scopes[ARGS] = {name: freeze(value, (ARGS, name)) for name, value in (args or {}).items()}
        open_frame(cursor, self.chart, Call(self.chart.digest, STATE))
        for name, value in (state or {}).items():
            scopes[STATE][name] = freeze(value, (STATE, name))
        return await _Execution(self, cursor, options).go(None)

    async def resume(
        self, checkpoint: bytes | Cursor, answer: Any, **options: Unpack[RunOptions]
    ) -> Result:
        """Go on from a checkpoint with what was asked for.

        `answer` is a value, an `Answer`, or for a fork a `BranchAnswer`. A cursor that is handed in
        stays as it is. Raises `DamagedSession` when it comes from another version of the chart.
        """
        stored = isinstance(checkpoint, bytes)
        cursor = Cursor.from_json(checkpoint) if stored else checkpoint.copy()
        if not isinstance(answer, Answer | BranchAnswer):
            answer = Answer(freeze(answer, ("answer",)))
        return await _Execution(self, cursor, options).go(answer)

    def stream(
        self,
        args: Mapping[str, Any] | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncIterator[Commit | Signal | Result]:
        """Like `run`, giving commits and signals as they come, and the `Result` in the end."""

        async def work(put: Callable[[Any], None]) -> Result:
            given: RunOptions = {"record": put, "listener": put, **options}
            return await self.run(args, state=state, **given)

        return stream(work)


def stages_of(
    built: Iterable[Built], env: Mapping[str, Any] | None = None, emit: Emit | None = None
) -> Stages:
    """What runs several built charts, for a host that has more than one.

    Raises `ChartError` when two of them bring different functions for one node.
    """
    return Stages(Plans(functions_of(built)), env, emit)


def functions_of(built: Iterable[Built]) -> dict[str, Callable[..., Any]]:
    """The functions of several built charts. Raises `ChartError` where two differ for one node."""
    functions: dict[str, Callable[..., Any]] = {}
    for one in built:
        for key, function in one.functions.items():
            if functions.setdefault(key, function) is not function:
                node = key.partition("#")[0]
                raise ChartError(
                    f"two charts bring different functions for {node}",
                    hint="build a chart once, or give one of them another id",
                )
    return functions


class _Execution:
    """One call of `run` or `resume`."""

    def __init__(self, built: Built, cursor: Cursor, options: RunOptions) -> None:
        self.cursor = cursor
        self.options = options
        self.commits = CommitLog()
        self.record = self._recorded()
        self.raised: Exception | None = None
        self.clock = options.get("clock") or SystemClock()
        self.signals = Signals(options.get("listener"))
        env = dict(options.get("env") or {})
        emit = self.signals.emitter() if self.signals.listener is not None else None
        self.signal = options.get("signal") or env.get("signal")
        self.propagate = self.signal is not None and options.get("propagate_signal", True)
        if self.propagate:
            env.setdefault("signal", self.signal)
        beside = list(options.get("beside", ()))
        others = [chart for one in beside for chart in one.charts]
        self.stages = stages_of([built, *beside], env, emit) if beside else built.stages(env, emit)
        self.language = _joined(self.stages.language(), options.get("language"))
        self.charts = Charts([*options.get("charts", ()), *others, *built.charts])
        self.running = Running(cursor, self.charts, env, self.clock, self.propagate)
        own: dict[str, Answerer] = {"task": self._task, "timer": self._timer}
        self.answerers = {**own, **options.get("answerers", {})}

    async def go(self, answer: Answer | BranchAnswer | None) -> Result:
        timeout = self.options.get("timeout")
        work = self._driven(answer)
        if self.signal is not None:
            work = self._watched(work, self.signal)
        if timeout is None:
            return self._result(await work)
        try:
            return self._result(await self.clock.wait_for(work, timeout))
        except TimeoutError as error:
            if error is self.raised:  # an answerer's own, no end of our patience
                raise
            self._cancel(f"longer than {timeout:g} seconds")
            raise RunTimedOut(timeout, self._result(None)) from error

    async def _watched(self, work: Awaitable[Need | None], signal: CancelToken) -> Need | None:
        """The run until its end, or until the signal is cancelled."""
        try:
            return await (watched(work, signal) if self.propagate else work)
        except Stopped:
            self._cancel(signal.reason)
            raise RunCancelled(signal.reason, self._result(None)) from None

    def _answerer(self, need: Need) -> Answerer | None:
        self.commits.pack_soon()  # in the time that the answer takes
        given = self.answerers.get(need.kind)
        return given or brought_answerer(self.running, self.stages, need)

    async def _driven(self, answer: Answer | BranchAnswer | None) -> Need | None:
        try:
            listener = self.signals.send if self.signals.listener is not None else None
            return await drive(self._step, answer, self._answerer, listener=listener)
        except StepFailed as error:
            error.result = self._result(None)
            raise
        except Exception as error:
            self.raised = error
            raise

    def _step(self, answer: Answer | BranchAnswer | None) -> Need | None:
        if self.signal is not None and self.signal.cancelled:
            raise Stopped
        return advance(
            self.charts,
            self.language,
            self.cursor,
            answer,
            record=self.record,
            limits=self.options.get("limits", LIMITS),
            now=self.clock.now(),
        )

    def _recorded(self) -> Record:
        """What each commit is given to."""
        keep, record = self.commits.append, self.options.get("record")
        if record is None:
            return keep

        def both(commit: Commit) -> None:
            keep(commit)
            record(commit)

        return both

    def _cancel(self, reason: str) -> None:
        cancel(
            self.charts,
            self.language,
            self.cursor,
            reason,
            record=self.record,
            now=self.clock.now(),
        )

    async def _task(self, need: Need, emit: Emit) -> Answer:
        now = self.clock.now()
        return await run_task(self.stages, self.charts, self.cursor, need, emit=emit, now=now)

    async def _timer(self, need: Need, emit: Emit) -> Answer:
        await self.clock.sleep(need.args["ms"] / 1000)
        return Answer()

    def _result(self, need: Need | None) -> Result:
        self.commits.pack_soon()
        return Result(self.cursor, self.commits.so_far(), need)


def _joined(own: Language, other: Language | None) -> Language:
    if other is None:
        return own
    return Language({**other.steps, **own.steps}, {**other.close, **own.close})
