"""Everything a newcomer needs: load, solve, compare, batch, resume, evaluate, best_response, grow, ..."""

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
from treeplex.runs.schema import LIMITS, Options
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
"""The time limit of each run of ``compare``."""

DEFAULT_RETRIES = 2
"""How often ``batch`` tries a job again whose worker was lost."""

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
        game: Anything that ``load`` takes.
        algorithm: A name such as ``"cfr+"``, ``"name(parameter=value,...)"``, or your own (see ``minimizer``). Default:
            ``auto``, a race of several; the one that is fastest in this game gives the answer.
        nash_conv: Target, in the units of payoffs: stop when both players' best-response gains add up to at most this.
        exploitability: The same target said as half of it; for a hold'em spot also such as ``"0.3%pot"``.
        seconds: Stop after so many seconds, not counting compilation.
        iterations: Stop after so many iterations, each of which updates every player once.
        nodes: Stop once so many nodes have been touched: histories entered by traversals.
        seed: For algorithms that draw random numbers: the same seed, the same bits.
        iterate: Report the ``"average"`` strategies, the ``"current"`` ones, or the ``"best"`` of both so far.
        storage: What regrets and averages are kept in: ``"float64"``, ``"float32"``, ``"int16"``. Default: float64,
            for a hold'em spot float32.
        threads: How many; 0: as many as pay. Changes no bit of the answer.
        backend: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"``: a GPU if there is one and the game is large enough.
        device: Which GPU, counted from 0.
        cluster: ``"auto"`` or the address of a Ray cluster, whose workers share the streams of an algorithm such as
            ``"pure-mccfr(streams=8)"``, or have one part each of a game that is cut for them, for the CFR family.
            Changes no bit of the answer.
        workers: Of the cluster, how many; ``threads`` are those of each then, by default 1. Default: all CPUs, or
            with ``backend="cuda"`` all GPUs, of which each has one.
        worker_memory: What each may take, such as ``"8GB"``: a game that needs more is refused.
        locks: Locked decisions of a hold'em spot.
        out: Keep checkpoints and the answer in this folder; one that holds this very run is continued. Default:
            nowhere.
        checkpoint_seconds: Seconds between two checkpoints in ``out``; more if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``out``.
        **parameters: Of the algorithm: ``solve(game, "dcfr", alpha=2)`` is ``solve(game, "dcfr(alpha=2)")``.

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
    """Continue any run where it was stopped or killed, to the same bits as if it never had been.

    Without limits: to those the run had. ``seconds`` count from now, the other limits from the start of the run.

    Args:
        folder: The run folder, which ``out=``, ``Solution.save`` or the command line left; or that of a batch, which
            gives a ``Batch``.
        nash_conv: Target, in the units of payoffs: stop when both players' best-response gains add up to at most this.
        exploitability: The same target said as half of it; for a hold'em spot also such as ``"0.3%pot"``.
        seconds: Stop after so many seconds, not counting compilation.
        iterations: Stop after so many iterations, each of which updates every player once.
        nodes: Stop once so many nodes have been touched: histories entered by traversals.
        threads: How many; 0: as many as pay. Changes no bit of the answer.
        backend: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"``: a GPU if there is one and the game is large enough.
        device: Which GPU, counted from 0.
        cluster: As in ``solve``, wherever the run was before: on one machine, or cut for other workers.
        workers: As in ``solve``.
        worker_memory: As in ``solve``.
        algorithm: Your own, if the run was started with it.
        game: Your own, if the run was started with it.
        checkpoint_seconds: Seconds between two checkpoints in ``folder``; more if writing takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``folder``.
    """
    arguments = dict(locals())
    if is_batch(folder):
        if any(arguments[field.name] is not None for field in LIMITS):
            raise ParameterError("The jobs of a batch have limits of their own: run it again with other jobs.")
        return resume_batch(folder, cluster=cluster, checkpoint_seconds=checkpoint_seconds)
    return carry_out(resuming(**arguments))


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
    """Run algorithms on one game, here or on a cluster: what does it take each to come how close to equilibrium?

    Args:
        game: Anything that ``load`` takes.
        algorithms: Their names, with parameters if you like. Default: all there are; those that cannot solve this game
            are in ``refused``, with the reason.
        accuracies: Parts of the uniform policy's NashConv. A run ends when it has come to the smallest.
        seeds: How many runs of those that draw random numbers; of these there are medians and quartiles.
        seconds: Time limit of each run, without compilation.
        iterations: Limit of each run.
        nodes: Limit of each run on nodes touched.
        seed: The first seed.
        threads: How many; 0: as many as pay.
        cluster: ``"auto"`` or the address of a Ray cluster, whose workers share the runs. Default: one after the other.
        out: Keep table, picture and a run folder for each run here. The same comparison in the same folder continues.
        checkpoint_seconds: Seconds between two checkpoints of a run.
        watch: Called a few times per second with what is being run and its progress.
        answer: Called with the solution of each run.

    >>> found = compare("kuhn", ["cfr+", "cfr+-restarted"], accuracies=[1e-2, 1e-6], iterations=2000)
    >>> found.ranking
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
        raise ParameterError(f"The uniform policy of {loaded.name} is an equilibrium: there is nothing to compare.")
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
    """Solve many games or hold'em spots, each to the bits that ``solve`` alone would give it; none stops another.

    The same call again continues: jobs that have ended are not run again, others go on from their checkpoints.

    Args:
        jobs: A file of JSON lines, or a list of dictionaries: ``id``, ``game`` or ``spot``, and, as ``solve`` has them,
            ``algorithm``, ``nash_conv``, ``exploitability``, ``seconds``, ``iterations``, ``nodes``, ``storage``,
            ``seed``, ``iterate``.
        out: The folder for ``results/*.parquet``, ``runs/ID`` and ``logs/ID.log`` of jobs that failed. On a cluster:
            one that all machines see.
        cluster: ``"auto"`` or the address of a Ray cluster. Default: this machine alone.
        workers: How many jobs at a time; 0: as many as processors and memory allow.
        retries: How often a job is tried again whose worker was lost.
        checkpoint_seconds: Seconds between two checkpoints of a run.
        watch: Called a few times per second with the numbers of jobs done, failed and running.
        answer: Called with the row of each job that has ended.

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
    """Continue the batch in a folder; ``resume`` does so, too."""
    path = path_of_folder(folder)
    return carry_out_batch(recorded(path), path, cluster, 0, DEFAULT_RETRIES, checkpoint_seconds, watch, answer)


def forecast(
    jobs: str | Path | Sequence[Mapping[str, Any]],
    *,
    cluster: str | None = None,
    workers: int = 0,
    watch: Callable[[int], None] | None = None,
) -> Forecast:
    """Memory, threads and seconds that the jobs of ``batch`` would take; nothing is solved."""
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
    """Solve a game whose actions have sizes while the sizes that matter are found and added.

    Without limits: ten seconds. NashConv counts bets of every legal size; of a hold'em spot, of every candidate.

    Args:
        game: A name such as ``"continuous_leduc"``, whose sizes are those to start with, an ``Abstraction`` of
            rules of your own, or a hold'em spot, whose menus are those to start with (half the pot and all-in, if it
            names none).
        nash_conv: Target, in the units of payoffs: stop when both players' best-response gains add up to at most this.
        exploitability: The same target said as half of it; for a hold'em spot also such as ``"0.3%pot"``.
        seconds: Stop after so many seconds, not counting compilation.
        iterations: Stop after so many iterations, each of which updates every player once.
        nodes: Stop once so many nodes have been touched: histories entered by traversals.
        growth: How the sizes are found, for a spot among which candidates and by which classes; see ``Growth``.
        storage: For a hold'em spot, as in ``solve``; 16 bits are refused.
        threads: How many; 0: as many as pay. Changes no bit of the answer.
        out: Keep checkpoints and the answer in this folder, for ``resume``. Default: nowhere.
        checkpoint_seconds: Seconds between two checkpoints in ``out``; more if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``out``.

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
    """Sample a game that is too large to compile, from its rules alone; only infosets that are visited take memory.

    Quality is estimated: each player learns a response and plays new games with it, which bounds NashConv from below.
    Without limits: 60 seconds.

    Args:
        game: A name, an .efg file, a pyspiel game, or rules of your own.
        algorithm: ``"pure-mccfr"``, ``"mccfr-external"``, or ``"mccfr-outcome"`` for games of many moves.
        seconds: Stop after so many seconds.
        iterations: Stop after so many iterations, each of which updates every player once.
        nodes: Stop once so many histories have been entered.
        seed: Of random numbers: the same seed, the same bits.
        responses: Iterations that a response learns from at most, and games it then plays. Default: 2,000.
        out: Keep checkpoints and the answer in this folder, for ``resume``. Default: nowhere.
        checkpoint_seconds: Seconds between two checkpoints in ``out``; more if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``out``.

    >>> found = explore("kuhn", iterations=2000)
    >>> found.nash_conv_at_least < 0.2
    True
    """
    return carry_out(exploring(**locals()))


def evaluate(game: Source | Any, policy: PolicySource) -> Evaluation:
    """Value, best-response values and NashConv of a policy: exact, in the game as given.

    Args:
        game: Anything that ``load`` takes, but for a hold'em spot.
        policy: A ``Policy``, the path of one, a dict ``{infoset: {action: probability}}``, or a policy of OpenSpiel.

    >>> evaluate("kuhn", solve("kuhn", "lp").policy).nash_conv < 1e-12
    True
    """
    return evaluate_policy(load_game(game), policy)


def best_response(game: Source | Any, policy: PolicySource, player: int) -> tuple[float, Policy]:
    """The most ``player`` can earn against the opponent's strategy, and ``policy`` with that best response in it.

    >>> value, _ = best_response("kuhn", solve("kuhn", "lp").policy, player=1)
    >>> round(value, 6)
    0.055556
    """
    if player not in (0, 1):
        raise ParameterError(f"The 'player' parameter must be 0 or 1, got {quoted(player)}.")
    return respond(load_game(game), policy, player)


def draw(game: Source | Any, policy: PolicySource | None = None, path: str | Path | None = None) -> Any:
    """The tree of a small game as a figure, which a notebook shows: who moves, what is known, what is paid.

    Args:
        game: Anything that ``load`` takes but a hold'em spot, of at most 300 nodes.
        policy: Whose probabilities stand on the branches. Default: none.
        path: Of a PNG to write. Default: none is written.

    >>> draw("kuhn").axes[0].get_title(), draw("kuhn", solve("kuhn", "lp").policy) is not None
    ('', True)
    """
    return draw_tree(load_game(game), policy, path)


def merge(game: Source | Any, policies: Sequence[PolicySource], shares: Sequence[float] | None = None) -> Policy:
    """Several policies, or files of them, averaged by reach into one: as good as drawing one before the game.

    >>> answers = [solve("kuhn", "pure-mccfr", iterations=300, seed=seed) for seed in range(8)]
    >>> together = evaluate("kuhn", merge("kuhn", [answer.policy for answer in answers]))
    >>> together.nash_conv < sum(answer.nash_conv for answer in answers) / 8
    True
    """
    return merge_policies(load_game(game), policies, shares)


def recommended(game: CompiledGame | HoldemGame) -> dict[str, str]:
    """What ``solve`` takes for a loaded game when nothing is named: the algorithm, and the backend on this machine."""
    solver = build(DEFAULT_ALGORITHM).open(game, Execution(backend=AUTO))
    return {"algorithm": DEFAULT_ALGORITHM, "backend": solver.backend}
