"""One QuickJS context: limits on, fence laid, owned by the thread that made it.

Here are the traps of the binding that concern a context as a whole; those that concern values are
in `transfer`. The binding gives up Python's lock while JavaScript runs, so a context and everything
made in it is touched by its own thread only.

The processes of `isolated` begin with this module, so it imports little: dataclasses or resources
would double the time they take to start.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from functools import cache
from typing import Any, Final, NamedTuple

from saywhy.expr.words import JAVASCRIPT_GLOBALS

_UNSAFE: Final = re.compile("[\ud800-\udfff\0]")
_UNLIMITED: Final = -1.0


class Limits(NamedTuple):
    """What one evaluation may use."""

    seconds: float = 0.1
    """Processor time. The binding counts the whole process; `javascript` allows for that."""
    memory_bytes: int = 32 << 20
    stack_bytes: int = 2 << 20
    """About 1,200 calls deep. A thread with a small stack gets less, see `stack_share`."""
    list_items: int = 1_000_000
    result_parts: int = 200_000
    search_product: int = 1 << 28
    """Length of a text times length of what is searched in it."""
    deadline_seconds: float = 2.0
    """Time by the clock on the wall, after which the process of an isolated evaluation is killed.
    In this process nothing can hold to it."""


class Sandbox:
    """A context and the kit inside it."""

    __slots__ = ("bounds", "context", "is_timed", "kit", "limits")

    def __init__(self, limits: Limits) -> None:
        # `quickjs` itself starts a thread when it is imported; the extension module does not.
        import _quickjs

        self.limits: Final = limits
        self.context: Final[Any] = _quickjs.Context()
        self.context.set_memory_limit(limits.memory_bytes)
        self.context.set_max_stack_size(min(limits.stack_bytes, stack_share()))
        evaluate = self.context.eval
        member = evaluate("(o, name) => o[name]")
        clock = evaluate(_script("clock.js"))()
        asking = evaluate(_script("asking.js"))()
        self.kit: Final[Any] = evaluate(_script("kit.js"))(
            limits.list_items, limits.result_parts, clock, asking
        )
        evaluate(_script("maths.js"))()
        evaluate(_script("intl.js"))(
            evaluate(_script("collation.js"))(),
            evaluate(_script("languages.js"))(member(asking, "ask")),
        )
        search = evaluate(_script("natives.js"))()  # while the clock is that on the wall
        evaluate(_script("dates.js"))(member(clock, "moment"), member(clock, "random"))
        self.bounds: Final[Any] = evaluate(_script("bounds.js"))(
            limits.list_items, limits.search_product
        )
        evaluate(_script("repeats.js"))(limits.list_items, search)
        evaluate(_script("guard.js"))(" ".join(sorted(JAVASCRIPT_GLOBALS)))
        self.watch_time(True)

    def watch_time(self, wanted: bool) -> None:
        """Have the time limit for what comes, or leave it out: reading the clock for it takes
        longer than the call of a small function."""
        self.context.set_time_limit(self.limits.seconds if wanted else _UNLIMITED)
        self.is_timed = wanted

    def compile(self, program: str) -> Any:
        """The function made by `program`, a function expression that takes kit and bounds."""
        if not self.is_timed:
            self.watch_time(True)
        # The binding takes neither half a surrogate pair nor a NUL, which texts in it may have.
        plain = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", program)
        return self.context.eval(plain)(self.kit, self.bounds)


def stack_share() -> int:
    """Bytes of this thread's stack that JavaScript may use: a quarter.

    The engine counts from where it is called, and Python may stand deep in the stack by then. More
    than there is would not be an error but the end of the process.
    """
    size = threading.stack_size() or _usual_stack()
    return size // 4


@cache
def _usual_stack() -> int:
    if sys.platform == "win32":
        return 1 << 20
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if sys.platform == "linux" and not _is_glibc():
        return 128 << 10  # musl gives threads this much, whatever the limit says
    return 2 << 20 if soft == resource.RLIM_INFINITY else soft


def _is_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):
        return False


@cache
def _script(name: str) -> str:
    # The loader reads what lies beside this file also where the package is an archive.
    folder = __file__.removesuffix("sandbox.py")
    return __loader__.get_data(folder + name).decode()


def engine_errors() -> type[Exception]:
    """What the binding raises when JavaScript does."""
    import _quickjs

    return _quickjs.JSException
