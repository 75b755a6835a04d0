"""One process for isolated expressions, as the program that started it sees it.

It is started by `exec`, not by a bare fork, in a process group of its own, with an empty
environment and no open files but two pipes; `serve` is what it runs. (A group keeps the signals of
a terminal away. A session would as well, but on Linux each has its share of the processor apart,
and messages of 200 kB were seen to take twice as long.) Nothing that comes from it is trusted: an
answer that is too long, too late or not well formed is the end of the process. What stands in an
answer is judged by `distant`.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import struct
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any, Final

from saywhy.expr import serve
from saywhy.expr.sandbox import Limits, engine_errors
from saywhy.expr.watch import Watch

START_SECONDS: Final = 30.0
MAX_EVALUATIONS: Final = 20_000
MAX_BUSY_SECONDS: Final = 60.0
MAX_GROWTH_BYTES: Final = 64 << 20
"""A process that has done so much, or grown so much since it started, is replaced."""
MAX_COMPILED: Final = 1_000_000
"""Characters of compiled text in a process, so that they leave room under its memory limit."""
LOOK_EVERY: Final = 256
"""Evaluations between two looks at how much memory a process has."""

PIPE_BYTES: Final = 1 << 20
"""Room in a pipe, on systems that let it be chosen: a large message passes in one go."""

ROOM_BYTES: Final = PIPE_BYTES
"""Kept for answers that come in pieces: room that is taken anew costs more than the answer."""

_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Where the system looks for Python's own libraries: all that a process learns of this one."""

_KEPT_MEMORY: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(8 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 20),
    "MALLOC_TOP_PAD_": str(1 << 20),
}
"""Tells the GNU library to keep some memory that was given back, in bytes. As it is set, a text of
200 kB is given new pages at every copy, which takes four times as long as the copy."""

UNREADABLE: Final = "the process for this expression gave an answer that cannot be read"
TOO_LONG: Final = "the process for this expression gave an answer that is too long"


class Late(Exception):
    """There was no answer when the deadline came."""


class Lost(Exception):
    """The process is of no use any more; the message says why."""


class Gone(Lost):
    """The process ended before it was sent anything: another one can do the same."""


class Process:
    """A running process. One thread at a time may use it."""

    __slots__ = (
        "_answers",
        "_compiled",
        "_errors",
        "_first_memory",
        "_is_late",
        "_known",
        "_limits",
        "_looks",
        "_owner",
        "_popen",
        "_requests",
        "_room",
        "_seconds",
        "_watch",
        "busy_seconds",
        "credit",
        "is_dismissed",
        "is_stale",
        "over",
        "until",
    )

    def __init__(self, limits: Limits, watch: Watch) -> None:
        """Start it. Raises `Lost` when that is not possible."""
        self._limits: Final = limits
        self._watch: Final = watch
        self._errors: Final = engine_errors()
        self._seconds: Final = limits.deadline_seconds
        self._owner: Final = os.getpid()
        self._known: set[int] = set()
        self._compiled = 0
        self._looks = MAX_EVALUATIONS // LOOK_EVERY
        self._is_late = False
        self._room = bytearray()
        self.busy_seconds = 0.0
        self.until = 0.0
        self.credit = LOOK_EVERY
        """How many evaluations it is good for before somebody has a look at it."""
        self.is_stale = False
        """The next evaluation needs a new context."""
        self.is_dismissed = False
        """It is to end when it has done what it is at."""
        self.over = False
        self._popen: Final = _started()
        assert self._popen.stdin and self._popen.stdout
        self._requests: Final = self._popen.stdin.fileno()
        self._answers: Final = self._popen.stdout.fileno()
        watch.watched.add(self)
        self._begin()
        self._first_memory = self._memory()

    def _begin(self) -> None:
        cpu_seconds = int(2 * MAX_BUSY_SECONDS + self._seconds + START_SECONDS)
        try:
            request = marshal.dumps((tuple(self._limits), cpu_seconds))
            self._exchange(request, START_SECONDS)
        except self._errors as error:
            self.end()
            raise Lost(f"a process for expressions cannot be started: {error}") from None
        except Late:
            raise Lost("a process for expressions takes too long to start") from None
        except Gone:
            raise Lost("a process for expressions ends before it has started") from None

    # ------------------------------------------------------------ evaluating

    @property
    def pid(self) -> int:
        """Its number."""
        return self._popen.pid

    def ask(self, number: int, text: str, arguments: tuple[Any, ...] | None) -> Any:
        """What program `number`, made from `text`, gives for the arguments.

        Without any it is only compiled. Raises what the engine raises in this process, `Late` and
        `Lost`; after these two the process has ended.
        """
        self.credit -= 1
        if self.is_stale or number not in self._known:
            return self._ask_anew(number, text, arguments)
        try:
            request = marshal.dumps((number, arguments))
        except ValueError:
            request = marshal.dumps((number, _plain(arguments)))
        return self._exchange(request, self._seconds)

    def _ask_anew(self, number: int, text: str, arguments: tuple[Any, ...] | None) -> Any:
        """Ask for a program that the process does not know yet, or in a new context."""
        renew = self.is_stale or self._compiled > MAX_COMPILED
        if renew:
            self._forget()
        request = marshal.dumps((number, _plain(arguments), text, renew))
        self.is_stale = False
        result = self._exchange(request, self._seconds)
        self._known.add(number)
        self._compiled += len(text)
        return result

    def _forget(self) -> None:
        self._known.clear()
        self._compiled = 0

    def _exchange(self, request: bytes, seconds: float) -> Any:
        """Send a request and wait for its answer: one write and one read as a rule."""
        self.until = time.monotonic() + seconds
        try:
            if not self._watch.is_on:
                self._watch.begin()
            length = len(request).to_bytes(4, "little")
            try:
                if len(request) < serve.CHUNK:
                    sent = os.write(self._requests, length + request)
                else:  # not copied for the sake of four bytes
                    sent = os.writev(self._requests, (length, request))
            except OSError:
                raise Gone("a process for expressions has ended") from None
            if sent != len(request) + 4:
                self._send_rest(memoryview(length + request)[sent:])
            answer = os.read(self._answers, serve.CHUNK)
            size = int.from_bytes(answer[:4], "little")
            if len(answer) == size + 4 and size:
                self.until = 0.0
                if answer[4] == serve.TEXT:
                    return answer[5:].decode("utf-8", "surrogatepass")
                return self._read(answer)
            answer = self._whole(answer, size)
            self.until = 0.0
            if answer[4] == serve.TEXT:
                return str(answer[5:], "utf-8", "surrogatepass")
            return self._read(bytes(answer))
        except UnicodeDecodeError:
            self.end()
            raise Lost(UNREADABLE) from None
        except self._errors:
            raise
        except BaseException:  # also when this thread is interrupted: an answer may be on its way
            self.end()
            raise

    def _send_rest(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[os.write(self._requests, rest) :]
            except OSError:
                raise self._lost() from None

    def _whole(self, answer: bytes, size: int) -> memoryview:
        """An answer that did not come in one go. It lasts until the next one."""
        if not answer:
            raise self._lost()
        if len(answer) < 4 or not size:
            raise Lost(UNREADABLE)
        # What JavaScript may hold, each of its characters at most three bytes long.
        if size > 3 * self._limits.memory_bytes:
            raise Lost(TOO_LONG)
        if len(answer) > size + 4:
            raise Lost(UNREADABLE)
        if not self._room:
            self._room = bytearray(ROOM_BYTES)
        room = self._room if size + 4 <= ROOM_BYTES else bytearray(size + 4)
        whole = memoryview(room)[: size + 4]
        whole[: len(answer)] = answer
        rest = whole[len(answer) :]
        while rest:
            count = os.readv(self._answers, (rest,))
            if not count:
                raise self._lost()
            rest = rest[count:]
        return whole

    def _read(self, answer: bytes) -> Any:
        letter, size = answer[4], len(answer) - 5
        if letter == serve.WHOLE and size == 8:
            return int.from_bytes(answer[5:], "little", signed=True)
        if letter == serve.FLOAT and size == 8:
            return struct.unpack("<d", answer[5:])[0]
        if letter in _CONSTANTS and not size:
            return _CONSTANTS[letter]
        if letter in (serve.REFUSED, serve.FAILED):
            if letter == serve.FAILED:
                self._forget()
            raise self._errors(answer[5 : 5 + serve.MAX_REASON].decode("utf-8", "replace"))
        raise Lost(UNREADABLE)

    def _lost(self) -> Late | Lost:
        """Why there is no answer. The process has closed its pipes, so it ends of itself."""
        if self._is_late:
            # Killed for the evaluation before this one, which was done in the last moment?
            is_old = time.monotonic() < self.until
            return Gone("a process for expressions has ended") if is_old else Late()
        try:
            code = self._popen.wait(1.0)
        except subprocess.TimeoutExpired:
            return Lost(UNREADABLE)
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return Lost(f"the process for this expression ended before it answered ({how})")

    def expire(self) -> None:
        """Kill it because there is no answer in time. Called by the watch, from its thread."""
        self._is_late = True
        self._popen.kill()

    # ------------------------------------------------------------ its end

    def is_worn(self) -> bool:
        """Whether it is time for another one; asked when there is no credit left."""
        if self.over or self.is_dismissed or self.busy_seconds > MAX_BUSY_SECONDS:
            return True
        if self.credit > 0:
            return False
        self.credit = LOOK_EVERY
        self._looks -= 1
        return self._looks <= 0 or self._memory() - self._first_memory > MAX_GROWTH_BYTES

    def _memory(self) -> int:
        """Bytes it has in memory now; 0 where the system does not tell."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        """Kill it and wait until it is gone."""
        if self.over:
            return
        self.over = True
        self.credit, self.until = 0, 0.0
        self._watch.watched.discard(self)
        assert self._popen.stdin and self._popen.stdout
        if self._owner == os.getpid():
            self._popen.kill()
            self._popen.wait()
        else:  # after a fork of this program it is the other one's
            self._popen.returncode = 0
        self._popen.stdin.close()
        self._popen.stdout.close()


_CONSTANTS: Final = {serve.NULL: None, serve.TRUE: True, serve.FALSE: False}


def _plain(arguments: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The arguments, NaN and the infinities of the usual type: `marshal` takes no other."""
    if arguments is None:
        return None
    return tuple(float(one) if isinstance(one, float) else one for one in arguments)


def _started() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            _command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            pipesize=PIPE_BYTES,
            close_fds=True,
            cwd="/",
            env=_KEPT_MEMORY
            | {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            process_group=0,
        )
    except OSError as error:
        raise Lost(f"a process for expressions cannot be started: {error}") from None


@cache
def _command() -> tuple[str, ...]:
    """The command line: Python without site packages, user folders or its environment variables."""
    engine = importlib.util.find_spec("_quickjs")
    assert engine is not None and engine.origin is not None, "it is installed with Saywhy"
    places = [str(Path(__file__).parents[2]), str(Path(engine.origin).parent)]
    start = f"import sys; sys.path += {places!r}; from saywhy.expr.serve import main; main()"
    return (sys.executable, "-I", "-S", "-c", start)
