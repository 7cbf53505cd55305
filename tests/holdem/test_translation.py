"""Action translation with stacks: a brute-force tree with every chip amount, one deal at a time."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.strength import strength_of, suit_masks
from treeplex.games.holdem.cards import HAND_CARDS, hand_name
from treeplex.games.holdem.sizes import EVERY, Size, parse_sizes
from treeplex.games.holdem.spot import Spot, sizes_for
from treeplex.games.holdem.translation import Translation
from treeplex.games.mapping import reading_shares
from treeplex.growth.spot_plans import best_response, plan_of
from treeplex.poker.views.reader import Reader

BOARD = "Ks 9h 6d 3c Jh"


def every_chip(street: int, player: int, raises: bool) -> tuple[Size, ...]:
    return (Size(EVERY),)


def random_averages(game: HoldemGame, seed: int) -> Sources:
    """Sums of average strategies, some of them zero."""
    rng = np.random.default_rng(seed)
    first, second = (rng.random(game.elements(player)) * (rng.random(game.elements(player)) > 0.2) for player in (0, 1))
    return Sources(first, second)


class Abstract:
    """Rules of the abstraction, written down once more: menus in shares of the pot after a call, or all-in."""

    def __init__(self, spot: Spot, game: HoldemGame, averages: Sources) -> None:
        self.spot, self.game, self.averages = spot, game, averages
        self.bets = [s.amount if s.kind == "%" else math.inf for s in spot.bets("river", 0)]
        self.raises = [s.amount if s.kind == "%" else math.inf for s in spot.raises("river", 0)]
        self.lines = {}
        for street in game.streets:
            for decision in street.decisions:
                self.lines[id(decision.node)] = decision

    def menu(self, state: dict[str, Any]) -> dict[float, float]:
        """Sizes by amount at a real or abstract state, in chips; of equal amounts all-in, then the smallest size."""
        faced, to_call, paid = state["faced"], state["to_call"], state["paid"]
        pot = self.spot.pot + 2 * (paid + to_call)
        most = self.spot.effective_stack - paid - to_call + faced
        least = min(max(faced + to_call, 1), most)
        if state["all_in"]:
            return {}
        found: dict[float, float] = {}
        for size in sorted(self.raises if state["bet"] else self.bets, key=lambda s: (s != math.inf, s)):
            amount = most if size == math.inf else faced + math.floor(pot * size + 0.5)
            amount = min(max(amount, least), most)
            found.setdefault(amount, math.inf if amount == most else size)  # whatever it is called, it is all-in
        return found

    def strategy(self, player: int, node: Any, hand: int) -> dict[str, float]:
        """What the average strategy does with a hand at an abstract node, by name of the action."""
        decision = self.lines[id(node)]
        hands = self.game.boards[0].hands[player]
        width, place = int(hands.start[1]), list(hands.number).index(hand)
        rows = self.averages[player][decision.slot * width : (decision.slot + len(node.actions)) * width]
        shares = rows.reshape(-1, width)[:, place]
        shares = shares / shares.sum() if shares.sum() else np.full(len(shares), 1.0 / len(shares))
        return {action.name: float(share) for action, share in zip(node.actions, shares, strict=True)}


def start_state() -> dict[str, Any]:
    return {"player": 0, "paid": 0, "faced": 0, "to_call": 0, "bet": False, "checked": False, "all_in": False}


def brute_force(
    abstract: Abstract, translator: int, hands: list[list[int]], weights: Any, candidates: list[float] | None = None
) -> float:
    """What the responder's best response takes, over a tree with every chip amount; readings are secret.

    ``candidates``: shares of the pot that may be bet instead, beside what the abstraction has at the real pot.
    """
    spot, other = abstract.spot, 1 - translator
    stack = spot.effective_stack

    def showdown(half: float, mine: int, theirs: int) -> float:
        cards = np.array([spot.cards], dtype=np.int64)
        board = suit_masks(cards)[0]
        masks = [board | suit_masks(HAND_CARDS[[hand]])[0] for hand in (mine, theirs)]
        one, two = (int(strength_of(*(np.array([m]) for m in mask))[0]) for mask in masks)
        return half * ((one > two) - (one < two))

    def value(state: dict[str, Any], mine: int, reach: dict[int, list[tuple[float, Any]]]) -> float:
        """The responder's, summed over the translator's hands; ``reach``: by hand, weights and nodes of readings.

        An abstract node is None where the abstraction has no decision left.
        """
        mover = state["player"]
        plain = ["fold", "call"] if state["bet"] else ["check"]
        if mover == other:
            best = -math.inf
            for action in [*plain, *amounts(state, reach)]:
                best = max(best, follow(state, action, mine, {h: moved(state, action, r) for h, r in reach.items()}))
            return best
        chosen: dict[Any, dict[int, list[tuple[float, Any]]]] = {}
        for hand, readings in reach.items():
            for weight, node in readings:
                if node is None:
                    action = "call" if state["bet"] else "check"
                    chosen.setdefault(action, {}).setdefault(hand, []).append((weight, None))
                    continue
                for name, share in abstract.strategy(translator, node, hand).items():
                    child = node.children[[a.name for a in node.actions].index(name)]
                    action: Any = name
                    if name not in ("fold", "call", "check"):
                        action = own_raise(state, node, name)
                    chosen.setdefault(action, {}).setdefault(hand, []).append((weight * share, child))
        return sum(follow(state, action, mine, below) for action, below in chosen.items())

    def own_raise(state: dict[str, Any], node: Any, name: str) -> Any:
        """The rule of an abstract raise at the real pot and stack."""
        if state["all_in"]:
            return "call"
        fake = abstract_state(node)
        size = abstract.menu(fake)[next(a.amount for a in node.actions if a.name == name)]
        return next(iter(alone(size).menu(state)))

    def alone(size: float) -> Abstract:
        one = Abstract.__new__(Abstract)
        one.spot, one.bets, one.raises = spot, [size], [size]
        return one

    def abstract_state(node: Any) -> dict[str, Any]:
        all_in = not any(a.amount for a in node.actions) and node.faced > 0
        return {
            "paid": node.paid,
            "faced": node.faced,
            "to_call": node.to_call,
            "bet": node.faced > 0,
            "all_in": all_in,
        }

    def amounts(state: dict[str, Any], reach: dict[int, list[tuple[float, Any]]]) -> list[int]:
        if state["all_in"]:
            return []
        if candidates is not None:
            nodes = {id(node): node for readings in reach.values() for _, node in readings if node is not None}
            sizes = {size for node in nodes.values() for size in abstract.menu(abstract_state(node)).values()}
            return sorted({amount for size in {*sizes, *candidates} for amount in alone(size).menu(state)})
        most = stack - state["paid"] - state["to_call"] + state["faced"]
        least = min(max(state["faced"] + state["to_call"], 1), most)
        return list(range(int(least), int(most) + 1))

    def moved(state: dict[str, Any], action: Any, readings: list[tuple[float, Any]]) -> list[tuple[float, Any]]:
        """Readings after an action of the responder."""
        out: list[tuple[float, Any]] = []
        for weight, node in readings:
            if node is None:
                out.append((weight, None))
            elif isinstance(action, str):
                out.append((weight, node.children[[a.kind for a in node.actions].index(action)]))
            else:
                by_size = dict(zip(abstract.menu(abstract_state(node)).values(), [None] * 9, strict=False))
                sized = {size: amount for amount, size in abstract.menu(abstract_state(node)).items()}
                here: dict[float, float] = {}
                for size in sorted(by_size, key=lambda s: (s != math.inf, s)):
                    here.setdefault(next(iter(alone(size).menu(state))), size)
                if not here:
                    out.append((weight, None))
                    continue
                pot = spot.pot + 2 * (state["paid"] + state["to_call"])
                known = sorted(here)
                below = [a for a in known if a <= action] or known[:1]
                above = [a for a in known if a >= action] or known[-1:]
                low, high = below[-1], above[0]
                if low >= high:
                    shares = {low: 1.0}
                else:
                    a, x, b = ((amount - state["faced"]) / pot for amount in (low, action, high))
                    share = (b - x) * (1 + a) / ((b - a) * (1 + x))
                    shares = {low: share, high: 1 - share}
                for amount, share in shares.items():
                    target = sized[here[amount]]
                    number = next(k for k, act in enumerate(node.actions) if act.amount == target)
                    out.append((weight * share, node.children[number]))
        return out

    def follow(state: dict[str, Any], action: Any, mine: int, reach: dict[int, list[tuple[float, Any]]]) -> float:
        mover = state["player"]
        totals = {hand: sum(weight for weight, _ in readings) for hand, readings in reach.items()}
        half = spot.pot / 2 + state["paid"]
        if action == "fold":
            won = -half if mover == other else half
            return sum(won * total for total in totals.values())
        if action == "call" or (action == "check" and state["checked"]):
            half += state["to_call"]
            return sum(total * showdown(half, mine, hand) for hand, total in totals.items())
        after = dict(state, player=1 - mover)
        if action == "check":
            after["checked"] = True
        else:
            most = stack - state["paid"] - state["to_call"] + state["faced"]
            after |= {"paid": state["paid"] + state["to_call"], "to_call": action - state["faced"], "faced": action}
            after |= {"bet": True, "all_in": action == most}
        kinds = ("decision",)
        reach = {h: [(w, n if n is not None and n.kind in kinds else None) for w, n in r] for h, r in reach.items()}
        return value(after, mine, reach)

    root = abstract.game.streets[0].decisions[0].node
    total = 0.0
    for mine in hands[other]:
        free = [hand for hand in hands[translator] if not set(HAND_CARDS[hand]) & set(HAND_CARDS[mine])]
        reach = {hand: [(weights[translator][hand], root)] for hand in free}
        total += weights[other][mine] * value(start_state(), mine, reach)
    return total


SPOTS = {
    "two sizes": (Spot(BOARD, 4, 9, "AA,KQs:0.5", "QQ,AJs:0.25", sizes_for("50%, a", "60%, a")), 1),
    "no all-in": (Spot(BOARD, 5, 8, "AKs,TT", "KK:0.5,QJs", sizes_for("33%, 100%", "70%")), 2),
    "no raise": (Spot(BOARD, 3, 7, "AA,T9s", "QTs,JTs", sizes_for("75%", "")), 3),
}


DEEP = Spot(BOARD, 20, 150, "AsAc,7c7d:0.5", "QsQd,KhTh:0.25", sizes_for("50%", "40%, 100%"))
"""Raises and raises again: what the abstraction's sizes come to at the real pot is not what they are in it."""

CASES = [*((*SPOTS[name], None) for name in SPOTS), *((DEEP, seed, [0.3, 0.7]) for seed in (4, 5, 6))]


@pytest.mark.parametrize(("spot", "seed", "shares"), CASES, ids=[*SPOTS, "deep 4", "deep 5", "deep 6"])
@pytest.mark.parametrize("translator", [0, 1])
def test_a_best_response_to_a_translated_strategy_is_that_of_a_brute_force_tree(
    spot: Spot, seed: int, shares: list[float] | None, translator: int
) -> None:
    game = load_spot(spot)
    averages = random_averages(game, seed)
    abstract = Abstract(spot, game, averages)
    weights = [game.spot.weights(player) for player in (0, 1)]
    hands = [np.flatnonzero(weight).tolist() for weight in weights]
    combinations = sum(
        weights[0][a] * weights[1][b]
        for a, b in itertools.product(*hands)
        if not set(HAND_CARDS[a]) & set(HAND_CARDS[b])
    )
    expected = brute_force(abstract, translator, hands, weights, shares) / combinations + spot.pot / 2
    root = game.streets[0].decisions[0].node
    listed = None if shares is None else tuple(Size("%", share) for share in shares)
    tree = Translation(spot, root, translator, every_chip if listed is None else lambda *_: listed).tree()
    taken = best_response(plan_of(game, averages, translator, tree)).value
    assert taken == pytest.approx(expected, abs=1e-9), [hand_name(hand) for hand in hands[0]]


def test_with_the_menu_of_the_abstraction_nothing_is_translated() -> None:
    """The best response is then that of the abstraction itself."""
    menu = ("33%, 75%, a", "60%, a")
    spot = Spot("Ks 9h 6d 3c", 100, 260, "AA,KQs,98s", "QQ,AJs,T8s", sizes_for(*menu))
    game = load_spot(spot)
    averages = random_averages(game, 7)
    reader = Reader(game, averages, no_locks(game, "float64"), "float64", 1)
    bets, raises = parse_sizes(menu[0], "bet", raises=False), parse_sizes(menu[1], "raise", raises=True)
    for player in (0, 1):
        root = game.streets[0].decisions[0].node
        tree = Translation(spot, root, 1 - player, lambda s, p, r: raises if r else bets).tree()
        plan = plan_of(game, averages, 1 - player, tree)
        assert plan.game.nodes == game.nodes
        assert best_response(plan).value == pytest.approx(reader.best_response_value(player), abs=1e-9)


def test_more_candidates_never_help_the_translator() -> None:
    spot = Spot("Ks 9h 6d 3c", 100, 260, "AA,KQs,98s", "QQ,AJs,T8s", sizes_for("50%, a", "a"))
    game = load_spot(spot)
    averages = random_averages(game, 8)
    root = game.streets[0].decisions[0].node
    taken: list[float] = []
    for text in ("50%", "33%, 50%, 80%", "20%, 33%, 50%, 80%, 130%"):
        sizes = parse_sizes(text, "raise", raises=True)
        for deviations in (1, math.inf):
            tree = Translation(spot, root, 1, lambda s, p, r, sizes=sizes: sizes, deviations).tree()
            taken.append(best_response(plan_of(game, averages, 1, tree)).value)
    assert all(a <= b + 1e-9 for a, b in itertools.pairwise(taken[::2]))
    assert all(one <= many + 1e-9 for one, many in zip(taken[::2], taken[1::2], strict=True))
    assert taken[-1] > taken[0] + 0.1


def test_shares_are_those_of_the_pseudo_harmonic_mapping() -> None:
    """Ganzfried & Sandholm (2013): at the sizes themselves, beyond them, and where both are equally likely."""
    assert reading_shares([50, 100], 50, 0, 100) == [(50, 1.0)]
    assert reading_shares([50, 100], 20, 0, 100) == [(50, 1.0)]
    assert reading_shares([50, 100], 300, 0, 100) == [(100, 1.0)]
    (low, share), (high, rest) = reading_shares([0, 100], 100 / 3, 0, 100)
    assert (low, high) == (0, 100)
    assert share == pytest.approx(0.5)
    assert rest == pytest.approx(0.5)
    a, x, b = 0.5, 0.7, 1.0
    (_, share), _ = reading_shares([150, 200], 170, 100, 100)
    assert share == pytest.approx((b - x) * (1 + a) / ((b - a) * (1 + x)))
