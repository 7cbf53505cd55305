"""A run folder: the request, the checkpoint, and the result. It explains itself and can be resumed."""

from __future__ import annotations

import json
import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from treeplex.algorithms.protocol import Algorithm, Game, State
from treeplex.arrow import write_parquet
from treeplex.errors import FormatError, ParameterError
from treeplex.files import parse_json, replace_text
from treeplex.limits import Limits
from treeplex.plots.plot import plot_convergence
from treeplex.policies.policy import Policy
from treeplex.problems.protocol import Problem
from treeplex.runs.checkpoint import DAMAGES, Checkpoint, load_checkpoint, save_checkpoint
from treeplex.runs.folder_lock import claimed, folder_of
from treeplex.runs.request import Record

if TYPE_CHECKING:
    from treeplex.runs.solution import Solution

FORMAT: Final = "treeplex-run-2"
FIRST_FORMATS: Final = ("treeplex-run-1", "treeplex-growing-run-1", "treeplex-holdem-1")
"""Formats of 0.1: their checkpoints name neither the game nor the algorithm, so they are not resumed."""


class RunFolder(NamedTuple):
    """A folder that contains ``run.json``, and its record."""

    path: Path
    record: Record

    @staticmethod
    @contextmanager
    def claim(folder: str | Path, record: Record, problem: Problem) -> Generator[RunFolder]:
        """Lock a folder and write ``run.json`` before anything is computed, or continue the same run in its folder.

        A folder that holds anything else is rejected and not touched. No other process can write into it meanwhile.
        """
        with claimed(folder, ("run.json", "holdem.json"), lambda path: _check_same(path, record)) as path:
            run_folder = RunFolder(path, record)
            run_folder.write()  # first: it marks the folder as ours
            problem.save(path)
            yield run_folder

    @contextmanager
    def reclaimed(self) -> Generator[RunFolder]:
        """Lock the folder of this run again to continue it; no other process can write into it meanwhile."""
        with claimed(self.path, ("run.json",), lambda path: _check_same(path, self.record)) as path:
            yield RunFolder.open(path)

    def limited(self, limits: Limits, threads: int, backend: str) -> RunFolder:
        """Return the same run with other limits, threads and backend, after writing these to ``run.json``."""
        run_folder = RunFolder(self.path, replace(self.record, limits=limits, threads=threads, backend=backend))
        run_folder.write()
        return run_folder

    def write(self) -> None:
        """Write ``run.json`` into the folder."""
        fields = {"format": FORMAT} | asdict(self.record)
        replace_text(self.path / "run.json", json.dumps(fields, indent=1) + "\n")

    @staticmethod
    def open(folder: str | Path) -> RunFolder:
        """Read ``run.json`` of an earlier run."""
        path = folder_of(folder)
        if not (path / "run.json").exists() and (path / "holdem.json").exists():
            raise _too_old(path)
        try:
            fields: dict[str, Any] = parse_json((path / "run.json").read_text(encoding="utf-8"))
            form = fields.pop("format")
            if form not in (FORMAT, *FIRST_FORMATS):
                raise ValueError(f"its format is {form!r}, not {FORMAT!r}")
            record = Record.of(fields) if form == FORMAT else None
        except FileNotFoundError:
            raise ParameterError(f"{path} is not a run folder: it has no run.json.") from None
        except DAMAGES as error:
            raise FormatError(f"not what treeplex writes ({error}).", path=str(path / "run.json")) from error
        if record is None:
            raise _too_old(path)
        return RunFolder(path, record)

    def keep(self, algorithm: Algorithm[Game, State], point: Checkpoint[State]) -> None:
        """Replace the checkpoint in the folder."""
        save_checkpoint(self.path / "checkpoint.safetensors", self.record.identity, algorithm, point)

    def checkpoint(self, algorithm: Algorithm[Game, State], game: Game) -> Checkpoint[State] | None:
        """Load the checkpoint, or return None if the run ended before its first one."""
        path = self.path / "checkpoint.safetensors"
        if not path.exists():
            return None
        return load_checkpoint(path, self.record.identity, algorithm, game, self.record.seed)

    def finish(self, solution: Solution, picture: bool = True) -> Path:
        """Write the result, the log, the policy, the tables and a README."""
        path, files = self.path, dict(FILES)
        replace_text(path / "result.json", json.dumps(solution.summary(), indent=1) + "\n")
        write_parquet(solution.log, path / "log.parquet")
        if isinstance(solution.policy, Policy):
            solution.policy.save(path / "policy.parquet")
        else:
            del files["policy.parquet"]
        for name, table in solution.extras.tables().items():
            write_parquet(table, path / f"{name}.parquet")
        for name, document in solution.extras.documents().items():
            replace_text(path / f"{name}.json", json.dumps(document, indent=0) + "\n")
        title = self.record.title
        known = picture and any(not math.isnan(row.nash_conv) for row in solution.rows)
        if not known:
            del files["convergence.png"]
        about = solution.extras.note()
        replace_text(path / "README.md", _explanation(title, files | solution.extras.files(), about))
        if known:
            plot_convergence({self.record.asked: solution.log}, title, path / "convergence.png")
        return path


def _check_same(path: Path, record: Record) -> None:
    """Raise ``ParameterError`` if the folder holds another run."""
    before = RunFolder.open(path).record
    other = next((key for key, value in record.identity.items() if before.identity[key] != value), None)
    if other is not None:
        what = {"kind": "kind of game", "options": "set of options"}.get(other, other)
        raise ParameterError(
            f"The folder {path} holds a run with another {what} ({before.identity[other]!r:.80}); choose another"
            " folder."
        )


def _too_old(path: Path) -> ParameterError:
    return ParameterError(
        f"The run in {path} was made by treeplex 0.1, whose checkpoints cannot be resumed; its result.json, log.parquet"
        " and policy.parquet can still be read. Start a new run in another folder."
    )


FILES: Final = {
    "result.json": "value, NashConv and how the run ended",
    "policy.parquet": "the strategies: player, infoset, action, probability",
    "log.parquet": "one row per evaluation: iteration, nodes touched, seconds, value, NashConv",
    "convergence.png": "NashConv against iterations, nodes and seconds",
    "run.json": "the request: game, algorithm, options and limits",
    "checkpoint.safetensors": "the state from which `treeplex resume` continues",
    "game.safetensors": "the game itself, if it cannot be loaded by name",
}


def _explanation(title: str, files: dict[str, str], about: str) -> str:
    listed = "\n".join(f"| `{name}` | {what} |" for name, what in files.items())
    origin = f"How it was found: {about}.\n\n" if about else ""
    return f"""# A run of treeplex: {title}

{origin}| file | content |
| --- | --- |
{listed}

Read the tables with any Parquet reader (`pandas.read_parquet`, `polars.read_parquet`, `duckdb`), or in Python with
`treeplex.Policy.load("policy.parquet")`. Continue with `treeplex resume FOLDER`. NashConv is the sum of what both
players could gain by a best response; exploitability is half of it.
"""
