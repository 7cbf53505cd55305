"""Iterates of every algorithm that walks over histories, three ways: compiled kernels, NumPy reference, stored numbers.

As ``test_traces.py``, with more in a row: the nodes touched so far, and what is pruned. Turns are named, because they
are an option of the walks. The last iterates are late enough that pruning has begun and ended, and thresholds have cut;
``test_walks_do_what_they_are_called_after`` asserts it. Write the numbers again after a deliberate change with

    python tests/golden/test_walk_traces.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.excessive_gap import ExcessiveGap
from treeplex.algorithms.mirror import MirrorProx
from treeplex.algorithms.registry import build
from treeplex.algorithms.walk import WalkCFR
from treeplex.compile import CompiledGame
from treeplex.engines.history.paths import paths
from treeplex.engines.history.reference import prune
from treeplex.engines.history.reference.functions import FunctionLearner
from treeplex.engines.history.reference.nested import NestedLearner
from treeplex.engines.sequence.first_order import LONGEST_STEP, STEP_GROWTH
from treeplex.engines.sequence.reference import excessive_gap as gap
from treeplex.engines.sequence.reference import mirror
from treeplex.engines.sequence.reference import treeplex as walks
from treeplex.engines.sequence.rules import payoff_range
from treeplex.games.protocol import CHANCE
from treeplex.games.random_tree import RandomTree
from treeplex.updates.rule import Rule

STORED = Path(__file__).with_name("walk_traces.json")

# No two actions are worth the same. Best responses in zero-reach sequences wait for regrets below minus the range of
# payoffs, so they have a game of their own, in which that comes to pass in every variant, and a later last iterate.
GAMES = {"random_tree": RandomTree(seed=1, depth=5), "zero-reach": RandomTree(seed=90, depth=5)}
ITERATES = {"random_tree": (1, 2, 3, 4, 5, 20), "zero-reach": (1, 2, 3, 4, 5, 120)}

TURNS = ("simultaneous", "alternating")
WALKED = (
    *("full", "partial", "zero-reach-br", "rbp", "rbp,threshold=0", "rbp,threshold=2,bound=expected"),
    *("rbp,threshold=0,longest=3", "rbp,threshold=0,length=guaranteed"),
    "rbp,threshold=0,stretch=3",
    *("nested-rbp,threshold=0", "nested-rbp,threshold=2,bound=expected", "nested-rbp,threshold=0,longest=4"),
)
WALKS = [f"{base}-{walk},turns={turns}" for base in ("cfr", "cfr+") for walk in WALKED for turns in TURNS] + [
    f"{walk},turns={turns}"
    for walk in (
        "hedge-dt,d=2",
        "hedge-dt,d=4,rate=theory",
        "rm-dt,d=2",
        "hedge-dt-rbp",
        "hedge-dt-rbp,d=3,threshold=3,bound=expected",
        "rm-dt-rbp,d=2,threshold=2",
        "rm+-dt,d=30",
        "pcfr+-dt,d=30",
    )
    for turns in TURNS
]
GAPS = ["egt-dt,c=0.3", "egt-dt,c=0.3,steps=theory", "mirror-prox-dt,c=0.3", "omd-dt,c=0.3"]
VARIANTS = [*WALKS, *GAPS]

Trace = list[dict[str, Any]]
"""For each of some iterates: nodes touched, sequences pruned, average and current strategies of both players."""


def game_of(variant: str) -> str:
    return "zero-reach" if "zero-reach" in variant else "random_tree"


def spec(variant: str) -> str:
    """``name(parameter=value,...)``."""
    name, _, options = variant.partition(",")
    return f"{name}({options})"


def row(nodes: int, pruned: Any, average: Any, current: Any) -> dict[str, Any]:
    return {
        "nodes": int(nodes),
        "pruned": [np.flatnonzero(mask).tolist() for mask in pruned],
        "average": [np.round(x, 13).tolist() for x in average],
        "current": [np.round(x, 13).tolist() for x in current],
    }


def compiled_trace(game: CompiledGame, algorithm: str, at: tuple[int, ...]) -> Trace:
    """As users get it: the assembly from the registry, compiled kernels."""
    assembled: Any = build(algorithm)
    state, trace = assembled.start(game), []
    for t in range(1, at[-1] + 1):
        state = assembled.advance(game, state, 1)
        if t in at:
            pruned = [tables.pruned for tables in state.tables] if hasattr(state, "tables") else []
            nodes, average = assembled.nodes_touched(game, state), assembled.average(game, state)
            trace.append(row(nodes, pruned, average, assembled.current(game, state)))
    return trace


def reference_trace(game: CompiledGame, algorithm: str, at: tuple[int, ...]) -> Trace:
    """The same rule, weights and turns, by the paper's recursions in NumPy."""
    assembled: Any = build(algorithm)
    if isinstance(assembled, ExcessiveGap | MirrorProx):
        return exchanged_trace(game, algorithm, at)
    trace = []
    for t, (nodes, ledgers) in zip(range(1, at[-1] + 1), walk_reference(game, assembled), strict=False):
        if t in at:
            average = [behaviour(game, player, ledgers[player].average) for player in (0, 1)]
            trace.append(row(nodes, [book.pruned for book in ledgers], average, [book.strategy for book in ledgers]))
    return trace


def behaviour(game: CompiledGame, player: int, weights: Any) -> Any:
    out = np.empty(len(weights))
    walks.normalise(game.treeplexes[player], weights, out)
    return out


def newborns(game: CompiledGame) -> tuple[prune.Ledger, prune.Ledger]:
    first, second = (
        prune.ledger(treeplex, behaviour(game, player, np.zeros(treeplex.sequences)))
        for player, treeplex in enumerate(game.treeplexes)
    )
    return first, second


def sides(game: CompiledGame, bound: str) -> Any:
    return tuple(side._replace(best=side.expected) if bound == "expected" else side for side in paths(game).sides)


def walk_reference(game: CompiledGame, assembled: WalkCFR) -> Iterator[tuple[int, Any]]:
    ledgers, nodes, traversal = newborns(game), 0, assembled.traversal
    rule, state = assembled.minimizer, assembled.start(game)
    rules = [assembled.player(game, state, player).rule for player in (0, 1)]
    parts = zip(game.treeplexes, sides(game, traversal.bound), ledgers, rules, strict=True)
    first, second = (
        FunctionLearner(*own, traversal.pruning, rule, rule.constants_of(payoff_range(game)))
        if isinstance(rule, Rule)
        else prune.PrunedLearner(*own, traversal.pruning)
        for own in parts
    )
    if traversal.nested:
        first, second = NestedLearner(first), NestedLearner(second)
    for t in range(10**6):
        power = {"rm+-dt": 1, "pcfr+-dt": 2}.get(getattr(rule, "name", ""), int(rules[0].plus))
        weight = np.array([(t + 1.0) ** power])  # CFR averages evenly, CFR+ by the iteration, PCFR+ by its square
        nodes += prune.walk_iterations(paths(game).tree, game.payoffs, (first, second), t, weight, assembled.turns)
        yield nodes, ledgers


# --- first-order methods, cut ----------------------------------------------------------------------------------------


def exchanged_trace(game: CompiledGame, algorithm: str, at: tuple[int, ...]) -> Trace:
    """The assembly with its kernels exchanged for the steps of the reference, on gradients by the recursion below."""

    def gradient(side: Any, sign: float, opponent: Any, values: Any) -> None:
        entered = cut_gradient(game, 0 if sign > 0.0 else 1, opponent, side.limit[0], values)
        counts.append(entered)
        side.entered[0] += entered

    counts: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gap, "gradient", gradient)
        patch.setattr(mirror, "gradient", gradient)
        patch.setattr("treeplex.algorithms.mirror.mirror_iterations", mirror.mirror_iterations)
        patch.setattr("treeplex.algorithms.excessive_gap.begin", gap.begin)
        patch.setattr(
            "treeplex.algorithms.excessive_gap.gap_iterations", lambda *given: cut_steps(patch, counts, *given)
        )
        return compiled_trace(game, algorithm, at)


def cut_gradient(game: CompiledGame, player: int, opponent: Any, least: float, values: Any) -> int:
    """What the player's sequences earn where chance and opponent come with probability ``least`` or more.

    ``values`` [S] is modified in place; returns how many histories were entered.
    """
    tree, sign, entered = game.tree, 1.0 - 2.0 * player, 0
    values[:] = 0.0
    ways = [(0, 1.0, (0, 0))]  # a history, chance's probability, both players' last sequences
    while ways:
        node, chance, last = ways.pop()
        reach = chance * opponent[last[1 - player]]
        if reach < least:
            continue
        entered += 1
        if tree.size[node] == 1:
            values[last[player]] += sign * reach * tree.payoff[node]
        child, mover = node + 1, int(tree.mover[node])
        for place in range(int((tree.parent == node).sum())):
            after = list(last)
            if mover != CHANCE:
                after[mover] = int(game.treeplexes[mover].first[tree.infoset[node]]) + place
            ways.append((child, chance * float(tree.probability[child]), (after[0], after[1])))
            child += int(tree.size[child])
    return entered


def cut_steps(
    patch: pytest.MonkeyPatch, counts: list[int], players: Any, pace: Any, start: int, count: int, terms: Any
) -> int:
    """Steps ``start + 1`` on: gradients of step t are cut at c / t.

    With adaptive steps, as cut gradients are no sure guide: step t, from 1, is at most 4 / (t + 3) long, and one of at
    most 1 / (t + 2) is taken whatever the gap.
    """
    for t in range(start + 1, start + count + 1):
        terms.limit[0] = terms.cut / t
        player = (t - 1) % 2
        if terms.adaptive:
            player = 0 if pace.smoothing[0] >= pace.smoothing[1] else 1
            pace.step[0] = min(pace.step[0], 4.0 / (t + 3.0))
            patch.setattr(gap, "SHORTEST_STEP", 1.0 / (t + 2.0))
        else:
            pace.step[0] = 2.0 / (t + 2.0)
        while not gap.shrink(players, pace, player, terms):
            pace.step[0] *= 0.5
            again = len(counts)
            players[0][0].side.entered[0] -= counts[again - 3]  # the response of a step does not depend on its length
        if terms.adaptive:
            pace.step[0] = min(LONGEST_STEP, STEP_GROWTH * pace.step[0])
    return 0


# --- the traces ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def games() -> dict[str, CompiledGame]:
    return {name: tp.load(rules) for name, rules in GAMES.items()}


@pytest.fixture(scope="module")
def stored() -> dict[str, Trace]:
    """By variant."""
    found = json.loads(STORED.read_text())
    assert set(found) == set(GAMES)
    return {
        variant: trace for kinds in found.values() for traces in kinds.values() for variant, trace in traces.items()
    }


@pytest.fixture(scope="module", params=VARIANTS)
def case(request, games) -> tuple[str, Trace, Trace]:
    """A variant, its compiled and its reference trace."""
    game = game_of(request.param)
    given = games[game], spec(request.param), ITERATES[game]
    return request.param, compiled_trace(*given), reference_trace(*given)


def assert_same(ours: Trace, theirs: Trace) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        assert mine["nodes"] == other["nodes"]
        assert mine["pruned"] == other["pruned"]
        for kind in ("average", "current"):
            for left, right in zip(mine[kind], other[kind], strict=True):
                np.testing.assert_allclose(left, right, rtol=0, atol=1e-11)


def test_kernels_follow_the_reference(case) -> None:
    _, ours, reference = case
    assert_same(ours, reference)


def test_the_reference_has_not_changed(case, stored) -> None:
    variant, _, reference = case
    assert_same(stored[variant], reference)


def test_all_are_stored_and_differ(stored) -> None:
    assert set(stored) == set(VARIANTS)
    assert len({json.dumps(trace) for trace in stored.values()}) == len(VARIANTS)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("base", ["cfr", "cfr+"])
def test_walks_do_what_they_are_called_after(base, turns, stored, games) -> None:
    """Full walks enter everything; partial ones less, for the same iterates.

    Pruning by regret begins and ends. Best responses in zero-reach sequences change iterates.
    """
    game, at = games["random_tree"], ITERATES["random_tree"]
    full, partial = (stored[f"{base}-{walk},turns={turns}"] for walk in ("full", "partial"))
    passes = 1 if turns == "simultaneous" else 2
    assert [line["nodes"] for line in full] == [t * passes * game.nodes for t in at]
    assert partial[-1]["nodes"] < full[-1]["nodes"]
    for line, whole in zip(partial, full, strict=True):
        assert (line["average"], line["current"]) == (whole["average"], whole["current"])
    for walk in (variant for variant in WALKED if "rbp" in variant):
        rows = stored[f"{base}-{walk},turns={turns}"]
        pruned = [{(player, s) for player in (0, 1) for s in line["pruned"][player]} for line in rows]
        assert all(pruned)
        assert any(before - after for before, after in pairwise(pruned))
        assert rows[-1]["nodes"] != partial[-1]["nodes"]  # not always fewer: an end costs a best response
    plain = compiled_trace(games["zero-reach"], f"{base}-partial(turns={turns})", ITERATES["zero-reach"])
    assert stored[f"{base}-zero-reach-br,turns={turns}"][-1]["average"] != plain[-1]["average"]


@pytest.mark.parametrize("variant", [variant for variant in WALKS if "-dt" in variant])
def test_thresholds_cut(variant, stored, games) -> None:
    """With d = 0 nothing is cut: other strategies, and more nodes. Those that prune by regret begin and end."""
    name, _, options = variant.partition(",")
    rows = stored[variant]
    others = ",".join(part for part in options.split(",") if part.startswith(("rate=", "turns=")))
    uncut = compiled_trace(games["random_tree"], f"{name.removesuffix('-rbp')}(d=0,{others})", (20,))
    assert rows[-1]["current"] != uncut[-1]["current"]
    assert rows[-1]["nodes"] < uncut[-1]["nodes"]
    if name.endswith("-rbp"):
        pruned = [{(player, s) for player in (0, 1) for s in line["pruned"][player]} for line in rows]
        assert pruned[-1]
        assert any(before - after for before, after in pairwise(pruned))
    if name.startswith("hedge"):  # whose probabilities are positive but for thresholds
        assert 0.0 in rows[-1]["current"][0] + rows[-1]["current"][1]


@pytest.mark.parametrize("variant", GAPS)
def test_gradients_are_cut(variant, stored, games) -> None:
    """With c = 0 the same steps enter every history for every gradient."""
    game, rows = games["random_tree"], stored[variant]
    whole = compiled_trace(game, spec(variant.replace("c=0.3", "c=0")), (20,))
    assert rows[-1]["nodes"] < whole[-1]["nodes"]
    assert rows[-1]["average"] != whole[-1]["average"]
    assert whole[-1]["nodes"] % game.nodes == 0


if __name__ == "__main__":
    traces: dict[str, Any] = {name: {} for name in GAMES}
    for each in VARIANTS:
        name = game_of(each)
        trace = reference_trace(tp.load(GAMES[name]), spec(each), ITERATES[name])
        traces[name].setdefault(each.partition(",")[0], {})[each] = trace
    STORED.write_text(json.dumps(traces, separators=(",", ":")).replace('{"nodes"', '\n{"nodes"') + "\n")
