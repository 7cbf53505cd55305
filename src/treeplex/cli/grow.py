"""``treeplex grow``: which sizes matter here? Solve a game while they are found."""

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

Method = Annotated[str, typer.Option(help="How a size is added: by a recovery game or by regret transfer.")]
Factor = Annotated[
    float,
    typer.Option(
        help="Multiple of the threshold of proposition 1 that a new size must exceed; inf: never add; 0: 1.01 with cfr,"
        " 1 with cfr+, 1.25 with dcfr."
    ),
]
Every = Annotated[
    int,
    typer.Option(
        "--check-every",
        help="Iterations between two checks for new sizes; 0: 5, on a hold'em spot 10 and then a fifth more each.",
    ),
]
Estimate = Annotated[
    str,
    typer.Option(
        help="How regrets of missing sizes are estimated: transfer, or best-response, as always on hold'em spots."
    ),
]
Discount = Annotated[
    str,
    typer.Option(
        help="How the past is weighted: recommended (22), its root, or by the bound (8). Default: recommended with cfr,"
        " root with cfr+."
    ),
]
PerCheck = Annotated[int, typer.Option(help="Sizes that a check adds at most; 0: one with cfr, else all that pay.")]
Algorithm = Annotated[
    str | None, typer.Option(help="cfr or cfr+; on a hold'em spot also lcfr and dcfr, which is its default.")
]
Bets = Annotated[
    str, typer.Option(help=f"Hold'em: bets to choose from, a list, from:to:step, or every; {BETS} if left out.")
]
Raises = Annotated[str, typer.Option(help=f"Hold'em: raises to choose from; {RAISES} if left out.")]
Street = Annotated[str, typer.Option(help="Hold'em: where sizes are added: a street, or all; the first if left out.")]
ByClass = Annotated[
    bool,
    typer.Option(
        "--by-class",
        help="Hold'em: one menu for each class of the cards dealt (flush, pair, over, other), not one for all boards.",
    ),
]
Archive = Annotated[int, typer.Option(help="Move subtrees with zero reach for this many checks to disk; 0: never.")]

Remove = Annotated[
    str,
    typer.Option(
        help="Take sizes out again: never; current: those that the current strategies, which are then the answer, do"
        " not play (cfr+ only); discard: early iterations, and sizes chosen only in them; on spots, sizes hardly bet."
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
    no_save: NoSave = False,
    show: Show = 12,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Solve a game or a hold'em spot, and find the bet sizes that matter. Ctrl-C keeps the results.

    Default limit: ten seconds.
    """
    choice = (bets, raises, street, by_class)
    name = usual_algorithm(game) if algorithm is None else algorithm
    growth = Growth(method, factor, every, estimate, discount, name, archive, remove, per_check, *choice)
    raise run(growing(game, growth=growth, **values), no_save, show, as_json)
