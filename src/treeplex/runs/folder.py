"""A run folder: what was asked, how far it got, and the answer. It explains itself and can be resumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from treeplex.arrow import write_parquet
from treeplex.compile.game import CompiledGame
from treeplex.compile.storage import load as load_compiled
from treeplex.compile.storage import save as save_compiled
from treeplex.errors import FormatError, ParameterError
from treeplex.evaluation.plot import plot_convergence
from treeplex.runs.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from treeplex.runs.limits import Limits

if TYPE_CHECKING:
    from treeplex.runs.solution import Solution

FORMAT = "treeplex-run-1"


class Request(NamedTuple):
    """What was asked for."""

    game: str  # the game's name
    source: str | None  # how to load it again; None: from game.safetensors in the folder
    fingerprint: str  # of the compiled game
    algorithm: str
    limits: Limits
    seed: int
    iterate: str


class RunFolder(NamedTuple):
    """A folder with ``run.json`` in it."""

    path: Path
    request: Request

    @staticmethod
    def create(
        folder: str | Path, game: CompiledGame, algorithm: str, limits: Limits, seed: int, iterate: str
    ) -> RunFolder:
        """Write down what was asked for, before anything is computed."""
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if game.source is None:
                save_compiled(game, path / "game.safetensors")
            request = Request(game.name, game.source, fingerprint(game), algorithm, limits, seed, iterate)
            (path / "checkpoint.safetensors").unlink(missing_ok=True)  # of another run in this folder
            fields = request._asdict() | {"format": FORMAT, "limits": asdict(limits)}
            _write(path / "run.json", json.dumps(fields, indent=1) + "\n")
        except OSError as error:
            raise ParameterError(
                f"The run folder {path} cannot be written: {error.strerror}; choose another."
            ) from error
        return RunFolder(path, request)

    @staticmethod
    def refuse_existing(folder: str | Path) -> None:
        """What another run has computed is not overwritten."""
        if (Path(folder) / "run.json").exists():
            raise ParameterError(f"The folder {folder} holds a run already; resume it, or choose another folder.")

    @staticmethod
    def open(folder: str | Path) -> RunFolder:
        """Read ``run.json`` of an earlier run."""
        path = Path(folder)
        try:
            fields: dict[str, Any] = json.loads((path / "run.json").read_text(encoding="utf-8"))
            if fields.pop("format") != FORMAT:
                raise ValueError(f"its format is not {FORMAT!r}")
            limits = Limits(**fields.pop("limits"))
            request = Request(limits=limits, **fields)
            words: list[Any] = [request.game, request.algorithm, request.fingerprint]
            if not all(isinstance(word, str) for word in words):
                raise ValueError("game, algorithm and fingerprint must be text")
            return RunFolder(path, request)
        except FileNotFoundError:
            raise ParameterError(f"{path} is not a run folder: it has no run.json.") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(f"not what treeplex writes ({error}).", path=str(path / "run.json")) from error

    def stored_game(self) -> CompiledGame:
        """The game kept in the folder itself."""
        return load_compiled(self.path / "game.safetensors")

    def keep(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint."""
        save_checkpoint(checkpoint, self.path / "checkpoint.safetensors")

    def checkpoint(self, fresh: Any, sequences: list[int]) -> Checkpoint | None:
        """Where to go on, or None if the run was ended before its first checkpoint."""
        path = self.path / "checkpoint.safetensors"
        return load_checkpoint(path, fresh, sequences) if path.exists() else None

    def finish(self, solution: Solution) -> Path:
        """Leave the answer."""
        solution.policy.save(self.path / "policy.parquet")
        write_parquet(solution.log, self.path / "log.parquet")
        title = f"{solution.game.name}, {solution.algorithm}"
        _write(self.path / "result.json", json.dumps(solution.summary(), indent=1) + "\n")
        _write(self.path / "README.md", _explanation(title))
        plot_convergence({solution.algorithm: solution.log}, title, self.path / "convergence.png")
        return self.path


def fingerprint(game: CompiledGame) -> str:
    """A short hash of the game's structure and payoffs, so that a run is never resumed in another game."""
    digest = hashlib.blake2b(digest_size=16)
    for treeplex in game.treeplexes:
        for array in treeplex:
            digest.update(array.data)
    for array in game.operator.rows:
        digest.update(array.tobytes())
    return digest.hexdigest()


def _write(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _explanation(title: str) -> str:
    return f"""# A run of treeplex: {title}

| file | what it holds |
| --- | --- |
| `result.json` | value, NashConv and how the run ended |
| `policy.parquet` | the strategies: player, infoset, action, probability |
| `log.parquet` | one row a checkpoint: iteration, nodes touched, seconds, value, NashConv |
| `convergence.png` | NashConv against iterations, nodes and seconds |
| `run.json` | what was asked for |
| `checkpoint.safetensors` | where `treeplex resume` goes on |
| `game.safetensors` | the game itself, if it has no name to load it by |

Read the tables with any Parquet reader (`pandas.read_parquet`, `polars.read_parquet`, `duckdb`), or in Python with
`treeplex.Policy.load("policy.parquet")`. Check the answer with `treeplex evaluate GAME policy.parquet`, go on with
`treeplex resume FOLDER`. NashConv is the sum of what both players could gain by a best response; exploitability is
half of it.
"""
