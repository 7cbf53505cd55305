"""``treeplex export``: a game as an .efg file, a policy in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli.output import AsJson, GameName, console, load_game, print_json
from treeplex.compile.efg import to_efg
from treeplex.compile.storage import save
from treeplex.errors import ParameterError
from treeplex.evaluation import Policy
from treeplex.games.efg import write

Efg = Annotated[Path | None, typer.Option("--efg", help="Write the game here in Gambit's .efg format.")]
Compiled = Annotated[Path | None, typer.Option("--compiled", help="Write the compiled game here (.safetensors).")]
Given = Annotated[
    Path | None, typer.Option("--policy", help="A policy for the game, Parquet or JSON; uniform if left out.")
]
To = Annotated[Path | None, typer.Option("--to", help="Write the policy here: .json or .parquet.")]


def export(
    game: GameName,
    efg: Efg = None,
    compiled: Compiled = None,
    policy: Given = None,
    to: To = None,
    as_json: AsJson = False,
) -> None:
    """Write a game to a file, or a policy in another format."""
    if efg is None and compiled is None and to is None:
        raise ParameterError("Say what to write: --efg FILE, --compiled FILE, or --policy FILE --to FILE.")
    if policy is not None and to is None:
        raise ParameterError("The option --policy needs --to FILE, ending in .json or .parquet.")
    if to is not None and to.suffix not in (".json", ".parquet"):
        raise ParameterError(f"The option --to must end in .json or .parquet, got {to}.")
    if compiled is not None and compiled.suffix != ".safetensors":
        raise ParameterError(f"The option --compiled must end in .safetensors, got {compiled}.")
    source = load_game(game)
    written: list[Path] = []
    try:
        if efg is not None:
            efg.write_text(write(to_efg(source)), encoding="utf-8")
            written.append(efg)
        if compiled is not None:
            save(source, compiled)
            written.append(compiled)
        if to is not None:
            chosen = Policy.load(policy) if policy else Policy.uniform(source)
            Policy.of(source, chosen.aligned(source)).save(to)
            written.append(to)
    except OSError as error:
        raise ParameterError(f"The file {error.filename} cannot be written: {error.strerror}.") from error
    if as_json:
        print_json({"game": source.name, "files": [str(path) for path in written]})
    else:
        console.print("wrote " + ", ".join(str(path) for path in written), highlight=False)
