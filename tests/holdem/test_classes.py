"""Menus by class of the cards dealt: with equal sizes the same game, with others what the recursion says."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import betting_tree
from treeplex.games.holdem.cards import HAND_CARDS, card_name, parse_board, parse_card
from treeplex.games.holdem.classes import CLASSES, boards_by_class, class_of, following
from treeplex.games.holdem.grown import line_text, with_classes, with_size
from treeplex.games.holdem.sizes import Size
from treeplex.games.holdem.spot import make_spot
from treeplex.games.holdem.translation import Translation
from treeplex.growth.spot_carry import carried
from treeplex.growth.spot_plans import best_response, plan_of
from treeplex.holdem import HoldemGame, Spot, load_spot, sizes_for
from treeplex.poker.browse.chance import runouts
from treeplex.poker.views.lines import follow
from treeplex.poker.views.reader import Reader

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm, all_rows
from test_reference import check
from test_translation import Abstract, brute_force, every_chip, random_averages
from twin import behind

TURN = "Ks 9h 6d 3h"
DIFFERENT = {
    "check, check, [flush]": "33%, a",
    "check, check, [pair]": "",
    "check, check, [other], check": "20%, 75%",
    "bet 30, call, [over], check": "",
}


def classed(spot: Spot, lines: dict[str, str] | None = None) -> Spot:
    return replace(spot, board_classes=True, line_sizes=lines or {})


def names(nodes: Any) -> list[str]:
    return [action.name for action in nodes.actions]


@pytest.mark.parametrize(
    ("board", "card", "name"),
    [
        (TURN, "9s", "pair"),
        (TURN, "As", "over"),
        (TURN, "Kh", "flush"),  # before it is a pair, or an overcard
        (TURN, "Ah", "flush"),
        (TURN, "Qs", "other"),
        ("Ks 9h 6d", "Kc", "pair"),
        ("Ks 9h 6d", "2s", "other"),
        ("8h 9h 6h", "Kh", "flush"),
        ("8h 9h 6h", "Kc", "over"),
    ],
)
def test_classes_are_those_that_players_tell_apart(board: str, card: str, name: str) -> None:
    assert class_of(parse_board(board), parse_card(card)) == name


def test_suits_do_not_matter_and_every_board_is_in_one_class() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        *board, card = rng.permutation(52)[:5].tolist()
        suits = rng.permutation(4)
        moved = [each // 4 * 4 + int(suits[each % 4]) for each in (*board, card)]
        assert class_of(tuple(board), card) == class_of(tuple(moved[:-1]), moved[-1])
    assert boards_by_class(parse_board(TURN), 1).total() == 48
    assert boards_by_class(parse_board("Ks 9h 6s"), 2).total() == 49 * 48
    assert following(parse_board("Ks 9h 6d 3c"), ()) == ("pair", "over", "other")
    assert following(parse_board("As 9h 6d"), ("other",)) == ("flush", "pair", "other")


def test_a_line_has_a_word_for_every_card(small_turn: Spot) -> None:
    spot = classed(small_turn, DIFFERENT)
    by_line = {line_text(line): decision for line, (_, decision) in decisions_by_line(load_spot(spot)).items()}
    assert set(DIFFERENT) < set(by_line)
    assert names(by_line["check, check, [flush]"].node) == ["check", "bet 20", "all-in 90"]
    assert names(by_line["check, check, [pair]"].node) == ["check"]
    assert names(by_line["check, check, [over]"].node) == ["check", "bet 30"]
    closing = betting_tree(spot).children[0].children[0]
    assert names(closing) == [f"[{name}]" for name in CLASSES]
    assert not any("[" in line for line in map(line_text, decisions_by_line(load_spot(small_turn))))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"board_classes": "yes"}, "The 'board_classes' of a spot must be true or false, got 'yes'."),
        ({"board": TURN + " 2c"}, "must be false on a river"),
        ({"line_sizes": {"check, check": "a"}}, r'the class of each card: "\[flush\]"'),
        ({"line_sizes": {"check, check, [straight]": "a"}}, "where no player acts"),
        ({"board": "Ks 9h 6d 3c", "line_sizes": {"check, check, [flush]": "a"}}, "where no player acts"),
    ],
)
def test_refusals(small_turn: Spot, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        load_spot(make_spot(classed(small_turn).summary() | changed))


def test_spots_without_classes_keep_their_identity(small_turn: Spot) -> None:
    assert "board_classes" not in small_turn.summary()
    assert make_spot(classed(small_turn).summary()) == classed(small_turn)
    assert load_spot(classed(small_turn)).fingerprint != load_spot(small_turn).fingerprint


@pytest.mark.parametrize(("street", "iterations"), [("small_turn", 4), ("alike_turn", 4), ("small_flop", 4)])
def test_with_equal_sizes_it_is_the_same_game(request: Any, street: str, iterations: int) -> None:
    """All regrets and averages lie where they lay, and are the same but for the order of some sums."""
    spot = request.getfixturevalue(street)
    plain, by_class = load_spot(spot), load_spot(classed(spot))
    assert by_class.counts() == plain.counts()
    assert by_class.stored("float32") == plain.stored("float32")
    solvers = [algorithm("dcfr(gamma=4)", game) for game in (plain, by_class)]
    one, two = (solver.start(game) for solver, game in zip(solvers, (plain, by_class), strict=True))
    for _ in range(iterations):
        one, two = solvers[0].advance(plain, one, 1), solvers[1].advance(by_class, two, 1)
        for theirs, ours in zip(one.learners, two.learners, strict=True):
            np.testing.assert_allclose(ours.regret, theirs.regret, rtol=0, atol=1e-11 * spot.pot)
            np.testing.assert_allclose(ours.average, theirs.average, rtol=0, atol=1e-11)
            np.testing.assert_array_equal(ours.last, theirs.last)
            assert np.abs(theirs.average).max() > 0.1
            ours.regret[:] = theirs.regret  # else actions that are worth the same would be told apart by rounding
    averages = Sources(one.learners[0].average, one.learners[1].average)
    known, found = (
        Reader(game, averages, no_locks(game, "float64"), "float64", 1).evaluation() for game in (plain, by_class)
    )
    assert found.value == pytest.approx(known.value, abs=1e-10)
    assert found.nash_conv == pytest.approx(known.nash_conv, abs=1e-10)
    assert known.nash_conv > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cfr+", "dcfr(gamma=4)"])
def test_different_sizes_follow_the_reference(small_turn: Spot, name: str) -> None:
    check(classed(small_turn, DIFFERENT), name, 4)


def test_different_sizes_with_suits_alike_follow_the_reference(alike_turn: Spot) -> None:
    check(classed(alike_turn, {"check, check, [other]": "50%", "check, check, [flush], check": ""}), "dcfr(gamma=4)", 3)


FLOP_LINES = {
    "check, check, [pair]": "",
    "check, check, [flush], check": "",
    "check, check, [over], check, check, [pair]": "",
    "check, check, [other], check, check, [flush]": "33%",
}


@pytest.mark.slow
def test_different_sizes_on_a_flop_follow_the_reference(small_flop: Spot) -> None:
    check(classed(small_flop, FLOP_LINES), "dcfr(gamma=4)", 2)


def test_threads_change_no_bit(small_flop: Spot) -> None:
    game = load_spot(classed(small_flop, FLOP_LINES))
    assert game.nodes != load_spot(small_flop).nodes
    found = []
    for threads in (1, 3):
        solver = algorithm("dcfr", game, "float32", threads)
        found.append(solver.advance(game, solver.start(game), 3).learners)
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one.regret, three.regret)
        np.testing.assert_array_equal(one.average, three.average)


def test_a_named_card_leads_to_the_menu_of_its_class(small_turn: Spot) -> None:
    """On every river the kernels' answer is what is shown there, and locks hold there alone."""
    spot = classed(small_turn, DIFFERENT)
    game = load_spot(spot)
    root = game.streets[0].decisions[0].node
    closing = root.children[0].children[0]
    for card in set(range(52)) - set(spot.cards):
        place = follow(game, f"check, check, {card_name(card)}")
        assert place.node is behind(closing, spot.cards, card)
    locks = [{"line": "check, check, 2h", "strategy": {"all": {"check": 0.25, "bet 33%": 0.75}}}]
    solved = tp.holdem.solve(spot, iterations=30, locks=locks)
    assert solved.at("check, check, 2h").totals()["bet 20"] == pytest.approx(0.75)
    assert solved.at("check, check, 4h").totals()["bet 20"] != pytest.approx(0.75)
    assert names(solved.at("check, check, 3c")) == ["check"]
    assert names(solved.at("check, check, As")) == ["check", "bet 30"]


def test_what_is_shown_is_that_of_the_same_game_without_classes(small_turn: Spot) -> None:
    plain, by_class = load_spot(small_turn), load_spot(classed(small_turn))
    averages = random_averages(plain, 3)
    first, second = (Reader(game, averages, no_locks(game, "float64"), "float64", 1) for game in (plain, by_class))
    for line in ("check, check, 2h", "bet 30, call, 9c, check", "check, bet 30, call, Ad", "bet 30, all-in"):
        ours, theirs = second.at(line), first.at(line)
        np.testing.assert_allclose(ours.ev, theirs.ev, atol=1e-9)
        np.testing.assert_allclose(ours.share, theirs.share, atol=1e-12)
        assert np.nanmax(np.abs(theirs.ev)) > 1.0


def test_runouts_tell_the_actions_of_all_classes(small_turn: Spot) -> None:
    """Each card has the frequencies of its own menu, and zeros for what cannot be bet behind it."""
    game = load_spot(classed(small_turn, DIFFERENT))
    reader = Reader(game, random_averages(game, 4), no_locks(game, "float64"), "float64", 1)
    told = runouts(reader, "x/x")
    shown = [action["name"] for action in told["actions"]]
    assert shown == ["check", "bet 20", "bet 30", "all-in 90"]
    for each in told["cards"]:
        view = reader.at(f"check, check, {each['card']}")
        known = view.totals()
        assert each["frequencies"] == pytest.approx([known.get(name, 0.0) for name in shown], abs=1e-12)
    assert len({tuple(np.sign(each["frequencies"])) for each in told["cards"]}) >= 3


def test_sizes_behind_cards_hold_in_every_class(small_turn: Spot) -> None:
    """What a spot had for all boards it has for each class, so the game is the same."""
    sized = replace(small_turn, line_sizes={"check, check": "33%", "bet 30, call, check": "a", "check": "20%, a"})
    spread = with_classes(sized)
    assert set(spread.line_sizes) == {
        "check",
        *(f"check, check, [{name}]" for name in CLASSES),
        *(f"bet 30, call, [{name}], check" for name in CLASSES),
    }
    assert load_spot(spread).counts() == load_spot(sized).counts()
    flop = Spot("Ks 9h 6d", 60, 90, "AA", "QQ", sizes_for("50%", ""), line_sizes={"check, check, bet 30, call": "a"})
    assert "check, check, [over], bet 30, call, [over]" not in with_classes(flop).line_sizes  # nothing is over an ace
    assert load_spot(with_classes(flop)).counts() == load_spot(flop).counts()


def test_a_size_is_added_to_one_class() -> None:
    spot = Spot("Ks 9h 6d 3c", 100, 400, "AA", "QQ", sizes_for("50%, a", "a"), board_classes=True)
    game = load_spot(spot)
    line = next(line for line in decisions_by_line(game) if line_text(line) == "bet 50, call, [pair]")
    deeper = with_size(spot, game.streets[0].decisions[0].node, line, Size("%", 0.2))
    assert deeper.spot.line_sizes == {"bet 50, call, [pair]": "50%, a, 20%"}
    again = load_spot(deeper.spot)
    near = with_size(deeper.spot, again.streets[0].decisions[0].node, (), Size("%", 0.3))
    assert set(near.spot.line_sizes) == {"", "bet 50, call, [pair]", "bet 30, call, [pair]"}
    assert set(near.spot.line_sizes["bet 30, call, [pair]"].split(", ")) == {"20%", "50%", "a"}
    assert load_spot(near.spot).nodes > again.nodes > game.nodes


def test_what_was_learnt_is_carried_over(small_turn: Spot) -> None:
    """By line and action, whatever the class; what is new starts at zero."""
    old = load_spot(classed(small_turn, DIFFERENT))
    solver = algorithm("dcfr", old)
    state = solver.advance(old, solver.start(old), 3)
    by_line = {line_text(line): line for line in decisions_by_line(old)}
    grown = with_size(old.spot, old.streets[0].decisions[0].node, by_line["bet 30, call, [pair]"], Size("%", 0.25))
    new = load_spot(grown.spot, like=old)
    ways = [{id(each.node): line for line, (_, each) in decisions_by_line(game).items()} for game in (old, new)]
    learners = [carried(old, new, learner, player) for player, learner in enumerate(state.learners)]
    rows = [
        {(at.cards, way[id(at.decision.node)]): at for at in all_rows(game, [learner.regret for learner in source])}
        for game, way, source in ((old, ways[0], state.learners), (new, ways[1], learners))
    ]
    assert set(rows[0]) < set(rows[1])
    for key, at in rows[1].items():
        before, player = rows[0].get(key), at.decision.player
        actions = names(before.decision.node) if before is not None else []
        for action, numbers in zip(names(at.decision.node), at.numbers, strict=True):
            known = before.numbers[actions.index(action)] if action in actions else np.zeros(len(at.hands))
            np.testing.assert_array_equal(numbers, known)
        assert learners[player].last[at.place] == (0 if before is None else state.learners[player].last[before.place])
    assert sum(np.abs(at.numbers).sum() for at in rows[0].values()) > 100.0


@pytest.mark.parametrize("street", ["small_turn", "small_flop"])
def test_translation_is_that_of_the_same_game_without_classes(request: Any, street: str) -> None:
    spot = request.getfixturevalue(street)
    plain, by_class = load_spot(spot), load_spot(classed(spot))
    averages = random_averages(plain, 5)
    sizes = (Size("%", 0.3), Size("%", 0.8))
    for player in (0, 1):
        first, second = (_response(game, averages, player, lambda *_: sizes) for game in (plain, by_class))
        assert second == pytest.approx(first, abs=1e-9)


def _response(game: HoldemGame, averages: Sources, translator: int, candidates: Any) -> float:
    tree = Translation(game.spot, game.streets[0].decisions[0].node, translator, candidates).tree()
    return best_response(plan_of(game, averages, translator, tree)).value


MENUS = {"flush": "a", "pair": "75%", "over": "50%, a", "other": "40%, 150%"}


@pytest.mark.parametrize("translator", [0, 1])
def test_translation_by_class_is_that_of_brute_force_trees(translator: int) -> None:
    """On the turn nobody can bet, so the real game is one river after the other, each with the menu of its class."""
    lines = {f"check, check, [{name}]{check}": menu for name, menu in MENUS.items() for check in ("", ", check")}
    sizes = {"river": sizes_for("", "60%")["river"]}
    spot = classed(Spot(TURN, 3, 5, "AsAc,KhQh:0.5", "QsQd,7h7c:0.25", sizes), lines)
    game = load_spot(spot, isomorphic=False)
    averages = random_averages(game, 11)
    rows = {(at.cards, at.decision.player): [] for at in all_rows(game, averages)}
    for at in all_rows(game, averages):
        rows[at.cards, at.decision.player].append(at)
    weights = [spot.weights(player) for player in (0, 1)]
    held = [np.flatnonzero(weight).tolist() for weight in weights]
    pairs = [pair for pair in itertools.product(*held) if len({*HAND_CARDS[pair[0]], *HAND_CARDS[pair[1]]}) == 4]
    combinations, total = sum(weights[0][a] * weights[1][b] for a, b in pairs), 0.0
    for card in sorted(set(range(52)) - set(spot.cards)):
        menu = MENUS[class_of(spot.cards, card)]
        river = replace(
            spot, board=f"{TURN} {card_name(card)}", board_classes=False, line_sizes={}, sizes=sizes_for(menu, "60%")
        )
        small = load_spot(river)
        sources = Sources(np.zeros(small.elements(0)), np.zeros(small.elements(1)))
        for at in all_rows(small, sources):
            same = rows[at.cards, at.decision.player][at.decision.number]
            assert names(same.decision.node) == names(at.decision.node)
            at.numbers[...] = same.numbers[:, [same.hands.tolist().index(hand) for hand in at.hands]]
        hands = [[hand for hand in each if card not in HAND_CARDS[hand]] for each in held]
        total += brute_force(Abstract(river, small, sources), translator, hands, weights) / 44
    taken = _response(game, averages, translator, lambda street, *_: every_chip(street, *_) if street == 2 else ())
    assert taken == pytest.approx(total / combinations + 1.5, abs=1e-9)
