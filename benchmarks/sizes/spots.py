"""The benchmark's spots, drawn by number: boards, stacks and ranges. ``python benchmarks/sizes/spots.py`` writes them.

500 rivers, 10 turns and 2 flops. Ranges: who raised and who called before the flop, in a pot raised once and in one
raised twice, each way round; stacks of 1, 2 or 4 pots on rivers, 2 on turns and flops; pot 1,000 chips.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from treeplex.holdem import Spot, sizes_for

FILE = Path(__file__).parent / "spots.json"
RANKS, SUITS = "23456789TJQKA", "shdc"
POT = 1000
RAISER = (
    "22+,A2s+,K5s+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,65s,54s,A8o+,A5o,KTo+,QTo+,JTo",
    "TT+,A9s+,A5s-A3s,K9s+,QTs+,JTs,T9s,98s,AJo+,KQo",
)
CALLER = (
    "JJ-22,AJs-A2s,K6s+,Q8s+,J8s+,T7s+,97s+,86s+,75s+,64s+,53s+,A9o-A7o,ATo,KTo+,QTo+,JTo",
    "JJ-66,AQs-ATs,KTs+,QTs+,J9s+,T9s,98s,87s,76s,AQo",
)
USUAL_LATER = ("66%", "100%, a")  # bets and raises on streets after the one asked about


def drawn(street: str, number: int) -> dict:
    draw = np.random.default_rng([{"river": 1, "turn": 2, "flop": 3}[street], number])
    cards = [rank + suit for rank in RANKS for suit in SUITS]
    count = {"river": 5, "turn": 4, "flop": 3}[street]
    stacks = (1, 2, 4) if street == "river" else (2,)
    return {
        "board": " ".join(draw.choice(cards, count, replace=False).tolist()),
        "stack": POT * int(draw.choice(stacks)),
        "raises_before": int(draw.integers(2)) + 1,
        "raiser_out_of_position": bool(draw.integers(2)),
    }


def spot_of(drawn_spot: dict) -> Spot:
    which = drawn_spot["raises_before"] - 1
    pair = (RAISER[which], CALLER[which])
    oop, ip = pair if drawn_spot["raiser_out_of_position"] else pair[::-1]
    return Spot(drawn_spot["board"], POT, drawn_spot["stack"], oop, ip, sizes_for(*USUAL_LATER))


def spots(street: str) -> list[Spot]:
    return [spot_of(each) for each in json.loads(FILE.read_text())[street]]


def main() -> None:
    counts = {"river": 500, "turn": 10, "flop": 2}
    table = {street: [drawn(street, k) for k in range(count)] for street, count in counts.items()}
    rows = ",\n".join(
        f' "{street}": [\n' + ",\n".join(f"  {json.dumps(each)}" for each in found) + "\n ]"
        for street, found in table.items()
    )
    FILE.write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
