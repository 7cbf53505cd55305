"""Why regret-based pruning gains 3.5 times on Leduc-5 with CFR here, and 12 times in its paper: one reading at a time.

    OMP_NUM_THREADS=1 .venv/bin/python experiments/2026-11-leduc5-pruning.py [NODES]

Every row is a variant, against partial pruning of the same game with the same turns: nodes to the same NashConv (best so
far), iterations to it, and nodes per iteration at the end.
"""

import sys

from treeplex.api import load
from treeplex.games.poker import LEDUC5_SIZES, DealtGame, Poker, Round, court
from treeplex.papers.curves import Curve, iterations, nodes, ratio, run_curve
from treeplex.runs import Limits

NODES = float(sys.argv[1]) if len(sys.argv) > 1 else 1e9
LEVELS = (0.3, 0.1, 0.05, 0.03)


def leduc5_like(bets: int, scale: float = 1.0) -> DealtGame:
    """Leduc-5 with another number of bets per round, or another size of its bets."""
    first, second = (tuple(scale * size for size in sizes) for sizes in LEDUC5_SIZES["rbp"])
    return DealtGame(Poker(f"bets={bets}, times {scale}", court(), (Round(first, bets), Round(second, bets))))


GAMES = {
    "as in the paper": load("leduc5"),
    "bets of the other paper (1 to 16, 2 to 32)": load("leduc5(sizes=dt)"),
    "bets twice as large": load(leduc5_like(2, 2.0)),
    "bets half as large": load(leduc5_like(2, 0.5)),
}
WAYS = {
    "threshold 25, as in the paper": "cfr-rbp(turns={turns})",
    "threshold 1": "cfr-rbp(threshold=1,turns={turns})",
    "threshold 5": "cfr-rbp(threshold=5,turns={turns})",
    "threshold 100": "cfr-rbp(threshold=100,turns={turns})",
    "tighter U(I, a)": "cfr-rbp(bound=expected,turns={turns})",
    "at most 100 iterations": "cfr-rbp(longest=100,turns={turns})",
    "at most 1,000 iterations": "cfr-rbp(longest=1000,turns={turns})",
    "nested prunings kept, free starts": "cfr-nested-rbp(turns={turns})",
}


def quiet(line: str) -> None:
    """Report nothing."""


def without_responses(row) -> float:
    """Nodes that iterations touched."""
    return float(row.nodes_touched - row.extra["response_nodes"])


def show(title: str, partial: Curve, pruned: Curve, cost=nodes) -> None:
    low = max(partial.best, pruned.best)
    cells = []
    for level in (*LEVELS, low):
        reached = level >= low
        slow = partial.cost_of(level, nodes)
        cells.append(f"{slow / pruned.cost_of(level, cost):.2f}" if reached else "")
    rate = [curve.nodes_per_iteration()[-1] for curve in (partial, pruned)]
    fewer = ratio(partial, pruned, iterations, low)
    print(f"| {title} | {' | '.join(cells)} | {low:.3g} | {fewer:.2f} | {rate[0] / rate[1]:.2f} |", flush=True)


def main() -> None:
    print("| variant |" + "".join(f" {level:g} |" for level in LEVELS) + " at the end | NashConv | iterations | per iteration |")
    print("| --- |" + " ---: |" * 8)
    for title, game in GAMES.items():
        for turns in ("simultaneous", "alternating"):
            if turns == "alternating" and title != "as in the paper":
                continue
            partial = run_curve(game, "", f"cfr-partial(turns={turns})", Limits(nodes=NODES), quiet)
            full = game.nodes if turns == "simultaneous" else 2 * game.nodes
            goal = Limits(nash_conv=partial.best, nodes=2 * NODES)
            ways = WAYS if title == "as in the paper" and turns == "simultaneous" else dict([next(iter(WAYS.items()))])
            for way, algorithm in ways.items():
                pruned = run_curve(game, "", algorithm.format(turns=turns), goal, quiet)
                show(f"{title}; {turns}; {way}", partial, pruned)
                if way is next(iter(WAYS)):
                    show(f"{title}; {turns}; {way}; responses not counted", partial, pruned, without_responses)
                    share = partial.rows[-1].nodes_touched / partial.rows[-1].iteration / full
                    print(f"| {title}; {turns}; partial pruning enters {100 * share:.0f} % of the tree per iteration |" + " |" * 8)
            if ways is WAYS:
                best = run_curve(game, "", "cfr-zero-reach-br(turns=simultaneous)", goal, quiet)
                show("as in the paper; simultaneous; only best responses in zero-reach sequences", partial, best)


if __name__ == "__main__":
    main()
