"""The public functions: load, solve, compare, batch, resume, evaluate, best_response, grow, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from treeplex.algorithms.protocol import Algorithm, Execution
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.cluster.batch import carry_out_batch, forecast_batch
from treeplex.cluster.comparing import planned_runs, run_here, run_on_workers, uniform_nash_conv
from treeplex.cluster.place import carry_out
from treeplex.compile.game import CompiledGame
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.open import AUTO
from treeplex.errors import ParameterError, quoted
from treeplex.evaluation import Evaluation, Policy, evaluate_policy
from treeplex.evaluation import best_response as respond
from treeplex.games.dealt import DealtGame
from treeplex.games.holdem.locks import Lock
from treeplex.games.protocol import Game
from treeplex.games.sized import Abstraction
from treeplex.growth.options import Growth
from treeplex.limits import Limits
from treeplex.plots.draw import draw_tree
from treeplex.policies.merge import merge as merge_policies
from treeplex.policies.policy import PolicySource
from treeplex.problems.growing import DEFAULT_GROWTH_SECONDS, DEFAULT_SPOT_ALGORITHM
from treeplex.problems.loading import Source, load, load_game
from treeplex.runs.batch.jobs import jobs_of
from treeplex.runs.batch.results import ResultRow
from treeplex.runs.batch.run import Batch, BatchProgress, Forecast, is_batch, recorded
from treeplex.runs.comparison import ACCURACIES, Comparison, accuracies_of, seeds_of
from treeplex.runs.folder_lock import claimed_for
from treeplex.runs.folder_lock import folder_of as path_of_folder
from treeplex.runs.loop import Progress
from treeplex.runs.requests import DEFAULT_ALGORITHM, exploring, growing, resuming, solving
from treeplex.runs.schema import Options
from treeplex.runs.solution import Solution

__all__ = [
    "DEFAULT_COMPARE_SECONDS",
    "DEFAULT_GROWTH_SECONDS",
    "DEFAULT_RETRIES",
    "DEFAULT_SPOT_ALGORITHM",
    "batch",
    "best_response",
    "compare",
    "draw",
    "evaluate",
    "explore",
    "forecast",
    "grow",
    "is_batch",
    "load",
    "merge",
    "recommended",
    "resume",
    "resume_batch",
    "solve",
]

DEFAULT_COMPARE_SECONDS = 10.0
"""Default time limit of each run of ``compare``, in seconds."""

DEFAULT_RETRIES = 2
"""Default number of times that ``batch`` retries a job whose worker was lost."""

Watch = Callable[[Progress], None]
Answer = Callable[[Solution], None]


def solve(
    game: Source | Any,
    algorithm: str | Algorithm[Any, Any] | None = None,
    *,
    nash_conv: float | None = None,
    exploitability: float | str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    seed: int = 0,
    start: str = "uniform",
    iterate: str = "average",
    storage: str | None = None,
    threads: int = 0,
    backend: str = "auto",
    device: int = 0,
    cluster: str | None = None,
    workers: int | None = None,
    worker_memory: str | int | None = None,
    locks: Sequence[Lock] = (),
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Watch | None = None,
    answer: Answer | None = None,
    **parameters: Any,
) -> Solution:
    """Find an equilibrium; stop at the first limit reached, by default NashConv 1e-3, or 0.5 % of a spot's pot.

    Args:
        game: Anything that ``load`` accepts.
        algorithm: A name such as ``"cfr+"``, ``"name(parameter=value,...)"``, or your own (see ``minimizer``). Default:
            ``auto``, a race of several algorithms that returns the result of the fastest one.
        nash_conv: Target in units of payoffs: stop when the sum of both players' best-response gains is at most this.
        exploitability: Half of the same target; hold'em spots also accept text such as ``"0.3%pot"``.
        seconds: Stop after this many seconds, not counting compilation.
        iterations: Stop after this many iterations, each of which updates every player once.
        nodes: Stop after this many nodes touched, which are histories entered by traversals.
        seed: Seed of algorithms that draw random numbers. Equal seeds give equal bits.
        start: Strategies of the first iteration in the CFR family: ``"uniform"``, or ``"random"`` by the seed.
        iterate: Report the ``"average"`` strategies, the ``"current"`` ones, or the ``"best"`` of both so far.
        storage: Number format of regrets and averages: ``"float64"``, ``"float32"``, ``"int16"``, and for flops and
            turns ``"compressed"``. Default: float64, for a hold'em spot float32.
        threads: Number of threads (0 = automatic). The result does not depend on it, to the bit.
        backend: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"``: a GPU if there is one and the game is large enough.
        device: Index of the GPU, counted from 0.
        cluster: ``"auto"`` or the address of a Ray cluster. Its workers share the streams of an algorithm such as
            ``"pure-mccfr(streams=8)"``. For the CFR family, the game is cut and each worker has one part. The result
            does not depend on it, to the bit.
        workers: Number of cluster workers; ``threads`` then applies to each worker (default 1). Default: all CPUs, or
            with ``backend="cuda"`` one worker per GPU.
        worker_memory: Memory limit per worker, such as ``"8GB"``; raises if the game does not fit.
        locks: Locked decisions of a hold'em spot.
        out: Save checkpoints and the result in this folder. If it holds this run already, the run continues. Default:
            nothing is saved.
        checkpoint_seconds: Seconds between checkpoints in ``out``; longer if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before it is written to ``out``.
        **parameters: Parameters of the algorithm: ``solve(game, "dcfr", alpha=2)`` is ``solve(game, "dcfr(alpha=2)")``.

    >>> solution = solve("kuhn", "cfr+", nash_conv=1e-4)
    >>> solution.status, round(solution.value, 3)
    ('solved', -0.056)
    """
    return carry_out(solving(**locals()))


def resume(
    folder: str | Path,
    *,
    nash_conv: float | None = None,
    exploitability: float | str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    threads: int = 0,
    backend: str = "auto",
    device: int = 0,
    cluster: str | None = None,
    workers: int | None = None,
    worker_memory: str | int | None = None,
    algorithm: str | Algorithm[Any, Any] | None = None,
    game: Source | Any | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Watch | None = None,
    answer: Answer | None = None,
) -> Solution | Any:
    """Continue a run that was stopped or killed, with the same bits as if it had not been interrupted.

    By default the run keeps its limits. ``seconds`` count from now, the other limits from the start of the run.

    Args:
        folder: The run folder that ``out=``, ``Solution.save`` or the command line wrote. For the folder of a batch, a
            ``Batch`` is returned.
        nash_conv: Target in units of payoffs: stop when the sum of both players' best-response gains is at most this.
        exploitability: Half of the same target; hold'em spots also accept text such as ``"0.3%pot"``.
        seconds: Stop after this many seconds, not counting compilation.
        iterations: Stop after this many iterations, each of which updates every player once.
        nodes: Stop after this many nodes touched, which are histories entered by traversals.
        threads: Number of threads (0 = automatic). The result does not depend on it, to the bit.
        backend: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"``: a GPU if there is one and the game is large enough.
        device: Index of the GPU, counted from 0.
        cluster: As in ``solve``. The run may have been on one machine, or cut for other workers.
        workers: As in ``solve``.
        worker_memory: As in ``solve``.
        algorithm: Your own algorithm, if the run was started with one.
        game: Your own game, if the run was started with one.
        checkpoint_seconds: Seconds between checkpoints in ``folder``; longer if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before it is written to ``folder``.
    """
    if is_batch(folder, locals()):
        return resume_batch(folder, cluster=cluster, checkpoint_seconds=checkpoint_seconds)
    return carry_out(resuming(**locals()))


def compare(
    game: Source | Any,
    algorithms: Sequence[str] | None = None,
    *,
    accuracies: Sequence[float] = ACCURACIES,
    seeds: int = 1,
    seconds: float = DEFAULT_COMPARE_SECONDS,
    iterations: int | None = None,
    nodes: int | None = None,
    seed: int = 0,
    threads: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[str, Progress], None] | None = None,
    answer: Answer | None = None,
) -> Comparison:
    """Compare the work and time that algorithms need to come close to equilibrium, here or on a cluster.

    Args:
        game: Anything that ``load`` accepts.
        algorithms: Names of algorithms, with parameters if you like. Default: all. Those that cannot solve this game
            are in ``refused``, with the reason.
        accuracies: Fractions of the uniform policy's NashConv. A run ends when it reaches the smallest.
        seeds: Number of runs of algorithms that draw random numbers; reported as medians and quartiles.
        seconds: Time limit of each run, not counting compilation.
        iterations: Limit on iterations of each run.
        nodes: Limit on nodes touched of each run.
        seed: The first seed.
        threads: Number of threads (0 = automatic).
        cluster: ``"auto"`` or the address of a Ray cluster, whose workers share the runs. Default: one after the other.
        out: Folder for the table, the picture and a folder per run. The same comparison in the same folder continues.
        checkpoint_seconds: Seconds between checkpoints of a run.
        watch: Called a few times per second with the name of the current run and its progress.
        answer: Called with the solution of each run.

    >>> comparison = compare("kuhn", ["cfr+", "cfr+-restarted"], accuracies=[1e-2, 1e-6], iterations=2000)
    >>> comparison.ranking
    ['cfr+-restarted', 'cfr+']
    """
    targets, count = accuracies_of(accuracies), seeds_of(seeds)
    options = Options(seed=seed, threads=threads, checkpoint_seconds=checkpoint_seconds, answer=answer)
    chosen, first = list(ALGORITHMS) if algorithms is None else list(dict.fromkeys(algorithms)), options.seed
    solvers = {name: build(name) for name in chosen}
    limits = Limits(seconds=seconds, iterations=iterations, nodes=nodes)
    loaded, path = load(game), None if out is None else path_of_folder(out, "out")
    uniform = uniform_nash_conv(loaded)
    if not uniform > 0.0:
        raise ParameterError(f"The uniform policy of {loaded.name} is an equilibrium, so there is nothing to compare.")
    planned = planned_runs(solvers, range(first, first + count), replace(limits, nash_conv=targets[-1] * uniform))
    purpose = {"game": loaded.name, "algorithms": chosen, "seed": first, "seeds": count, "accuracies": list(targets)}
    run = run_here if cluster is None else partial(run_on_workers, cluster)
    with nullcontext() if path is None else claimed_for(path, "comparison", purpose) as folder:
        runs, refused, interrupted = run(loaded, planned, options, folder and folder.absolute(), watch)
        comparison = Comparison(loaded.name, uniform, targets, tuple(runs), refused)
        if folder is not None and not interrupted:
            comparison.save(folder)
    return comparison


def batch(
    jobs: str | Path | Sequence[Mapping[str, Any]],
    *,
    out: str | Path,
    cluster: str | None = None,
    workers: int = 0,
    retries: int = DEFAULT_RETRIES,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[BatchProgress], None] | None = None,
    answer: Callable[[ResultRow], None] | None = None,
) -> Batch:
    """Solve many games or hold'em spots, each with the bits of ``solve``; a job that fails does not stop the others.

    The same call again continues the batch: finished jobs are not repeated, others resume from their checkpoints.

    Args:
        jobs: A file of JSON lines, or a list of dictionaries: ``id``, ``game`` or ``spot``, and options of ``solve``:
            ``algorithm``, ``nash_conv``, ``exploitability``, ``seconds``, ``iterations``, ``nodes``, ``storage``,
            ``seed``, ``iterate``.
        out: The folder for ``results/*.parquet``, ``runs/ID`` and ``logs/ID.log`` of jobs that failed. On a cluster:
            one that all machines share.
        cluster: ``"auto"`` or the address of a Ray cluster. Default: only this machine.
        workers: Number of jobs at a time (0 = as many as processors and memory allow).
        retries: Number of times to retry a job whose worker was lost.
        checkpoint_seconds: Seconds between checkpoints of a run.
        watch: Called a few times per second with the numbers of jobs done, failed and running.
        answer: Called with the row of each job when it ends.

    >>> from tempfile import TemporaryDirectory
    >>> jobs = [{"id": "small", "game": "kuhn"}, {"id": "exact", "game": "kuhn", "algorithm": "lp"}]
    >>> with TemporaryDirectory() as folder:
    ...     [row.status for row in batch(jobs, out=folder).rows]
    ['solved', 'solved']
    """
    listed = jobs_of(jobs)
    path = path_of_folder(out, "out")
    return carry_out_batch(listed, path, cluster, workers, retries, checkpoint_seconds, watch, answer)


def resume_batch(
    folder: str | Path,
    *,
    cluster: str | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[BatchProgress], None] | None = None,
    answer: Callable[[ResultRow], None] | None = None,
) -> Batch:
    """Continue the batch in a folder; ``resume`` does the same for such a folder."""
    path = path_of_folder(folder)
    return carry_out_batch(recorded(path), path, cluster, 0, DEFAULT_RETRIES, checkpoint_seconds, watch, answer)


def forecast(
    jobs: str | Path | Sequence[Mapping[str, Any]],
    *,
    cluster: str | None = None,
    workers: int = 0,
    watch: Callable[[int], None] | None = None,
) -> Forecast:
    """Estimate memory, threads and seconds of the jobs of ``batch``; nothing is solved."""
    return forecast_batch(jobs_of(jobs), cluster, workers, watch)


def grow(
    game: str | Abstraction | DealtGame | Any,
    *,
    nash_conv: float | None = None,
    exploitability: float | str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    growth: Growth | None = None,
    storage: str | None = None,
    threads: int = 0,
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Watch | None = None,
    answer: Answer | None = None,
) -> Solution:
    """Solve a game with bet sizes, and find and add the sizes that matter during the solve.

    Any other game grows by actions if ``growth`` has a ``start``. The default limit is ten seconds. NashConv counts
    bets of every legal size, every action of the rules, and for a hold'em spot every candidate.

    Args:
        game: A name such as ``"continuous_leduc"``, an ``Abstraction`` of rules of your own, or a hold'em spot. The run
            starts with its sizes; a spot without sizes starts with half the pot and all-in. With ``Growth(start=...)``
            anything that ``load`` accepts, except for spots.
        nash_conv: Target in units of payoffs: stop when the sum of both players' best-response gains is at most this.
        exploitability: Half of the same target; hold'em spots also accept text such as ``"0.3%pot"``.
        seconds: Stop after this many seconds, not counting compilation.
        iterations: Stop after this many iterations, each of which updates every player once.
        nodes: Stop after this many nodes touched, which are histories entered by traversals.
        growth: Options of the search for sizes, such as a spot's candidates and board classes; see ``Growth``.
        storage: For a hold'em spot, as in ``solve``; 16 bits are rejected.
        threads: Number of threads (0 = automatic). The result does not depend on it, to the bit.
        out: Save checkpoints and the result in this folder, for ``resume``. Default: nothing is saved.
        checkpoint_seconds: Seconds between checkpoints in ``out``; longer if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before it is written to ``out``.

    >>> solution = grow("continuous_leduc", iterations=200)
    >>> len(solution.additions) > 10, solution.nash_conv < 1.5
    (True, True)
    """
    return carry_out(growing(**locals()))


def explore(
    game: str | Path | Game | Any,
    algorithm: str = "pure-mccfr",
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    seed: int = 0,
    responses: int | None = None,
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Watch | None = None,
    answer: Answer | None = None,
) -> Solution:
    """Sample a game that is too large to compile, using only its rules; only visited infosets take memory.

    Quality is estimated: each player learns a response and plays new games with it, which bounds NashConv from below.
    The default limit is 60 seconds.

    Args:
        game: A name, an .efg file, a pyspiel game, or rules of your own.
        algorithm: ``"pure-mccfr"``, ``"mccfr-external"``, or ``"mccfr-outcome"`` for games of many moves.
        seconds: Stop after this many seconds.
        iterations: Stop after this many iterations, each of which updates every player once.
        nodes: Stop after this many histories entered.
        seed: Seed of the random numbers. Equal seeds give equal bits.
        responses: Maximum number of iterations to learn a response, and number of games it then plays. Default: 2,000.
        out: Save checkpoints and the result in this folder, for ``resume``. Default: nothing is saved.
        checkpoint_seconds: Seconds between checkpoints in ``out``; longer if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before it is written to ``out``.

    >>> solution = explore("kuhn", iterations=2000)
    >>> solution.nash_conv_at_least < 0.2
    True
    """
    return carry_out(exploring(**locals()))


def evaluate(game: Source | Any, policy: PolicySource) -> Evaluation:
    """Compute value, best-response values and NashConv of a policy, exactly and in the original game.

    Args:
        game: Anything that ``load`` accepts, except a hold'em spot.
        policy: A ``Policy``, the path of one, a dict ``{infoset: {action: probability}}``, or a policy of OpenSpiel.

    >>> evaluate("kuhn", solve("kuhn", "lp").policy).nash_conv < 1e-12
    True
    """
    return evaluate_policy(load_game(game), policy)


def best_response(game: Source | Any, policy: PolicySource, player: int) -> tuple[float, Policy]:
    """Return ``player``'s best-response value against ``policy``, and ``policy`` with that best response in it.

    >>> value, _ = best_response("kuhn", solve("kuhn", "lp").policy, player=1)
    >>> round(value, 6)
    0.055556
    """
    if player not in (0, 1):
        raise ParameterError(f"The 'player' parameter must be 0 or 1, got {quoted(player)}.")
    return respond(load_game(game), policy, player)


def draw(game: Source | Any, policy: PolicySource | None = None, path: str | Path | None = None) -> Any:
    """Draw the tree of a small game as a figure, with players, infosets and payoffs; notebooks display it.

    Args:
        game: Anything that ``load`` accepts, except a hold'em spot; at most 300 nodes.
        policy: Policy with the probabilities to write on the branches. Default: none.
        path: Path of a PNG to write. Default: none.

    >>> draw("kuhn").axes[0].get_title(), draw("kuhn", solve("kuhn", "lp").policy) is not None
    ('', True)
    """
    return draw_tree(load_game(game), policy, path)


def merge(game: Source | Any, policies: Sequence[PolicySource], shares: Sequence[float] | None = None) -> Policy:
    """Average policies, or files of them, by reach into one, which plays like one of them drawn before the game.

    >>> answers = [solve("kuhn", "pure-mccfr", iterations=300, seed=seed) for seed in range(8)]
    >>> together = evaluate("kuhn", merge("kuhn", [answer.policy for answer in answers]))
    >>> together.nash_conv < sum(answer.nash_conv for answer in answers) / 8
    True
    """
    return merge_policies(load_game(game), policies, shares)


def recommended(game: CompiledGame | HoldemGame) -> dict[str, str]:
    """Return the algorithm and backend that ``solve`` uses by default for a loaded game on this machine."""
    solver = build(DEFAULT_ALGORITHM).open(game, Execution(backend=AUTO))
    return {"algorithm": DEFAULT_ALGORITHM, "backend": solver.backend}
