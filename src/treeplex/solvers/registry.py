"""Every algorithm by name: what drives the command line, the conformance tests and the tables in the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from treeplex.solvers.cfr import cfr, cfr_plus
from treeplex.solvers.run import Algorithm


@dataclass(frozen=True)
class Entry:
    """An algorithm in the registry."""

    name: str
    build: Callable[[], Algorithm] | None  # None: solved in one go, not by iterations
    summary: str
    source: str


ALGORITHMS: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("lp", None, "exact, by linear programming over the sequence form", "Koller, Megiddo & von Stengel 1996"),
        Entry("cfr", cfr, "counterfactual regret minimization, alternating", "Zinkevich et al. 2007"),
        Entry("cfr+", cfr_plus, "CFR with regret matching+ and linear averaging", "Tammelin 2014, Algorithm 1"),
    )
}
