"""``treeplex evaluate``: measure the quality of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli.options import AsJson, GameName
from treeplex.cli.output import loaded, print_json, print_table, working
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.problems.loading import load_game

PolicyFile = Annotated[
    Path, typer.Argument(metavar="POLICY", help="Policy file in Parquet or JSON, such as runs/.../policy.parquet.")
]


def evaluate(game: GameName, policy: PolicyFile, as_json: AsJson = False) -> None:
    """Measure a policy exactly: value, NashConv and best responses."""
    compiled = loaded(load_game, game)
    with working(f"evaluating {policy}"):
        result = evaluate_policy(compiled, Policy.load(policy))
    if as_json:
        print_json({"game": compiled.name, "policy": str(policy)} | result.summary())
        return
    shown = {
        "value (player 0)": result.value,
        "NashConv": result.nash_conv,
        "exploitability (NashConv / 2)": result.exploitability,
        "best response of player 0 earns": result.best_response_values[0],
        "best response of player 1 earns": result.best_response_values[1],
    }
    print_table(["", compiled.name], [[name, f"{number:.10g}"] for name, number in shown.items()])
