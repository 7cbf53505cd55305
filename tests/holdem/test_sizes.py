"""Which bet sizes matter: bounds hold, the choice is as good as trying all, and intervals are what they say."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from treeplex.engines.boards.trees import decisions_by_line
from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import first_bets
from treeplex.games.holdem.grown import line_text
from treeplex.holdem import Spot, load_spot, sizes, sizes_for, solve
from treeplex.poker.sizes import cases
from treeplex.poker.sizes.cases import Case, menus_of
from treeplex.poker.sizes.lines import spot_with
from treeplex.poker.sizes.problem import Candidates, distinct, listed
from treeplex.poker.sizes.solves import Solve, StepWalk, narrowed
from treeplex.poker.views.lines import follow

RANKS = "23456789TJQKA"
BETS, RAISES = "33%, 75%, 150%, a", "60%, a"


def random_river(seed: int, stack: float = 250) -> Spot:
    draw = np.random.default_rng(seed)
    board = " ".join(draw.choice([rank + suit for rank in RANKS for suit in "shdc"], 5, replace=False))
    pairs = [RANKS[max(i, j)] + RANKS[min(i, j)] + "s" * (i > j) + "o" * (i < j) for i in range(13) for j in range(13)]
    first, second = (",".join(draw.choice(pairs, 40, replace=False)) for _ in range(2))
    return Spot(board, 100, stack, first, second)


def carried_out(steps):
    walk = StepWalk(steps)
    while walk.question is not None:
        walk.step(10**9)
    return walk.result


def until(solve: Solve, width: float) -> Solve:
    return carried_out(narrowed(solve, width, ""))


def upper_of(case: Case, menu) -> float:
    carried_out(case.bound([menu]))
    return case.uppers[menu]


def conceded_by(case: Case, menu, known) -> float:
    return carried_out(case._conceded(menu, known, ""))


def case_of(spot: Spot, player: int = 0, accuracy: float = 0.05, kind: str = "bet") -> Case:
    slot = (spot.street, kind)
    candidates = Candidates(
        player, (spot.street,), listed(BETS, "bets", raises=False), listed(RAISES, "raises", raises=True)
    )
    rich = until(Solve(candidates.spot(spot, {}), player, 1), accuracy)
    return Case(spot, candidates, slot, rich, {})


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", [1, 2])
def test_bounds_of_all_menus_from_one_best_response_hold_and_are_those_of_a_best_response_each(player, seed):
    case = case_of(random_river(seed), player)
    for keep in (1, 2):
        for menu in menus_of([case], keep):
            upper = upper_of(case, menu)
            assert upper == pytest.approx(conceded_by(case, menu, [case.rich]), abs=1e-9)
            solved = carried_out(case.solve(menu, 0.05))
            assert upper >= solved.low - 1e-9
            assert solved.low <= solved.high + 1e-9
    assert upper_of(case, case.all) == pytest.approx(case.rich.high, abs=1e-9)


@pytest.mark.parametrize("player", [0, 1])
def test_bounds_of_menus_agree_with_each_other(player):
    case = case_of(random_river(3), player)
    exact = {}
    for keep in (1, 2, 3):
        for menu in menus_of([case], keep):
            exact[menu] = value_of(case, menu)
    for menu, value in exact.items():
        for size in case.distinct:
            more = tuple(sorted({*menu, size}))
            if more in exact:
                assert exact[more] >= value - 0.04
    carried_out(case.solve((1,), 1.0))
    carried_out(case.solve((0, 1, 2), 0.3))
    carried_out(case.bound([*exact, (0, 2)]))
    for menu, value in exact.items():
        assert case.low(menu) - 1e-9 <= value + 0.02
        assert case.high(menu) + 1e-9 >= value - 0.02
    assert case.low((1, 3)) == case.low((1,))
    assert case.high((0, 2)) <= 100.0 * case.solves[0, 1, 2].high / case.spot.pot


def value_of(case: Case, menu) -> float:
    """The middle of a narrow interval, found by itself."""
    solved = until(Solve(case.spot_of(menu), case.player, 1), 0.02)
    return (solved.low + solved.high) / 2


@pytest.mark.parametrize(("player", "keep"), [("oop", 1), ("ip", 1), ("oop", 2)])
def test_the_choice_is_as_good_as_trying_all(player, keep):
    for seed in range(10, 13):
        spot = random_river(seed)
        found = sizes(spot, keep=keep, player=player, bets=BETS, raises=RAISES, accuracy=0.05, gap=0.1)
        case = case_of(spot, ("oop", "ip").index(player), 0.02)
        values = {menu: value_of(case, menu) for menu in menus_of([case], keep)}
        names = {tuple(case.candidates.bets[k] for k in menu): value for menu, value in values.items()}
        assert max(values.values()) - names[found.menu] <= max(found.better_percent_of_pot, 0.0) + 0.02
        assert found.better_percent_of_pot <= 0.1
        low, high = found.loss_percent_of_pot
        true = (case.rich.low + case.rich.high) / 2 - names[found.menu]
        assert low - 0.03 <= true <= high + 0.03
        for row in found.spots[0].sizes:
            if keep == 1:
                alone = (case.rich.low + case.rich.high) / 2 - names[row.size,]
                assert row.loss_if_only[0] <= alone + 0.03
                assert row.loss_if_only[1] is None or row.loss_if_only[1] >= alone - 0.03


def test_intervals_meet_those_of_ten_times_the_accuracy():
    for seed in range(20, 24):
        spot = random_river(seed, 150)
        found = sizes(spot, bets=BETS, raises=RAISES, accuracy=0.3, gap=1.0)
        case = case_of(spot, 0, 0.03)
        menu = tuple(case.candidates.bets.index(size) for size in found.menu)
        kept = carried_out(case.solve(menu, 0.03))
        for coarse, fine in ((found.spots[0].ev_rich, case.rich), (found.spots[0].ev_kept, kept)):
            assert coarse[0] <= fine.high + 1e-9
            assert fine.low <= coarse[1] + 1e-9
        low, high = found.loss_percent_of_pot
        assert low <= case.rich.high - kept.low + 1e-9
        assert high >= case.rich.low - kept.high - 1e-9


@pytest.mark.parametrize("player", [0, 1])
def test_what_adding_and_removing_is_said_to_be_worth(player):
    spot = random_river(30)
    found = sizes(spot, player=("oop", "ip")[player], bets=BETS, raises=RAISES, accuracy=0.05)
    case = case_of(spot, player, 0.02)
    rich = (case.rich.low + case.rich.high) / 2
    kept = tuple(case.candidates.bets.index(size) for size in found.menu)
    value = value_of(case, kept)
    for k, row in zip(case.distinct, found.spots[0].sizes, strict=True):
        others = tuple(size for size in case.distinct if size != k)
        bound = case_of(spot, player, 0.02)
        carried_out(bound.solve(kept, 0.02))
        if not row.kept:
            more = tuple(sorted((*kept, k)))
            built = conceded_by(bound, more, [bound.solves[kept], bound.rich])
            added = carried_out(bound.added(kept, [k]))[k]
            assert added <= min(built, upper_of(bound, more)) + 1e-9
        assert row.loss_if_removed <= rich - value_of(case, others) + 0.03
        if row.kept:
            assert row.gain_if_added is None
        else:
            assert row.gain_if_added >= value_of(case, tuple(sorted((*kept, k)))) - value - 0.03
    assert sum(row.kept for row in found.spots[0].sizes) == 1
    assert 0.0 <= sum(row.frequency for row in found.spots[0].sizes) <= 1.0


def test_candidates_of_equal_chips_are_one_and_all_in_counts():
    found = sizes(random_river(4, stack=100), keep=8, bets="50%, 100%, 150%, a", raises="a")
    assert [(row.size, row.chips) for row in found.spots[0].sizes] == [("50%", 50), ("a", 100)]
    assert found.menu == ("50%", "a")
    assert found.keep == 2
    assert found.loss_percent_of_pot[0] == 0.0
    assert found.loss_percent_of_pot[1] <= 2 * 0.04
    assert found.better_percent_of_pot == 0.0
    assert listed("50%", "bets", raises=False) == ("50%", "a")


def test_the_opponent_keeps_everything_and_thresholds_add_nothing():
    spot = replace(random_river(5), sizes=sizes_for("10%", "2x"), add_allin_threshold=9.0, merging_threshold=0.5)
    candidates = Candidates(1, ("river",), ("33%", "75%", "a"), ("60%", "a"))
    held = candidates.spot(spot, {("river", "bet"): (1,)})
    assert [action.name for action in first_bets(held, 1)] == ["bet 75"]
    assert [action.name for action in first_bets(held, 0)] == ["bet 33", "bet 75", "all-in 250"]
    assert candidates.chips(spot, ("river", "bet")) == [33, 75, 250]
    assert candidates.chips(spot, ("river", "raise")) is None


def test_the_fewest_sizes_that_lose_little_enough():
    spot = random_river(13)
    loss = [sizes(spot, keep=keep, bets=BETS, raises=RAISES).loss_percent_of_pot for keep in (1, 2, 3)]
    limit = (loss[0][0] + loss[1][1]) / 2
    found = sizes(spot, lose=limit, bets=BETS, raises=RAISES)
    assert loss[0][0] > limit > loss[1][1], "the seed must tell one size from two"
    assert found.keep == 2
    assert found.loss_percent_of_pot[1] <= limit
    case = case_of(spot)
    upper_of(case, ())
    without = case.rich.low - case.high(())  # at least: what is lost by never betting
    assert without > 1.0 > loss[0][1], "the seed must tell one size from none"
    assert sizes(spot, lose=1.0, bets=BETS, raises=RAISES).proved_fewest is True
    assert sizes(spot, lose=50.0, bets=BETS, raises=RAISES).proved_fewest is False
    assert [each.keep for each in found.by_count] == [1, 2]
    with pytest.raises(ParameterError, match="lose"):
        sizes(spot, lose=1e-6, bets="50%, a", raises="a")


def test_one_menu_for_several_spots():
    spots = [random_river(seed) for seed in (40, 41, 42)]
    found = sizes(spots, bets=BETS, raises=RAISES, accuracy=0.1, gap=0.5)
    cases = [case_of(spot, 0, 0.05) for spot in spots]
    means = {case_menu: np.mean([value_of(case, case_menu) for case in cases]) for case_menu in menus_of(cases, 1)}
    best = max(means.values())
    chosen = means[tuple(cases[0].candidates.bets.index(size) for size in found.menu)]
    assert best - chosen <= found.better_percent_of_pot + 0.03
    assert len(found.spots) == 3
    assert found.summary()["ev_rich"] is None
    assert {spot["spot"] for spot in found.summary()["spots"]} == {load_spot(spot).name for spot in spots}


def test_raises_and_streets_to_come():
    spot = random_river(7)
    raises = sizes(spot, restrict="raises", player="ip", bets="50%, a", raises="40%, 100%, a", accuracy=0.1)
    assert list(raises.menus) == ["river raise"]
    assert raises.spots[0].sizes[0].chips is None
    both = sizes(spot, restrict="both", bets="50%, a", raises="40%, 100%, a", accuracy=0.1)
    assert list(both.menus) == ["river bet", "river raise"]
    assert [(row.slot, row.size) for row in both.spots[0].sizes if row.kept] == [
        (slot, size) for slot, menu in both.menus.items() for size in menu
    ]
    assert {row.loss_if_removed for row in both.spots[0].sizes} == {None}
    assert both.cells(both.spots[0])[0][0].startswith("river bet")
    assert both.loss_percent_of_pot[1] >= 0.0
    turn = Spot("Ks 9h 6d 2c", 100, 120, "AA,KQs,JTs,87s", "QQ,KTs,A9s,98s", sizes_for("66%", "a"))
    found = sizes(turn, street="all", bets="50%, a", raises="a", accuracy=0.2)
    assert list(found.menus) == ["turn bet", "river bet"]
    assert found.better_percent_of_pot is None
    later = sizes(turn, street="river", bets="50%, a", raises="a", accuracy=0.2)
    assert list(later.menus) == ["river bet"]


@pytest.mark.parametrize(("player", "restrict"), [("ip", "raises"), ("oop", "raises"), ("oop", "both")])
def test_one_menu_per_decision(player, restrict):
    spot = random_river(11)
    options = {"player": player, "restrict": restrict, "bets": "33%, 75%, a", "raises": "40%, 100%, a", "accuracy": 0.1}
    found = sizes(spot, per_decision=True, **options)
    assert all(len(menu) == 1 for menu in found.menus.values())
    assert len(found.menus) >= 2
    rich, kept = found.spots[0].ev_rich, found.spots[0].ev_kept
    assert rich[0] - 1e-9 <= rich[1]
    assert kept[0] <= kept[1] + 1e-9
    assert found.loss_percent_of_pot[0] <= found.loss_percent_of_pot[1]
    lines = {"" if line == "first" else line: menu for line, menu in found.menus.items()}
    candidates = Candidates(("oop", "ip").index(player), ("river",), ("33%", "75%", "a"), ("40%", "100%", "a"))
    base = candidates.spot(spot, {})
    shown = load_spot(spot_with_lines(base, found))
    assert set(shown.spot.line_sizes) == set(lines)
    for line, menu in lines.items():
        names = [action.name for action in follow(shown, line).node.actions if action.amount]
        assert names == list(menu)
    everything = sizes(spot, per_decision=True, **(options | {"keep": 9}))
    assert everything.loss_percent_of_pot[1] <= 0.2 + 1e-9


def spot_with_lines(base, found):
    game = load_spot(base)
    by_name = {line_text(line): line for line in decisions_by_line(game)}
    menus = {}
    for name, kept in found.menus.items():
        line = by_name["" if name == "first" else name]
        actions = decisions_by_line(game)[line][1].node.actions
        menus[line] = tuple(action for action in actions if action.name in kept)
    return spot_with(base, menus)


def test_the_value_of_a_kept_menu_is_that_of_the_spot_solved_with_it():
    spot = random_river(8)
    found = sizes(spot, bets=BETS, raises=RAISES)
    river = {"oop": {"bet": ", ".join(found.menu), "raise": RAISES}, "ip": {"bet": BETS, "raise": RAISES}}
    alone = solve(replace(spot, sizes={"river": river}), percent_of_pot=0.01, storage="float64")
    low, high = found.spots[0].ev_kept
    assert low - 0.02 <= alone.ev[0] <= high + 0.02


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": 0}, "keep"),
        ({"keep": True}, "keep"),
        ({"lose": -1}, "lose"),
        ({"accuracy": 0}, "accuracy"),
        ({"gap": float("nan")}, "gap"),
        ({"player": "sb"}, "player"),
        ({"street": "turn"}, "street"),
        ({"restrict": "all"}, "restrict"),
        ({"per_decision": True, "lose": 1.0}, "per_decision"),
        ({"per_decision": True, "street": "all"}, "per_decision"),
        ({"bets": ""}, "bets"),
        ({"bets": "2x"}, "bets"),
        ({"raises": "0.5"}, "raises"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(ParameterError, match=words):
        sizes(random_river(9), **options)


def test_rake_and_mixed_streets_are_refused():
    spot = random_river(9)
    with pytest.raises(ParameterError, match="rake"):
        sizes(replace(spot, rake_rate=0.05, rake_cap=3.0))
    turn = Spot("Ks 9h 6d 2c", 100, 120, "AA,KQs", "QQ,KTs")
    with pytest.raises(ParameterError, match="same street"):
        sizes([spot, turn])
    with pytest.raises(ParameterError, match="at least one"):
        sizes([])


def test_names_of_equal_chips_share_what_is_known():
    case = case_of(random_river(4, stack=75), accuracy=1.0)
    assert case.chips == [33, 75, 75, 75]
    assert [case.candidates.bets[k] for k in case.distinct] == ["33%", "a"]
    carried_out(case.solve((1,), 0.5))
    carried_out(case.bound([(1,), (2,)]))
    assert case.low((3,)) == case.low((1,))
    assert case.high((2,)) == case.high((1,))
    assert distinct([50, 100, 100], ("50%", "a", "100%")) == [0, 1]


def test_large_games_out_of_the_running_are_freed(monkeypatch):
    monkeypatch.setattr(cases, "LARGE", 0)
    small = sizes(random_river(10), bets=BETS, raises=RAISES)
    monkeypatch.undo()
    assert small.menu == sizes(random_river(10), bets=BETS, raises=RAISES).menu
    case = case_of(random_river(10), accuracy=1.0)
    monkeypatch.setattr(cases, "LARGE", 0)
    carried_out(case.solve((0,), 1.0))
    upper_of(case, (0,))
    before, work = (case.low((0,)), case.high((0,))), case.work
    case.drop((0,))
    assert (0,) not in case.solves
    assert (case.low((0,)), case.high((0,)), case.work) == (*before, work)
    carried_out(case.solve((0,), 5.0))
    assert (case.low((0,)), case.high((0,)))[0] >= before[0]
    case.drop(case.all)
    assert case.all in case.solves


def test_menus_of_pairs():
    case = case_of(random_river(1), accuracy=5.0)
    assert menus_of([case], 2) == list(combinations(range(4), 2))
    assert menus_of([case], 9) == [(0, 1, 2, 3)]


@pytest.mark.parametrize(
    ("spots", "options", "menus", "work", "loss"),
    [
        (
            (10,),
            {"accuracy": 0.05, "gap": 0.1},
            {"river bet": ("150%",)},
            103884,
            (0.9853490882993867, 1.0806029980125),
        ),
        ((11,), {"keep": 2}, {"river bet": ("33%", "150%")}, 121014, (0.0, 0.05256271780570643)),
        ((13,), {"lose": 0.5}, {"river bet": ("150%",)}, 111018, (0.3022114316589182, 0.3751316945699017)),
        (
            (40, 41, 42),
            {"accuracy": 0.1, "gap": 0.5, "counts": 2},
            {"river bet": ("33%",)},
            244284,
            (0.2101529554184912, 0.3382839908507904),
        ),
    ],
)
def test_figures_are_those_of_version_0_2(spots, options, menus, work, loss):
    """The order of work is what it was before searches could be stopped and continued."""
    found = sizes([random_river(seed) for seed in spots], bets=BETS, raises=RAISES, threads=1, **options)
    assert found.menus == menus
    assert found.work == work
    assert found.loss_percent_of_pot == pytest.approx(loss, rel=1e-9)
