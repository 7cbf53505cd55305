"""Spots, bet sizes, betting trees, boards: the public tree."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards import game as game_module
from treeplex.errors import FormatError, GameError, ParameterError
from treeplex.games.holdem.betting import betting_tree
from treeplex.games.holdem.cards import HAND_CARDS, hand_numbers
from treeplex.games.holdem.sizes import parse_sizes
from treeplex.holdem import Spot, load_spot, make_spot, read_spot, sizes_for
from treeplex.poker.views.lines import follow
from treeplex.updates.storage import STORAGES

SIZES = sizes_for("50%", "a")
WIDE = "22+,A2s+,K9s+,QTs+,JTs,ATo+,KJo+"


@pytest.mark.parametrize("name", ["R", "T", "TB", "F1"])
def test_same_trees_as_postflop_solver(known, name):
    spot = make_spot(known[name])
    game = load_spot(spot)
    tree, counts = known[name]["tree"], game.counts()
    assert game.nodes == tree["nodes"]
    assert counts["action_nodes_by_street"] == tree["action_nodes_by_street"]
    assert counts["chance_nodes_by_street"] == tree["chance_nodes_by_street"]
    assert counts["fold_terminals_by_street"] == tree["fold_terminals_by_street"]
    assert counts["showdown_terminals"] == tree["showdown_terminals"]
    assert [int(hands.counts[0]) for hands in game.boards[0].hands] == tree["hands_by_player"]
    assert game.combinations == tree["combinations"]
    for storage in ("float32", "int16"):
        assert game.stored(storage) <= tree["memory_bytes"][storage]


def allocated(solver, game):
    """Most bytes at a time of an iteration and an evaluation, with the tables of hands."""
    waiting, tables = [game.boards], 0
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, np.ndarray):
            tables += thing.nbytes
        else:
            waiting += list(thing)
    tracemalloc.start()
    try:
        state = solver.advance(game, solver.start(game), 1)
        solver.report(game, state, "average").evaluate()
        return tables + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["TB", "flop"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("algorithm_name", "storage"),
    [
        *(("dcfr(gamma=4)", storage) for storage in STORAGES),
        pytest.param("pcfr+", "float64", marks=pytest.mark.slow),
        ("pcfr+", "float32"),
    ],
)
def test_memory_is_what_is_allocated(monkeypatch, known, name, threads, algorithm_name, storage):
    spot = Spot("Ks 9h 6d", 10, 60, "22+,A9s+", "22+,KTs+", SIZES) if name == "flop" else make_spot(known[name])
    game = load_spot(spot)
    solver = build(algorithm_name).open(game, Execution(storage=storage, threads=threads))
    other = load_spot(spot)
    warm = build(algorithm_name).open(other, Execution(storage=storage, threads=threads))
    warm.advance(other, warm.start(other), 1)  # kernels are read from disk
    need, predict = allocated(solver, game), algorithm_name == "pcfr+"
    said = game.memory(storage, predict, threads)
    assert 0.0 <= need - said <= 0.01 * need + 2**18  # betting, numbers of a run
    monkeypatch.setattr(game_module, "available", lambda: said)
    game_module.require_memory(game, storage, predict, threads)
    monkeypatch.setattr(game_module, "available", lambda: said - 1)
    with pytest.raises(GameError, match="are free"):
        solver.start(game)


def test_sizes_of_single_decisions():
    sizes = sizes_for("50%", "a")
    spot = Spot("Ks 9h 6d 2c", 100, 300, "AA,KK", "QQ,JJ", sizes, line_sizes={"check": "33%, a", "bet 50, call": "20c"})
    assert actions(spot) == ["check", "bet 50"]
    assert actions(spot, "check") == ["check", "bet 33", "all-in 300"]
    assert actions(spot, "bet 50") == ["fold", "call", "all-in 300"]
    for card in ("3c", "Ah"):
        assert actions(spot, f"bet 50, call, {card}") == ["check", "bet 20"]
        assert actions(spot, f"bet 50, call, {card}, check") == ["check", "bet 100"]
    raised = replace(spot, line_sizes={"bet 50": "2.5x"})
    assert actions(raised, "bet 50") == ["fold", "call", "raise 125"]
    small = replace(spot, pot=1, effective_stack=3, chip=0.01, line_sizes={"bet 0.5": "2.5x"})
    assert actions(small, "bet 0.5") == ["fold", "call", "raise 1.25"]
    assert "line_sizes" not in Spot("Ks 9h 6d 2c", 100, 300, "AA", "QQ").summary()
    assert load_spot(spot).fingerprint != load_spot(replace(spot, line_sizes={})).fingerprint


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ({"check, check": "a"}, "check, check"),
        ({"bet 51": "a"}, "bet 51"),
        ({"check": "x"}, "line_sizes"),
        ("a", "line_sizes"),
    ],
)
def test_wrong_sizes_of_single_decisions(lines, words):
    with pytest.raises(ParameterError, match=words):
        load_spot(Spot("Ks 9h 6d 2c 3d", 100, 300, "AA,KK", "QQ,JJ", sizes_for("50%", "a"), line_sizes=lines))


def actions(spot, line=""):
    return [action.name for action in follow(load_spot(spot), line).node.actions]


def river(**changed):
    return replace(Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KK,QQ", "AK,QJs", sizes_for("50%", "a")), **changed)


def test_sizes_of_first_bets():
    assert actions(river(sizes=sizes_for("33%, 75.5%, 20c, a", ""))) == [
        "check",
        "bet 20",
        "bet 33",
        "bet 76",
        "all-in 300",
    ]
    assert actions(river(sizes=sizes_for("0.1%", ""))) == ["check", "bet 1"]  # never less than a chip
    assert actions(river(sizes=sizes_for("1000%", ""))) == ["check", "all-in 300"]
    assert actions(river(sizes=sizes_for("50%, 50c", ""))) == ["check", "bet 50"]
    assert actions(river(sizes=sizes_for("e", ""))) == ["check", "all-in 300"]  # one street left
    assert actions(river(sizes=sizes_for("2e", ""))) == ["check", "bet 82"]  # (1 + 2f)^2 = 1 + 2 * 3
    assert actions(river(sizes=sizes_for("2e60%", ""))) == ["check", "bet 60"]
    assert actions(river(sizes={})) == ["check"]


def test_sizes_of_raises():
    assert actions(river(sizes=sizes_for("50%", "60%, 2.5x, a")), "bet 50") == [
        "fold",
        "call",
        "raise 125",
        "raise 170",
        "all-in 300",
    ]
    assert actions(river(sizes=sizes_for("50%", "1.1x")), "bet 50")[2:] == ["raise 100"]  # at least the bet again
    assert actions(river(sizes=sizes_for("a", "a")), "all-in") == ["fold", "call"]
    assert actions(river(sizes=sizes_for("10%", "2x")), "bet, raise, raise, raise, raise")[2:] == ["all-in 300"]


def test_thresholds():
    plain = river(sizes=sizes_for("50%, 150%, 200%", ""))
    assert actions(plain) == ["check", "bet 50", "bet 150", "bet 200"]
    assert actions(replace(plain, add_allin_threshold=3.0))[-1] == "all-in 300"
    assert actions(replace(plain, add_allin_threshold=2.9))[-1] == "bet 200"
    assert actions(replace(plain, force_allin_threshold=0.2))[1:] == ["bet 50", "bet 150", "all-in 300"]
    assert actions(replace(plain, merging_threshold=0.25))[1:] == ["bet 50", "bet 200"]  # 300 / 250 < 1.25


def test_donk_sizes():
    spot = Spot("Ks 9h 6d", 100, 900, "AA,KK", "QQ,JJ", sizes_for("50%", ""), {"turn": "20%", "river": "a"})
    assert actions(spot, "check, bet 50, call, 2c") == ["check", "bet 40"]  # has called: the donk sizes
    assert actions(spot, "check, check, 2c") == ["check", "bet 50"]
    assert actions(spot, "bet 50, call, 2c") == ["check", "bet 100"]
    assert actions(spot, "check, bet 50, call, 2c, check") == ["check", "bet 100"]
    assert actions(spot, "check, bet 50, call, 2c, check, check, 2d") == ["check", "bet 100"]


def test_money_on_the_way():
    spot = Spot("Ks 9h 6d 2c", 100, 300, "AA,KK", "QQ,JJ", sizes_for("50%", "a"))
    node = follow(load_spot(spot), "bet 50, all-in").node
    assert (node.paid, node.to_call, node.faced) == (50, 250, 300)
    called = node.children[1]
    assert (called.kind, called.paid) == ("chance", 300)
    assert called.children[0].kind == "showdown"
    assert {child.paid for child in node.children if child.kind == "fold"} == {50}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"pot": 0}, "'pot'"),
        ({"pot": 1.5}, "'pot'"),
        ({"effective_stack": -3}, "'effective_stack'"),
        ({"board": "Ks Ks 6d 3c Jh"}, "Ks twice"),
        ({"oop_range": "K9o:0.5,3c2c,KsKh"}, None),
        ({"oop_range": "3c2c"}, "dead on the board"),
        ({"ip_range": ""}, "no hand"),
        ({"oop_range": "AsAh", "ip_range": "AsKd"}, "cannot be dealt together"),
        ({"sizes": sizes_for("2x", "")}, "no bet to multiply"),
        ({"sizes": sizes_for("50y", "")}, "must be of the forms"),
        ({"sizes": sizes_for("0%", "")}, "out of range"),
        ({"sizes": sizes_for("", "0.5x")}, "out of range"),
        ({"sizes": {"preflop": {}}}, "'preflop'"),
        ({"sizes": {"river": {"utg": {}}}}, "'utg'"),
        ({"donk_sizes": {"flop": "50%"}}, "'flop'"),
        ({"rake_rate": 2.0}, "'rake_rate'"),
        ({"merging_threshold": -0.1}, "'merging_threshold'"),
    ],
)
def test_impossible_spots(changed, words):
    if words is None:
        river(**changed)
        return
    with pytest.raises(ParameterError, match=words):
        river(**changed)


def test_spots_in_files(tmp_path):
    fields = {"board": "Ks 9h 6d", "pot": 100, "effective_stack": 300, "oop_range": "AA", "ip_range": "KK"}
    path = tmp_path / "spot.json"
    path.write_text(json.dumps(fields | {"sizes": {"bet": "50%", "raise": "a"}, "description": "ours"}))
    spot = read_spot(path)
    assert spot.sizes == sizes_for("50%", "a")
    toml = tmp_path / "spot.toml"
    toml.write_text(
        'board = "Ks 9h 6d"\npot = 100\neffective_stack = 300\noop_range = "AA"\nip_range = "KK"\n'
        '[sizes.flop]\nbet = "50%"\n[sizes.turn.oop]\nbet = "75%"\n'
    )
    read = read_spot(toml)
    assert read.bets("flop", 1) == parse_sizes("50%", "x", raises=False)
    assert read.bets("turn", 1) == ()
    assert make_spot(spot.summary()) == spot
    several = tmp_path / "spots.json"
    several.write_text(json.dumps({"spots": {"a": fields}}))
    assert read_spot(f"{several}#a").pot == 100
    for wrong, words in ((several, "#NAME"), (f"{path}#a", "one spot"), (tmp_path / "none.json", "cannot be read")):
        with pytest.raises(ParameterError, match=words):
            read_spot(wrong)
    path.write_text("{")
    with pytest.raises(FormatError, match="not JSON"):
        read_spot(path)
    with pytest.raises(ParameterError, match="'colour'"):
        make_spot(fields | {"colour": "red"})
    with pytest.raises(ParameterError, match="'pot' of the spot is missing"):
        make_spot({key: value for key, value in fields.items() if key != "pot"})


@pytest.mark.parametrize(
    ("board", "turns", "rivers"),
    [
        ("Ks 9h 6d", 49, 49 * 48),  # three suits: nothing is alike
        ("Td 9d 6h", 36, 1429),
        ("Ts 9s 6s", 10 + 13, None),
        ("Ts Th Td", 12 + 13, None),
    ],
)
def test_boards_up_to_suits(board, turns, rivers):
    spot = Spot(board, 100, 300, WIDE, WIDE, {})
    game = load_spot(spot)
    assert len(game.deals[1]) == turns
    if rivers:
        assert len(game.deals[2]) == rivers
    for depth in (1, 2):
        for b, deal in enumerate(game.deals[depth - 1]):
            below = range(int(game.boards[depth - 1].child[b]), int(game.boards[depth - 1].child[b + 1]))
            dealt = []
            for child in below:
                assert game.deals[depth][child].parent == b
                card = game.deals[depth][child].cards[-1]
                dealt += [card // 4 * 4 + suits[card % 4] for suits in game.deals[depth][child].images]
            assert sorted(dealt) == [card for card in range(52) if card not in deal.cards]  # each card once


def test_ranges_that_tell_suits_apart_have_no_images():
    alike = load_spot(Spot("Td 9d 6h", 100, 300, "AKs,QQ", WIDE, {}))
    apart = load_spot(Spot("Td 9d 6h", 100, 300, "AcKc,QQ", WIDE, {}))
    assert len(alike.deals[1]) == 36
    assert len(apart.deals[1]) == 49
    weighted = load_spot(Spot("Td 9d 6h", 100, 300, "AKs,AcKc:0.5,QQ", WIDE, {}))
    assert len(weighted.deals[1]) == 49


def test_hands_of_boards():
    """No hand shares a card with its board; maps lead to the same hand, or to its image, on the board above."""
    game = load_spot(Spot("Td 9d 6h", 100, 300, WIDE, "AKs,QQ-66,87s", {}))
    for depth in (1, 2):
        boards, above = game.boards[depth], game.boards[depth - 1]
        for b in range(0, len(game.deals[depth]), 7):
            deal = game.deals[depth][b]
            for player in (0, 1):
                hands, upper = boards.hands[player], above.hands[player]
                begin, count = int(hands.start[b]), int(hands.counts[b])
                numbers = hands.number[begin : begin + count].astype(np.int64)
                assert not np.isin(HAND_CARDS[numbers], deal.cards).any()
                for k, suits in enumerate(deal.images):
                    start = int(hands.map_start[int(boards.image[b]) + k])
                    places = hands.map[start : start + count].astype(np.int64)
                    found = upper.number[int(upper.start[deal.parent]) + places]
                    moved = hand_numbers(HAND_CARDS[numbers] // 4 * 4 + np.array(suits)[HAND_CARDS[numbers] % 4])
                    np.testing.assert_array_equal(found, moved)


def test_too_large_is_refused(monkeypatch, known):
    spot = make_spot(known["F1"])
    game = load_spot(spot)
    monkeypatch.setattr(game_module, "available", lambda: game.memory("int16") + 1)
    with pytest.raises(GameError, match='storage="int16"'):
        game_module.require_memory(game, "float32")
    monkeypatch.setattr(game_module, "available", lambda: 2**20)
    with pytest.raises(GameError, match="fewer or larger bet sizes"):
        game_module.require_memory(game, "int16")
    with pytest.raises(GameError, match="at least"):
        load_spot(spot)


def test_lines():
    game = load_spot(Spot("Ks 9h 6d 2c", 100, 300, "AA,KK", "QQ,JJ", sizes_for("50%, 75%", "a")))
    assert follow(game, "").node is betting_root(game)
    assert follow(game, "check, bet 75%, all-in, call").node.kind == "chance"
    assert follow(game, "x, bet 50, c, 3c").node.player == 0
    for line, words in (
        ("bet", "write one in full: bet 50 \\(50%\\), bet 75 \\(75%\\)"),
        ("fold", "these are possible"),
        ("check, check, fold", "A card is dealt here"),
        ("check, check, Ks", "is already on the board"),
        ("bet 50, fold, check", "no player acts after a fold"),
    ):
        with pytest.raises(ParameterError, match=words):
            follow(game, line)


def betting_root(game):
    return game.streets[0].decisions[0].node


def test_betting_trees_are_finite_and_pay_within_the_stack(known):
    for fields in known.values():
        spot = make_spot(fields)
        waiting = [betting_tree(spot)]
        while waiting:
            node = waiting.pop()
            assert 0 <= node.paid <= spot.effective_stack
            assert len({action.name for action in node.actions}) == len(node.actions)
            waiting += node.children
