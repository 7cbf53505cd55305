"""What games far past one machine would take, on paper: the numbers of docs/theory/scale.md.

    python benchmarks/cluster/scale.py [--seconds-per-number X]

Counts of limit hold'em are those of Bowling et al. (2015, 2017); sizes of no-limit trees and bytes are counted here;
seconds per number are measured here, or given; machines, wires and prices are assumptions, in ASSUMED.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from measured import game_of, here, least, seconds

from treeplex.engines.boards.boards import deal_streets
from treeplex.engines.boards.cut import board_work
from treeplex.engines.boards.game import load_spot
from treeplex.games.holdem.spot import Spot, sizes_for

FLOPS = 1_755  # up to suits
EVERY_HAND = "22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32"


class Machine(NamedTuple):
    """ASSUMED: a rented machine with much memory, and what an hour of it costs."""

    cores: int
    memory: float
    bandwidth: float  # of its memory, bytes per second
    wire: float  # bytes per second
    price: float  # dollars per hour
    full: float = 0.8  # of its memory that the game may take


ASSUMED = Machine(cores=64, memory=1e12, bandwidth=300e9, wire=25e9 / 8, price=4.0)
TOUCHED = 5  # numbers read or written in memory per number kept and iteration: regrets 3, averages 2


class Game(NamedTuple):
    """What is kept of a game."""

    name: str
    numbers: float  # actions at all infosets of both players
    decisions: float  # public decisions on boards of both players: each has two scales in 16 bits
    cuts: float  # public nodes right below the trunk: for limit as in that paper, after the flop's betting; else flops
    hands: float
    iterations: int


def limit() -> Game:
    """Bowling et al.: 1.38e13 infosets after symmetries; 262 TB for two 4-byte numbers per action."""
    numbers = 262e12 / 8
    return Game("limit hold'em", numbers, numbers / 1_100 / 2.4, 7 * 9 * FLOPS, 1_326, 1_579)


PATTERNS = {
    "Td 9h 6s": 286,  # three suits
    "Td 9d 6h": 858,  # two
    "Td 9d 6d": 286,  # one
    "Td Th 6s": 156,  # pairs
    "Td Th 6d": 156,
    "Td Th Ts": 13,
}
"""Flops up to suits: one of each kind, and how many there are."""


def no_limit(bets: str, raises: str, lines: int, stack: int = 950) -> Game:
    """A flop of this menu with every hand; times all flops, by their rivers, and lines of preflop betting to them."""
    game = load_spot(_flop("Td 9d 6h", bets, raises, stack))
    rivers = {board: len(deal_streets(_flop(board, bets, raises, stack), 3)[-1]) for board in PATTERNS}
    times = lines * sum(count * rivers[board] / len(game.deals[-1]) for board, count in PATTERNS.items())
    numbers, decisions = (
        float(sum(count(player) for player in (0, 1))) * times for count in (game.elements, game.decisions)
    )
    name = f"no-limit from preflop, bets {bets}, raises {raises}, {lines} lines"
    return Game(name, numbers, decisions, FLOPS * lines, 1_326, 300)


def _flop(board: str, bets: str, raises: str, stack: int) -> Spot:
    return Spot(board, 60, stack, EVERY_HAND, EVERY_HAND, sizes_for(bets, raises))


def table(games: list[Game], per_number: float, machine: Machine) -> None:
    print(f"seconds per number kept, iteration and core, measured: {per_number:.3g}")
    print(f"assumed machine: {machine}\n")
    head = ["game", "storage", "kept", "machines", "seconds per iteration: cores", "memory", "wire"]
    head += ["iterations", "days", "dollars"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for game in games:
        for storage, size, scales in (("float32", 4, 0), ("int16", 2, 8), ("int16, compressed 4 to 1", 0.5, 2)):
            kept = 2 * game.numbers * size + game.decisions * (4 + scales)
            count = max(-(-kept // (machine.full * machine.memory)), 1)
            work = game.numbers * per_number / (count * machine.cores)
            read = game.numbers * TOUCHED * size / (count * machine.bandwidth)
            sent = (
                2 * 2 * game.cuts * game.hands * 4 / machine.wire
            )  # both ways, both players, through the trunk's wire
            iteration = max(work, read) + sent
            days = game.iterations * iteration / 86_400
            dollars = 24 * days * count * machine.price
            cells = [
                game.name, storage, _bytes(kept), f"{count:,.0f}", f"{work:,.1f}", f"{read:,.1f}", f"{sent:,.1f}",
                f"{game.iterations:,}", f"{days:,.2f}", f"{dollars:,.0f}",
            ]  # fmt: skip
            print(f"| {' | '.join(cells)} |")


def _bytes(count: float) -> str:
    return f"{count / 1e12:,.1f} TB" if count >= 1e11 else f"{count / 1e9:,.1f} GB"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds-per-number", type=float)
    given = parser.parse_args()
    per_number = given.seconds_per_number
    if per_number is None:
        game = game_of("F1")
        advance = here(game, 1)
        advance(2)
        per_number = least([seconds(advance, 1) for _ in range(20)]) / float(board_work(game).sum())
    games = [limit(), no_limit("75%", "a", 4), no_limit("33%,75%,a", "60%,a", 12)]
    table(games, per_number, ASSUMED)


if __name__ == "__main__":
    main()
