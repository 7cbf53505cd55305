"""``treeplex compare --all``: nodes and seconds to several accuracies, for all algorithms that fit a game."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import typer

from treeplex import api
from treeplex.algorithms.registry import ALGORITHMS
from treeplex.cli.options import Values, real_number
from treeplex.cli.output import EVERY, console, loaded, new_folder, print_json, print_table, say
from treeplex.cli.progress import ProgressLine
from treeplex.errors import ParameterError, quoted
from treeplex.limits import Limits
from treeplex.runs import Solution
from treeplex.runs.comparison import ACCURACIES, Comparison
from treeplex.runs.loop import Progress
from treeplex.runs.status import INTERRUPTED
from treeplex.system import answering


class RunLines:
    """Progress lines of runs, one after the other."""

    def __init__(self, game: str, names: list[str], limits: Limits) -> None:
        self._game, self._names, self._limits = game, names, limits
        self._label, self._line, self._status, self._due = "", None, None, 0.0

    def watch(self, label: str, progress: Progress) -> None:
        """Show progress; ``compare`` calls this with the label of a run, or on a cluster with text about many."""
        if label.partition(", seed ")[0] not in self._names:
            self._count(label)
            return
        if label != self._label or self._line is None:
            self.stop()
            position = self._names.index(label.partition(", seed ")[0]) + 1
            title = f"{self._game}, {label} ({position} of {len(self._names)})"
            self._label, self._line = label, ProgressLine(title, self._limits).__enter__()
        self._line.watch(progress)

    def _count(self, words: str) -> None:
        if self._status is None:
            self._status, self._due = console.status(words, spinner="dots"), time.monotonic() + EVERY
            self._status.start()
        self._status.update(words)
        if not console.is_terminal and time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY
            say(words)

    def stop(self) -> None:
        """Remove the progress line."""
        if self._status is not None:
            self._status.stop()
        if self._line is not None:
            self._line.stop()


def tabulate(
    game: str, algorithms: list[str] | None, seeds: int, accuracies: str | None, values: Values, as_json: bool
) -> None:
    """Run ``algorithms`` (None: all), print the table, and save it as Parquet and picture."""
    if values.pop("nash_conv") is not None or values.pop("exploitability") is not None:
        raise ParameterError(
            "A table of accuracies has its own targets: give --accuracies instead of a target NashConv."
        )
    out, _ = values.pop("out"), values.pop("big_blind")
    targets = ACCURACIES if accuracies is None else _numbers(accuracies)
    values["seconds"] = api.DEFAULT_COMPARE_SECONDS if values["seconds"] is None else values["seconds"]
    chosen = loaded(api.load, game)
    names = list(ALGORITHMS) if algorithms is None else list(dict.fromkeys(algorithms))
    lines = RunLines(chosen.name, names, Limits(None, values["seconds"], values["iterations"], values["nodes"]))

    def answer(solution: Solution) -> None:
        lines.stop()
        if as_json:
            print_json(solution.summary())

    with (
        answering() as interruption,
        nullcontext(out) if out else new_folder(f"{chosen.name.replace(' ', '')}-compare") as folder,
    ):
        try:
            comparison = api.compare(
                chosen,
                algorithms,
                accuracies=targets,
                seeds=seeds,
                **values,
                out=folder,
                watch=lines.watch,
                answer=answer,
            )
        finally:
            lines.stop()
        cut = interruption.is_set() or any(run.status == INTERRUPTED for run in comparison.runs)
    files = [] if cut else [str(Path(folder) / f"comparison.{kind}") for kind in ("parquet", "png")]
    if as_json:
        print_json(
            {
                "game": comparison.game,
                "uniform_nash_conv": comparison.uniform,
                "accuracies": list(comparison.accuracies),
                "table": comparison.summary(),
                "refused": dict(comparison.refused),
                "files": files,
            }
        )
    else:
        _describe(comparison)
        say(*files)
    raise typer.Exit(1 if cut else 0)


def _describe(comparison: Comparison) -> None:
    head, rows = comparison.words()
    print_table(head, rows, right=range(1, len(head)))
    if comparison.refused:
        print_table(["not run", "reason"], [[name, why] for name, why in comparison.refused.items()])


def _numbers(text: str) -> list[float]:
    """Parse numbers with commas between, such as 1e-3,1e-5."""
    numbers = [real_number(part.strip()) for part in text.split(",")]
    if None in numbers:
        raise ParameterError(f"The option --accuracies must be numbers with commas between, got {quoted(text)}.")
    return [number for number in numbers if number is not None]
