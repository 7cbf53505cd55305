"""What cannot be solved is refused before solving: the right kind of error, in one sentence, with the right words."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import treeplex as tp
from treeplex.compile import memory
from treeplex.compile.walk import CHECK_EVERY, ESTIMATE_AT
from treeplex.errors import GameError, ParameterError, TreeplexError
from treeplex.games.efg import EfgGame, parse
from treeplex.games.matrix import MatrixGame
from treeplex.games.protocol import CHANCE, TERMINAL


class Chance(NamedTuple):
    children: Mapping[Any, Any]
    probabilities: Any


class Move(NamedTuple):
    player: Any
    infoset: Any
    children: Mapping[Any, Any]


class Drawn:
    """A game drawn as a tree of ``Chance`` and ``Move``; anything else is the payoff of a terminal."""

    name = "drawn"

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def root(self) -> Any:
        return self.tree

    def mover(self, history: Any) -> Any:
        if isinstance(history, Chance):
            return CHANCE
        return history.player if isinstance(history, Move) else TERMINAL

    def actions(self, history: Any) -> Any:
        return list(history.children)

    def probabilities(self, history: Any) -> Any:
        return history.probabilities

    def child(self, history: Any, action: Any) -> Any:
        return history.children[action]

    def infoset(self, history: Any) -> Any:
        return history.infoset

    def payoff(self, history: Any) -> Any:
        return history


class Repeating(Drawn):
    """Says every action twice."""

    def actions(self, history: Any) -> Any:
        return [*history.children, *history.children]

    def probabilities(self, history: Any) -> Any:
        return [share / 2 for share in history.probabilities] * 2


def refusal(tree: Any, kind: type[TreeplexError] = GameError) -> str:
    """The sentence with which a drawn game is refused."""
    with pytest.raises(kind) as error:
        tp.load(tree if hasattr(tree, "root") else Drawn(tree))
    return one_sentence(str(error.value))


def one_sentence(text: str) -> str:
    assert "\n" not in text
    assert text.endswith(".")
    assert len(text) < 600
    return text


def pennies(*payoffs: Any) -> Move:
    """Two hidden choices, four payoffs."""
    hh, ht, th, tt = payoffs
    return Move(0, "a", {"h": Move(1, "b", {"h": hh, "t": ht}), "t": Move(1, "b", {"h": th, "t": tt})})


# --- recall and infosets ---------------------------------------------------------------------------------------------


def test_no_perfect_recall_is_shown_by_two_histories() -> None:
    forgetful = Move(0, "first", {"l": Move(0, "second", {"x": 1, "y": 2}), "r": Move(0, "second", {"x": 3, "y": 4})})
    assert refusal(forgetful) == (
        "drawn has no perfect recall: at infoset 'second' player 0 cannot tell 'l' from 'r', though they moved or knew"
        " differently on the way; put all a player has done and seen into the infoset label."
    )


def test_a_forgotten_observation_of_player_1_is_found_deep_in_the_tree() -> None:
    def after(card: str) -> Move:
        return Move(1, card, {"bet": Move(1, "lost", {"on": 0.0, "off": 1.0}), "pass": 0.5})

    sentence = refusal(Chance({"low": after("low"), "high": after("high")}, [0.5, 0.5]))
    assert "no perfect recall: at infoset 'lost' player 1 cannot tell 'low bet' from 'high bet'" in sentence


def test_an_absent_minded_driver_is_refused() -> None:
    driver = Move(0, "exit?", {"exit": 0, "on": Move(0, "exit?", {"exit": 4, "on": 1})})
    assert "no perfect recall: at infoset 'exit?' player 0 cannot tell the root from 'on'" in refusal(driver)


def test_one_label_may_serve_both_players() -> None:
    game = tp.load(Drawn(Move(0, "same", {"h": Move(1, "same", {"h": 1, "t": -1}), "t": 0})))
    assert [treeplex.infosets for treeplex in game.treeplexes] == [1, 1]


@pytest.mark.parametrize("other", [{"x": 3}, {"y": 3, "x": 4}, {"x": 3, "z": 4}, {"x": 3, "y": 4, "z": 5}])
def test_different_actions_in_an_infoset_are_refused(other) -> None:
    there = Move(1, "i", {"x": 1, "y": 2})
    assert refusal(Move(0, "a", {"l": there, "r": Move(1, "i", other)})) == (
        f"drawn offers different actions in infoset 'i' of player 1: x, y at 'l' but {', '.join(other)} at 'r'."
    )


def test_no_actions_are_refused() -> None:
    assert refusal(Move(0, "a", {"l": 1, "r": Move(1, "b", {})})) == (
        "drawn has no action at 'r', which is not terminal; return TERMINAL from mover there."
    )
    assert "has no action at the root" in refusal(Chance({}, []))


def test_repeated_actions_are_refused() -> None:
    assert refusal(Repeating(Move(0, "a", {"l": 1, "r": 0}))) == (
        "drawn repeats an action label at the root: l, r, l, r; labels must differ."
    )


def test_repeated_outcomes_of_chance_are_refused() -> None:
    assert "repeats an action label at the root" in refusal(Repeating(Chance({"l": 1, "r": 0}, [0.5, 0.5])))


# --- players and payoffs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mover", [2, 3, 127, 1000, -3])
def test_a_mover_out_of_range_is_refused(mover) -> None:
    assert refusal(Move(0, "a", {"l": Move(mover, "b", {"x": 1}), "r": 0})) == (
        f"drawn says mover {mover} at 'l'; treeplex solves games of two players: 0, 1, CHANCE or TERMINAL."
    )


def test_three_players_are_refused() -> None:
    three = EfgGame(parse('EFG 2 R "trio" { "a" "b" "c" } t "" 1 "" { 1 2 3 }'))
    assert refusal(three) == "trio has 3 players; treeplex solves games of two."
    assert (
        refusal(Move(0, "a", {"l": (1, 2, 3)})) == "drawn pays 3 players at 'l'; treeplex solves games of two players."
    )


def test_payoffs_without_a_constant_sum_are_refused_with_both_sums() -> None:
    assert refusal(pennies((3, 3), (0, 5), (5, 0), (1, 1))) == (
        "drawn is not zero-sum nor constant-sum: the players' payoffs add up to 2 at 't t' but to 6 at 'h h'."
    )


@pytest.mark.parametrize("constant", [0.0, 10.0, -3.5, 1e6, 1e-3])
def test_a_constant_sum_is_shifted_and_reported(constant) -> None:
    """Player 0 keeps its payoffs, player 1's best response is told in its own, and the gains are those of zero sum."""
    table = [3.0, -1.0, -2.0, 4.0]
    plain, shifted = tp.load(Drawn(pennies(*table))), tp.load(Drawn(pennies(*((v, constant - v) for v in table))))
    assert shifted.constant == pytest.approx(constant, rel=1e-12)
    assert shifted.summary()["constant"] == shifted.constant
    for policy in (tp.Policy.uniform(plain), tp.solve(plain, "lp").policy):
        ours, theirs = tp.evaluate(shifted, policy), tp.evaluate(plain, policy)
        assert ours.value == theirs.value
        assert ours.nash_conv == theirs.nash_conv
        assert ours.best_response_values[0] == theirs.best_response_values[0]
        assert ours.best_response_values[1] == pytest.approx(constant + theirs.best_response_values[1], rel=1e-12)
        assert sum(ours.best_response_values) == pytest.approx(constant + ours.nash_conv, rel=1e-12, abs=1e-12)
        value, _ = tp.best_response(shifted, policy, 1)
        assert value == ours.best_response_values[1]
    assert tp.solve(shifted, "lp").value == pytest.approx(1.0, abs=1e-12)  # (3·4 - 1·2) / (3 + 1 + 2 + 4)


def test_sums_that_differ_by_rounding_are_constant() -> None:
    shares = [(v, 0.3 - v) for v in (0.1, 0.33, 1.7, 2.9)]
    assert len({own + other for own, other in shares}) > 1
    assert tp.load(Drawn(pennies(*shares))).constant == pytest.approx(0.3)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_check_of_constant_sums_does_not_depend_on_the_scale(scale) -> None:
    off = [(scale, -scale), (-scale, scale), (-scale, scale), (scale, -scale * (1 - 1e-2))]
    assert "not zero-sum nor constant-sum" in refusal(pennies(*off))


def test_tiny_payoffs_without_a_constant_sum_are_refused() -> None:
    tiny = [(v * 1e-11, w * 1e-11) for v, w in ((3, 3), (0, 5), (5, 0), (1, 1))]
    assert "not zero-sum nor constant-sum" in refusal(pennies(*tiny))


@pytest.mark.parametrize(
    "payoff", [math.nan, math.inf, -math.inf, (1.0, math.nan), (math.inf, -math.inf), np.float64("nan")]
)
def test_payoffs_that_are_not_finite_are_refused(payoff) -> None:
    sentence = refusal(Move(0, "a", {"l": 1.0, "r": payoff}))
    assert sentence.startswith("drawn has a payoff that is not a finite number at 'r': ")


@pytest.mark.parametrize(
    "payoff", [2, True, np.float32(2), np.int64(2), Fraction(2), (2, -2), [2.0, -2.0], np.array([2, -2])]
)
def test_payoffs_may_be_any_kind_of_number(payoff) -> None:
    game = tp.load(Drawn(Move(0, "a", {"l": 0.0, "r": payoff})))
    assert tp.solve(game, "lp").value == (1.0 if payoff is True else 2.0)


@pytest.mark.parametrize("payoff", [None, "lots", ("1", None)])
def test_payoffs_that_are_no_numbers_are_refused(payoff) -> None:
    assert "payoff" in refusal(Move(0, "a", {"l": 1.0, "r": payoff}))


# --- chance ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probabilities", "total"),
    [
        ([0.5, 0.4], "0.9"),
        ([0.5, 0.5 + 1e-8], "1.00000001"),
        ([1.5, -0.5], "1.0"),
        ([0.5, math.nan], "nan"),
        ([0.0, 0.0], "0.0"),
        ([math.inf, 0.0], "inf"),
    ],
)
def test_probabilities_that_are_no_distribution_are_refused(probabilities, total) -> None:
    sentence = refusal(Move(0, "a", {"l": 1, "r": Chance({"x": 0, "y": 1}, probabilities)}))
    assert sentence == f"drawn has chance probabilities at 'r' that are not a distribution: they add up to {total}."


def test_infinite_probabilities_of_both_signs_are_refused() -> None:
    assert "not a distribution" in refusal(Chance({"x": 0, "y": 1}, [math.inf, -math.inf]))


@pytest.mark.parametrize("probabilities", [[], [1.0], [0.5, 0.25, 0.25]])
def test_a_wrong_number_of_probabilities_is_refused(probabilities) -> None:
    assert refusal(Chance({"x": 0, "y": 1}, probabilities)) == (
        f"drawn gives {len(probabilities)} probabilities for 2 chance outcomes at the root."
    )


def test_probabilities_that_sum_to_one_but_for_rounding_are_taken() -> None:
    tenths = [0.1] * 10
    assert sum(tenths) != 1
    game = tp.load(Drawn(Chance({str(k): float(k) for k in range(10)}, tenths)))
    assert tp.evaluate(game, tp.Policy.uniform(game)).value == pytest.approx(4.5, abs=1e-12)


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree",
    [
        Move(0, ("a", 1), {"l": 1, "r": 0}),
        Move(0, 7, {"l": 1, "r": 0}),
        Move(0, "a", {0: 1, 1: 0}),
        Chance({0: 1, 1: 0}, [0.5, 0.5]),
    ],
)
def test_labels_that_are_no_text_are_refused(tree) -> None:
    with pytest.raises(TreeplexError) as error:
        tp.evaluate(Drawn(tree), tp.Policy.uniform(tp.load(Drawn(tree))))
    assert "label" in one_sentence(str(error.value))


# --- what is no game at all ------------------------------------------------------------------------------------------


class NoPayoff:
    root = mover = actions = probabilities = child = infoset = lambda self, *_: None

    def __repr__(self) -> str:
        return "NoPayoff()"


@pytest.mark.parametrize(
    ("source", "lacks"),
    [
        (3, "3 lacks actions, child, infoset, mover, payoff, probabilities, root"),
        (None, "None lacks actions, child"),
        ({1}, "{1} lacks actions"),
        (NoPayoff(), "NoPayoff() lacks payoff."),
    ],
)
def test_objects_that_are_no_games_are_refused(source, lacks) -> None:
    sentence = refusal_of(lambda: tp.load(source), ParameterError)
    assert sentence.startswith("A game must be a name, a file, or have all methods of Game; ")
    assert lacks in sentence


def refusal_of(action: Callable[[], object], kind: type[TreeplexError]) -> str:
    with pytest.raises(kind) as error:
        action()
    return one_sentence(str(error.value))


def test_a_class_instead_of_a_game_is_refused() -> None:
    assert "is a class: make an object of it first" in refusal_of(lambda: tp.load(Drawn), ParameterError)


# --- memory ----------------------------------------------------------------------------------------------------------


class Endless(Drawn):
    """A game that never ends; histories are numbers."""

    name = "endless"

    def __init__(self) -> None:
        super().__init__(0)

    def mover(self, history: int) -> int:
        return history % 2

    def actions(self, history: int) -> tuple[str, ...]:
        return ("l", "r")

    def child(self, history: int, action: str) -> int:
        return history + 1

    def infoset(self, history: int) -> str:
        return str(history)


def test_a_game_that_outgrows_memory_is_refused_on_the_way(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    sentence = refusal_of(lambda: tp.load(Endless()), GameError)
    assert sentence.startswith(f"endless has more than {ESTIMATE_AT - 1:,} nodes and would take ")
    assert "but only 0.0 GiB are free; choose smaller parameters or free some memory." in sentence


def test_reports_come_while_histories_are_visited() -> None:
    seen: list[int] = []
    game = tp.load(MatrixGame(np.zeros((400, 400))), seen.append)
    assert seen == list(range(CHECK_EVERY - 1, game.nodes, CHECK_EVERY))
    assert len(seen) > 1


@pytest.mark.parametrize("name", ["leduc5", "liars_dice", "one_card_poker(1000)"])
def test_dealt_games_are_refused_before_they_are_built(name, monkeypatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**10)
    sentence = refusal_of(lambda: tp.load(name), GameError)
    assert sentence.startswith(f"{name.replace('(1000)', '(deck=1000)')} has ")
    assert "GiB are free; choose smaller parameters or free some memory." in sentence


def test_the_history_tree_of_a_dealt_game_is_refused_before_it_is_built(monkeypatch) -> None:
    game = tp.load("one_card_poker(1000)")
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    sentence = refusal_of(lambda: game.tree, GameError)
    assert sentence.startswith("one_card_poker(deck=1000) has ")
    assert f"{game.nodes:,} nodes" in sentence


def test_the_memory_of_this_machine_is_known() -> None:
    assert 2**20 < memory.available() < 2**50


ABSURD = [
    "kuhn_ext(3,1000,1000)",
    "kuhn_ext(3,25,25)",
    "liars_dice(dice=10,sides=100)",
    "liars_dice(dice=4,sides=20)",
    "liars_dice(dice=1,sides=100)",
    "leduc_ext(1000,1,1)",  # tables of 1000 x 1000 hands for each of 1000 public cards
    "leduc_ext(10000,1000,1000)",
]

LOAD = """
import sys, time
import treeplex as tp
from treeplex.errors import TreeplexError
for name in sys.argv[1:]:
    began = time.process_time()
    try:
        tp.load(name)
    except TreeplexError as error:
        print(time.process_time() - began)
        print(error)
"""


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))


def test_absurd_sizes_are_refused_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *ABSURD],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        preexec_fn=_limit_memory,
    )
    seconds, sentences = done.stdout.splitlines()[::2], done.stdout.splitlines()[1::2]
    assert len(sentences) == len(ABSURD)
    for taken, sentence in zip(seconds, sentences, strict=True):
        assert float(taken) < 10
        one_sentence(sentence)


def test_large_but_sensible_sizes_are_taken() -> None:
    """Ranked cards need no list of pairs of hands."""
    game = tp.load("one_card_poker(20000)")
    assert game.treeplexes[0].infosets == 40_000
    policy = tp.Policy.uniform(game)
    assert tp.evaluate(game, policy).nash_conv > 0


def test_refusals_leave_nothing_behind() -> None:
    """The same name can be loaded after a refusal, and solved."""
    refusal_of(lambda: tp.load("kuhn(cards=3)"), ParameterError)
    assert tp.solve("kuhn", "lp").value == pytest.approx(-1 / 18)
