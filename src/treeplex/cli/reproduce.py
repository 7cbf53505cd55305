"""``treeplex reproduce``: reproduce a figure or table of a paper, and check its claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli import SOLVED, UNFINISHED
from treeplex.cli.options import FOLDER, AsJson
from treeplex.cli.output import console, print_json, print_table, say
from treeplex.papers import REPRODUCTIONS
from treeplex.runs.folder_lock import claimed_for
from treeplex.spec import unknown

Identity = Annotated[
    str | None, typer.Argument(metavar="ID", help="Reproduction to run. Default: list all.", show_default=False)
]
Out = Annotated[Path | None, typer.Option(help="Folder for figures and tables. Default: runs/ID.", **FOLDER)]


def reproduce(identity: Identity = None, out: Out = None, as_json: AsJson = False) -> None:
    """Reproduce a figure or table of a paper. The exit code is 1 if one of its claims does not hold."""
    if identity is None:
        fields = [{"id": entry.id, "paper": entry.paper, "about": entry.about} for entry in REPRODUCTIONS.values()]
        if as_json:
            print_json({"reproductions": fields})
        else:
            print_table(["id", "paper", "about"], [list(entry.values()) for entry in fields])
        return
    if identity not in REPRODUCTIONS:
        raise unknown("reproduction", identity, REPRODUCTIONS, "treeplex reproduce")
    purpose = {"id": identity}
    with (
        claimed_for(out or Path("runs") / identity, "reproduction", purpose) as folder,
        console.status(identity) as bar,
    ):
        report = REPRODUCTIONS[identity].run(folder, lambda line: bar.update(f"{identity}: {line}"))
    if as_json:
        print_json(report.summary())
    else:
        rows = [
            [claim.claim, claim.paper, f"{claim.ours:.4g}", "holds" if claim.holds else "DOES NOT HOLD"]
            for claim in report.claims
        ]
        print_table(["claim", "paper", "ours", ""], rows)
        say("files: " + ", ".join(map(str, report.files)))
    raise typer.Exit(SOLVED if all(claim.holds for claim in report.claims) else UNFINISHED)
