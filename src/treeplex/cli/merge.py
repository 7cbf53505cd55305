"""``treeplex merge``: average several policies into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli.options import AsJson, Force, GameName
from treeplex.cli.output import check_new, check_policy_file, loaded, print_json, print_table, say
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.policies.merge import merge as merge_policies
from treeplex.problems.loading import load_game

Policies = Annotated[list[Path], typer.Argument(metavar="POLICY...", help="Policy files in Parquet or JSON.")]
To = Annotated[Path, typer.Option("--to", help="Save the merged policy to this .json or .parquet file.")]


def merge(game: GameName, policies: Policies, to: To, force: Force = False, as_json: AsJson = False) -> None:
    """Average policies by reach into one, such as those of several seeds, and measure all of them."""
    check_policy_file(to)
    check_new(to, force=force)
    compiled = loaded(load_game, game)
    parts = [Policy.load(path) for path in policies]
    merged = merge_policies(compiled, parts)
    measured = [evaluate_policy(compiled, policy).nash_conv for policy in (*parts, merged)]
    names = [str(path) for path in (*policies, to)]
    if as_json:
        fields = [{"policy": name, "nash_conv": value} for name, value in zip(names[:-1], measured[:-1], strict=True)]
        print_json({"game": compiled.name, "policies": fields, "file": str(to), "nash_conv": measured[-1]})
    else:
        print_table(["policy", "NashConv"], [[name, f"{x:.6g}"] for name, x in zip(names, measured, strict=True)])
    merged.save(to)
    if not as_json:
        say(f"saved {to}")
