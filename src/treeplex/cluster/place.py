"""Execute a request in this process, or on the workers of a cluster."""

from __future__ import annotations

from dataclasses import replace

from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.cluster.connect import attached
from treeplex.cluster.fleet import OnCluster, fleet
from treeplex.cluster.shards import sharding
from treeplex.engines.open import AUTO, CPU, CUDA
from treeplex.runs.request import Request
from treeplex.runs.solution import Solution
from treeplex.runs.solve import execute


def carry_out(request: Request) -> Solution:
    """Execute a request here, or on a cluster if it names one: workers share streams, or parts of a cut game."""
    options, choice = request.options, request.choice
    if options.cluster is None:
        return execute(request)
    size = options.workers, options.threads, options.worker_memory
    with attached(options.cluster) as ray, sharding(ray, *size, gpus=options.backend == CUDA) as how:
        if isinstance(choice.algorithm, MonteCarlo):
            choice = choice._replace(algorithm=fleet(ray, request.problem.game, choice.algorithm, choice.name))
        options = replace(options, backend=CPU if options.backend == AUTO else options.backend)
        solution = execute(replace(request, choice=choice, options=options, cutting=how))
        solver = solution.solver
        return replace(solver.detached(solution), request=request) if isinstance(solver, OnCluster) else solution
