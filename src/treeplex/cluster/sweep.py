"""Run many independent calls on the workers of a cluster; a call whose worker is lost is repeated."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, Final

from treeplex.cluster.connect import cause, nodes, task
from treeplex.errors import TreeplexError
from treeplex.system import ctrl_c

WAIT: Final = 0.2  # seconds to wait for the next result
ATTEMPTS: Final = 3


def swept(
    ray: ModuleType,
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    threads: int = 1,
    watch: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each call and its result, in the order of completion; our own errors are results.

    The first Ctrl-C interrupts running calls as it would on their machines, and starts no other. ``watch`` is called
    with the number of running calls.
    """
    start = task(ray, function, num_cpus=threads, max_retries=0)
    most = max(1, int(sum(node.cpus for node in nodes(ray)) // threads))
    waiting, lost, running = deque(range(len(calls))), Counter[int](), dict[Any, int]()
    with ctrl_c() as pressed:
        pressed.answerable = True
        stopped = False
        while running or (waiting and not pressed.is_set()):
            while waiting and not pressed.is_set() and len(running) < most:
                number = waiting.popleft()
                running[start(*calls[number])] = number
            if pressed.is_set() and not stopped:
                stopped = True
                for reference in running:
                    ray.cancel(reference, force=False)
            if watch is not None:
                watch(len(running))
            for reference in ray.wait(list(running), num_returns=1, timeout=WAIT)[0]:
                number = running.pop(reference)
                try:
                    yield number, ray.get(reference)
                except Exception as error:
                    original = cause(error)
                    if isinstance(original, TreeplexError):
                        yield number, original
                        continue
                    if stopped:
                        continue
                    lost[number] += 1
                    if lost[number] == ATTEMPTS or not isinstance(error, _lost(ray)):
                        raise
                    waiting.append(number)


def _lost(ray: ModuleType) -> tuple[type[Exception], ...]:
    """Return the exceptions that Ray raises if a worker is gone."""
    known = ray.exceptions
    return known.WorkerCrashedError, known.NodeDiedError, known.OutOfMemoryError, known.LocalRayletDiedError
