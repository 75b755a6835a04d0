"""What a process for isolated expressions does: evaluates what it is sent, and nothing else.

`process` starts it and holds the other ends of its pipes. It is sent a compiled program and its
arguments and answers with what the program gave, as `worker` gets it from the engine in its own
process; reading expressions and values is left to those who asked. Once it has started it cannot
open files, start programs or take more memory than it was allowed, on systems with such limits.

A message is its length in four bytes and the message. Requests are `marshal` data, since whoever
asks is trusted. Answers are one letter and plain bytes, which no reader can be fooled by.
"""

from __future__ import annotations

import _thread
import marshal
import os
import resource
import select
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from saywhy.expr.sandbox import Limits, Sandbox, engine_errors

TEXT: Final = ord("s")
WHOLE: Final = ord("i")
FLOAT: Final = ord("f")
NULL: Final = ord("n")
TRUE: Final = ord("t")
FALSE: Final = ord("z")
REFUSED: Final = ord("c")
"""The program cannot be compiled; the reason follows."""
FAILED: Final = ord("e")
"""A limit was hit; the reason follows. All programs are forgotten."""

REQUESTS: Final = 0
ANSWERS: Final = 1
"""The pipes, as numbers of open files."""

CHUNK: Final = 1 << 16
MAX_REASON: Final = 2_000
SPARE_MEMORY: Final = 64 << 20
"""Address space beside that of JavaScript, for messages on their way."""
WATCH_STACK: Final = 256 << 10


def main() -> None:
    """Start, say so, and answer until the pipe is closed. Whoever closes it ends this process."""
    limits, cpu_seconds = marshal.loads(_rest_of(os.read(REQUESTS, CHUNK))[4:])
    try:
        engine = Engine(Limits(*limits))
        _watch_for_the_end()
        _close_up(engine.limits, cpu_seconds)
    except Exception as error:
        _send(_reason(FAILED, f"{type(error).__name__}: {error}"))
        return
    _send(b"n")
    engine.serve()
    # The watching thread wakes up in the same moment; the end of the interpreter, met by a thread
    # that wants to go on, was seen to abort. There is nothing to tidy up.
    os._exit(0)


class Engine:
    """The sandbox with the programs compiled in it, by their numbers."""

    def __init__(self, limits: Limits) -> None:
        self.limits: Final = limits
        self.is_stale = False
        self._errors: Final = (engine_errors(), MemoryError)
        self._sandbox = Sandbox(limits)
        self._programs: dict[int, Any] = {}

    def renew(self) -> None:
        """A new context, without any program."""
        self._programs = {}
        del self._sandbox
        self._sandbox = Sandbox(self.limits)
        self.is_stale = False

    def serve(self) -> None:
        """Answer until there are no more requests.

        Written flat: after each change of processes the caches are cold, and a call that is saved
        here is worth several elsewhere. Long texts of ASCII alone, as most are, take a twentieth of
        the time when it is said.
        """
        read, write, loads, number_from = os.read, os.write, marshal.loads, int.from_bytes
        while True:
            data = read(REQUESTS, CHUNK)
            if number_from(data[:4], "little") == len(data) - 4:
                request = loads(data[4:])
            else:
                data = _rest_of(data)
                if not data:
                    return
                request = loads(memoryview(data)[4:])
            try:
                if len(request) > 2:
                    self._learn(*request)
                number, arguments = request[:2]
                result = None if arguments is None else self._programs[number](*arguments)
                if type(result) is str and result.isascii():
                    answer = b"s" + result.encode("ascii")
                else:
                    answer = _WRITERS[type(result)](result)
            except self._errors as error:
                answer = self._failed(request[0], str(error) or "out of memory")
            length = len(answer)
            if length < CHUNK:
                sent = write(ANSWERS, length.to_bytes(4, "little") + answer)
            else:
                sent = os.writev(ANSWERS, (length.to_bytes(4, "little"), answer))
            if sent != length + 4:
                return  # a pipe that waits takes all, unless its other end has gone
            if self.is_stale:
                self.renew()

    def _failed(self, number: int, reason: str) -> bytes:
        self.is_stale = number in self._programs
        return _reason(FAILED if self.is_stale else REFUSED, reason)

    def _learn(self, number: int, arguments: object, text: str, renew: bool) -> None:
        if renew:
            self.renew()
        self._programs.pop(number, None)
        self._programs[number] = self._sandbox.compile(text)


def _text(result: str) -> bytes:
    return b"s" + result.encode("utf-8", "surrogatepass")


def _whole(result: int) -> bytes:
    return b"i" + result.to_bytes(8, "little", signed=True)


def _float(result: float) -> bytes:
    return b"f" + struct.pack("<d", result)


def _null(result: None) -> bytes:
    return b"n"


def _truth(result: bool) -> bytes:
    return b"t" if result else b"z"


_WRITERS: Final[dict[type, Callable[[Any], bytes]]] = {
    str: _text,
    int: _whole,
    float: _float,
    bool: _truth,
    type(None): _null,
}


def _reason(letter: int, reason: str) -> bytes:
    return bytes([letter]) + reason[:MAX_REASON].encode("utf-8", "replace")


# ------------------------------------------------------------------- pipes


def _rest_of(data: bytes) -> bytes:
    """A whole message that begins with `data`; empty when there will be none."""
    parts, missing = [data], int.from_bytes(data[:4], "little") + 4 - len(data)
    while missing and data:
        data = os.read(REQUESTS, min(missing, CHUNK * 16))
        parts.append(data)
        missing -= len(data)
    return b"" if missing else b"".join(parts)


def _send(answer: bytes) -> None:
    os.write(ANSWERS, len(answer).to_bytes(4, "little") + answer)


# ------------------------------------------------------------------- limits


def _watch_for_the_end() -> None:
    """End this process as soon as nobody can send requests any more, also in mid-evaluation.

    The engine gives up Python's lock while it evaluates, so a thread that waits for the pipe to be
    closed wakes up even when the evaluation never ends. (Linux can send a signal when a parent
    dies, but it means the parent's thread, and threads of a host come and go.)
    """
    usual = _thread.stack_size(WATCH_STACK)
    _thread.start_new_thread(_end_with_the_pipe, ())
    _thread.stack_size(usual)


def _end_with_the_pipe() -> None:
    watch = select.poll()
    watch.register(REQUESTS, 0)  # the end of the pipe is told without being asked for
    watch.poll()
    os._exit(0)


def _close_up(limits: Limits, cpu_seconds: int) -> None:
    """Give up what no evaluation needs: files, other processes, memory and time without end."""
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_NPROC", 0)
    _limit("RLIMIT_CPU", cpu_seconds)
    taken = _address_space()
    if taken:
        _limit("RLIMIT_AS", taken + 2 * limits.memory_bytes + SPARE_MEMORY)
    _limit("RLIMIT_NOFILE", 3)  # last: from here on nothing can be opened


def _address_space() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - pathlib is not loaded
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _limit(name: str, amount: int) -> None:
    """Set a limit for good, where the system has it and allows it."""
    kind = getattr(resource, name, None)
    if kind is None:
        return
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (amount, amount))
