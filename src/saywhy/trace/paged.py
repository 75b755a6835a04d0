"""A long conversation in a store as a trace: read from its end, and only where it is needed.

Each lookup gives what that of a `Trace` gives. The way from a step back to who wrote what it read
goes over the links of turns (see `writers`), a turn at a time, however far apart they are. Where no
link leads on, as for a flow that ended long ago or what an earlier version recorded, turns are gone
through one by one, looking at their bytes first. A few questions are about all of a conversation,
such as which flows there were: they read all of it, once.

Reading blocks for as long as a few rows take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NoReturn

from saywhy.chart.commit import Commit
from saywhy.chart.model import Charts
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.pages import Numbers, Page, Pages
from saywhy.trace.pages_written import PagedWrites
from saywhy.trace.shown import shown
from saywhy.trace.trace import Trace, Turn
from saywhy.trace.words import ROUTING
from saywhy.trace.writers import Writers
from saywhy.values import Key, dumps

MAX_LOOKED: Final = 64
"""Turns in which a variable is looked for by its name before those that still live are asked."""


class PagedTrace(Trace):
    """The trace of a stored conversation, as it stood when this was made; nothing is added to it.

    For a name that several flows gave to a variable, `key` takes the one that was used last.
    """

    def __init__(self, pages: Pages, charts: Charts, writers: Writers) -> None:
        super().__init__((), charts)
        self._pages = pages
        self._writers = writers
        self._writes = PagedWrites(pages, writers)
        self._all: Trace | None = None

    def for_a_story(self) -> Trace:
        return PagedTrace(self._pages.for_a_story(), self.charts, self._writers)

    @property
    def whole(self) -> Trace:
        """All of it at once, read when it is asked for first."""
        if self._all is None:
            self._all = Trace(self, self.charts, self._every_message())
        return self._all

    def append(self, *commits: Commit) -> None:
        if commits:
            _refuse()

    def say(self, *messages: Message) -> None:
        if messages:
            _refuse()

    # ------------------------------------------------------------ commits

    def __len__(self) -> int:
        return sum(len(page.commits) for page in self._pages.onward(self._pages.first))

    def __iter__(self) -> Iterator[Commit]:
        for page in self._pages.onward(self._pages.first):
            yield from page.commits

    def __contains__(self, seq: object) -> bool:
        return isinstance(seq, int) and self._get(seq) is not None

    def _get(self, seq: int) -> Commit | None:
        page = self._pages.of_commit(seq)
        return None if page is None else page.by_seq[seq]

    def commit(self, seq: int) -> Commit:
        found = self._get(seq)
        if found is None:
            have = f"{self.first} to {self.last}"
            raise CallerError(f"commit {seq} is not in this trace", hint=f"it holds {have}")
        return found

    @property
    def first(self) -> int:
        page = next(self._pages.onward(self._pages.first), None)
        return page.commits[0].seq if page is not None else 0

    @property
    def last(self) -> int:
        page = self._pages.newest()
        return page.commits[-1].seq if page is not None else 0

    @property
    def frames(self) -> list[int]:
        return self.whole.frames

    @property
    def decisions(self) -> list[Commit]:
        return [commit for commit in self if commit.decision is not None]

    # ------------------------------------------------------------ turns and messages

    @property
    def turns(self) -> Sequence[int]:
        return Numbers(self._pages)

    def turns_until(self, turn: int | None, most: int) -> list[int]:
        return list(islice(self._pages.newest_first(turn), most))[::-1]

    @property
    def newest_turn(self) -> int:
        return next(self._pages.newest_first(), 0)

    def end_of(self, turn: int) -> int:
        page = self._pages.page(turn)
        if page is None or not page.commits:
            hint = f"turns {self._pages.first} to {self._pages.last} are recorded"
            raise CallerError(f"no step of turn {turn} is in this trace", hint=hint)
        return page.commits[-1].seq

    def turn(self, number: int) -> Turn:
        page = self._pages.page(number)
        if page is None:
            return Turn(number, (), ())
        return Turn(number, tuple(page.commits), tuple(self._told(page)))

    def messages(self, turn: int | None = None) -> list[Message]:
        if turn is not None:
            page = self._pages.page(turn)
            return [] if page is None else self._told(page)
        pages = (self._pages.page(number) for number in self.turns)
        return [message for page in pages if page is not None for message in self._told(page)]

    def message(self, seq: int) -> Message | None:
        page = self._pages.of_message(seq)
        return None if page is None else self._shown_in(page, page.messages[seq])

    def _every_message(self) -> Iterator[Message]:
        for number in self.turns:
            page = self._pages.page(number)
            if page is not None:
                yield from page.messages.values()

    def _told(self, page: Page) -> list[Message]:
        return [self._shown_in(page, page.messages[seq]) for seq in sorted(page.messages)]

    def _shown_in(self, page: Page, message: Message) -> Message:
        is_plain = page.is_plain and not message.pii
        if is_plain and (not message.spans or _said_in(page, message)):
            return message
        received = None
        if message.role == "user":
            key: Key = ("input", str(message.seq))
            received = page.by_seq.get(page.last_write(key, self.last + 1))
        return shown(message, received, self._get)

    # ------------------------------------------------------------ steps

    def steps_of(
        self, *, frame: int | None = None, node: str | None = None, flow: str | None = None
    ) -> list[Commit]:
        commits = iter(self) if frame is None else self._of_frame(frame)
        return [
            commit
            for commit in commits
            if (node is None or commit.node == node) and (flow is None or commit.flow == flow)
        ]

    def _of_frame(self, frame: int) -> Iterator[Commit]:
        """A frame's commits: they begin behind the step that opened it and end with its closing."""
        known = self._pages.known(frame)
        if known is None:
            yield from self.whole.steps_of(frame=frame)
            return
        opened = self._pages.at(known.caller) if known.caller else None
        for page in self._pages.onward(opened.turn if opened else self._pages.first):
            for commit in page.commits:
                if commit.frame == frame:
                    yield commit
                    if commit.phase == "closed":
                        return

    def newest(self, frame: int, node: str, before: int) -> Commit | None:
        start = self._pages.at(before - 1)
        known = self._pages.known(frame)
        for page in _with(start, self._pages.back, -1, node):
            for commit in reversed(page.commits):
                if commit.seq < before and commit.node == node and commit.frame == frame:
                    return commit
            if known is not None and page.commits[0].seq <= known.caller:
                return None
        return None

    def next_of(self, commit: Commit) -> Commit | None:
        for page in _with(self._pages.at(commit.seq), self._pages.onward, 1):
            for later in page.commits:
                if later.seq > commit.seq and later.frame == commit.frame:
                    if later.node == commit.node:
                        return later
                    if later.phase == "closed":
                        return None
        return None

    def opener(self, commit: Commit) -> Commit | None:
        seq = 0 if commit.flow == ROUTING else commit.caller
        while (found := self._get(seq)) is not None:
            if found.phase != "closed":
                return found
            seq -= 1
        return None

    # ------------------------------------------------------------ keys

    def _newest_root(self, name: str, before: int) -> Key | None:
        start = self._pages.at(before - 1)
        if start is None:
            return None
        word = dumps(name).decode()
        near = self._pages.back(start.turn, word, least=start.turn - MAX_LOOKED)
        roots = _named(near, name) or self._writes.living(name, before)
        if not roots:
            roots = _named(self._pages.back(start.turn - MAX_LOOKED - 1, word), name)
        return max(roots, key=lambda root: self._writes.last(root, before), default=None)

    @property
    def names(self) -> list[str]:
        return self.whole.names

    def readers(self, key: Key) -> list[Commit]:
        return self.whole.readers(key)

    def timeline(self, of: Key | str) -> Any:
        return self.whole.timeline(of)


def _said_in(page: Page, message: Message) -> bool:
    """Whether nothing that a message says was said by steps of other turns."""
    commits = page.commits
    if not commits:
        return False
    said = [span.commit for span in message.spans]
    return commits[0].seq <= min(said) and max(said) <= commits[-1].seq


def _named(pages: Iterator[Page], name: str) -> list[Key]:
    """The variables with a name in the first page that touches one."""
    for page in pages:
        found = sorted(key for key in page.touched if len(key) > 1 and key[1] == name)
        if found:
            return found
    return []


def _with(start: Page | None, others: Any, step: int, *names: str) -> Iterator[Page]:
    """A page, and the others on from there; those that hold these names."""
    if start is not None:
        yield start
        yield from others(start.turn + step, *(dumps(name).decode() for name in names))


def _refuse() -> NoReturn:
    raise CallerError(
        "the trace of a stored conversation shows what was stored, and nothing is added to it",
        hint="Trace(commits, charts, messages)",
    )
