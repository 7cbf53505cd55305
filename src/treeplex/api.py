"""Everything a newcomer needs: load, solve, compare, batch, resume, evaluate, best_response, grow, ..."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.algorithms.growth.options import Growth, fitted_to_rules, fitted_to_spot, growth_fields
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.portfolio import SPOTS
from treeplex.algorithms.protocol import Algorithm, Execution
from treeplex.algorithms.registry import ALGORITHMS, with_parameters
from treeplex.cluster.connect import attached
from treeplex.cluster.fleet import OnCluster, fleet
from treeplex.cluster.shards import sharding
from treeplex.cluster.sweep import swept
from treeplex.cluster.tasks import Tasks, check_shared
from treeplex.errors import ParameterError, TreeplexError, non_negative, quoted
from treeplex.evaluation import Evaluation, Policy, evaluate_policy
from treeplex.evaluation import best_response as respond
from treeplex.evaluation.draw import draw_tree
from treeplex.evaluation.merge import merge as merge_policies
from treeplex.files import is_file
from treeplex.games.dealt import DealtGame
from treeplex.games.holdem.candidates import offered, start_of
from treeplex.games.holdem.locks import Lock
from treeplex.games.protocol import Game, name_of
from treeplex.games.sized import Abstraction
from treeplex.runs import games
from treeplex.runs.asking import Asked, carry_out, default_algorithm, is_spot_game, limits_of, load, pot_of
from treeplex.runs.batch.jobs import Job, jobs_of
from treeplex.runs.batch.local import Processes
from treeplex.runs.batch.planning import needs
from treeplex.runs.batch.results import Row
from treeplex.runs.batch.run import KIND, Batch, Forecast, Moment, check_same, left_of, record, recorded, run_batch
from treeplex.runs.batch.run import forecast as forecast_of
from treeplex.runs.claim import claimed_for
from treeplex.runs.claim import folder_of as path_of_folder
from treeplex.runs.comparison import ACCURACIES, Comparison, Ran, accuracies_of, seeds_of
from treeplex.runs.folder import RunFolder
from treeplex.runs.games import Source
from treeplex.runs.limits import Limits
from treeplex.runs.loop import INTERRUPTED, Progress
from treeplex.runs.request import EXPLORATION, GROWTH, Request, seed_of
from treeplex.runs.solution import Solution
from treeplex.runs.solve import Options, execute
from treeplex.runs.solve import resume as resume_run

DEFAULT_SPOT_ALGORITHM = SPOTS
"""What ``auto`` is for a hold'em spot, and what ``grow`` and ``sizes`` solve spots by."""

DEFAULT_GROWTH_SECONDS = 10.0
"""How long ``grow`` runs when nothing says when to stop."""

DEFAULT_COMPARE_SECONDS = 10.0
"""The time limit of each run of ``compare``."""

DEFAULT_RETRIES = 2
"""How often ``batch`` tries a job again whose worker was lost."""

DEFAULT_SECONDS = 60.0
"""How long to explore when nothing says when to stop."""

PolicySource = Policy | str | Path | Mapping[Any, Mapping[str, float]] | Any
"""A policy, the path of one, a dictionary, or a policy of OpenSpiel."""

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
    folder: str | Path | None = None,
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
        workers: Of the cluster, how many; ``threads`` are those of each then, by default 1. Default: all CPUs.
        worker_memory: What each may take, such as ``"8GB"``: a game that needs more is refused.
        locks: Locked decisions of a hold'em spot.
        out: Keep checkpoints and the answer in this folder; one that holds this very run is continued. Default:
            nowhere.
        folder: The old name of ``out``.
        checkpoint_seconds: Seconds between two checkpoints in ``out``; more if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``out``.
        **parameters: Of the algorithm: ``solve(game, "dcfr", alpha=2)`` is ``solve(game, "dcfr(alpha=2)")``.

    >>> solution = solve("kuhn", "cfr+", nash_conv=1e-4)
    >>> solution.status, round(solution.value, 3)
    ('solved', -0.056)
    """
    given = Limits(nash_conv, seconds, iterations, nodes)
    options = Options(threads, backend, checkpoint_seconds, watch, answer, device)
    kept, seed = folder_of(out, folder), seed_of(seed)
    if parameters:
        algorithm = _with_parameters(algorithm, parameters)
    asked: dict[str, Any] = {
        "exploitability": exploitability,
        "seed": seed,
        "iterate": iterate,
        "storage": storage,
        "locks": locks,
    }
    with _over(cluster, workers, worker_memory, options) as (carried, over):
        return _home(carry_out(game, algorithm, given, carried, kept, over, **asked))


def _home(solution: Solution) -> Solution:
    solver: Any = solution.solver
    return solver.brought_home(solution) if isinstance(solver, OnCluster) else solution


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
    game: Any = None,
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
    options = Options(threads, backend, checkpoint_seconds, watch, answer, device)
    given = Limits(nash_conv, seconds, iterations, nodes)
    if is_batch(folder):
        if given.any or exploitability is not None:
            raise ParameterError("The jobs of a batch have limits of their own: run it again with other jobs.")
        return resume_batch(folder, cluster=cluster, checkpoint_seconds=checkpoint_seconds)
    kept = RunFolder.open(folder)
    pot = float(kept.request.source["pot"]) if kept.request.is_spot else None
    limits = limits_of(given, exploitability, pot)
    asked = Asked(games.game_of(kept, game), games.algorithm_of(kept.request, algorithm), kept.request)
    with _over(cluster, workers, worker_memory, options) as (carried, over):
        solver = asked.algorithm if over is None else over(asked)
        return _home(resume_run(kept, asked.game, solver, limits, carried))


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
    targets, count, first = accuracies_of(accuracies), seeds_of(seeds), seed_of(seed)
    chosen = list(ALGORITHMS) if algorithms is None else list(dict.fromkeys(algorithms))
    made = {name: games.assembled(name) for name in chosen}
    Limits(seconds=seconds, iterations=iterations, nodes=nodes)  # whatever is wrong is said before anything is done
    loaded, kept = load(game), folder_of(out, None)
    uniform = _uniform_nash_conv(loaded)
    if not uniform > 0.0:
        raise ParameterError(f"The uniform policy of {loaded.name} is an equilibrium: there is nothing to compare.")
    purpose = {"game": loaded.name, "algorithms": chosen, "seed": first, "seeds": count, "accuracies": list(targets)}
    many = {name: range(first, first + (count if made[name].random else 1)) for name in chosen}
    with nullcontext() if kept is None else claimed_for(kept, "comparison", purpose) as folder:
        wanted = [
            Wanted(
                name,
                number if made[name].random else None,
                f"{name}, seed {number}" if len(numbers) > 1 else name,
                {
                    "nash_conv": targets[-1] * uniform,
                    "seconds": seconds,
                    "iterations": None if made[name].ends else iterations,
                    "nodes": None if made[name].ends else nodes,
                    "seed": number,
                    "threads": threads,
                    "checkpoint_seconds": checkpoint_seconds,
                },
            )
            for name, numbers in many.items()
            for number in numbers
        ]
        run = _one_by_one if cluster is None else partial(_on_workers, cluster)
        runs, refused, cut = run(loaded, wanted, folder and folder.absolute(), watch, answer)
        found = Comparison(loaded.name, uniform, targets, tuple(runs), refused)
        if folder is not None and not cut:
            found.save(folder)
    return found


class Wanted(NamedTuple):
    """One run of a comparison that is still to be made."""

    algorithm: str
    seed: int | None
    label: str
    options: dict[str, Any]  # of ``solve``


class Compared(NamedTuple):
    """Runs of a comparison, algorithms that were refused, and whether all was interrupted."""

    runs: list[Ran]
    refused: dict[str, str]
    cut: bool


CompareWatch = Callable[[str, Progress], None] | None


def _one_by_one(
    game: Any, wanted: Sequence[Wanted], folder: Path | None, watch: CompareWatch, answer: Answer | None
) -> Compared:
    runs: list[Ran] = []
    refused: dict[str, str] = {}
    for one in wanted:
        if one.algorithm in refused:
            continue
        told: dict[str, Any] = {"watch": watch and partial(watch, one.label), "answer": answer}
        try:
            solution = solve(game, one.algorithm, **one.options, out=folder and folder / one.label, **told)
        except TreeplexError as error:
            refused[one.algorithm] = str(error)
            continue
        runs.append(Ran(one.algorithm, one.seed, solution.status, solution.log))
        if solution.status == INTERRUPTED:
            return Compared(runs, refused, True)
    return Compared(runs, refused, False)


def _on_workers(
    cluster: str,
    game: Any,
    wanted: Sequence[Wanted],
    folder: Path | None,
    watch: CompareWatch,
    answer: Answer | None,
) -> Compared:
    """The same on a cluster, each run with one thread unless told otherwise; solutions stay where they are found."""
    runs: dict[int, Ran] = {}
    refused: dict[str, str] = {}
    threads = max(1, wanted[0].options["threads"])
    calls = [(one.algorithm, {**one.options, "threads": threads}, folder and str(folder / one.label)) for one in wanted]
    with attached(cluster) as ray:
        if folder is not None:
            check_shared(ray, folder)
        placed = ray.put(game)

        def tell(running: int) -> None:
            if watch is not None:
                watch(f"{len(runs)} of {len(calls)} runs done, {running} running", Progress(0, 0.0, []))

        for number, found in swept(ray, compared, [(placed, *call) for call in calls], threads, tell):
            if isinstance(found, TreeplexError):
                refused[wanted[number].algorithm] = str(found)
            else:
                runs[number] = Ran(wanted[number].algorithm, wanted[number].seed, *found)
    listed = [runs[number] for number in sorted(runs) if wanted[number].algorithm not in refused]
    ended = len(runs) + sum(one.algorithm in refused for one in wanted)
    return Compared(listed, refused, ended < len(wanted) or any(run.status == INTERRUPTED for run in listed))


def compared(game: Any, algorithm: str, options: Mapping[str, Any], folder: str | None) -> tuple[str, Any]:
    """On a worker: status and log of one run."""
    solution = solve(game, algorithm, **options, out=folder)
    return solution.status, solution.log


def batch(
    jobs: str | Path | Sequence[Mapping[str, Any]],
    *,
    out: str | Path,
    cluster: str | None = None,
    workers: int = 0,
    retries: int = DEFAULT_RETRIES,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Moment], None] | None = None,
    answer: Callable[[Row], None] | None = None,
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
    return _batch(listed, path_of_folder(out, "out"), cluster, workers, retries, checkpoint_seconds, watch, answer)


def resume_batch(
    folder: str | Path,
    *,
    cluster: str | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Moment], None] | None = None,
    answer: Callable[[Row], None] | None = None,
) -> Batch:
    """Continue the batch in a folder; ``resume`` does so, too."""
    path = path_of_folder(folder)
    return _batch(recorded(path), path, cluster, 0, DEFAULT_RETRIES, checkpoint_seconds, watch, answer)


def forecast(
    jobs: str | Path | Sequence[Mapping[str, Any]],
    *,
    cluster: str | None = None,
    workers: int = 0,
    watch: Callable[[int], None] | None = None,
) -> Forecast:
    """Memory, threads and seconds that the jobs of ``batch`` would take; nothing is solved."""
    found = needs(jobs_of(jobs), watch)
    with _pool(Path(), cluster, non_negative("workers", workers), 30.0) as pool:
        return forecast_of(found, pool.places())


def _batch(
    jobs: list[Job],
    out: Path,
    cluster: str | None,
    workers: int,
    retries: int,
    checkpoint_seconds: float,
    watch: Callable[[Moment], None] | None,
    answer: Callable[[Row], None] | None,
) -> Batch:
    """Whatever can be refused is refused before the first job runs."""
    workers, again = non_negative("workers", workers), non_negative("retries", retries)
    Options(checkpoint_seconds=checkpoint_seconds)
    folder = out.absolute()
    check_same(folder, jobs)
    found = needs(left_of(folder, jobs))
    with _pool(folder, cluster, workers, checkpoint_seconds) as pool:
        planned = forecast_of(found, pool.places()).tasks
        if isinstance(pool, Tasks):
            pool.check(planned)
        with claimed_for(folder, KIND, {}):
            if isinstance(pool, Tasks):
                check_shared(pool.ray, folder)
            record(folder, jobs)
            return run_batch(folder, jobs, planned, pool, again, watch, answer)


@contextmanager
def _pool(out: Path, cluster: str | None, workers: int, checkpoint_seconds: float) -> Generator[Processes | Tasks]:
    if cluster is None:
        with Processes(out, workers, checkpoint_seconds) as pool:
            yield pool
    else:
        with attached(cluster) as ray:
            yield Tasks(ray, out, workers, checkpoint_seconds)


def _uniform_nash_conv(game: Any) -> float:
    """Of the strategies that the CFR family begins with."""
    solver: Any = games.assembled("cfr+").prepared(game, Execution())
    return solver.evaluate(game, solver.strategies(game, solver.start(game), "current")).nash_conv


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
    folder: str | Path | None = None,
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
        folder: The old name of ``out``.
        checkpoint_seconds: Seconds between two checkpoints in ``out``; more if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``out``.

    >>> solution = grow("continuous_leduc", iterations=200)
    >>> len(solution.additions) > 10, solution.nash_conv < 1.5
    (True, True)
    """
    given = Limits(nash_conv, seconds, iterations, nodes)
    options, kept = Options(threads, "auto", checkpoint_seconds, watch, answer), folder_of(out, folder)
    return execute(*growing(game, growth, given, exploitability, storage), options, kept)


def growing(
    game: str | Abstraction | DealtGame | Any,
    growth: Growth | None,
    given: Limits,
    exploitability: float | str | None = None,
    storage: str | None = None,
) -> Asked:
    """What ``grow`` carries out, by the same arguments; refuses what it refuses."""
    start, solver, source = _growing(game, growth)
    how, limits = solver.growth, limits_of(given, exploitability, pot_of(start))
    request = Request(
        kind=GROWTH,
        game=start.name,
        source=source,
        fingerprint=solver.fingerprint(start),
        algorithm=f"grow({how.algorithm})",
        asked=how.algorithm,
        storage=storage,
        iterate="current" if how.remove == "current" else "average",
        options=growth_fields(how),
        limits=limits.otherwise(Limits(seconds=DEFAULT_GROWTH_SECONDS)),
    )
    return Asked(start, solver, request)


def _growing(game: Any, growth: Growth | None) -> tuple[Any, Any, Any]:
    """The game to start with, the algorithm that grows it, and how to load the game again."""
    spot = game.spot if is_spot_game(game) else games.spot_of(game)
    if spot is not None:
        from treeplex.algorithms.growth.spot_algorithm import GrowingHoldem  # noqa: PLC0415 - kernels take time

        how = fitted_to_spot(growth or Growth(algorithm=DEFAULT_SPOT_ALGORITHM))
        start = games.spot_game(start_of(spot, how.by_class))
        offered(start.spot, how.bets, how.raises, how.street)  # whatever is wrong is said at once
        return start, GrowingHoldem(how), start.spot.summary()
    from treeplex.algorithms.growth.algorithm import Growing  # noqa: PLC0415 - its kernels take time to load

    abstraction = games.sized_game(game)
    source = game if isinstance(game, str) else abstraction.name if _is_named(abstraction) else None
    return abstraction, Growing(fitted_to_rules(growth or Growth(), abstraction.rules)), source


def regrow(folder: str | Path, **options: Any) -> Solution:
    """The old name of ``resume`` for runs of ``grow``."""
    return resume(folder, **options)


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
    from treeplex.algorithms.explore import RESPONSES, exploring  # noqa: PLC0415 - seldom needed

    limits = Limits(seconds=seconds, iterations=iterations, nodes=nodes).otherwise(Limits(seconds=DEFAULT_SECONDS))
    options, kept = Options(checkpoint_seconds=checkpoint_seconds, watch=watch, answer=answer), folder_of(out, None)
    seed = seed_of(seed)
    rules, walks = games.rules_of(game), RESPONSES if responses is None else responses
    solver = exploring(algorithm, walks)
    walks = solver.responses
    request = Request(
        kind=EXPLORATION,
        game=name_of(rules),
        source=str(game) if isinstance(game, str | Path) else None,
        fingerprint=solver.fingerprint(rules),
        algorithm=f"explore({algorithm})",
        asked=algorithm,
        seed=seed,
        options={"responses": walks},
        limits=limits,
    )
    return execute(rules, solver, request, options, kept)


def evaluate(game: Source | Any, policy: PolicySource) -> Evaluation:
    """Value, best-response values and NashConv of a policy: exact, in the game as given.

    Args:
        game: Anything that ``load`` takes, but for a hold'em spot.
        policy: A ``Policy``, the path of one, a dict ``{infoset: {action: probability}}``, or a policy of OpenSpiel.

    >>> evaluate("kuhn", solve("kuhn", "lp").policy).nash_conv < 1e-12
    True
    """
    return evaluate_policy(games.load_game(game), policy)


def best_response(game: Source | Any, policy: PolicySource, player: int) -> tuple[float, Policy]:
    """The most ``player`` can earn against the opponent's strategy, and ``policy`` with that best response in it.

    >>> value, _ = best_response("kuhn", solve("kuhn", "lp").policy, player=1)
    >>> round(value, 6)
    0.055556
    """
    if player not in (0, 1):
        raise ParameterError(f"The 'player' parameter must be 0 or 1, got {quoted(player)}.")
    return respond(games.load_game(game), policy, player)


def draw(game: Source | Any, policy: PolicySource | None = None, path: str | Path | None = None) -> Any:
    """The tree of a small game as a figure, which a notebook shows: who moves, what is known, what is paid.

    Args:
        game: Anything that ``load`` takes but a hold'em spot, of at most 300 nodes.
        policy: Whose probabilities stand on the branches. Default: none.
        path: Of a PNG to write. Default: none is written.

    >>> draw("kuhn").axes[0].get_title(), draw("kuhn", solve("kuhn", "lp").policy) is not None
    ('', True)
    """
    return draw_tree(games.load_game(game), policy, path)


def merge(game: Source | Any, policies: Sequence[PolicySource], shares: Sequence[float] | None = None) -> Policy:
    """Several policies, or files of them, averaged by reach into one: as good as drawing one before the game.

    >>> answers = [solve("kuhn", "pure-mccfr", iterations=300, seed=seed) for seed in range(8)]
    >>> together = evaluate("kuhn", merge("kuhn", [answer.policy for answer in answers]))
    >>> together.nash_conv < sum(answer.nash_conv for answer in answers) / 8
    True
    """
    return merge_policies(games.load_game(game), policies, shares)


def recommended(game: Any) -> dict[str, str]:
    """What ``solve`` takes for a loaded game when nothing is named: the algorithm, and the backend on this machine."""
    algorithm = default_algorithm(game)
    solver = games.assembled(algorithm).prepared(game, Execution(backend="auto"))
    return {"algorithm": algorithm, "backend": solver.backend}


Over = Callable[[Asked], Algorithm[Any, Any]]
"""What carries a run out in place of its algorithm."""


@contextmanager
def _over(
    cluster: str | None, workers: int | None, worker_memory: str | int | None, options: Options
) -> Generator[tuple[Options, Over | None]]:
    """How to run, over the workers of a cluster if one is named: they share streams, or a game is cut for them."""
    if cluster is None:
        for name, given in (("workers", workers), ("worker_memory", worker_memory)):
            if given is not None:
                raise ParameterError(f"The '{name}' parameter is for workers of a cluster; give 'cluster' too.")
        yield options, None
        return
    with attached(cluster) as ray, sharding(ray, workers, options.threads, worker_memory) as how:

        def over(asked: Asked) -> Algorithm[Any, Any]:
            streams = isinstance(asked.algorithm, MonteCarlo)
            return fleet(ray, asked.game, asked.algorithm, asked.request.algorithm) if streams else asked.algorithm

        backend = "cpu" if options.backend == "auto" else options.backend
        yield replace(options, sharding=how, backend=backend), over


def folder_of(out: str | Path | None, folder: str | Path | None) -> str | Path | None:
    """The folder to keep a run in, if any; refused if it can be none."""
    if out is not None and folder is not None:
        raise ParameterError("Give 'out' or 'folder', not both: they are two names of one thing.")
    name, given = ("folder", folder) if out is None else ("out", out)
    return None if given is None else path_of_folder(given, name)


def _with_parameters(algorithm: Any, given: Mapping[str, Any]) -> str:
    """A name with the parameters that were given as keywords."""
    known = list(signature(solve).parameters)
    near = [name for key in given for name in get_close_matches(key, known, n=1)]
    if isinstance(algorithm, str):
        try:
            return with_parameters(algorithm, given)
        except ParameterError:
            if not near:
                raise
    advice = f"; did you mean '{near[0]}'?" if near else "; name the algorithm whose parameter it is."
    raise ParameterError(f"'{next(iter(given))}' is no option of solve{advice}")


def is_batch(folder: str | Path) -> bool:
    """Is this the folder of a batch?"""
    return is_file(path_of_folder(folder) / f"{KIND}.json")


def _is_named(start: Abstraction) -> bool:
    """Can the game be made again from its name?"""
    try:
        return games.sized_game(start.name).name == start.name
    except ParameterError:
        return False
