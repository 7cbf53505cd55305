"""What it costs to cut a spot over workers: 2 workers of one thread against 2 threads in one process.

    python benchmarks/cluster/overhead.py [--spots F1 T] [--iterations 10] [--repeats 7]

Both are timed in turn, round after round. The overhead is the median of the rounds' ratios, and beside it that of
the least times, which other work on the machine disturbs less; bytes are those of arrays sent and received.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from measured import game_of, here, in_turn, least, median, over, started

WORKERS = 2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spots", nargs="+", default=["F1"])
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    head = ["spot", "s/iteration, 2 threads", "s/iteration, 2 workers", "overhead", "of the least"]
    print(f"| {' | '.join([*head, 'bytes/iteration by count', 'measured'])} |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with started(WORKERS) as module:
        for name in given.spots:
            game = game_of(name)
            with over(module, game, WORKERS) as (cut, advance):
                found = in_turn({"one": here(game, WORKERS), "cut": advance}, given.iterations, given.repeats)
                ratio = median([b / a for a, b in zip(found["one"], found["cut"], strict=True)])
                one, two = median(found["one"]), median(found["cut"])
                counted, measured = cut.predicted_bytes(game), cut.session.bytes_per_iteration
            best = least(found["cut"]) / least(found["one"])
            row = [name, f"{one:.4f}", f"{two:.4f}", f"{100 * (ratio - 1):+.1f} %", f"{100 * (best - 1):+.1f} %"]
            row += [f"{counted:,}", f"{measured:,}"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
