"""Could tiles have one text for CPU and GPU, in which a lane is an infoset? What that form costs on a GPU.

    python experiments/2026-11-tiles-one-text.py        # on a machine with a GPU

The GPU has both forms: tiles spread the actions of an infoset over lanes and add up across them, bundles give a lane a
whole infoset, as tiles of the CPU do. A layout takes bundles only where there are many sequences of one form. Here the
same games run with bundles wherever a kernel for them can be made, with the usual rule, and without any.
"""

from __future__ import annotations

import sys
import time

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.sequence.cuda import layout

GAMES = ("leduc5", "liars_dice", "liars_dice(sides=5)", "goofspiel(cards=5)", "kuhn_ext", "kuhn_ext(20)")
BUNDLES = {"wherever possible": 1, "as built": layout.BUNDLE, "nowhere": sys.maxsize}


def main() -> None:
    print(f"{'microseconds per iteration of cfr+':32}" + "".join(f"{name:>20}" for name in BUNDLES))
    for name in sys.argv[1:] or GAMES:
        game, times = tp.load(name), list[float]()
        for sequences in BUNDLES.values():
            layout.BUNDLE = sequences  # pyright: ignore[reportConstantRedefinition]
            solver = build("cfr+").open(game, Execution(backend="cuda"))
            state, count = solver.advance(game, solver.start(game), 50), 200
            best = float("inf")
            for _ in range(7):
                began = time.perf_counter()
                state = solver.advance(game, state, count)
                solver.work(game, state)
                best = min(best, (time.perf_counter() - began) / count)
            times.append(1e6 * best)
        print(f"{name:32}" + "".join(f"{each:20.1f}" for each in times), flush=True)


if __name__ == "__main__":
    main()
