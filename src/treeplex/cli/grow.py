"""``treeplex grow``: solve a game, and find the bet sizes that matter during the solve."""

from __future__ import annotations

from typing import Annotated

import typer

from treeplex.cli.options import AsJson, GameName, NoSave, Quiet, Show, Values, grouped
from treeplex.cli.solve import run
from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.growth.options import Growth
from treeplex.problems.growing import usual_algorithm
from treeplex.runs.requests import growing
from treeplex.runs.schema import GROW, with_unit

Method = Annotated[str, typer.Option(help="How a size is added: recovery (a recovery game) or transfer (of regret).")]
Factor = Annotated[
    float,
    typer.Option(
        help="Factor by which a size's regret must exceed the Proposition 1 threshold (inf = never add). 0 means 1.01"
        " with cfr, 1 with cfr+, 1.25 with dcfr."
    ),
]
Every = Annotated[
    int,
    typer.Option(
        "--check-every",
        help="Iterations between checks for new sizes. 0 means 5; for hold'em 10, growing by 20 % per check.",
    ),
]
Estimate = Annotated[
    str,
    typer.Option(
        help="How to estimate regrets of missing sizes: transfer or best-response. Hold'em always uses best-response."
    ),
]
Discount = Annotated[
    str,
    typer.Option(
        help="How to weight earlier iterations: recommended (eq. 22), root (its root), or bound (eq. 8). Default:"
        " recommended with cfr, root with cfr+."
    ),
]
PerCheck = Annotated[
    int, typer.Option(help="Maximum number of sizes that a check adds. 0 means one with cfr, else all that pay.")
]
Algorithm = Annotated[
    str | None,
    typer.Option(
        help="cfr (default) or cfr+ (default with --actions). For hold'em: cfr, cfr+, lcfr or dcfr (default)."
    ),
]
Bets = Annotated[
    str, typer.Option(help=f"Hold'em: candidates for bets: a list, from:to:step, or every. Default: {BETS}.")
]
Raises = Annotated[str, typer.Option(help=f"Hold'em: candidates for raises. Default: {RAISES}.")]
Street = Annotated[str, typer.Option(help="Hold'em: street where sizes are added, or all. Default: the first.")]
ByClass = Annotated[
    bool,
    typer.Option(
        "--by-class",
        help="Hold'em: one menu per class of cards dealt (flush, pair, over, other) instead of one for all boards.",
    ),
]
Actions = Annotated[
    str,
    typer.Option(
        help="Any other game: the actions that each infoset starts with: first, a number, labels such as 'fold, call',"
        " or a .json file with actions by infoset."
    ),
]
Recent = Annotated[
    int, typer.Option(help="Measure how fast regret grows over this many checks. 0 means over the whole run.")
]
Archive = Annotated[int, typer.Option(help="Move subtrees to disk after this many checks with zero reach (0 = never).")]

Remove = Annotated[
    str,
    typer.Option(
        help="Remove unused sizes: never; current (report the current strategies and remove sizes they never play; cfr+"
        " only); or discard (forget early iterations and sizes used only then; for hold'em, sizes hardly ever bet)."
    ),
]


@grouped
def grow(
    *,
    game: GameName,
    values: Annotated[Values, with_unit(GROW)],
    method: Method = "recovery",
    factor: Factor = 0.0,
    every: Every = 0,
    estimate: Estimate = "",
    discount: Discount = "",
    algorithm: Algorithm = None,
    archive: Archive = 0,
    remove: Remove = "never",
    per_check: PerCheck = 0,
    bets: Bets = "",
    raises: Raises = "",
    street: Street = "",
    by_class: ByClass = False,
    actions: Actions = "",
    recent: Recent = 0,
    no_save: NoSave = False,
    show: Show = 12,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Solve a game or a hold'em spot, and find the bet sizes or actions that matter. Ctrl-C stops and saves.

    Default limit: ten seconds.
    """
    choice = (bets, raises, street, by_class, actions, recent)
    name = usual_algorithm(game, actions) if algorithm is None else algorithm
    growth = Growth(method, factor, every, estimate, discount, name, archive, remove, per_check, *choice)
    raise run(growing(game, growth=growth, **values), no_save, show, as_json)
