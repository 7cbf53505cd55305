"""Options that several commands share; named as in the Python API."""

from __future__ import annotations

from typing import Annotated

import typer

NashConv = Annotated[float | None, typer.Option(help="Stop at this NashConv, the sum of both players' gains.")]
Seconds = Annotated[float | None, typer.Option(help="Stop after this long.")]
Iterations = Annotated[int | None, typer.Option(help="Stop after this many iterations.")]
Nodes = Annotated[int | None, typer.Option(help="Stop after touching this many nodes.")]
Seed = Annotated[int, typer.Option(help="For algorithms that draw random numbers.")]
Show = Annotated[int, typer.Option(min=0, help="How many infosets of each player to print.")]
Iterate = Annotated[str, typer.Option(help="Report the average, the current or the best strategies so far.")]
CheckpointSeconds = Annotated[float, typer.Option(help="Seconds between two checkpoints.")]
