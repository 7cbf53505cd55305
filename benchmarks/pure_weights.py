"""Which weights Pure MCCFR should have: of values, and of averages, on every game of Figure 2 of Ju et al. (2023).

    python benchmarks/pure_weights.py [--nodes 3e7] [--seeds 3] [--json FILE] [--game NAME ...]

All pairs of weights run for the same number of nodes, so that nothing depends on the machine: an iteration enters about
as many under every weight. A number is NashConv at the end, the median over seeds, over that of the best pair of the
game that is no more than weights (without "recent"); the last column is the largest over all games. External sampling
with the same weights stands beside it. In the Kuhn extension, where the beginning is long, ten times the nodes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.samplers import mccfr_external, pure_mccfr
from treeplex.compile.game import CompiledGame
from treeplex.evaluation.exact import evaluate_strategies

GAMES = (
    "leduc_ext(cards=14,bets=1,raises=1)",
    "leduc_pots(ranks=14,bets=1,open_raise=true)",
    "kuhn_ext(cards=3,bets=20,raises=7)",
    'princess_and_monster(horizon=3,holes="a1 c1")',
)
WEIGHTS = ("uniform", "log", "linear", "square")
LONGER = 10.0
STRETCH = 200  # iterations between looks at the count of nodes


def nash_conv(game: CompiledGame, algorithm: MonteCarlo, nodes: float, seed: int) -> float:
    """After so many nodes."""
    state = algorithm.advance(game, algorithm.start(game, seed), STRETCH)
    while (done := algorithm.work(game, state).nodes) < nodes:
        each = done / state.iteration
        state = algorithm.advance(game, state, max(STRETCH, int(0.2 * (nodes - done) / each)))
    return evaluate_strategies(game, algorithm.report(game, state, "average").arrays).nash_conv


def main() -> None:
    """Sweep, and print a row for each pair of weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=float, default=3e7)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--game", action="append", help="instead of all of the figure; may be given again")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    pairs = [(values, average) for values in WEIGHTS for average in (*WEIGHTS, "recent")]
    found: dict[str, dict[str, float]] = {}
    games: list[str] = given.game or list(GAMES)
    for name in games:
        game = tp.load(name)
        found[name] = {}
        for family, make in (("pure-mccfr", pure_mccfr), ("mccfr-external", mccfr_external)):
            for values, average in pairs if family == "pure-mccfr" else [(weight, weight) for weight in WEIGHTS]:
                algorithm = make(weight=values, average=average)
                nodes = given.nodes * (LONGER if name.startswith("kuhn") else 1.0)
                runs = [nash_conv(game, algorithm, nodes, seed) for seed in range(given.seeds)]
                found[name][f"{family}({values},{average})"] = median(runs)
                print(f"{name}  {family}  values {values}, average {average}: {median(runs):.4g}", flush=True)
    best = {
        name: min(v for key, v in of.items() if key.startswith("pure") and "recent" not in key)
        for name, of in found.items()
    }
    print(f"\n{'':34}" + "".join(f"{name.partition('(')[0][:12]:>14}" for name in games) + f"{'largest':>14}")
    for key in found[games[0]]:
        ratios = [found[name][key] / best[name] for name in games]
        print(f"{key:34}" + "".join(f"{ratio:14.2f}" for ratio in (*ratios, max(ratios))))
    if given.json:
        given.json.write_text(json.dumps({"nodes": given.nodes, "seeds": given.seeds, "nash_conv": found}, indent=1))


if __name__ == "__main__":
    main()
