"""The run folder of a spot: what was asked, how far it got, and the answer."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.arrow import Table, write_parquet
from treeplex.engines.boards.locks import Lock
from treeplex.errors import FormatError, ParameterError
from treeplex.evaluation.plot import plot_convergence
from treeplex.games.holdem.spot import Spot, make_spot
from treeplex.runs.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from treeplex.runs.limits import Limits

FORMAT = "treeplex-holdem-1"


class Request(NamedTuple):
    """What was asked for."""

    spot: Spot
    algorithm: str
    storage: str
    threads: int
    locks: tuple[Lock, ...]
    limits: Limits
    iterate: str


class HoldemFolder(NamedTuple):
    """A folder with ``holdem.json`` in it."""

    path: Path
    request: Request

    @staticmethod
    def create(folder: str | Path, request: Request) -> HoldemFolder:
        """Write down what was asked for, before anything is computed."""
        path = Path(folder)
        if (path / "holdem.json").exists() or (path / "run.json").exists():
            raise ParameterError(f"The folder {path} holds a run already; resume it, or choose another folder.")
        fields = request._asdict() | {
            "format": FORMAT,
            "spot": request.spot.summary(),
            "limits": asdict(request.limits),
            "locks": [{"line": lock.line, "strategy": lock.strategy} for lock in request.locks],
        }
        try:
            path.mkdir(parents=True, exist_ok=True)
            _write(path / "holdem.json", json.dumps(fields, indent=1) + "\n")
        except OSError as error:
            raise ParameterError(
                f"The run folder {path} cannot be written: {error.strerror}; choose another."
            ) from error
        return HoldemFolder(path, request)

    @staticmethod
    def open(folder: str | Path) -> HoldemFolder:
        """Read ``holdem.json`` of an earlier run."""
        path = Path(folder)
        try:
            fields: dict[str, Any] = json.loads((path / "holdem.json").read_text(encoding="utf-8"))
            if fields.pop("format") != FORMAT:
                raise ValueError(f"its format is not {FORMAT!r}")
            fields["spot"] = make_spot(fields["spot"])
            fields["limits"] = Limits(**fields["limits"])
            fields["locks"] = tuple(Lock(**lock) for lock in fields["locks"])
            return HoldemFolder(path, Request(**fields))
        except FileNotFoundError:
            raise ParameterError(f"{path} is not the run folder of a spot: it has no holdem.json.") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(f"not what treeplex writes ({error}).", path=str(path / "holdem.json")) from error

    def keep(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint."""
        save_checkpoint(checkpoint, self.path / "checkpoint.safetensors")

    def checkpoint(self, fresh: Any) -> Checkpoint | None:
        """Where to go on, or None if the run was ended before its first checkpoint."""
        path = self.path / "checkpoint.safetensors"
        return load_checkpoint(path, fresh, None) if path.exists() else None

    def finish(self, summary: dict[str, Any], log: Table, request: Request) -> None:
        """Leave the answer beside the checkpoint, which holds the strategies."""
        write_parquet(log, self.path / "log.parquet")
        _write(self.path / "result.json", json.dumps(summary, indent=1) + "\n")
        _write(self.path / "README.md", EXPLANATION)
        title = f"{summary['board']}, {request.algorithm}"
        plot_convergence({request.algorithm: log}, title, self.path / "convergence.png")


def _write(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


EXPLANATION = """# A hold'em spot solved by treeplex

| file | what it holds |
| --- | --- |
| `result.json` | EV, exploitability, root strategy, and how the run ended |
| `log.parquet` | one row a checkpoint: iteration, seconds, EV of the player out of position, NashConv in chips |
| `convergence.png` | NashConv in chips against iterations, nodes and seconds |
| `holdem.json` | the spot and what was asked for |
| `checkpoint.safetensors` | regrets and average strategies: what `holdem show` reads and `holdem resume` goes on with |

Browse with `treeplex holdem show FOLDER --line "check, bet 75%" --grid`; in Python, `treeplex.holdem.open_run(FOLDER)`.
"""
