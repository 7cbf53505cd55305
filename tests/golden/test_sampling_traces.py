"""Iterates of every sampler and of the warm start, three ways: compiled kernels, recursions in Python, stored numbers.

As ``test_traces.py``, with the nodes touched so far in a row. A sampler's recursions draw the same random numbers; a
warm start's twin is written out below: CFR+ over the whole payoff matrix, with actions masked instead of taken out.
Write the numbers again after a deliberate change with

    python tests/golden/test_sampling_traces.py
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.registry import build
from treeplex.algorithms.traversals import Chance, PureExternal, Reached
from treeplex.compile import CompiledGame
from treeplex.engines.sampling.arrays import MATCH, PURE
from treeplex.engines.sampling.reference import random
from treeplex.engines.sampling.reference import sampling as book
from treeplex.engines.sampling.tree import sampling
from treeplex.engines.sequence.reference import treeplex as walks
from treeplex.games.protocol import CHANCE, Game
from treeplex.games.random_tree import RandomTree

STORED = Path(__file__).with_name("sampling_traces.json")
iterates = runpy.run_path(str(Path(__file__).parents[1] / "unit" / "test_sampling_kernels.py"))["iterates"]

GAMES: dict[str, str | Game] = {
    "kuhn": "kuhn",  # dealt: one tree for all hands
    "random_tree": RandomTree(seed=1, depth=5),  # by its histories
    "larger": RandomTree(seed=5, depth=8),
}
SEED = 7
ITERATES = (1, 2, 3, 4, 5, 40)

# By the name under which they are stored; 2 streams share nothing but the seed.
PLAIN = ["mccfr-external", "mccfr-outcome", "mccfr-average", "mccfr-chance", "pure-cfr", "pure-mccfr"]
SAMPLERS = {
    **{name: name for name in PLAIN[:-1]},
    "pure-mccfr": "pure-mccfr(weight=log,average=same)",
    "pure-mccfr, recent": "pure-mccfr",
    **{f"{name}, 2 streams": f"{name}(streams=2)" for name in PLAIN[:-1]},
    "pure-mccfr, 2 streams": "pure-mccfr(weight=log,average=same,streams=2)",
    **{f"{name}, at once": f"{name}(turns=simultaneous,weight=linear,average=same)" for name in PLAIN},
    **{f"{name}, floor": f"{name}(regret=plus,weight=square,average=same)" for name in PLAIN},
    **{f"{name}, correlated": f"{name}(chance=correlated,average=same)" for name in PLAIN if name != "pure-cfr"},
    "mccfr-external, correlated streams": "mccfr-external(chance=correlated,streams=2,turns=simultaneous)",
    "mccfr-outcome, no baseline": "mccfr-outcome(baseline=0,epsilon=0.3)",
    "mccfr-average, few moves": "mccfr-average(epsilon=0.3,tau=1,beta=2)",
    "mccfr-chance, idle at random": "mccfr-chance(fallback=random)",
    "mccfr-public": "mccfr-public(weight=linear)",
    "gibson-pure-cfr": "gibson-pure-cfr",
}

# An action is taken out after 20 iterations if it was played with probability below 3 / 20. The safe mode looks at the
# whole game 10, 15 and 22 iterations after that.
WARMUP = 20
WARM = {
    "warm-start, safe": "warm-start(warmup=20,elimination_threshold=3)",
    "warm-start, once": "warm-start(warmup=20,elimination_threshold=3,mode=unsafe)",
    "warm-start, external": "warm-start(warmup=20,elimination_threshold=3,sampler=mccfr-external)",
    "warm-start, 2 streams": "warm-start(warmup=20,elimination_threshold=3,streams=2)",
}
WARM_ITERATES = (1, 19, 20, 21, 22, 25, 30, 31, 35, 36, 45)

VARIANTS = [(game, name) for game in ("kuhn", "random_tree") for name in SAMPLERS]
VARIANTS += [("larger", name) for name in ("pure-cfr", *WARM)]  # a pure strategy tells little of what it was chosen by

Trace = list[dict[str, Any]]
"""For each of some iterates: nodes touched, average and current strategies of both players."""


def assembled(variant: str) -> Any:
    return build((SAMPLERS | WARM)[variant])


def at(variant: str) -> tuple[int, ...]:
    return WARM_ITERATES if variant in WARM else ITERATES


def row(nodes: int, average: Any, current: Any) -> dict[str, Any]:
    average, current = ([np.round(x, 13).tolist() for x in pair] for pair in (average, current))
    return {"nodes": int(nodes), "average": average, "current": current}


def compiled_trace(game: CompiledGame, variant: str) -> Trace:
    """As users get it: the assembly from the registry, compiled kernels."""
    algorithm, trace = assembled(variant), []
    state = algorithm.start(game, SEED)
    for t in range(1, at(variant)[-1] + 1):
        state = algorithm.advance(game, state, 1)
        if t in at(variant):
            nodes = algorithm.work(game, state).nodes
            trace.append(
                row(
                    nodes,
                    algorithm.report(game, state, "average").arrays,
                    algorithm.report(game, state, "current").arrays,
                )
            )
    return trace


def reference_trace(game: CompiledGame, variant: str) -> Trace:
    algorithm = assembled(variant)
    steps = explored(game, algorithm) if variant in SAMPLERS else warmed(game, algorithm, variant != "warm-start, once")
    return [row(*found) for t, found in enumerate(islice(steps, at(variant)[-1]), 1) if t in at(variant)]


# --- samplers --------------------------------------------------------------------------------------------------------


def explored(game: CompiledGame, algorithm: MonteCarlo) -> Iterator[tuple[int, Any, Any]]:
    """Nodes, average and current strategies of all streams by the recursions; the current ones are the first's."""
    form = sampling(game)
    sampler = algorithm.sampler
    rule = (
        sampler.rule if isinstance(sampler, Chance | Reached) else PURE if isinstance(sampler, PureExternal) else MATCH
    )
    for streams in zip(*(iterates(algorithm, game, SEED, stream) for stream in range(algorithm.streams)), strict=True):
        average, current = [], []
        for player, treeplex in enumerate(game.treeplexes):
            total = sum(stream.tables[player].average for stream in streams)[form.sequence_index[player]]
            if algorithm.recent:  # what was added since a mark, where anything was
                since = total - sum(stream.marks[player][1] for stream in streams)[form.sequence_index[player]]
                for start, end in pairwise(treeplex.first.tolist()):
                    if since[start:end].any():
                        total[start:end] = since[start:end]
            average.append(normalised(game, player, total))
            played = np.ones(treeplex.sequences)
            for start, width in zip(treeplex.first.tolist(), treeplex.actions.tolist(), strict=False):
                place = int(form.sequence_index[player][start])
                played[start : start + width] = book.played(streams[0].tables[player], place, width, rule)
            current.append(played)
        yield sum(int(stream.nodes[0]) for stream in streams), average, current


def normalised(game: CompiledGame, player: int, weights: Any) -> Any:
    out = np.empty(len(weights))
    walks.normalise(game.treeplexes[player], weights, out)
    return out


# --- warm start ------------------------------------------------------------------------------------------------------


class Masked:
    """One player of CFR+ on what is left of the game."""

    def __init__(self, game: CompiledGame, player: int, strategy: Any, least: float) -> None:
        self.treeplex = game.treeplexes[player]
        self.kept = np.ones(self.treeplex.sequences, dtype=bool)
        for own in self.infosets():
            self.kept[own] = (strategy[own] >= least) | (strategy[own] == strategy[own].max())
        self.regret, self.average = np.zeros(self.treeplex.sequences), np.zeros(self.treeplex.sequences)
        self.restart()

    def infosets(self) -> list[Any]:
        """Sequences of each infoset, parents first."""
        return [np.arange(start, end) for start, end in pairwise(self.treeplex.first)]

    def restart(self) -> None:
        """After actions were taken out or let in: which are left and what is played."""
        self.alive = self.kept.copy()
        for own, parent in zip(self.infosets(), self.treeplex.parent, strict=True):
            self.alive[own] &= self.alive[parent]
        self.match()

    def match(self) -> None:
        """Regret matching over what is left, and each sequence's probability."""
        self.behaviour, self.weights = np.zeros(len(self.kept)), np.zeros(len(self.kept))
        self.behaviour[0] = self.weights[0] = 1.0
        for own, parent in zip(self.infosets(), self.treeplex.parent, strict=True):
            left = own[self.alive[own]]
            if len(left):
                total = self.regret[left].sum()
                self.behaviour[left] = self.regret[left] / total if total > 0.0 else 1.0 / len(left)
                self.weights[left] = self.weights[parent] * self.behaviour[left]

    def iterate(self, earned: Any, weight: float) -> None:
        self.average += weight * self.weights
        values = earned.copy()
        for own, parent in reversed(list(zip(self.infosets(), self.treeplex.parent, strict=True))):
            left = own[self.alive[own]]
            if len(left):
                expected = self.behaviour[left] @ values[left]
                self.regret[left] = np.maximum(self.regret[left] + values[left] - expected, 0.0)
                values[parent] += expected
        self.match()

    def best(self, earned: Any, allowed: Any) -> Any:
        """[S] what every sequence is worth if the best of the allowed ones is played below."""
        values = earned.copy()
        for own, parent in reversed(list(zip(self.infosets(), self.treeplex.parent, strict=True))):
            if allowed[own].any():
                values[parent] += values[own[allowed[own]]].max()
        return values

    def lifted(self, played: Any, before: Any, paid: Any) -> Any:
        """``played``, but ``before`` at infosets without anything that is ``paid`` [S] at or below what is left."""
        alive, out = paid & self.alive, played.copy()
        for own, parent in reversed(list(zip(self.infosets(), self.treeplex.parent, strict=True))):
            if alive[own].any():
                alive[parent] = self.alive[parent]
            else:
                out[own] = before[own]
        return out


def warmed(game: CompiledGame, algorithm: Any, safe: bool) -> Iterator[tuple[int, Any, Any]]:
    """The sampler; then CFR+ without the actions it hardly played, with weights 1, 2, ... from there."""
    nodes, strategy = 0, None
    for nodes, strategy, current in islice(explored(game, algorithm.sampler), WARMUP - 1):
        yield nodes, strategy, current
    nodes, strategy, _ = next(islice(explored(game, algorithm.sampler), WARMUP - 1, None))
    rows = game.payoffs.rows
    matrix = np.zeros((game.treeplexes[0].sequences, game.treeplexes[1].sequences))
    matrix[np.repeat(np.arange(len(matrix)), np.diff(rows.start)), rows.column] = rows.data
    players = [Masked(game, player, strategy[player], 3 / WARMUP) for player in (0, 1)]

    def earned(player: int, weights: Any) -> Any:
        return matrix @ weights if player == 0 else -matrix.T @ weights

    def answers(played: Any) -> list[Any]:
        paid = [(matrix[:, players[1].alive] != 0).any(axis=1), (matrix[players[0].alive] != 0).any(axis=0)]
        return [one.lifted(mine, *parts) for one, mine, *parts in zip(players, played, strategy, paid, strict=True)]

    def averages() -> list[Any]:
        return answers([normalised(game, player, players[player].average) for player in (0, 1)])

    look, size = 10, histories_left(game, players)
    yield nodes, averages(), answers([one.behaviour for one in players])
    for t in range(1, 10**6):
        for player, one in enumerate(players):
            one.iterate(earned(player, players[1 - player].weights), float(t))
        nodes += 2 * size
        if safe and t == look:
            look = max(look + 1, int(1.5 * look))
            average, weights = averages(), [np.empty(len(one.kept)) for one in players]
            for player in (0, 1):
                walks.realization_plan(game.treeplexes[player], average[player], weights[player])
            gains = [earned(player, weights[1 - player]) for player in (0, 1)]
            whole = [one.best(gain, np.ones_like(one.kept)) for one, gain in zip(players, gains, strict=True)]
            within = [one.best(gain, one.alive) for one, gain in zip(players, gains, strict=True)]
            if sum(value[0] for value in whole) > 2.0 * max(sum(value[0] for value in within), 0.0):
                for one, value in zip(players, whole, strict=True):
                    for own in one.infosets():
                        bar = value[own[one.kept[own]]].max() + 1e-12 * game.largest_payoff
                        one.kept[own] |= value[own] > bar
                    one.restart()
                size = histories_left(game, players)
        yield nodes, averages(), answers([one.behaviour for one in players])


def histories_left(game: CompiledGame, players: list[Masked]) -> int:
    tree, place = game.tree, [0] * game.tree.nodes
    alive = [True] * game.tree.nodes
    for node in range(1, tree.nodes):
        above = int(tree.parent[node])
        mover, k = int(tree.mover[above]), place[above]
        place[above] += 1
        goes = mover == CHANCE or players[mover].kept[game.treeplexes[mover].first[tree.infoset[above]] + k]
        alive[node] = alive[above] and bool(goes)
    return sum(alive)


# --- the traces ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def games() -> dict[str, CompiledGame]:
    return {name: tp.load(rules) for name, rules in GAMES.items()}


@pytest.fixture(scope="module")
def stored() -> dict[tuple[str, str], Trace]:
    """By game and variant."""
    found = json.loads(STORED.read_text())
    return {
        (game, variant): trace
        for game, kinds in found.items()
        for traces in kinds.values()
        for variant, trace in traces.items()
    }


@pytest.fixture(scope="module", params=VARIANTS, ids=": ".join)
def case(request, games) -> tuple[Any, Trace, Trace]:
    """A game and a variant, the compiled and the reference trace."""
    game, variant = request.param
    return request.param, compiled_trace(games[game], variant), reference_trace(games[game], variant)


def assert_same(ours: Trace, theirs: Trace) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        assert mine["nodes"] == other["nodes"]
        for kind in ("average", "current"):
            for left, right in zip(mine[kind], other[kind], strict=True):
                np.testing.assert_allclose(left, right, rtol=0, atol=1e-11)


def test_kernels_follow_the_reference(case) -> None:
    _, ours, reference = case
    assert_same(ours, reference)


def test_the_reference_has_not_changed(case, stored) -> None:
    key, _, reference = case
    assert_same(stored[key], reference)


def test_all_are_stored_and_differ(stored) -> None:
    assert set(stored) == set(VARIANTS)
    assert len({json.dumps(trace) for trace in stored.values()}) == len(VARIANTS)


@pytest.mark.parametrize("name", PLAIN)
def test_streams_are_added_up(name, stored) -> None:
    """Two streams touch more nodes than one, whose strategies are still the current ones."""
    one, two = stored["kuhn", name], stored["kuhn", f"{name}, 2 streams"]
    for alone, both in zip(one, two, strict=True):
        assert both["nodes"] > alone["nodes"]
        assert both["current"] == alone["current"]
    assert two[-1]["average"] != one[-1]["average"]


def test_moves_are_left_out_and_strategies_are_pure(stored, games, monkeypatch) -> None:
    """Average-strategy sampling tries some moves only; both Pure algorithms play one action everywhere."""
    tossed: list[bool] = []

    class Watched(random.Draws):
        def coin(self, p: float) -> bool:
            tossed.append(super().coin(p))
            return tossed[-1]

    monkeypatch.setattr(random, "Draws", Watched)
    reference_trace(games["random_tree"], "mccfr-average, few moves")
    assert {True, False} <= set(tossed)
    for (_, variant), trace in stored.items():
        if variant.startswith("pure"):
            assert {p for line in trace for strategy in line["current"] for p in strategy} == {0.0, 1.0}


def test_warm_starts_take_actions_out_and_let_some_back_in(games) -> None:
    """Once: what is out at the switch stays out. Safe: a look lets some in, before the last iterate stored."""
    left = {}
    for variant in WARM:
        algorithm, game = assembled(variant), games["larger"]
        state, left[variant] = algorithm.start(game, SEED), []
        for count in (WARMUP, WARM_ITERATES[-1] - WARMUP):
            state = algorithm.advance(game, state, count)
            left[variant].append(sum(int(mask.sum()) for mask in state.kept))
    whole = sum(treeplex.sequences for treeplex in games["larger"].treeplexes)
    assert all(counts[0] < whole for counts in left.values())
    assert left["warm-start, once"][0] == left["warm-start, once"][1]
    for variant in ("warm-start, safe", "warm-start, external", "warm-start, 2 streams"):
        assert left[variant][0] < left[variant][1]


if __name__ == "__main__":
    loaded: dict[str, Any] = {name: tp.load(rules) for name, rules in GAMES.items()}
    found: dict[str, Any] = {name: {} for name in GAMES}
    for where, each in VARIANTS:
        kind = found[where].setdefault(each.partition(",")[0], {})
        kind[each] = reference_trace(loaded[where], each)
    STORED.write_text(json.dumps(found, separators=(",", ":")).replace('{"nodes"', '\n{"nodes"') + "\n")
