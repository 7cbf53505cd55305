"""One side in a process of its own: each line in is a request, each line out its answer, both JSON.

A request is ``{"do": METHOD, ...arguments}``; the methods are those of the ``Side`` in the module named on the
command line (``versions``, ``load``, ``start``, ``advance``, ``nash_conv``), and the two that take the time.

The clock is the processor time of this process: all sides run one thread, and the time that other work on the machine
holds the processor is nobody's fault. Caches are shared all the same, so the fastest stretch counts.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from typing import Any

STRETCH = 0.005  # seconds, up to twice that, of what is compared: short stretches are undisturbed more often


class Clock:
    """Runs iterations of a side and says how long they took."""

    def __init__(self, side: Any) -> None:
        self._side = side

    def timed(self, iterations: int) -> dict[str, float]:
        """Seconds of processor time and of wall clock."""
        wall, cpu = time.perf_counter(), time.process_time()
        self._side.advance(iterations=iterations)
        return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}

    def sprint(self, seconds: float) -> float:
        """Run that long; seconds per iteration in the fastest stretch."""
        until = time.perf_counter() + seconds
        count, best = 1, float("inf")
        while best == float("inf") or time.perf_counter() < until:
            spent = self.timed(count)["cpu"]
            if spent < STRETCH:
                count *= 2  # too short a stretch to count
            else:
                best = min(best, spent / count)
        return best


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries print banners
    side = import_module(sys.argv[1]).Side()
    clock = Clock(side)
    for line in sys.stdin:
        arguments = json.loads(line)
        method = arguments.pop("do")
        answer = getattr(clock if hasattr(clock, method) else side, method)(**arguments)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
