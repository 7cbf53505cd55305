"""Iterates 1 to 5 of every algorithm on arrays, three ways: compiled kernels, NumPy reference, numbers in traces.json.

Those that walk over histories are in ``test_walk_traces.py``, samplers and the warm start in
``test_sampling_traces.py``; ``test_every_iterative_algorithm_has_a_stored_trace`` counts them all.

For the CFR family there is a fourth, which shares nothing with the others: the recursion over histories of the papers,
written out below. The stored numbers come from the reference; write them again after a deliberate change with

    python tests/golden/test_traces.py
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.compile import CompiledGame
from treeplex.compile.payoffs import Payoffs
from treeplex.engines.sequence.reference import excessive_gap, iterations, learn, mirror
from treeplex.engines.sequence.reference import treeplex as walks
from treeplex.evaluation import Policy
from treeplex.games.catalog import make
from treeplex.games.protocol import CHANCE, TERMINAL, Game
from treeplex.games.random_tree import RandomTree
from treeplex.updates.rule import Rule
from treeplex.updates.turns import SIMULTANEOUS

STORED = Path(__file__).with_name("traces.json")
ITERATIONS = 5
ALL_STORED = [STORED, *(STORED.with_name(f"{kind}_traces.json") for kind in ("walk", "sampling"))]
WALKS = ("lazy-cfr", "-full", "-partial", "-rbp", "-zero-reach-br", "-dt", "-hybrid")  # test_walk_traces.py, test_hybrid.py
SAMPLED = ("mccfr-", "gibson-", "pure-", "warm-start")  # test_sampling_traces.py
ITERATIVE = [
    name
    for name, entry in ALGORITHMS.items()
    if not entry.build().ends and not name.endswith(WALKS) and not name.startswith(SAMPLED) and name != "auto"
]

# Where two best actions are worth the same, or a regret is zero but for rounding, rounding decides and two correct
# programs may part. The random tree has no such ties. Kuhn has many; there only those probabilities are compared that
# do not depend on them (``settled``).
GAMES: dict[str, Game] = {"kuhn": make("kuhn"), "random_tree": RandomTree(seed=1, depth=5)}

Trace = list[dict[str, list[list[float]]]]
"""For each iteration: average and current strategies of both players, in the order of sequences."""


def flat(trace: Trace) -> Any:
    """[iteration, probability] of a trace."""
    return np.array([np.concatenate([*row["average"], *row["current"]]) for row in trace])


def compiled_trace(game: CompiledGame, algorithm: str) -> Trace:
    """As users get it: the assembly from the registry, compiled kernels."""
    assembled: Any = build(f"{algorithm}(every=2)" if algorithm.endswith("-restarted") else algorithm)
    trace: Trace = []
    state = assembled.start(game)
    for _ in range(ITERATIONS):
        state = assembled.advance(game, state, 1)
        average, current = (
            assembled.report(game, state, "average").arrays,
            assembled.report(game, state, "current").arrays,
        )
        trace.append({"average": [x.tolist() for x in average], "current": [x.tolist() for x in current]})
    return trace


def reference_trace(game: CompiledGame, algorithm: str) -> Trace:
    """The same with every kernel exchanged for its NumPy twin, and the sparse payoffs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treeplex.engines.sequence.engine.iterate", iterations.iterate)
        patch.setattr("treeplex.engines.sequence.engine.rule_calls", learn.rule_calls)
        patch.setattr("treeplex.engines.sequence.engine.hedge_rules", learn.rule_calls)
        patch.setattr("treeplex.algorithms.best_response.iterate", iterations.iterate)
        patch.setattr("treeplex.algorithms.excessive_gap.begin", excessive_gap.begin)
        patch.setattr("treeplex.algorithms.excessive_gap.gap_iterations", excessive_gap.gap_iterations)
        patch.setattr("treeplex.algorithms.mirror.mirror_iterations", mirror.mirror_iterations)
        patch.setattr("treeplex.engines.sequence.learners.walks", walks)
        patch.setattr("treeplex.algorithms.restarted.walks", walks)
        return compiled_trace(replace(game, blocks=None), algorithm)


def perturbed(game: CompiledGame, rng: np.random.Generator) -> CompiledGame:
    """The game with every payoff changed by about a millionth of a millionth of itself: more than rounding does."""
    rows = game.payoffs.rows
    row = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    data = rows.data * (1.0 + 1e-12 * rng.standard_normal(len(row)))
    shape = (game.treeplexes[0].sequences, game.treeplexes[1].sequences)
    return replace(game, blocks=None, make_payoffs=lambda: Payoffs.gather(shape, row, rows.column, data))


class Case(NamedTuple):
    """A game and an algorithm, with the reference's iterates and which of their numbers rounding cannot change."""

    game: str
    compiled: CompiledGame
    algorithm: str
    expected: Any  # [iteration, probability]
    settled: Any  # the same shape: does it move no more than the payoffs do?


@pytest.fixture(scope="module", params=[(name, algorithm) for name in GAMES for algorithm in ITERATIVE], ids="-".join)
def case(request) -> Case:
    name, algorithm = request.param
    game, rng = tp.load(GAMES[name]), np.random.default_rng(0)
    expected = flat(reference_trace(game, algorithm))
    others = [flat(reference_trace(perturbed(game, rng), algorithm)) for _ in range(10)]
    return Case(name, game, algorithm, expected, np.abs(np.array(others) - expected).max(axis=0) < 1e-9)


def test_kernels_follow_the_reference(case) -> None:
    ours = flat(compiled_trace(case.compiled, case.algorithm))
    np.testing.assert_allclose(ours[case.settled], case.expected[case.settled], rtol=0, atol=1e-12)


def test_the_reference_has_not_changed(case) -> None:
    stored = flat(json.loads(STORED.read_text())[case.game][case.algorithm])
    np.testing.assert_allclose(stored[case.settled], case.expected[case.settled], rtol=0, atol=1e-12)


def test_enough_is_compared(case) -> None:
    """All of the random tree; in Kuhn, with its ties, at least a third of every iteration."""
    assert case.settled.mean(axis=1).min() >= (1.0 if case.game == "random_tree" else 1 / 3)


def test_every_algorithm_is_stored_and_all_differ() -> None:
    stored = json.loads(STORED.read_text())
    assert set(stored) == set(GAMES)
    for traces in stored.values():
        assert set(traces) == set(ITERATIVE)
    random = {name: json.dumps(trace) for name, trace in stored["random_tree"].items()}
    assert len(set(random.values())) == len(ITERATIVE)


def test_every_iterative_algorithm_has_a_stored_trace() -> None:
    """In one of the files of this folder: by game, then by the algorithm's name.

    Hybrids are two of them in a row: ``test_hybrid.py`` has the bits of both parts. ``auto`` is several of them side by
    side: ``tests/unit/test_auto.py`` has theirs. ``tests/unit/test_lazy.py`` holds Lazy-CFR against its definition.
    """
    games = [algorithms for path in ALL_STORED for algorithms in json.loads(path.read_text()).values()]
    found = {name for algorithms in games for name, trace in algorithms.items() if trace}
    iterative = {name for name, entry in ALGORITHMS.items() if not entry.build().ends}
    assert found == {name for name in iterative if not name.endswith("-hybrid")} - {"auto", "lazy-cfr"}


# --- the papers' recursion -------------------------------------------------------------------------------------------


class Textbook:
    """CFR as the papers tell it, over histories, with dictionaries: slow and obvious.

    Zinkevich et al. 2007, eq. (7) and (8): counterfactual regrets and regret matching. Tammelin 2014, section 2: regret
    matching+, averages weighted by max(t - delay, 0). Brown & Sandholm 2019, section 4: discounts after iteration t.
    Xu et al. 2024: the last regret again as prediction, inside an infoset; Meng et al. 2025: a third of it. Zhang,
    McAleer & Sandholm 2024, eq. (4), with a ``horizon``: exponents that move, and an average that is multiplied by
    (t / (t + 1))^gamma_t after every iteration, or with ``power`` weighted by t^gamma_t. ``before``: all discounts of t
    are applied before anything is added.
    """

    def __init__(
        self, game: Game, *, plus: bool = False, predict: float = 0.0, alpha: float | None = None,
        beta: float | None = None, rise: float = 0.0, gamma: float = 0.0, simultaneous: bool = False, delay: int = 0,
        horizon: int = 0, before: bool = False, power: bool = False,
    ) -> None:  # fmt: skip
        self.game, self.plus, self.predict, self.horizon, self.before = game, plus, predict, horizon, before
        self.power = power
        self.alpha, self.beta, self.rise, self.gamma = alpha, beta, rise, gamma
        self.simultaneous, self.delay = simultaneous, delay
        self.regret: dict[Any, dict[str, float]] = {}
        self.strategy: dict[Any, dict[str, float]] = {}
        self.total: dict[Any, dict[str, float]] = {}
        self.now: dict[Any, dict[str, float]] = {}
        self._meet(game.root())

    def _meet(self, history: Any) -> None:
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return
        actions = list(self.game.actions(history))
        if mover != CHANCE:
            infoset = (mover, self.game.infoset(history))
            self.regret[infoset] = dict.fromkeys(actions, 0.0)
            self.total[infoset] = dict.fromkeys(actions, 0.0)
            self.strategy[infoset] = dict.fromkeys(actions, 1.0 / len(actions))
        for action in actions:
            self._meet(self.game.child(history, action))

    def _walk(self, history: Any, reach: tuple[float, float, float], learning: tuple[int, ...], t: int) -> float:
        """Player 0's expected payoff below ``history``; ``reach`` holds what both players and chance contribute."""
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return float(self.game.payoff(history))  # pyright: ignore[reportArgumentType]
        actions = list(self.game.actions(history))
        if mover == CHANCE:
            chances = self.game.probabilities(history)
            return sum(
                p * self._walk(self.game.child(history, a), (reach[0], reach[1], reach[2] * p), learning, t)
                for a, p in zip(actions, chances, strict=True)
            )
        infoset = (mover, self.game.infoset(history))
        sigma = self.strategy[infoset]
        below = {}
        for a in actions:
            after = tuple(r * sigma[a] if k == mover else r for k, r in enumerate(reach))
            below[a] = self._walk(self.game.child(history, a), after, learning, t)  # pyright: ignore[reportArgumentType]
        value = sum(sigma[a] * below[a] for a in actions)
        if mover in learning:
            others = reach[1 - mover] * reach[2]
            sign = 1.0 if mover == 0 else -1.0
            for a in actions:
                self.now.setdefault(infoset, defaultdict(float))[a] += others * sign * (below[a] - value)
                # Every history of an infoset has the same own reach; the average wants it once an infoset.
            if infoset not in self.counted:
                self.counted.add(infoset)
                for a in actions:
                    self.total[infoset][a] += self._weight(t) * reach[mover] * sigma[a]
        return value

    def _weight(self, t: int) -> float:
        if self.power:
            return t ** self._exponents(t)[2]
        return 1.0 if self.horizon or self.before else max(t - self.delay, 0) ** self.gamma

    def _exponents(self, t: int) -> tuple[float | None, float | None, float]:
        """alpha, beta, gamma at iteration t."""
        if not self.horizon:
            return self.alpha, self.beta and self.beta * t / (t + self.rise), self.gamma
        progress = min(t / self.horizon, 1.0)
        moving = (None, None) if self.alpha is None else (1 + 3 * progress, -1 - 2 * progress)
        return *moving, self.gamma - 5 * progress

    def _discounted(self, regret: float, t: int) -> float:
        alpha, beta, _ = self._exponents(t)
        power = alpha if regret > 0 else beta
        return regret if power is None else regret * t**power / (t**power + 1)

    def iterate(self, t: int) -> None:
        fading = (t / (t + 1)) ** self._exponents(t)[2] if self.horizon or self.before else 1.0
        fading = 1.0 if self.power else fading
        if self.before:
            self._fade(fading)
            for table in self.regret.values():
                table.update({a: self._discounted(r, t) for a, r in table.items()})
        self._learn(t)
        if not self.before:
            self._fade(fading)

    def _fade(self, factor: float) -> None:
        for table in self.total.values():
            table.update({a: factor * x for a, x in table.items()})

    def _learn(self, t: int) -> None:
        for learning in ((0, 1),) if self.simultaneous else ((0,), (1,)):
            self.now, self.counted = {}, set()
            self._walk(self.game.root(), (1.0, 1.0, 1.0), learning, t)
            for infoset, gains in self.now.items():
                hope = self.update(infoset, gains, t)
                norm = sum(hope.values())
                self.strategy[infoset] = {a: h / norm if norm > 0 else 1 / len(hope) for a, h in hope.items()}

    def update(self, infoset: Any, gains: dict[str, float], t: int) -> dict[str, float]:
        """New regrets; what the next strategy is in proportion to."""
        regret, hope = self.regret[infoset], {}
        for a, gain in gains.items():
            r = regret[a] + gain
            if self.plus:
                r = max(r, 0.0)
            regret[a] = r if self.before else self._discounted(r, t)
            kept = self._discounted(r, t + 1) if self.before else regret[a]  # what the next r is added to
            hope[a] = max(kept + self.predict * gain, 0.0)
        return hope

    def policy(self, game: CompiledGame, table: dict[Any, dict[str, float]]) -> Any:
        rows = []
        for (player, infoset), actions in table.items():
            norm = sum(actions.values())
            rows += [(player, infoset, a, x / norm if norm > 0 else 1 / len(actions)) for a, x in actions.items()]
        return [x.tolist() for x in Policy.from_rows(rows).aligned(game)]


PAPERS = {
    "cfr": {},
    "cfr+": {"plus": True, "gamma": 1.0},
    "cfr+(delay=2)": {"plus": True, "gamma": 1.0, "delay": 2},
    "dcfr(alpha=2,beta=0.5,gamma=3)": {"alpha": 2.0, "beta": 0.5, "gamma": 3.0},
    "dcfr(alpha=1.4,beta=0.5,gamma=4,rise=3)": {"alpha": 1.4, "beta": 0.5, "rise": 3.0, "gamma": 4.0},
    "lcfr": {"alpha": 1.0, "beta": 1.0, "gamma": 1.0},
    "dcfr": {"alpha": 1.5, "beta": 0.0, "gamma": 2.0},
    "pcfr+": {"plus": True, "predict": 1.0, "gamma": 2.0},
    "pdcfr+": {"plus": True, "predict": 1.0, "alpha": 2.3, "gamma": 5.0},
    "sapcfr+": {"plus": True, "predict": 1.0 / 3.0, "gamma": 2.0},
    "sapcfr+(predict=0.16666666666666666)": {"plus": True, "predict": 1.0 / 6.0, "gamma": 2.0},
    "hs-dcfr": {"alpha": 1.0, "gamma": 30.0, "horizon": 1000},
    "hs-dcfr(horizon=3)": {"alpha": 1.0, "gamma": 30.0, "horizon": 3},
    "hs-dcfr(gamma=15,horizon=10)": {"alpha": 1.0, "gamma": 15.0, "horizon": 10},
    "hs-dcfr(horizon=4,weight=power)": {"alpha": 1.0, "gamma": 30.0, "horizon": 4, "power": True},
    "hs-pcfr+": {"plus": True, "predict": 1.0, "gamma": 30.0, "horizon": 1000},
    "hs-pcfr+(gamma=15,horizon=4)": {"plus": True, "predict": 1.0, "gamma": 15.0, "horizon": 4},
    "lcfr(discount=before)": {"alpha": 1.0, "beta": 1.0, "gamma": 1.0, "before": True},
    "dcfr(discount=before)": {"alpha": 1.5, "beta": 0.0, "gamma": 2.0, "before": True},
    "pdcfr+(discount=before)": {"plus": True, "predict": 1.0, "alpha": 2.3, "gamma": 5.0, "before": True},
    "hs-dcfr(horizon=3,discount=before)": {"alpha": 1.0, "gamma": 30.0, "horizon": 3, "before": True},
    "hs-pcfr+(horizon=3,discount=before)": {"plus": True, "predict": 1.0, "gamma": 30.0, "horizon": 3, "before": True},
}


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", PAPERS)
def test_the_recursion_of_the_papers_gives_the_same(algorithm, turns) -> None:
    rules = GAMES["random_tree"]
    game, book = tp.load(rules), Textbook(rules, simultaneous=turns == "simultaneous", **PAPERS[algorithm])
    trace: Trace = []
    for t in range(1, ITERATIONS + 1):
        book.iterate(t)
        trace.append({"average": book.policy(game, book.total), "current": book.policy(game, book.strategy)})
    name, _, options = algorithm.removesuffix(")").partition("(")
    ours = compiled_trace(game, f"{name}({options}{',' if options else ''}turns={turns})")
    np.testing.assert_allclose(flat(ours), flat(trace), rtol=0, atol=1e-12)


def test_every_algorithm_of_the_family_is_in_the_papers() -> None:
    """Rules that are functions: ``test_robust_traces.py``."""
    assembled: dict[str, Any] = {name: build(name) for name in ITERATIVE}
    family = {name for name, made in assembled.items() if isinstance(made, CFR) and not isinstance(made.rule, Rule)}
    assert {name for name in PAPERS if "(" not in name} == family


def test_turns_matter() -> None:
    """Otherwise the test above would not tell them apart."""
    game = tp.load(GAMES["random_tree"])
    taken, at_once = (compiled_trace(game, f"cfr(turns={turns})") for turns in ("alternating", "simultaneous"))
    assert taken != at_once
    assert build("cfr(turns=simultaneous)").turns == SIMULTANEOUS


if __name__ == "__main__":
    traces = {name: {a: reference_trace(tp.load(rules), a) for a in ITERATIVE} for name, rules in GAMES.items()}
    STORED.write_text(json.dumps(traces, separators=(",", ":")).replace('{"average"', '\n{"average"') + "\n")
