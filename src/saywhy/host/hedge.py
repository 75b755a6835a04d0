"""Two executors for one question: whoever first has a good answer is heard.

A classifier is fast and a text model knows more; running both costs the slower one's price and the
faster one's time. No I/O here: what the executors do is the host's affair.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from saywhy.errors import ModelError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
Executor: TypeAlias = Callable[[], Awaitable[T]]


def _is_any(_: Any) -> bool:
    return True


async def hedge(
    first: Executor[T], second: Executor[T], *, is_good: Callable[[T], bool] = _is_any
) -> T:
    """The first good answer of two executors that run side by side; the other one is cancelled.

    If neither is good, the answer of `first`, else that of `second`. If both raise, the error of
    `first`, with the other one noted on it. Both have ended when this returns or raises.
    """
    import asyncio

    tasks = [asyncio.ensure_future(_run(executor)) for executor in (first, second)]
    try:
        waiting = set(tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:  # in their order, where both have ended at once
                if task in done and _error(task) is None and is_good(task.result()):
                    return task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return _second_best(tasks)


async def _run(executor: Executor[T]) -> T:
    return await executor()


def _second_best(tasks: list[asyncio.Task[T]]) -> T:
    errors: list[BaseException] = []
    for task in tasks:
        error = _error(task)
        if error is None:
            return task.result()
        errors.append(error)
    errors[0].add_note(f"the second executor failed as well: {errors[1]!r}")
    raise errors[0]


def _error(task: asyncio.Task[Any]) -> BaseException | None:
    # Not the cancellation itself: raised here, it would look as if the caller had been cancelled.
    return ModelError("the executor was cancelled") if task.cancelled() else task.exception()
