"""Run the streams of Monte Carlo CFR on the workers of a cluster, with the same bits as on one machine.

Every step of a stream is a task that depends only on its arguments: the game, the algorithm, the stream so far and the
number of iterations. So it does not matter which worker runs it, nor how often. Streams stay in the object store. Ray
keeps and spills them there, and computes them again if a node is lost. They are fetched to be evaluated and saved.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Final, NamedTuple, cast

from treeplex.algorithms.mccfr import MonteCarlo, SamplingStream
from treeplex.algorithms.mccfr import SamplingState as Streams
from treeplex.algorithms.protocol import Algorithm, Array, Cost, Execution, Stop, StrategyReport, Work, never
from treeplex.algorithms.registry import build
from treeplex.cluster.connect import ClusterError, cause, nodes, ray, task
from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.runs.loop import CHUNK
from treeplex.runs.solution import Solution
from treeplex.tensors import Tensors, copied

ATTEMPTS: Final = 20  # retries of a step of a stream, if its workers are lost
SHARE: Final = 9.0  # a step computes for this multiple of the time of its messages
LONGEST: Final = 5.0  # seconds of a step, after which the loop checks the clock and Ctrl-C


class Fleet(NamedTuple):
    """State of a run on a cluster: references to the streams, wherever they were advanced."""

    streams: tuple[Any, ...]
    nodes: int
    iteration: int
    seconds: float = 0.0  # of computation on workers in the last step, added up
    wall: float = 0.0  # seconds of the last step


@dataclass(frozen=True)
class OnCluster(Algorithm[CompiledGame, Fleet]):
    """Monte Carlo CFR ``member`` with streams that workers advance; all else is as in ``member``."""

    member: MonteCarlo
    name: str  # with every parameter, so that workers can build the algorithm
    module: ModuleType = field(repr=False)  # ray
    game: Any = field(repr=False)  # reference to the game
    workers: int  # number that can advance streams at the same time

    random = True

    def open(self, game: CompiledGame, execution: Execution) -> OnCluster:
        """As ``Algorithm``."""
        return replace(self, member=self.member.open(game, execution))

    def start(self, game: CompiledGame, seed: int = 0) -> Fleet:
        """As ``Algorithm``."""
        return self._sent(game, self.member.start(game, seed))

    def advance(self, game: CompiledGame, state: Fleet, iterations: int, stop: Stop = never) -> Fleet:
        """As ``Algorithm``: all streams at once, if there are enough workers."""
        step = task(self.module, advanced, num_cpus=1, num_returns=2, max_retries=ATTEMPTS)
        key, began = game.fingerprint, time.perf_counter()
        results = [step(self.name, key, [self.game], stream, state.iteration, iterations) for stream in state.streams]
        counts = self._got([reference for _, reference in results])
        entered, seconds = sum(count for count, _ in counts), sum(spent for _, spent in counts)
        references = tuple(reference for reference, _ in results)
        return Fleet(references, entered, state.iteration + iterations, seconds, time.perf_counter() - began)

    def work(self, game: CompiledGame, state: Fleet) -> Work:
        """As ``Algorithm``; the overhead is such that messages take a tenth of the time, however long they are."""
        computed = max(state.seconds / min(len(state.streams), self.workers), 1e-6)
        chunk = min(max(CHUNK, SHARE * (state.wall - computed)), LONGEST)
        return Work(state.iteration, state.nodes, overhead=state.wall - computed * CHUNK / chunk)

    def report(self, game: CompiledGame, state: Fleet, iterate: str) -> StrategyReport:
        """As ``Algorithm``."""
        return self.member.report(game, self.fetched_state(state), iterate)

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``."""
        return self.member.cost(game)

    def save(self, state: Fleet) -> Tensors:
        """As ``Algorithm``: the checkpoint of the same run on one machine."""
        return self.member.save(self.fetched_state(state))

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> Fleet:
        """As ``Algorithm``."""
        return self._sent(game, self.member.restore(game, tensors, seed))

    def fetched_state(self, state: Fleet) -> Streams:
        """Copy the streams to read-only arrays of this machine."""
        return Streams(tuple(self._got(list(state.streams))), state.iteration)

    def detached(self, solution: Solution) -> Solution:
        """Return the same solution without a reference to the cluster."""
        state = copied(self.fetched_state(solution.state))
        point = solution.checkpoint
        checkpoint = None if point is None else point._replace(state=state)
        return replace(
            solution, solver=self.member, outcome=solution.outcome._replace(state=state), checkpoint=checkpoint
        )

    def _sent(self, game: CompiledGame, state: Streams) -> Fleet:
        """Put the streams into the object store; workers also load game and kernels, before time counts."""
        streams = tuple(self.module.put(stream) for stream in state.streams)
        return self.advance(game, Fleet(streams, 0, state.iteration), 0)

    def _got(self, references: list[Any]) -> list[Any]:
        try:
            return self.module.get(references)
        except self.module.exceptions.RayError as error:
            original = cause(error)
            if isinstance(original, TreeplexError):
                raise original from error
            words = " ".join(str(error).split())[:150]
            raise ClusterError(
                f"The cluster lost streams of the run and cannot compute them again ({words}). Resume the run"
                " from its last checkpoint."
            ) from error


def fleet(module: ModuleType, game: CompiledGame, algorithm: Algorithm[Any, Any], name: str) -> OnCluster:
    """Return an algorithm with streams that runs on a cluster; raise for any other."""
    if not isinstance(algorithm, MonteCarlo):
        raise ParameterError(
            "The 'cluster' parameter is for algorithms with streams, such as 'pure-mccfr(streams=8)', and for batch and"
            f" compare; got {quoted(name)}."
        )
    if algorithm.rule is not None:
        raise ParameterError(
            f"Streams with a rule of your own run on one machine; leave 'cluster' out, got {quoted(name)}."
        )
    workers = max(1, int(sum(node.cpus for node in nodes(module))))
    return OnCluster(algorithm, name, module, module.put(game), workers)


_GAMES: dict[str, CompiledGame] = {}


def advanced(
    name: str, key: str, game: list[Any], stream: SamplingStream, iteration: int, iterations: int
) -> tuple[SamplingStream, tuple[int, float]]:
    """Advance a stream on a worker; return it, the nodes it has entered, and the seconds that this took.

    ``game``: a list with a reference to the game, so that each worker fetches it only once.
    """
    if key not in _GAMES:
        _GAMES.clear()
        _GAMES[key] = cast(CompiledGame, ray().get(game[0]))
    one = replace(cast(MonteCarlo, build(name)), streams=1)
    began = time.perf_counter()
    state = one.advance(_GAMES[key], Streams((copied(stream),), iteration), iterations)
    return state.streams[0], (one.nodes_touched(_GAMES[key], state), time.perf_counter() - began)
