"""``treeplex export``: save a game as an .efg file, or a policy in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli.options import AsJson, Force, GameName, To
from treeplex.cli.output import check_new, check_policy_file, loaded, print_json, say
from treeplex.compile.efg import to_efg
from treeplex.compile.storage import save
from treeplex.errors import ParameterError
from treeplex.evaluation import Policy
from treeplex.files import replace_text
from treeplex.games.efg import write
from treeplex.problems.loading import load_game

Efg = Annotated[Path | None, typer.Option("--efg", help="Save the game to this file in Gambit's .efg format.")]
Compiled = Annotated[
    Path | None, typer.Option("--compiled", help="Save the compiled game to this file (.safetensors).")
]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="Policy of the game, in Parquet or JSON. Default: the uniform policy.")
]


def export(
    game: GameName,
    efg: Efg = None,
    compiled: Compiled = None,
    policy: PolicyFile = None,
    to: To = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Save a game to a file, or a policy in another format."""
    if efg is None and compiled is None and to is None:
        raise ParameterError("There is nothing to save: give --efg FILE, --compiled FILE, or --policy FILE --to FILE.")
    if policy is not None and to is None:
        raise ParameterError("The option --policy needs --to FILE, where FILE ends in .json or .parquet.")
    check_policy_file(to)
    if compiled is not None and compiled.suffix != ".safetensors":
        raise ParameterError(f"The option --compiled must end in .safetensors, got {compiled}.")
    check_new(efg, compiled, to, force=force)
    source = loaded(load_game, game)
    if efg is not None:
        replace_text(efg, write(to_efg(source)))
    if compiled is not None:
        save(source, compiled)
    if to is not None:
        chosen = Policy.load(policy) if policy else Policy.uniform(source)
        Policy.of(source, chosen.aligned(source)).save(to)
    saved = [str(path) for path in (efg, compiled, to) if path is not None]
    if as_json:
        print_json({"game": source.name, "files": saved})
    else:
        say(f"saved {', '.join(saved)}")
