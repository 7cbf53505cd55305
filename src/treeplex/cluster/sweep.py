"""Many independent calls on the workers of a cluster; one whose worker is lost is made again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, Final

from treeplex.cluster.connect import cause, nodes, task
from treeplex.errors import TreeplexError
from treeplex.system import ctrl_c

WAIT: Final = 0.2  # seconds
ATTEMPTS: Final = 3


def swept(
    ray: ModuleType,
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    threads: int = 1,
    watch: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, Any]]:
    """The number of each call and its answer, as they come; a refusal of ours stands in the place of an answer.

    The first Ctrl-C interrupts those that run as one on their machines would, and begins no other. ``watch`` is called
    with the number of those that run.
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
    """What Ray says when a worker is gone."""
    known = ray.exceptions
    return known.WorkerCrashedError, known.NodeDiedError, known.OutOfMemoryError, known.LocalRayletDiedError
