"""The answer of a growing run, and the folder that keeps it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, get_type_hints

import pyarrow as pa

from treeplex.runs import growth_answer as answer
from treeplex.runs import growth_checkpoint as checkpoint
from treeplex.runs.growth import Addition, Grown, GrowthRow, Progress, Run
from treeplex.algorithms.growth.options import Growth
from treeplex.evaluation.growth_plot import plot_growth
from treeplex.arrow import Table, table, write_parquet
from treeplex.errors import FormatError, ParameterError
from treeplex.evaluation.policy import Policy
from treeplex.games.sized import Abstraction
from treeplex.runs.limits import Limits

FORMAT: Final = "treeplex-growing-run-1"
KINDS: Final = {int: pa.int64(), float: pa.float64(), str: pa.string()}


@dataclass(frozen=True)
class GrownSolution:
    """What was found. Quality is measured in the full game, where every size is legal."""

    start: Abstraction  # the game at the start
    growth: Growth
    grown: Grown
    seconds: float

    @property
    def status(self) -> str:
        """As "solved", or what stopped the run: "iterations", "seconds", "nodes", "interrupted"."""
        return self.grown.status

    @property
    def rows(self) -> list[GrowthRow]:
        """The log."""
        return self.grown.rows

    @property
    def additions(self) -> list[Addition]:
        """Every size that was added, in order."""
        return self.grown.additions

    @property
    def value(self) -> float:
        """Player 0's."""
        return self.rows[-1].value

    @property
    def nash_conv(self) -> float:
        """In the full game."""
        return self.rows[-1].nash_conv

    @property
    def exploitability(self) -> float:
        """Half of ``nash_conv``."""
        return self.nash_conv / 2.0

    @property
    def log(self) -> Table:
        """One row a measurement."""
        return _table(GrowthRow, self.rows)

    @cached_property
    def found(self) -> list[answer.Found]:
        """Every size that was added, what it is worth and how much it is used; most worth first."""
        return answer.found(self.grown.game, self.additions)

    @cached_property
    def policy(self) -> Policy:
        """The average strategies, for the sizes offered now."""
        return answer.policy(self.grown.game, self.name)

    @cached_property
    def abstraction(self) -> Abstraction:
        """The finite game with the sizes offered now: ``treeplex.load`` takes it."""
        return answer.abstraction(self.grown.game, self.name)

    @property
    def name(self) -> str:
        """Of the grown game."""
        return f"{self.start.rules.name}, grown"

    def summary(self) -> dict[str, object]:
        """The result as ``treeplex grow --json`` prints it."""
        last = self.rows[-1]
        return {
            "game": self.start.name,
            "algorithm": self.growth.algorithm,
            "growth": _fields(self.growth),
            "iterations": last.iteration,
            "nodes_touched": last.nodes_touched,
            "seconds": self.seconds,
            "value": last.value,
            "nash_conv": last.nash_conv,
            "exploitability": last.exploitability,
            "nash_conv_of_sizes_offered": last.inside,
            "histories": last.histories + last.archived,
            "archived": last.archived,
            "sizes": [
                one.addition._asdict() | {"worth": one.worth, "frequency": one.frequency, "by_hand": one.by_hand}
                for one in self.found
            ],
            "status": self.status,
        }

    def save(self, folder: str | Path) -> Path:
        """Leave policy, sizes, logs, picture and result in a folder, and a page that explains them."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        self.policy.save(path / "policy.parquet")
        write_parquet(self.log, path / "log.parquet")
        write_parquet(_table(Addition, self.additions), path / "additions.parquet")
        _write(path / "sizes.json", json.dumps(self.abstraction.menu.by_line, indent=0) + "\n")
        _write(path / "result.json", json.dumps(self.summary(), indent=1) + "\n")
        _write(path / "README.md", _explanation(self.start.name))
        plot_growth(self.rows, self.start.name, path / "growth.png")
        return path


def grow_game(
    abstraction: Abstraction,
    growth: Growth,
    limits: Limits,
    folder: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Progress], None] | None = None,
) -> GrownSolution:
    """Solve a game while its sizes are found."""
    path = None if folder is None else Path(folder)
    if path is not None:
        if (path / "run.json").exists():
            raise ParameterError(f"The folder {path} holds a run already; resume it, or choose another folder.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            fields = {"format": FORMAT, "game": abstraction.name, "growth": _fields(growth), "limits": asdict(limits)}
            _write(path / "run.json", json.dumps(fields, indent=1) + "\n")
        except OSError as error:
            raise ParameterError(
                f"The run folder {path} cannot be written: {error.strerror}; choose another."
            ) from error
    return _go(Run(abstraction, growth, path), limits, path, checkpoint_seconds, watch)


def is_growing_run(folder: str | Path) -> bool:
    """Whether a folder holds a run that grows."""
    try:
        return json.loads((Path(folder) / "run.json").read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError):
        return False


def request(folder: str | Path) -> tuple[str, Growth, Limits]:
    """What a run in a folder was asked for: the name of its game, how to grow, and when to stop."""
    path = Path(folder) / "run.json"
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if fields["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        growth: dict[str, Any] = fields["growth"] | {"factor": float(fields["growth"]["factor"])}
        return str(fields["game"]), Growth(**growth), Limits(**fields["limits"])
    except FileNotFoundError:
        raise ParameterError(f"{folder} is not a run folder: it has no run.json.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"not what treeplex writes ({error}).", path=str(path)) from error


def resume_growth(
    folder: str | Path,
    abstraction: Abstraction,
    limits: Limits,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Progress], None] | None = None,
) -> GrownSolution:
    """Go on with a run where it was stopped or killed, to the same bits. Without limits: to those it had."""
    path = Path(folder)
    _, growth, wanted = request(path)
    run = Run(abstraction, growth, path)
    if (path / "checkpoint.safetensors").exists():
        checkpoint.restore(run, path / "checkpoint.safetensors")
    if not limits.any:
        seconds = None if wanted.seconds is None else max(wanted.seconds - run.seconds, 0.0)
        limits = Limits(wanted.nash_conv, seconds, wanted.iterations, wanted.nodes)
    return _go(run, limits, path, checkpoint_seconds, watch)


def _go(
    run: Run, limits: Limits, path: Path | None, every: float, watch: Callable[[Progress], None] | None
) -> GrownSolution:
    def keep(run: Run) -> None:
        if path is not None:
            checkpoint.save(run, path / "checkpoint.safetensors")

    grown = run.go(limits, watch, keep, every)
    solution = GrownSolution(run.abstraction, run.growth, grown, run.seconds)
    if path is not None:
        solution.save(path)
    return solution


def _fields(growth: Growth) -> dict[str, Any]:
    """For JSON, which has no infinity."""
    return asdict(growth) | ({"factor": "inf"} if math.isinf(growth.factor) else {})


def _table(kind: Any, rows: list[Any]) -> Table:
    types = {name: KINDS[hint] for name, hint in get_type_hints(kind).items()}
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return table(dict(zip(types, columns, strict=True)), types)


def _write(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _explanation(name: str) -> str:
    return f"""# A run of treeplex that grew: {name}

| file | what it holds |
| --- | --- |
| `result.json` | value, NashConv in the full game, every size found, and how the run ended |
| `additions.parquet` | every size that was added: iteration, decision, size, why, and what adding it took |
| `sizes.json` | the sizes offered at every decision at the end |
| `policy.parquet` | the strategies: player, infoset, action, probability |
| `log.parquet` | one row a measurement: iteration, nodes touched, seconds, NashConv, histories, sizes |
| `growth.png` | NashConv and the size of the abstraction against nodes touched |
| `run.json` | what was asked for |
| `checkpoint.safetensors`, `archive.bin` | where `treeplex resume` goes on |

The grown game is a game like any other: `treeplex solve '{name.partition("(")[0]}(sizes="sizes.json")'`.
NashConv in the full game counts bets of every legal size, read by the pseudo-harmonic mapping where not offered.
"""
