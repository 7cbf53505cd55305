"""Every reproduction by its id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from treeplex.papers import (
    cfr_plus_compressibility,
    cfr_plus_fig1,
    cfr_plus_fig2,
    dt_fig1,
    dt_fig2,
    pmccfr_fig2,
    pmccfr_fig3,
    pmccfr_table1,
    rbp_fig1,
    rbp_fig2,
    rbp_fig3,
    saef_fig1,
)
from treeplex.papers.report import Report, Tell

RBP = "Brown & Sandholm 2015"
DT = "Brown, Kroer & Sandholm 2017"


class Reproduction(NamedTuple):
    """A figure or table of a paper."""

    id: str
    paper: str
    about: str
    run: Callable[[Path, Tell], Report]


REPRODUCTIONS: dict[str, Reproduction] = {
    entry.id: entry
    for entry in (
        Reproduction(
            cfr_plus_fig1.ID,
            "Tammelin 2014, Figure 1",
            "one-card poker: iterations to one millibet per hand, by deck size",
            cfr_plus_fig1.reproduce,
        ),
        Reproduction(
            cfr_plus_fig2.ID,
            "Tammelin 2014, Figure 2",
            "a hold'em flop subgame with three bet sizes: iterations and seconds to 5 mbb",
            cfr_plus_fig2.reproduce,
        ),
        Reproduction(
            cfr_plus_compressibility.ID,
            "Tammelin 2014, section 3",
            "zeros, entropy and compressed size of regrets, CFR+ against CFR",
            cfr_plus_compressibility.reproduce,
        ),
        Reproduction(
            rbp_fig1.ID,
            f"{RBP}, Figure 1",
            "Leduc and Leduc-5: regret-based against partial pruning, in nodes and seconds",
            rbp_fig1.reproduce,
        ),
        Reproduction(
            rbp_fig2.ID,
            f"{RBP}, Figure 2",
            "the same games: best responses in zero-reach sequences",
            rbp_fig2.reproduce,
        ),
        Reproduction(
            rbp_fig3.ID,
            f"{RBP}, Figure 3",
            "Leduc-5: how many iterations a pruning must be expected to skip",
            rbp_fig3.reproduce,
        ),
        Reproduction(
            saef_fig1.ID,
            "Brown & Sandholm 2015 (SAEF), Figure 1",
            "continuous Leduc: fixed abstractions against ones that grow",
            saef_fig1.reproduce,
        ),
        Reproduction(
            pmccfr_table1.ID,
            "Ju et al. 2023, Table 1",
            "nodes touched by the first five iterations, five algorithms",
            pmccfr_table1.reproduce,
        ),
        Reproduction(
            pmccfr_fig2.ID,
            "Ju et al. 2023, Figure 2",
            "convergence over nodes and seconds, pure MCCFR against MCCFR, CFR and CFR+",
            pmccfr_fig2.reproduce,
        ),
        Reproduction(
            pmccfr_fig3.ID,
            "Ju et al. 2023, Figure 3",
            "warm start by elimination on matrix games",
            pmccfr_fig3.reproduce,
        ),
        Reproduction(
            dt_fig1.ID,
            f"{DT}, Figure 1",
            "Leduc and Leduc-5: Hedge, regret matching, EGT and CFR+, pruned and not",
            dt_fig1.reproduce,
        ),
        Reproduction(
            dt_fig2.ID,
            f"{DT}, Figure 2",
            "the same games: how aggressive thresholds of EGT and Hedge may be",
            dt_fig2.reproduce,
        ),
    )
}
