"""The proof that no message is lost and no act repeated, whenever a process is killed.

Conversations with every kind of step and every class of effect run in real processes over an SQLite
file, against a service that keeps a ledger of its own. The processes are killed (SIGKILL) on both
sides of every commit and act, at random points, and in a loop. Others go on with what is left, and
then ledger, store and an undisturbed conversation are compared.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path
from typing import Final

import msgspec

from saywhy.errors import CallerError, did_you_mean
from saywhy.testing.faults import Fault, Side
from saywhy.testing.prove.child import Ended, Job
from saywhy.testing.prove.place import Place, Processes, kept_at
from saywhy.testing.prove.record import Played
from saywhy.testing.prove.scenes import BY_NAME, SCENES, Scene, scene_of
from saywhy.testing.prove.seam import PLANTS, check_plant
from saywhy.testing.prove.service import PaymentService
from saywhy.testing.prove.verdict import Verdict, look, undisturbed

AT_ONCE: Final = 4
"""Conversations that one process runs at the same time."""
SIDES: Final[tuple[Side, Side]] = ("before", "after")
PATIENCE: Final = 20
"""How often what is left is taken up again before it is said that it does not end."""
LOOP_SECONDS: Final = (0.05, 0.3)
"""When the processes of the crash loop are killed, once they have begun."""
PARTS: Final = 6
"""The crash loop must make progress in each part of its time."""
PART_SECONDS: Final = 2.0
"""No part is shorter: a process and the late answers it asked for may take a second."""

Tell = Callable[[str], None]


@dataclass(slots=True)
class Proof:
    """What was done, and what came of it."""

    verdict: Verdict = field(default_factory=Verdict)
    kills: dict[str, int] = field(default_factory=dict[str, int])
    """How many processes were killed, by part of the proof."""
    progress: list[int] = field(default_factory=list[int])
    """Messages that came to their end in each part of the crash loop."""

    @property
    def holds(self) -> bool:
        """Whether no rule was broken."""
        return not self.verdict.wrong


def prove_effects(
    *,
    seeds: int = 3,
    kills: int = 200,
    loop_seconds: float = 60.0,
    boundaries: bool = True,
    scenes: Sequence[str] = (),
    store: Path | None = None,
    plant: str = "",
    first_seed: int = 1,
    tell: Tell = lambda text: None,
) -> Proof:
    """Kill processes in the midst of conversations and compare what is left with what should be.

    `kills` random ones for each of `seeds` seeds, one on each side of every commit and act with
    `boundaries`, and a crash loop of `loop_seconds`; `scenes` are those of `scenes.SCENES` by name,
    all if none is named. The files lie beside `store`, or in a folder
    that is removed. `plant` breaks a rule on purpose (see `seam.PLANTS`). Needs a system with
    `fork`. Raises `CallerError` for what makes no sense.
    """
    check_plant(plant, PLANTS)
    chosen = _chosen(scenes)
    proof = Proof()
    with kept_at(store) as base, Processes() as processes, PaymentService() as service:
        stage = _Stage(processes, service, base, chosen, plant, tell, proof)
        if boundaries:
            stage.kill_at_each_boundary()
        for seed in range(first_seed, first_seed + seeds):
            stage.kill_at_random(seed, kills)
        if loop_seconds:
            stage.crash_loop(first_seed, loop_seconds)
    return proof


def _chosen(names: Sequence[str]) -> list[Scene]:
    for name in names:
        if name not in BY_NAME:
            hint = did_you_mean(name, tuple(BY_NAME)) or f"known are {', '.join(BY_NAME)}"
            raise CallerError(f"no scene is called {name!r}", hint=hint)
    return [scene for scene in SCENES if not names or scene.name in names]


class _Stage:
    """The parts of the proof, on the same processes."""

    def __init__(
        self,
        processes: Processes,
        service: PaymentService,
        base: Path,
        scenes: Sequence[Scene],
        plant: str,
        tell: Tell,
        proof: Proof,
    ) -> None:
        self.scenes = scenes
        self.processes = processes
        self.service = service
        self.base = base
        self.plant = plant
        self.tell = tell
        self.proof = proof
        self.places: dict[str, list[str]] = {}
        """What is passed in an undisturbed conversation, by scene: where it can be killed."""
        self.seconds = 0.0
        """How long a process takes that nobody kills."""
        self.expected = self._undisturbed()

    def _place(self, name: str) -> Place:
        return Place(self.base.with_name(f"{self.base.stem}-{name}{self.base.suffix}")).clear()

    def _undisturbed(self) -> dict[str, Played]:
        place = self._place("undisturbed")
        sessions = [place.new(scene.name) for scene in self.scenes]
        for session in sessions:
            ended = self._run(place.job([session]))
            self.seconds = max(self.seconds, ended.seconds)
            self.places[scene_of(session).name] = [*self.service.passed]
        for entry in place.ledger.entries("over"):
            self.places[scene_of(str(entry.facts["session"])).name] += entry.facts["passed"]
        if len(place.over()) < len(self.scenes):
            raise AssertionError("not even an undisturbed conversation comes to its end")
        return undisturbed(place, sessions)

    # ------------------------------------------------------------ the parts

    def kill_at_each_boundary(self) -> None:
        """One kill on each side of each commit and each act, for each scene."""
        place = self._place("boundaries")
        killed = 0
        for scene in self.scenes:
            for fault in _kills(self.places[scene.name]):
                session = place.new(scene.name)
                job = self._job(place, [session], plan=[fault])
                killed += self._run(job).code != 0
                self._run(self._job(place, [session]))
        self._finish(place, "boundaries", killed)

    def kill_at_random(self, seed: int, kills: int) -> None:
        """Kills at points that only chance knows, in several conversations at once."""
        chance = random.Random(seed)
        place = self._place(f"seed-{seed}")
        killed = 0
        scenes = cycle(chance.sample(self.scenes, len(self.scenes)))
        open_sessions: list[str] = []
        while killed < kills:
            over = place.over()
            open_sessions = [one for one in open_sessions if one not in over]
            while len(open_sessions) < AT_ONCE:
                open_sessions.append(place.new(next(scenes).name))
            after = chance.uniform(0, self.seconds)
            job = self._job(
                place,
                open_sessions,
                kill_after_seconds=after,
                pause_seconds=chance.uniform(0, 0.004),
            )
            ended = self._run(job)
            killed += ended.code != 0
            if ended.code == 0:  # so that the next is killed in its midst, however busy the machine
                self.seconds = ended.seconds
        self._finish(place, f"seed {seed}", killed)

    def crash_loop(self, seed: int, seconds: float) -> None:
        """Killed again and again, hardly started: things must go on all the same."""
        chance = random.Random(seed)
        place = self._place("loop")
        scenes = cycle(self.scenes)
        sessions: list[str] = []
        killed, counts = 0, [0]
        part = max(seconds / PARTS, PART_SECONDS)
        started = time.monotonic()
        while (passed := time.monotonic() - started) < seconds:
            if passed >= len(counts) * part:
                counts.append(len(place.ledger.entries("said")))
            over = place.over()
            sessions = [one for one in sessions if one not in over]
            while len(sessions) < AT_ONCE:
                sessions.append(place.new(next(scenes).name))
            job = self._job(place, sessions, kill_after_seconds=chance.uniform(*LOOP_SECONDS))
            job = msgspec.structs.replace(job, kill_when_begun=True)
            killed += self._run(job).code != 0
        counts.append(len(place.ledger.entries("said")))
        progress = [after - before for before, after in pairwise(counts)]
        self.proof.progress = progress
        if not all(progress):
            self.proof.verdict.wrong.append(f"the crash loop stood still: {progress}")
        self._finish(place, "loop", killed)

    # ------------------------------------------------------------ pieces

    def _run(self, job: Job) -> Ended:
        """Do a job, and wait until what it asked for over HTTP has taken its course."""
        ended = self.processes.run(self.service.begin(job))
        self.service.wait_until_quiet()
        return ended

    def _job(
        self,
        place: Place,
        sessions: list[str],
        *,
        plan: list[Fault] | None = None,
        kill_after_seconds: float | None = None,
        pause_seconds: float = 0.0,
    ) -> Job:
        return msgspec.structs.replace(
            place.job(sessions),
            plan=plan or [],
            plant=self.plant,
            kill_after_seconds=kill_after_seconds,
            pause_seconds=pause_seconds,
        )

    def _finish(self, place: Place, name: str, killed: int) -> None:
        """Let everything come to its end, and judge."""
        for _ in range(PATIENCE):
            over = place.over()
            left = [session for session in place.sessions if session not in over]
            if not left:
                break
            for number in range(0, len(left), AT_ONCE):
                self._run(self._job(place, left[number : number + AT_ONCE]))
        verdict = look(place, self.expected)
        self.proof.verdict.add(verdict)
        self.proof.kills[name] = killed
        self.tell(f"{name}: {killed} kills, {len(verdict.wrong)} rules broken")


def _kills(places: list[str]) -> Iterator[Fault]:
    """A kill on each side of each place that a conversation passes."""
    counts: dict[str, int] = {}
    for at in places:
        counts[at] = counts.get(at, 0) + 1
        for side in SIDES:
            yield Fault(action="kill", at=at, side=side, number=counts[at])


__all__ = ["Proof", "prove_effects"]
