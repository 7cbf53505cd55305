"""Replays the race of `auto` on trajectories: what its constants would have given, without running anything.

    python benchmarks/portfolio/simulate.py trajectories.json.gz --known benchmarks/auto.json

The file is that of ``trajectories.py``; seconds of the linear program are taken from ``benchmarks/auto.py``'s file.
Decisions are those of ``treeplex.algorithms.race``, with the seconds of the trajectories for counted work. The best of
all is taken to have spent a tenth more than its iterations on evaluations; programs take what they usually do.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from bisect import bisect_right
from pathlib import Path
from typing import Any

from treeplex.algorithms import portfolio, race
from treeplex.algorithms.race import MemberRow

TARGETS = (1e-3, 1e-5, 1e-8)
SHORTEST = 0.08  # seconds: cases in which the best needs less are left out
NAMED = ("dcfr", "cfr+", "sapcfr+", "pcfr+", "pdcfr+", "hs-dcfr", "hs-pcfr+", "cfr+-restarted", "pcfr+-restarted")
LONGEST = 20.0  # times the best


class Trajectory:
    """One algorithm on one game."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.iterations, self.seconds, self.shares = zip(*told["rows"], strict=True)

    def at(self, iteration: int) -> MemberRow | None:
        """The row of an iteration, between those that were measured; None after the last."""
        k = min(max(bisect_right(self.iterations, iteration) - 1, 0), len(self.iterations) - 2)
        if iteration > self.iterations[-1] and self.shares[-1] > TARGETS[-1]:
            return None
        low, high = self.iterations[k], self.iterations[k + 1]
        part = min(max((iteration - low) / (high - low), 0.0), 1.0)
        seconds = self.seconds[k] + part * (self.seconds[k + 1] - self.seconds[k])
        if iteration < low:
            seconds = self.seconds[k] * iteration / low
        share = self.shares[k] ** (1.0 - part) * max(self.shares[k + 1], 1e-16) ** part
        return MemberRow(iteration, seconds, share)

    def reached(self, target: float) -> float:
        """Seconds to a share of the first NashConv."""
        rows = zip(self.seconds, self.shares, strict=True)
        return next((spent for spent, share in rows if share <= target), math.inf)


class Race:
    """`auto` on one game, to one target."""

    def __init__(self, members: dict[str, Trajectory], evaluation: float, program: float, target: float) -> None:
        self.names, self.members = list(members), list(members.values())
        self.evaluation, self.program, self.target = evaluation, program, target
        self.rows: list[list[MemberRow]] = [[] for _ in members]
        self.leader, self.granted = 0, 0.0

    def spent(self, place: int) -> float:
        rows = self.rows[place]
        return rows[-1].work + len(rows) * self.evaluation if rows else 0.0

    def total(self) -> float:
        return sum(self.spent(place) for place in range(len(self.members))) + self.granted

    def measured(self, place: int, iteration: int) -> bool:
        """Brought there; is that good enough, or further than is known?"""
        row = self.members[place].at(iteration)
        if row is None:
            raise LookupError
        self.rows[place].append(row)
        return row.nash_conv <= self.target

    def run(self, longest: float) -> float:
        """Seconds in all; infinite beyond ``longest``, or where a trajectory ends."""
        due = race.FIRST
        try:
            while self.total() < longest:
                if self.decided(due):
                    return self.total()
                due = race.later(due)
        except LookupError:
            pass
        return math.inf

    def decided(self, due: int) -> bool:
        """Is it solved?"""
        if self.measured(self.leader, due):
            return True
        for place in range(len(self.members)):
            while (goal := self.goal(place, due)) is not None:
                if self.measured(place, goal):
                    return True
        while (place := race.challenger(self.needed(), self.leader)) is not None:
            at = self.rows[place][-1].iteration
            if at == due:
                self.leader = place
                break
            if self.measured(place, min(race.later(at), due)):
                return True
        return self.programmed(due)

    def goal(self, place: int, due: int) -> int | None:
        if place == self.leader or due < race.JOIN:
            return None
        rows = self.rows[place]
        share = portfolio.share(self.names[place], race.is_distant(self.target, self.rows))
        goal = race.next_row(rows[-1].iteration if rows else 0)
        row = self.members[place].at(goal)
        needed = math.inf if row is None else row.work + (len(rows) + 1) * self.evaluation
        return goal if needed <= share * self.spent(self.leader) and goal <= due else None

    def needed(self) -> list[float]:
        return [race.still_needed(rows, self.target) for rows in self.rows]

    def programmed(self, due: int) -> bool:
        rows, work = self.rows[self.leader], self.total() - self.granted
        left = race.still_needed(rows, self.target)
        allowed = race.allowance(due, work, left, self.program)
        if allowed <= self.granted or math.isinf(self.program):
            return False
        self.granted = min(allowed, self.program)
        return allowed >= self.program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trajectories", type=Path)
    parser.add_argument("--known", type=Path, required=True)
    parser.add_argument("--members", default=portfolio.GAMES)
    given = parser.parse_args()
    games: dict[str, dict[str, Any]] = {}
    for name, told in json.loads(gzip.decompress(given.trajectories.read_bytes())).items():
        game, _, algorithm = name.partition(" | ")
        games.setdefault(game, {})[algorithm] = told
    known, ratios = json.loads(given.known.read_text()), []
    for game, told in games.items():
        every = {algorithm: Trajectory(one) for algorithm, one in told.items()}
        looks = sorted(one["evaluation"] for one in told.values())[len(told) // 2]
        cells = [cell for name, cell in known.items() if name.startswith(f"{game} | lp | ") and cell["seconds"]]
        program = min((second for cell in cells for second in cell["seconds"].values()), default=math.inf)
        for target in TARGETS:
            named = {one: 1.1 * every[one].reached(target) + 2.0 * looks for one in NAMED if one in every} | {
                "lp": program
            }
            best = min(named, key=lambda one: named[one])
            if not SHORTEST <= named[best] < math.inf:
                continue
            members = {one: every[one] for one in given.members.split(";") if one != portfolio.LP and one in every}
            ours = Race(members, looks, program, target).run(LONGEST * named[best])
            ratios.append(ours / named[best])
            print(f"{game[:48]:48} {target:6g} {best:16} {named[best]:8.2f} {ours:8.2f} {ratios[-1]:6.2f}")
    below = sum(ratio <= 2.0 for ratio in ratios) / len(ratios)
    mean = math.exp(sum(math.log(min(ratio, LONGEST)) for ratio in ratios) / len(ratios))
    print(f"{len(ratios)} cases: {below:.0%} at most twice the best, worst {max(ratios):.2f}, mean {mean:.2f}")


if __name__ == "__main__":
    main()
