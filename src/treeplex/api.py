"""Everything a newcomer needs: load, solve, resume, evaluate, best_response, explore, merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeplex.algorithms.protocol import Algorithm
from treeplex.compile import CompiledGame, compile_game
from treeplex.compile import load as load_compiled
from treeplex.errors import ParameterError
from treeplex.evaluation import Evaluation, Policy, evaluate_policy
from treeplex.evaluation import best_response as respond
from treeplex.evaluation.merge import merge as merge_policies
from treeplex.games.catalog import CATALOG, OPENSPIEL, known_value, make
from treeplex.games.dealt import DealtGame, DealtRules
from treeplex.games.protocol import Game
from treeplex.games.sized import Abstraction
from treeplex.runs import Limits, Options, Progress, Solution, resume_run, solve_game
from treeplex.runs.explore import RESPONSES, Exploration, Moment, explore_game
from treeplex.runs.folder import RunFolder
from treeplex.runs.grown import GrownSolution, Growth, grow_game, request, resume_growth
from treeplex.runs.grown import Progress as GrowthProgress

DEFAULT_GROWTH_SECONDS = 10.0
"""How long ``grow`` goes on when nothing says when to stop."""

DEFAULT_NASH_CONV = 1e-3
"""The target when nothing says when to stop."""

DEFAULT_SECONDS = 60.0
"""How long to explore when nothing says when to stop."""

Source = str | Path | Game | CompiledGame
"""What ``load`` takes: a name, a path, rules, or a game already compiled. A pyspiel game will do, too."""


def load(source: Source | Any, report: Callable[[int], None] | None = None) -> CompiledGame:
    """Compile a game: ``"name(parameter=value)"``, an .efg file, ``"openspiel:NAME"``, a pyspiel game, or your own.

    A path that ends in .safetensors is a game compiled before and kept with ``treeplex.compiled.save``.
    ``report`` is called now and then with the number of histories visited, for games too large to compile at once.

    >>> load("kuhn").summary()["infosets"]
    [6, 6]
    """
    if isinstance(source, CompiledGame):
        return source
    from_catalog, name = False, None
    if isinstance(source, str | Path):
        text = str(source)
        if text.endswith(".safetensors"):
            if not Path(text).is_file():
                raise ParameterError(f"There is no file {text}.")
            return load_compiled(text)
        from_catalog = not text.lower().endswith(".efg") and text.partition("(")[0].strip() in CATALOG
        name = text if from_catalog or text.startswith(OPENSPIEL) else None
    game = compile_game(rules(source), report)
    if from_catalog:
        game = replace(game, known_value=known_value(game.name))
    return replace(game, source=name)


def rules(source: Any) -> Game:
    """The rules behind a name, an .efg file or a pyspiel game, or the object itself if it has them; not compiled."""
    if isinstance(source, str | Path):
        source = make(str(source))
    elif type(source).__module__.partition(".")[0] == "pyspiel":
        from treeplex.games.openspiel import OpenSpielGame  # noqa: PLC0415 - only when asked for

        source = OpenSpielGame(source)
    if isinstance(source, DealtRules):
        source = DealtGame(source)
    if isinstance(source, type) or not isinstance(source, Game):
        needs = ", ".join(sorted(_methods() - set(dir(source))))
        lack = f"lacks {needs}" if needs else "is a class: make an object of it first"
        raise ParameterError(f"A game must be a name, a file, or have all methods of Game; {source!r} {lack}.")
    return source


def solve(
    game: Source | Any,
    algorithm: str | Algorithm = "cfr+",
    *,
    nash_conv: float | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    seed: int = 0,
    iterate: str = "average",
    folder: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Progress], None] | None = None,
) -> Solution:
    """Find an equilibrium; stop at the first limit reached, by default NashConv 1e-3.

    ``algorithm``: a name, ``"name(parameter=value,...)"``, or your own (see ``minimizer``).
    ``iterate``: report the "average" strategies, the "current" ones, or the "best" of both so far.
    ``folder``: keep checkpoints and the answer there, for ``resume``.

    >>> solution = solve("kuhn", "cfr+", nash_conv=1e-4)
    >>> solution.status, round(solution.value, 3)
    ('solved', -0.056)
    """
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(nash_conv=DEFAULT_NASH_CONV)
    return solve_game(load(game), algorithm, limits, Options(seed, iterate, folder, checkpoint_seconds, watch))


def resume(
    folder: str | Path,
    *,
    nash_conv: float | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    algorithm: str | Algorithm | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Progress], None] | None = None,
) -> Solution:
    """Go on with a run where it was stopped or killed, to the same bits as if it never had been.

    Without limits: to those the run had. ``seconds`` count from now, the other limits from the start of the run.
    ``algorithm``: your own one, if the run was started with it.
    """
    run = RunFolder.open(folder)
    source = run.request.source
    game = run.stored_game() if source is None else load(source)
    limits = Limits(nash_conv, seconds, iterations, nodes)
    options = Options(run.request.seed, run.request.iterate, folder, checkpoint_seconds, watch)
    return resume_run(run, game, limits, options, algorithm)


def grow(
    game: str | Abstraction | DealtGame,
    *,
    nash_conv: float | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    growth: Growth | None = None,
    folder: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[GrowthProgress], None] | None = None,
) -> GrownSolution:
    """Solve a game whose actions have sizes while the sizes that matter are found and added.

    ``game``: a name such as "continuous_leduc", whose sizes are those to start with, or an ``Abstraction`` of your own
    rules. ``growth``: how; see ``Growth``. ``folder``: keep checkpoints and the answer there, for ``regrow``.
    Limits are those of ``solve``; NashConv counts bets of every legal size.

    >>> solution = grow("continuous_leduc", iterations=200)
    >>> len(solution.additions) > 10, solution.nash_conv < 1.5
    (True, True)
    """
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(seconds=DEFAULT_GROWTH_SECONDS)
    return grow_game(sized_game(game), growth or Growth(), limits, folder, checkpoint_seconds, watch)


def regrow(
    folder: str | Path,
    *,
    nash_conv: float | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    game: Abstraction | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[GrowthProgress], None] | None = None,
) -> GrownSolution:
    """Go on with a run of ``grow`` where it was stopped or killed, to the same bits as if it never had been.

    ``game``: your own one, if the run was started with it.
    """
    start = sized_game(request(folder)[0]) if game is None else game
    return resume_growth(folder, start, Limits(nash_conv, seconds, iterations, nodes), checkpoint_seconds, watch)


def sized_game(game: str | Abstraction | DealtGame) -> Abstraction:
    """The game of that name, if its actions have sizes."""
    rules = make(game) if isinstance(game, str) else game
    if isinstance(rules, DealtGame):
        rules = rules.rules
    if not isinstance(rules, Abstraction):
        name = game if isinstance(game, str) else repr(game)
        raise ParameterError(f"Only a game whose actions have sizes can grow, such as continuous_leduc; got {name}.")
    return rules


def evaluate(game: Source | Any, policy: Policy | str | Path) -> Evaluation:
    """Value, best-response values and NashConv of a policy, or of one in a file: exact, in the game as given.

    >>> evaluate("kuhn", solve("kuhn", "lp").policy).nash_conv < 1e-12
    True
    """
    return evaluate_policy(load(game), policy if isinstance(policy, Policy) else Policy.load(policy))


def best_response(game: Source | Any, policy: Policy | str | Path, player: int) -> tuple[float, Policy]:
    """The most ``player`` can earn against the other's strategy, and ``policy`` with that best response in it.

    >>> value, _ = best_response("kuhn", solve("kuhn", "lp").policy, player=1)
    >>> round(value, 6)
    0.055556
    """
    if player not in (0, 1):
        raise ParameterError(f"The 'player' parameter must be 0 or 1, got {player!r}.")
    return respond(load(game), policy if isinstance(policy, Policy) else Policy.load(policy), player)


def explore(
    game: str | Path | Game | Any,
    algorithm: str = "pure-mccfr",
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    nodes: int | None = None,
    seed: int = 0,
    responses: int = RESPONSES,
    watch: Callable[[Moment], None] | None = None,
) -> Exploration:
    """Sample a game that is too large to compile, from its rules alone; only infosets that are visited take memory.

    ``algorithm``: "pure-mccfr", "mccfr-external", or "mccfr-outcome" for games of many moves. Quality is estimated:
    each player learns a response from ``responses`` walks and plays as many new games with it, which bounds NashConv
    from below.

    >>> found = explore("kuhn", iterations=2000)
    >>> found.nash_conv_at_least < 0.2
    True
    """
    limits = Limits(seconds=seconds, iterations=iterations, nodes=nodes)
    if not limits.any:
        limits = Limits(seconds=DEFAULT_SECONDS)
    return explore_game(rules(game), algorithm, limits, seed, responses, watch)


def merge(game: Source | Any, policies: Sequence[Policy | str | Path], shares: Sequence[float] | None = None) -> Policy:
    """Several policies, or files of them, averaged by reach into one: as good as drawing one before the game.

    >>> answers = [solve("kuhn", "pure-mccfr", iterations=300, seed=seed) for seed in range(8)]
    >>> together = evaluate("kuhn", merge("kuhn", [answer.policy for answer in answers]))
    >>> together.nash_conv < sum(answer.nash_conv for answer in answers) / 8
    True
    """
    loaded = [policy if isinstance(policy, Policy) else Policy.load(policy) for policy in policies]
    return merge_policies(load(game), loaded, shares)


def _methods() -> set[str]:
    return {name for name in vars(Game) if not name.startswith("_")}
