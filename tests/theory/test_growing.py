"""Theorem 1 and regret transfer, against the explicit sequence of play, history by history."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explicit_play import Play, Strategy
from stacked import Stacks
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.engines.public.reference import growing as reference
from treeplex.games.continuous import ContinuousPoker
from treeplex.games.dealt import DealtGame
from treeplex.games.poker import Card
from treeplex.games.sized import Menu
from treeplex.growth import add
from treeplex.growth.answer import abstraction


def poker(streets: int, ranks: int, copies: int) -> ContinuousPoker:
    deck = tuple(Card(str(rank), rank, copies) for rank in range(ranks))
    return ContinuousPoker("small", deck, streets)


KUHN = poker(1, 3, 1)
TWO_STREETS = poker(2, 3, 1)
STACKS = Stacks("stacks", KUHN.deck, 1, limit=9)
STACKS_TWO_STREETS = Stacks("stacks", KUHN.deck, 2)


def strategies(game: GrowingGame, behaviour: Any = None) -> Strategy:
    """Behaviour by player and label of the infoset."""
    behaviour = game.tree.rows.strategy if behaviour is None else behaviour
    out: Strategy = {}
    for n in np.flatnonzero(game.tree.nodes.mover >= 0).tolist():
        player = int(game.tree.nodes.mover[n])
        for h, hand in enumerate(game.rules.hands()[player]):
            label = " ".join((hand, *game.line(n)))
            out[player, label] = {game.line(c)[-1]: float(behaviour[c, h]) for c in game.tree.children(n)}
    return out


def assert_same(game: GrowingGame, play: Play) -> None:
    """Every regret and every average of the grown game is that of the explicit play."""
    compared = 0
    for n in np.flatnonzero(game.tree.nodes.mover >= 0).tolist():
        player = int(game.tree.nodes.mover[n])
        possible = game.builder.joint(int(game.tree.nodes.cards[n])).any(axis=1 - player)
        for h, hand in enumerate(game.rules.hands()[player]):
            if not possible[h]:
                continue
            label = " ".join((hand, *game.line(n)))
            for c in game.tree.children(n):
                key = (player, label, game.line(c)[-1])
                assert game.tree.rows.regret[c, h] == pytest.approx(play.regret[key], abs=1e-12), key
                assert game.tree.rows.average[c, h] == pytest.approx(play.average[key], abs=1e-12), key
                compared += 1
    assert compared > 50


def spot(game: GrowingGame, line: str) -> int:
    return next(n for n in range(game.tree.count) if " ".join(game.line(n)) == line and game.tree.nodes.mover[n] >= 0)


def merged(before: Strategy, inside: Strategy, new: str) -> Strategy:
    """Outside the subgame as before and never the new move; inside as given."""
    profile = {key: dict(sigma) for key, sigma in before.items()}
    for key, sigma in inside.items():
        if key not in profile:
            profile[key] = sigma
        elif new in sigma and new not in profile[key]:
            profile[key][new] = 0.0
    return profile


CASES = [
    (KUHN, "", 0.3),
    (KUHN, "check", 0.3),
    (KUHN, "bet0.01", 0.5),
    (TWO_STREETS, "check", 0.2),
    (TWO_STREETS, "bet1", 0.4),
    (TWO_STREETS, "check bet0.01 call 1", 0.6),
]


WITH_STACKS = [
    (STACKS, "", 2),
    (STACKS, "check", 3),
    (STACKS, "bet1", 2),
    (STACKS_TWO_STREETS, "check", 2),
    (STACKS_TWO_STREETS, "check bet1 call 1", 2),
]


@pytest.mark.parametrize(
    ("rules", "line", "size"), CASES + WITH_STACKS, ids=lambda case: str(getattr(case, "limit", case))
)
def test_theorem_1_the_combined_game_is_an_explicit_sequence_of_play(rules, line, size, monkeypatch) -> None:
    game = GrowingGame(rules, Menu(everywhere=(0.01, 1.0) if rules.payoff_scale else (1.0, 4.0)), RULES["cfr"])
    outside: list[Strategy] = []
    for _ in range(5):
        outside.append(strategies(game))
        game.advance(1)
    played: list[tuple[float, Any]] = []

    def recover(*arguments: Any) -> None:  # the specification, which shows every iteration
        reference.recover(*arguments, record=lambda weight, behaviour: played.append((weight, behaviour)))

    monkeypatch.setattr(add, "recover", recover)
    node = spot(game, line)
    added = add.by_recovery(game, node, size)
    assert 1 <= added.iterations == len(played) <= 5
    assert sum(weight for weight, _ in played) == pytest.approx(added.iterations)
    new = game.line(added.root)[-1]
    play = Play(DealtGame(abstraction(game, "grown")))
    rows = game.tree.rows.strategy
    first = added.root
    for weight, behaviour in played:
        everywhere = rows.copy()
        everywhere[first : first + len(behaviour)] = behaviour
        inside = strategies(game, everywhere)
        for before in outside:
            play.iteration(merged(before, inside, new), weight / added.iterations)
    assert_same(game, play)


@pytest.mark.parametrize(("rules", "line", "size"), CASES, ids=lambda case: str(getattr(case, "limit", case)))
def test_regret_transfer_repeats_what_was_played_behind_the_neighbour(rules, line, size) -> None:
    game = GrowingGame(rules, Menu(everywhere=(0.01, 1.0)), RULES["cfr"])
    outside: list[Strategy] = []
    for _ in range(6):
        outside.append(strategies(game))
        game.advance(1)
    node = spot(game, line)
    added = add.by_transfer(game, node, size)
    old = {n: " ".join(game.line(n)) for n in game.tree.children(node)}
    new = game.line(added.root)[-1]
    prefix = " ".join((*game.line(node), new))
    now = strategies(game)
    play_of: list[Play] = []
    for source in [label for n, label in old.items() if n != added.root and game.tree.nodes.size[n] > 0.0]:
        play = Play(DealtGame(abstraction(game, "grown")))
        for before in outside:
            copies: Strategy = {}
            for (player, label), sigma in before.items():
                hand, _, line_there = label.partition(" ")
                if f"{line_there} ".startswith(f"{source} "):
                    copies[player, f"{hand} {prefix}{line_there.removeprefix(source)}"] = sigma
            heads = {key: sigma for key, sigma in now.items() if new in sigma}
            play.iteration(merged(before, copies | heads, new), 1.0)
        play_of.append(play)
    head = [(int(game.tree.nodes.mover[node]), " ".join((hand, *game.line(node)))) for hand in rules.hands()[0]]

    def squares(play: Play) -> float:
        return sum(max(play.regret[player, label, new], 0.0) ** 2 for player, label in head)

    def distance(play: Play) -> float:
        theirs = np.array([play.regret[player, label, new] for player, label in head])
        return float(np.abs(theirs - game.tree.rows.regret[added.root]).max())

    closest = min(play_of, key=distance)
    assert squares(closest) <= min(map(squares, play_of)) + 1e-12  # of the neighbours, one that leaves least regret
    assert_same(game, closest)


def test_a_subgame_nobody_leads_to_has_no_regret() -> None:
    """Where equation (5) is undefined."""
    game = GrowingGame(KUHN, Menu(everywhere=(0.01, 1.0)), RULES["cfr"])
    game.advance(3)
    node = spot(game, "bet1")
    game.tree.rows.average[:] = 0.0  # as if player 0 had never bet
    game.tree.rows.earned[node] = 0.0
    added = add.by_recovery(game, node, 0.5)
    assert added.iterations == 0
    assert not added.regret.any()
    assert not game.tree.rows.regret[added.root :].any()
