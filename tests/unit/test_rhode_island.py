"""Rhode Island hold'em: its rules against a second telling of them, its sizes, and what suit isomorphism leaves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import Any, cast

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.compile import CompiledGame, compile_game
from treeplex.compile.blocks import ClassBlocks, expand
from treeplex.compile.public import build_public
from treeplex.compile.storage import FORMAT
from treeplex.engines.sequence.cpu import operators as fast
from treeplex.engines.sequence.cpu import treeplex as walks
from treeplex.engines.sequence.reference import operators as plain
from treeplex.errors import FormatError, GameError, ParameterError
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.games.catalog import make
from treeplex.games.dealt import DealtGame
from treeplex.games.poker import Poker, Round, court, leduc
from treeplex.games.rhode_island import RANKS, SUITS, rhode_island, three_cards
from treeplex.games.suits import FoldedGame, OneLine
from treeplex.policies.policy import policy_of
from treeplex.tensors import read_tensors, write_tensors

KINDS = ["straight flush", "three of a kind", "straight", "flush", "pair", "high card"]


def folded(name: str = "rhode_island") -> FoldedGame:
    return cast(FoldedGame, make(name))


def one_bet(ranks: int, suits: int) -> FoldedGame:
    """Rhode Island hold'em with one bet a round: the same cards, a small tree."""
    rules = folded(f"rhode_island(ranks={ranks},suits={suits})").rules
    short = replace(rules, rounds=tuple(Round(one.sizes, 1) for one in rules.rounds))
    return FoldedGame(short, replace(short, name=f"{short.name} whole"))


@cache
def both(ranks: int, suits: int) -> tuple[CompiledGame, CompiledGame]:
    """A small game by classes, and whole."""
    game = one_bet(ranks, suits)
    return compile_game(game), compile_game(DealtGame(game.whole))


# --- the rules -------------------------------------------------------------------------------------------------------


def kind(cards: Any) -> str:
    """Which of the six kinds three cards are, by the descriptions of Gilpin and Sandholm's page."""
    places, suits = sorted(RANKS.index(card[0]) for card in cards), {card[1] for card in cards}
    consecutive = places in ([k, k + 1, k + 2] for k in range(11)) or places == [0, 1, 12]
    if consecutive:
        return "straight flush" if len(suits) == 1 else "straight"
    if len(suits) == 1:
        return "flush"
    return {1: "three of a kind", 2: "pair", 3: "high card"}[len(set(places))]


def test_hands_have_the_frequencies_of_the_page_and_the_kinds_its_order() -> None:
    deck = folded().rules.deck
    seen: dict[str, list[tuple[int, ...]]] = {name: [] for name in KINDS}
    for cards in combinations(deck, 3):
        seen[kind([card.label for card in cards])].append(three_cards(cards[0], cards[1:]))
    total = sum(map(len, seen.values()))
    shares = {name: round(len(found) / total, 5) for name, found in seen.items()}
    assert shares == dict(zip(KINDS, (0.00217, 0.00235, 0.03258, 0.04959, 0.16941, 0.74389), strict=True))
    for stronger, weaker in pairwise(KINDS):
        assert min(seen[stronger]) > max(seen[weaker])


def strength(*labels: str) -> tuple[int, ...]:
    deck = {card.label: card for card in folded().rules.deck}
    found = {three_cards(deck[a], (deck[b], deck[c])) for a, b, c in permutations(labels)}
    assert len(found) == 1, "which card is private does not matter"
    return found.pop()


def test_ties_are_broken_as_the_page_says() -> None:
    assert strength("As", "2h", "3d") < strength("2s", "3h", "4d") < strength("Qs", "Kh", "Ad")
    assert strength("As", "2s", "3s") < strength("2s", "3s", "4s")
    assert strength("Ks", "As", "2s") < strength("Qs", "Ks", "As"), "no straight goes round the corner"
    assert strength("3s", "3h", "2d") < strength("3s", "3h", "Ad") < strength("4s", "4h", "2d")
    assert strength("Js", "9h", "2d") < strength("Js", "9h", "3d") < strength("Js", "Th", "2d")
    assert strength("Js", "9s", "2s") < strength("Js", "9s", "3s")
    assert strength("Js", "9h", "2d") == strength("Jd", "9s", "2h")


def counted(rules: Poker, player: int) -> tuple[int, int]:
    """Infosets and sequences of the whole game, from its betting along one board."""
    tree, parent = (public := build_public(OneLine.of(rules))).tree, public.parent
    infosets, sequences = 0, 1
    for node in np.flatnonzero(tree.mover == player).tolist():
        cards, above = 0, int(parent[node])
        while above >= 0:
            cards += int(tree.mover[above] == tp.CHANCE)
            above = int(parent[above])
        seen = int(np.prod([len(rules.deck) - k for k in range(cards + 1)]))  # own card, and public ones in order
        infosets += seen
        sequences += seen * int(np.count_nonzero(parent == node))
    return infosets, sequences


def test_the_whole_game_has_the_size_of_the_literature() -> None:
    """A linear program over the sequence form has a column per sequence of one, per infoset of the other, and one."""
    small = folded("rhode_island(ranks=2,suits=2)")
    sizes = tp.load("rhode_island(ranks=2,suits=2,whole=true)").treeplexes
    assert [counted(small.rules, p) for p in (0, 1)] == [(own.infosets, own.sequences) for own in sizes]
    (infosets, sequences), other = (counted(folded().rules, player) for player in (0, 1))
    assert (infosets, sequences) == other
    assert sequences + infosets + 1 == 91_224_226


def test_classes_of_hands_and_boards_of_the_full_deck() -> None:
    suits, boards = folded().suits, {0: [((), 1)]}
    for cards in (1, 2):
        boards[cards] = [((*b, c), n * m) for b, n in boards[cards - 1] for c, m in suits.following(b)]
    assert [len(boards[cards]) for cards in range(3)] == [1, 13, 25 * 13]
    assert [sum(n for _, n in boards[cards]) for cards in range(3)] == [1, 52, 52 * 51]
    assert [sum(len(suits.classes(b)) for b, _ in boards[cards]) for cards in range(3)] == [13, 325, 7969]
    for board, _ in boards[1] + boards[2]:
        held = sorted(card for one in suits.classes(board) for card in one.cards)
        assert held == [card for card in range(52) if card not in board]
        for one in suits.classes(board):
            assert {suits.class_of(board[:-1])[card] for card in one.cards} == {one.before}


def test_betting() -> None:
    rules = folded().rules
    state = rules.start()
    for move in ("check", "bet", "raise", "raise"):
        assert move in rules.actions(state)
        state = rules.next(state, move)
    assert rules.actions(state) == ["fold", "call"], "three bets a round"
    assert state.paid == (25.0, 35.0)
    for move in ("call", "2s", "bet", "raise", "raise", "call", "3s", "bet", "raise", "raise", "call"):
        state = rules.next(state, move)
    assert state.paid == (155.0, 155.0)
    assert rules.settle(state).amount == 155.0


def test_public_cards_are_gone_from_the_deck() -> None:
    rules = Poker("three rounds", court(), (Round((2.0,), 1),) * 3)  # two of each rank
    state = rules.start()
    for move in ("check", "check", "J", "check", "check"):
        state = rules.next(state, move)
    assert rules.actions(state) == ["J", "Q", "K"]
    np.testing.assert_allclose(
        rules.odds(state)[:, 1, 2], [1 / 3, 1 / 3, 1 / 3]
    )  # against Q and K, one of each is left
    np.testing.assert_allclose(rules.odds(state)[:, 0, 2], [0.0, 2 / 3, 1 / 3])


# --- a second telling of the rules -----------------------------------------------------------------------------------


def told(policy: Policy, ranks: int, suits: int, most: int) -> float:
    """What a policy of the whole game wins for player 0: every deal, every line, in plain recursion."""
    deck = [rank + suit for rank in RANKS[:ranks] for suit in SUITS[:suits]]
    order = sorted({three(cards) for cards in combinations(deck, 3)})

    def play(cards: tuple[str, ...], words: tuple[str, ...], paid: tuple[int, int], number: int, first: str) -> float:
        """From the start of a round of betting; ``first``: its moves so far, a letter each."""
        size = 10 if number == 0 else 20
        player = len(first) % 2
        raised = first.count("b")
        facing = first.endswith("b")
        moves = ["fold", "call"] if facing else ["check"]
        if raised < most:
            moves.append("raise" if facing else "bet")
        played = policy[player, " ".join((cards[player], *words))]
        assert list(played) == moves
        total = 0.0
        for move in moves:
            said = (*words, move)
            if move == "fold":
                worth = paid[player] * (-1.0 if player == 0 else 1.0)
            elif move in ("bet", "raise"):
                stake = max(paid) + size
                worth = play(cards, said, (stake, paid[1]) if player == 0 else (paid[0], stake), number, first + "b")
            elif move == "check" and first == "":
                worth = play(cards, said, paid, number, "k")
            else:
                worth = over(cards, said, max(paid), number)
            total += played[move] * worth
        return total

    def over(cards: tuple[str, ...], words: tuple[str, ...], stake: int, number: int) -> float:
        if number == 2:
            one, other = (order.index(three((card, *cards[2:]))) for card in cards[:2])
            return float(stake * ((one > other) - (one < other)))
        left = [card for card in deck if card not in cards]
        turned = (play((*cards, card), (*words, card), (stake, stake), number + 1, "") for card in left)
        return sum(turned) / len(left)

    deals = list(permutations(deck, 2))
    return sum(play(deal, (), (5, 5), 0, "") for deal in deals) / len(deals)


def three(cards: Any) -> tuple[int, ...]:
    """A strength: the kind, then ranks by how many there are of each and how high they are."""
    places = [RANKS.index(card[0]) for card in cards]
    if sorted(places) == [0, 1, 12]:
        places[places.index(12)] = -1
    often = Counter(places)
    return (-KINDS.index(kind(cards)), *sorted(often, key=lambda place: (-often[place], -place)))


def random_policy(game: CompiledGame, seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    return Policy.of(game, (behaviour(game, 0, rng), behaviour(game, 1, rng)))


def behaviour(game: CompiledGame, player: int, rng: np.random.Generator) -> Any:
    actions: list[int] = game.treeplexes[player].actions.tolist()
    return np.concatenate([np.ones(1), *(rng.dirichlet(np.ones(n)) for n in actions)])


@pytest.mark.parametrize(("ranks", "suits"), [(3, 2), (2, 3)])
def test_a_lifted_policy_is_worth_what_a_plain_recursion_says(ranks, suits) -> None:
    small, whole = both(ranks, suits)
    policy = random_policy(small, 3)
    assert small.lifting is not None
    lifted = Policy.of(*small.lifting.strategies((small, policy.aligned(small))))
    value = told(lifted, ranks, suits, most=1)
    assert evaluate_policy(whole, lifted).value == pytest.approx(value, abs=1e-12)
    assert evaluate_policy(small, policy).value == pytest.approx(value, abs=1e-12)


@pytest.mark.slow
def test_the_catalogs_game_is_worth_what_a_plain_recursion_says() -> None:
    game = tp.load("rhode_island(ranks=3,suits=2)")
    policy = random_policy(game, 4)
    assert evaluate_policy(game, policy).value == pytest.approx(told(policy.lifted(), 3, 2, most=3), abs=1e-12)


# --- by classes and whole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "suits"), [(2, 2), pytest.param(3, 2, marks=pytest.mark.slow), (2, 3)])
def test_reduced_and_whole_game_have_the_same_value(ranks, suits) -> None:
    small, whole = both(ranks, suits)
    assert small.treeplexes[0].infosets < whole.treeplexes[0].infosets
    assert (small.nodes, small.terminals) == (whole.nodes, whole.terminals)
    assert tp.solve(small, "lp").value == pytest.approx(tp.solve(whole, "lp").value, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("deck", ["ranks=2,suits=2", "ranks=2,suits=3"])
def test_the_catalogs_games_have_the_same_value(deck) -> None:
    small, whole = tp.load(f"rhode_island({deck})"), tp.load(f"rhode_island({deck},whole=true)")
    assert tp.solve(small, "lp").value == pytest.approx(tp.solve(whole, "lp").value, abs=1e-9)


def answers(game: CompiledGame, policy: Policy) -> tuple[Any, Any]:
    """[I] counterfactual values of both players' infosets."""
    plans = [np.empty(treeplex.sequences) for treeplex in game.treeplexes]
    strategies = policy.aligned(game)
    for treeplex, strategy, plan in zip(game.treeplexes, strategies, plans, strict=True):
        walks.realization_plan(treeplex, strategy, plan)
    found: list[Any] = []
    for player, (treeplex, side) in enumerate(zip(game.treeplexes, game.operator, strict=True)):
        values, worth = np.zeros(treeplex.sequences), np.zeros(treeplex.infosets)
        plain.gradient(side, 1.0 - 2.0 * player, plans[1 - player], values)
        for infoset in range(treeplex.infosets - 1, -1, -1):
            own = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
            worth[infoset] = strategies[player][own] @ values[own]
            values[treeplex.parent[infoset]] += worth[infoset]
        found.append(worth)
    return found[0], found[1]


@pytest.mark.parametrize(("ranks", "suits"), [(3, 2), pytest.param(2, 4, marks=pytest.mark.slow)])
def test_lifted_policies_have_the_same_values_and_best_responses(ranks, suits) -> None:
    small, whole = both(ranks, suits)
    assert small.lifting is not None
    members = small.lifting.whole().infosets
    policy = random_policy(small, 11)
    lifted = Policy.of(*small.lifting.strategies((small, policy.aligned(small))))
    ours, theirs = evaluate_policy(small, policy), evaluate_policy(whole, lifted)
    assert ours.value == pytest.approx(theirs.value, abs=1e-12)
    assert ours.best_response_values == pytest.approx(theirs.best_response_values, abs=1e-12)
    for player, (here, there) in enumerate(zip(answers(small, policy), answers(whole, lifted), strict=True)):
        summed = np.bincount(members[player], weights=there, minlength=len(here))
        np.testing.assert_allclose(here, summed, rtol=0, atol=1e-12)
        alike = here[members[player]] / np.bincount(members[player])[members[player]]
        np.testing.assert_allclose(alike, there, rtol=0, atol=1e-12, err_msg="all of a class are alike")


@pytest.mark.parametrize("algorithm", [pytest.param("cfr", marks=pytest.mark.slow), "cfr+", "dcfr", "pcfr+"])
def test_iterations_on_both_are_the_same(algorithm) -> None:
    """From random regrets and strategies, because rounding decides ties. A class has the regrets of its members."""
    small, whole = both(3, 2)
    assert small.lifting is not None
    lifting, members = small.lifting, small.lifting.whole().infosets
    assembled: Any = build(algorithm)
    one, two, rng = assembled.start(small), assembled.start(whole), np.random.default_rng(5)
    for player, treeplex in enumerate(small.treeplexes):
        of = np.repeat(members[player], np.diff(whole.treeplexes[player].first))
        place = np.concatenate(([0], treeplex.first[of] + _within(whole, player)))
        size = np.bincount(members[player])[np.concatenate(([0], of))]
        strategy, regret = behaviour(small, player, rng), rng.standard_normal(treeplex.sequences)
        for game, learner, where, share in (
            (small, one.learners[player], slice(None), 1.0),
            (whole, two.learners[player], place, size),
        ):
            learner.regret[:], learner.strategy[:] = regret[where] / share, strategy[where]
            walks.realization_plan(game.treeplexes[player], learner.strategy, learner.plan)
            learner.average[:] = 3.0 * learner.plan
    for _ in range(5):
        one, two = assembled.advance(small, one, 1), assembled.advance(whole, two, 1)
        for iterate in ("average", "current"):
            lifted = lifting.strategies((small, assembled.report(small, one, iterate).arrays))[1]
            for ours, theirs in zip(lifted, assembled.report(whole, two, iterate).arrays, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


def _within(game: CompiledGame, player: int) -> Any:
    """[S - 1] the place of every sequence in its infoset."""
    first = game.treeplexes[player].first
    return np.arange(1, int(first[-1])) - np.repeat(first[:-1], np.diff(first))


def test_a_run_of_cfr_plus_is_the_same_on_both() -> None:
    """Of this deck a whole run agrees, because no tie decides anything."""
    small, whole = tp.load("rhode_island(ranks=2,suits=3)"), tp.load("rhode_island(ranks=2,suits=3,whole=true)")
    ours, theirs = (tp.solve(game, "cfr+", iterations=60) for game in (small, whole))
    assert ours.value == pytest.approx(theirs.value, abs=1e-9)
    assert ours.nash_conv == pytest.approx(theirs.nash_conv, abs=1e-9)
    for player in (0, 1):
        lifted, other = ours.policy.lifted().aligned(whole)[player], theirs.policy.aligned(whole)[player]
        np.testing.assert_allclose(lifted, other, rtol=0, atol=1e-9)


def test_leduc_with_suits_becomes_leduc_by_rank() -> None:
    rules: Any = leduc(suits=True).rules
    small, ranks = compile_game(FoldedGame(rules, rules)), tp.load("leduc")
    for ours, theirs in zip(small.treeplexes, ranks.treeplexes, strict=True):
        assert (ours.infosets, ours.sequences) == (theirs.infosets, theirs.sequences)
    assert tp.solve(small, "lp").value == pytest.approx(tp.solve(ranks, "lp").value, abs=1e-12)


# --- the operator ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "suits"), [(3, 2), (2, 4), (5, 1), (4, 3)])
def test_sums_over_strengths_are_the_matrix(ranks, suits) -> None:
    game = compile_game(one_bet(ranks, suits))
    assert isinstance(game.blocks, ClassBlocks)
    matrix, rng = expand(game.blocks), np.random.default_rng(1)
    assert matrix.entries == game.blocks.entries
    for player, treeplex in enumerate(game.treeplexes):
        weights = rng.random(game.treeplexes[1 - player].sequences)
        ours, theirs, slow = (np.full(treeplex.sequences, np.nan) for _ in range(3))
        fast.gradient(game.blocks[player], -1.0, weights, ours)
        fast.gradient(matrix[player], -1.0, weights, theirs)
        plain.gradient(game.blocks[player], -1.0, weights, slow)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)
        np.testing.assert_allclose(ours, slow, rtol=0, atol=1e-13)


# --- policies and refusals -------------------------------------------------------------------------------------------


def test_an_infoset_of_the_whole_game_is_found_by_its_representative() -> None:
    game = one_bet(3, 3)
    small, whole = (set(compile_labels(compile_game(g))) for g in (game, DealtGame(game.whole)))
    assert small < whole
    assert {game.representative(label) for label in whole} == small
    assert all(game.representative(label) == label for label in small)


def compile_labels(game: CompiledGame) -> list[str]:
    return [label for player in (0, 1) for label in game.infoset_index[player]]


@pytest.mark.parametrize("label", ["", "x check", "2s check check 2s"])
def test_labels_that_name_no_infoset_are_refused(label) -> None:
    with pytest.raises(GameError, match="must begin with a card"):
        folded().representative(label)


def test_a_policy_by_classes_is_one_of_the_whole_game(tmp_path) -> None:
    game = tp.load("rhode_island(ranks=2,suits=2)")
    policy = random_policy(game, 2)
    lifted = policy.lifted()
    assert lifted.game == "rhode_island(ranks=2,suits=2,whole=true)"
    assert lifted["3h check check 2h"] == policy["3s check check 2s"]
    whole = tp.load(lifted.game)
    policy.save(tmp_path / "policy.parquet")
    assert policy_of(tmp_path / "policy.parquet", whole) == policy_of(policy, whole) == lifted
    assert tp.evaluate(whole, tmp_path / "policy.parquet").value == pytest.approx(tp.evaluate(game, policy).value)
    with pytest.raises(ParameterError, match="does not merge"):
        lifted.lifted()


def test_suits_that_cannot_be_exchanged_are_refused() -> None:
    rules: Any = leduc().rules
    with pytest.raises(GameError, match="every rank must be in every suit"):
        compile_game(FoldedGame(rules, rules))


@pytest.mark.parametrize(
    ("spec", "reason"),
    [("ranks=14", "from 2 to 13"), ("suits=0", "from 1 to 4"), ("ranks=3,suits=1", "need four"), ("whole=2", "true")],
)
def test_parameters_are_checked(spec, reason) -> None:
    with pytest.raises((ParameterError, GameError), match=reason):
        make(f"rhode_island({spec})")


def test_the_whole_tree_of_the_full_deck_is_refused_in_one_sentence(monkeypatch) -> None:
    game = tp.load("rhode_island(ranks=4,suits=4)")
    monkeypatch.setattr("treeplex.compile.memory.available", lambda: 2**30)
    with pytest.raises(GameError, match="a history tree of"):
        _ = game.tree


@pytest.mark.slow
def test_the_full_deck() -> None:
    game = tp.load("rhode_island")
    assert [(own.infosets, own.sequences) for own in game.treeplexes] == [(1_571_076, 3_927_691)] * 2
    assert game.nodes == 6_705_372_545
    assert isinstance(game.operator, ClassBlocks)
    assert rhode_island().name == game.name


def test_saved_and_loaded(tmp_path) -> None:
    game = compile_game(one_bet(2, 3))
    game.save(tmp_path / "game.safetensors")
    again = tp.load(tmp_path / "game.safetensors")
    assert isinstance(again.blocks, ClassBlocks)
    assert again.fingerprint == game.fingerprint
    assert isinstance(game.blocks, ClassBlocks)
    for side in ClassBlocks._fields:
        for ours, theirs in zip(getattr(game.blocks, side), getattr(again.blocks, side), strict=True):
            np.testing.assert_array_equal(ours, theirs)


OUTSIDE = [
    "board",
    "base",
    "stride",
    "other_base",
    "other_stride",
    "classes",
    "below",
    "not_above",
    "showdown",
    "column",
]


@pytest.mark.parametrize("field", OUTSIDE)
def test_damaged_files_are_refused(field, tmp_path) -> None:
    """Kernels trust their indices."""
    path = tmp_path / "game.safetensors"
    compile_game(one_bet(2, 2)).save(path)
    tensors, about = read_tensors(path, FORMAT)
    for side in ClassBlocks._fields:
        for at, value in ((-1, 10**6), (-1, -2), (0, 10**6), (0, -2)):
            forged = tensors[f"blocks.{side}.{field}"].copy()
            forged[at] = value
            write_tensors(path, FORMAT, {**tensors, f"blocks.{side}.{field}": forged}, about)
            with pytest.raises(FormatError, match="not a whole compiled game"):
                tp.load(path)


def test_a_damaged_class_is_above_no_more_than_there_are(tmp_path) -> None:
    path = tmp_path / "damaged.safetensors"
    compile_game(one_bet(2, 2)).save(path)
    tensors, about = read_tensors(path, FORMAT)
    tensors["blocks.rows.not_above"][-1] += 1
    write_tensors(path, FORMAT, tensors, about)
    with pytest.raises(FormatError):
        tp.load(path)
