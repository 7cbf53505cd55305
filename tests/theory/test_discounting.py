"""Theorem 2, corollary 1 and equation (22) of Brown & Sandholm (2015), as inequalities.

With wT + T' what the iterations count for, each player's weighted overall regret is at most

    |I_i| Delta_i sqrt(|A_i|) sqrt(w T + T')

The paper asks for T' > max{T, max over I of sum of squared regrets / (Delta^2 |A|)}. That is not needed: with S_I as in
(15), Jensen's inequality gives ``sum sqrt(w^2 S_I T + T') <= |I| sqrt(w^2 mean(S) T + T')``, and (8) says that
``w mean(S) <= 1``. So the tests take every T' from 0 on, which is where too large a weight shows: by the paper's T' the
bound exceeds what any w up to 1 could have left.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.engines.public.cpu.growing import rematch
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.games.continuous import ContinuousPoker, continuous_leduc_rules, menu_of
from treeplex.games.poker import Card
from treeplex.games.protocol import TERMINAL
from treeplex.games.sized import ActionMenu, Menu
from treeplex.growth import add
from treeplex.growth.add import summed
from treeplex.growth.algorithm import check_and_add
from treeplex.growth.dealt import GrowingDealt, balance
from treeplex.growth.discount import bound, recommended
from treeplex.growth.options import Growth

KUHN = ContinuousPoker("kuhn", tuple(Card(str(rank), rank, 1) for rank in range(3)), 1)
LEDUC = continuous_leduc_rules()


def fresh(rules: ActionMenu = KUHN) -> GrowingGame:
    return GrowingGame(rules, Menu(everywhere=(0.01, 1.0)), RULES["cfr"])


def spot(game: GrowingGame, line: str) -> int:
    return next(n for n in range(game.tree.count) if " ".join(game.line(n)) == line)


def overall_regret(game: GrowingGame, player: int) -> float:
    """max over strategies of the weighted sum over iterations of what it would have won more; of weight 1 from now on.

    A best response to the opponent's average earns, times the weights, what it earns against the sum of the opponent's
    reach; what was earned stands at the root, where player 0 moves.
    """
    assert game.tree.nodes.mover[0] == 0
    earned = float(game.tree.rows.earned[0].sum()) * (1.0 if player == 0 else -1.0)
    total = float(game.tree.rows.average[0, 0])
    best = total * float(game.respond(player, whole=False).values[0].sum())
    return (best - earned) / game.weight


def constant(game: GrowingGame, player: int) -> tuple[int, float, int]:
    """|I_i|, Delta_i and |A_i|."""
    nodes = game.tree.nodes
    decisions = np.flatnonzero(nodes.mover == player).tolist()
    spread = 2.0 * float(np.abs(nodes.amount[nodes.mover == TERMINAL]).max())
    return len(decisions) * game.tree.hands, spread, max(len(game.tree.children(n)) for n in decisions)


def allowed(game: GrowingGame, player: int) -> float:
    """The right side of theorem 2."""
    infosets, spread, actions = constant(game, player)
    return infosets * spread * math.sqrt(actions) * math.sqrt(game.effective)


def squares(game: GrowingGame, player: int) -> Any:
    """[I] each infoset's sum of squared positive regrets, of weight 1 from now on."""
    nodes, regret = game.tree.nodes, np.maximum(game.tree.rows.regret, 0.0) / game.weight
    decisions = np.flatnonzero(nodes.mover == player).tolist()
    return np.concatenate([(regret[game.tree.children(n)] ** 2).sum(axis=0) for n in decisions])


def enough(game: GrowingGame) -> int:
    """The paper's T', for both players."""
    asked = [game.effective]
    for player in (0, 1):
        _, spread, actions = constant(game, player)
        asked.append(float(squares(game, player).max()) / (spread**2 * actions))
    return math.floor(max(asked)) + 1


def assert_theorem_2(game: GrowingGame) -> None:
    """Overall regret of both players, the steps of the proof that lead to it, and corollary 1."""
    regrets = [overall_regret(game, player) for player in (0, 1)]
    slack = 1e-9 * game.effective
    for player, regret in enumerate(regrets):
        roots = float(np.sqrt(squares(game, player)).sum())  # (10)
        assert regret <= roots + slack
        assert roots <= allowed(game, player) + slack
    epsilon = max(allowed(game, player) for player in (0, 1)) / game.effective
    inside = game.measure(whole=False)
    assert inside.nash_conv == pytest.approx(max(sum(regrets), 0.0) / game.effective, abs=1e-9)
    assert inside.nash_conv <= 2.0 * epsilon


def added(game: GrowingGame, line: str, size: float, method: str) -> tuple[float, float]:
    """Add a size; what (8) allows and what (22) recommends, the smaller of both players' (the opponent's is 1)."""
    node = spot(game, line)
    before, player = balance(game), int(game.tree.nodes.mover[node])
    new = add.METHODS[method](game, node, size)
    squares, sums = float(before.squares[player]), summed(new, player)
    bounds = GrowingDealt(game, "transfer", method).bounds(player)
    return bound(squares, sums, bounds), recommended(squares, sums)


def badly_played(seed: int, times: float, line: str, size: float, method: str) -> GrowingGame:
    """A past that no regret minimizer would play: the same strategies, drawn at random, ``times`` times; then a size.

    All regrets are linear in ``times``, and so is that of the new action.
    """
    game = fresh()
    rows, nodes = game.tree.rows, game.tree.nodes
    rematch(nodes, np.random.default_rng(seed).exponential(size=rows.regret.shape) ** 4, rows.strategy, 0, len(rows[0]))
    game.advance(1)
    added(game, line, size, method)
    rows = game.tree.rows
    for sums in (rows.regret, rows.average, rows.value, rows.fold_out, rows.earned):
        sums[:] *= times
    return game


def largest_weight(game: GrowingGame) -> float:
    """The smaller of both players' bounds (8)."""
    weights = [1.0]
    for player in (0, 1):
        infosets, spread, actions = constant(game, player)
        weights.append(infosets * spread**2 * actions * game.effective / float(squares(game, player).sum()))
    return min(weights)


PLACES = st.sampled_from(["", "check", "bet0.01", "bet1", "check bet1"])
SIZES = st.floats(0.02, 0.98).map(lambda size: float(f"{size:.3g}"))
METHODS = st.sampled_from(sorted(add.METHODS))


@settings(max_examples=60)
@given(
    line=PLACES,
    size=SIZES,
    method=METHODS,
    before=st.integers(1, 60),
    share=st.floats(1e-6, 1),
    after=st.integers(0, 90),
)
def test_any_weight_up_to_the_bound_keeps_theorem_2(line, size, method, before, share, after) -> None:
    game = fresh()
    game.advance(before)
    assert_theorem_2(game)
    largest, advised = added(game, line, size, method)
    assert 0.0 < advised <= largest <= 1.0  # (22) "also satisfies our theory"
    for weight in (share * largest, advised):
        other = fresh()
        other.advance(before)
        added(other, line, size, method)
        other.discount(weight)
        for iterations in (0, after, max(enough(other) - after, 0)):
            other.advance(iterations)
            assert_theorem_2(other)


@settings(max_examples=60)
@given(
    line=PLACES, size=SIZES, method=METHODS, seed=st.integers(0, 10**6), times=st.floats(1e4, 1e9),
    share=st.floats(1e-6, 1), after=st.integers(0, 90),
)  # fmt: skip
def test_the_bound_holds_for_pasts_whose_regret_is_linear(line, size, method, seed, times, share, after) -> None:
    """Theorem 2 asks nothing of the T iterations. Here the weight that it allows is far below 1."""
    game = badly_played(seed, times, line, size, method)
    game.discount(share * largest_weight(game))
    for iterations in (0, after):
        game.advance(iterations)
        assert_theorem_2(game)


def test_a_weight_above_the_bound_is_noticed() -> None:
    """The tests above can fail: after a past with linear regret, w = 1 exceeds what theorem 2 says, by far."""
    game = badly_played(1, 1e8, "", 0.5, "recovery")
    assert largest_weight(game) < 1e-3
    with pytest.raises(AssertionError):
        assert_theorem_2(game)
    before = max(overall_regret(game, player) / allowed(game, player) for player in (0, 1))
    game.advance(1000)
    assert max(overall_regret(game, player) / allowed(game, player) for player in (0, 1)) > 0.9 * before > 2.0


def test_equation_22_is_within_the_bound_only_if_the_past_was() -> None:
    """(22) is w = before / after, (8) is w <= |I| Delta^2 |A| T / after: it asks that the regrets before obeyed CFR.

    So it does after CFR, as tested above; after any other past it may be far too large.
    """
    game = badly_played(1, 1e8, "check", 0.5, "transfer")
    node, player = spot(game, "check"), 1
    new = game.tree.children(node)[-2]
    assert game.tree.nodes.size[new] == 0.5
    head = float((np.maximum(game.tree.rows.regret[new], 0.0) ** 2).sum())
    after = float(squares(game, player).sum())
    assert head > 0.0
    assert (after - head) / after > 100.0 * largest_weight(game)


def test_by_the_papers_iterations_no_weight_up_to_1_is_noticed() -> None:
    """T' so large makes the right side exceed the regret that the past has, whatever its weight."""
    game = badly_played(1, 1e8, "", 0.5, "recovery")
    for player in (0, 1):
        infosets, spread, actions = constant(game, player)
        later = infosets * spread * math.sqrt(actions) * math.sqrt(game.effective + enough(game))
        assert overall_regret(game, player) <= float(np.sqrt(squares(game, player)).sum()) <= later


@pytest.mark.parametrize("method", ["recovery", "transfer"])
@pytest.mark.parametrize("rule", ["recommended", "bound"])
def test_a_run_that_grows_keeps_theorem_2_throughout(method, rule) -> None:
    """Addition after addition, each of which discounts: w T + T' is then what all iterations count for."""
    game, growth = GrowingGame(LEDUC, menu_of(LEDUC, "branch-2"), RULES["cfr"]), Growth(method, discount=rule)
    additions = 0
    for _ in range(40):
        game.advance(5)
        additions += check_and_add(game, growth) is not None
        assert_theorem_2(game)
    assert additions > 20
    assert (game.weight > 1.0) == (rule == "recommended")


@pytest.mark.parametrize("method", ["recovery", "transfer"])
@pytest.mark.parametrize(
    ("line", "size"), [("", 0.4), ("check", 0.7), ("check bet1 call K", 0.2), ("bet1 raise1 call J", 0.5)]
)
def test_sizes_anywhere_in_continuous_leduc_keep_theorem_2(line, size, method) -> None:
    game = fresh(LEDUC)
    game.advance(30)
    largest, advised = added(game, line, size, method)
    assert 0.0 < advised <= largest
    game.discount(advised)
    game.advance(enough(game))
    assert_theorem_2(game)
