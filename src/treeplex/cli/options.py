"""Options that several commands share; named as in the Python API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NashConv = Annotated[float | None, typer.Option(help="Target NashConv: the sum of both players' best-response gains.")]
Exploitability = Annotated[
    str | None, typer.Option(help="Target exploitability, half of NashConv; for a hold'em spot also such as 0.3%pot.")
]
Seconds = Annotated[float | None, typer.Option(help="Time limit in seconds.")]
Iterations = Annotated[int | None, typer.Option(help="Limit on iterations.")]
Nodes = Annotated[int | None, typer.Option(help="Limit on nodes touched.")]
Seed = Annotated[int, typer.Option(help="For algorithms that draw random numbers.")]
Show = Annotated[int, typer.Option(min=0, help="How many infosets per player, or sizes found, to print.")]
Iterate = Annotated[str, typer.Option(help="Report the average, the current or the best strategies so far.")]
Storage = Annotated[str | None, typer.Option(help="float64, float32 or int16; the engine's own default if left out.")]
Threads = Annotated[int, typer.Option(help="Threads; 0: as many as pay. Does not change the answer.")]
CheckpointSeconds = Annotated[float, typer.Option(help="Seconds between two checkpoints.")]
Out = Annotated[Path | None, typer.Option(help="The run folder; runs/GAME-ALGORITHM-N if left out.")]
NoSave = Annotated[bool, typer.Option("--no-save", help="Do not save the run.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run folder.", show_default=False)]
