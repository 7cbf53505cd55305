"""``treeplex merge``: several policies averaged into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli.output import AsJson, GameName, console, load_game, print_json, print_table
from treeplex.errors import ParameterError
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.evaluation.merge import merge as merge_policies

Policies = Annotated[list[Path], typer.Argument(metavar="POLICY...", help="Policies in Parquet or JSON.")]
To = Annotated[Path, typer.Option("--to", help="Write the merged policy here: .json or .parquet.")]


def merge(game: GameName, policies: Policies, to: To, as_json: AsJson = False) -> None:
    """Average policies by reach into one, such as those of several seeds, and measure all of them."""
    if to.suffix not in (".json", ".parquet"):
        raise ParameterError(f"The option --to must end in .json or .parquet, got {to}.")
    compiled = load_game(game)
    parts = [Policy.load(path) for path in policies]
    merged = merge_policies(compiled, parts)
    measured = [evaluate_policy(compiled, policy).nash_conv for policy in (*parts, merged)]
    try:
        merged.save(to)
    except OSError as error:
        raise ParameterError(f"The file {to} cannot be written: {error.strerror}.") from error
    names = [str(path) for path in (*policies, to)]
    if as_json:
        fields = [{"policy": name, "nash_conv": value} for name, value in zip(names[:-1], measured[:-1], strict=True)]
        print_json({"game": compiled.name, "policies": fields, "file": str(to), "nash_conv": measured[-1]})
        return
    print_table(["policy", "NashConv"], [[name, f"{x:.6g}"] for name, x in zip(names, measured, strict=True)])
    console.print(f"wrote {to}", highlight=False)
