"""Where a run is carried out: in this process, or over the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.protocol import Algorithm
from treeplex.cluster.connect import attached
from treeplex.cluster.fleet import OnCluster, fleet
from treeplex.cluster.shards import sharding
from treeplex.errors import ParameterError
from treeplex.runs.asking import Asked
from treeplex.runs.solution import Solution
from treeplex.runs.solve import Options

Over = Callable[[Asked], Algorithm[Any, Any]]
"""What carries a run out in place of its algorithm."""


@contextmanager
def placed(
    cluster: str | None, workers: int | None, worker_memory: str | int | None, options: Options
) -> Generator[tuple[Options, Over]]:
    """How to run, over the workers of a cluster if one is named: they share streams, or a game is cut for them."""
    if cluster is None:
        for name, given in (("workers", workers), ("worker_memory", worker_memory)):
            if given is not None:
                raise ParameterError(f"The '{name}' parameter is for workers of a cluster; give 'cluster' too.")
        yield options, lambda asked: asked.algorithm
        return
    gpus, asked_for = options.backend == "cuda", (workers, options.threads, worker_memory)
    with attached(cluster) as ray, sharding(ray, *asked_for, gpus=gpus) as how:

        def over(asked: Asked) -> Algorithm[Any, Any]:
            streams = isinstance(asked.algorithm, MonteCarlo)
            return fleet(ray, asked.game, asked.algorithm, asked.request.algorithm) if streams else asked.algorithm

        backend = "cpu" if options.backend == "auto" else options.backend
        yield replace(options, sharding=how, backend=backend), over


def brought_home(solution: Solution) -> Solution:
    """The same answer without a cluster behind it."""
    solver: Any = solution.solver
    return solver.brought_home(solution) if isinstance(solver, OnCluster) else solution
