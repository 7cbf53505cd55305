"""Write every measured figure of the pages from stored data, with the version, day and machine of its run.

    python tools/figures.py                            # write all pages again
    python tools/figures.py --ran NAME                 # NAME of benchmarks/runs.json has just been measured, here
    treeplex reproduce ID --json | python tools/claims.py --keep      # the same for the claims of a paper

A page asks for figures by ``<!-- figures NAME -->`` and ``<!-- end of figures -->``. What stands between them is
replaced: by a table, or by a number if the first marker is not the end of its line. ``<!-- claims ID -->`` and
``<!-- end of claims -->`` are the same for the claims of a paper. ``WRITERS`` is the table of what writes what, and
``WHOLE`` has the pages that a benchmark writes entirely. ``benchmarks/runs.json`` has the runs: command, version, day,
machine, and the minutes that the command takes on two cores. ``benchmarks/tables`` has tables that a program prints.

Data of another minor version than the package's is stale if measuring it again takes at most ``CHEAP`` minutes.
Otherwise its tables name their version, as all tables do, and its numbers need the version in their paragraph.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from figure_data import BENCHMARKS, ROOT, data, script

RUNS = BENCHMARKS / "runs.json"
TABLES = BENCHMARKS / "tables"
CHEAP = 10.0  # minutes
BUSY = 1.5  # load average
BLOCK = re.compile(r"(?<!`)(<!-- (figures|claims) (.+?) -->)(\n?)(.*?)(<!-- end of \2 -->)", re.S)


class Run(NamedTuple):
    """What produced stored data."""

    command: str
    version: str
    date: str
    machine: str
    minutes: float | None  # on two cores; None: it needs another machine

    @property
    def stale(self) -> bool:
        """Whether the data is of another minor version, and cheap to measure again."""
        return minor(self.version) != minor(package_version()) and self.minutes is not None and self.minutes <= CHEAP

    def line(self) -> str:
        """The line under a table."""
        return f"Measured with treeplex {self.version}, stored on {self.date}, {self.machine}: `{self.command}`."


class Writer(NamedTuple):
    """Function that writes figures from the words after its name, and the run whose data it reads."""

    write: Callable[[list[str]], str]
    run: Callable[[list[str]], str]
    line: bool = True  # whether the line of the run stands below


class Whole(NamedTuple):
    """A page that a benchmark writes: its run, the program, the function, and the file that the function reads."""

    run: str
    program: str
    function: str
    file: str | None = None


class Figure(NamedTuple):
    """A place of a page."""

    page: Path
    name: str
    text: str
    paragraph: str
    inline: bool


@cache
def package_version() -> str:
    """The version in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def minor(version: str) -> str:
    """Major and minor number."""
    return ".".join(version.split(".")[:2])


def runs() -> dict[str, Run]:
    """The runs of all stored data, by name."""
    return {name: Run(**fields) for name, fields in json.loads(RUNS.read_text(encoding="utf-8")).items()}


def stored_table(name: str) -> str:
    """A table: computed by tools/figure_tables.py, or a CSV file, whose second row has the alignments."""
    if name in (computed := script("tools/figure_tables.py")["TABLES"]):
        return computed[name][1]()
    with (TABLES / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows)


def table_cell(words: list[str]) -> str:
    """A cell of a stored table: the table, the column counted from 0, and the row by its first cell."""
    name, column, row = words[0], int(words[1]), " ".join(words[2:])
    with (TABLES / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return next((cells[column] for cells in csv.reader(file) if cells[0] == row), f"no row {row!r}")


def table_run(words: list[str]) -> str:
    """The run of a table."""
    computed = script("tools/figure_tables.py")["TABLES"]
    return computed[words[0]][0] if words[0] in computed else f"tables/{words[0]}"


def always(name: str) -> Callable[[list[str]], str]:
    """Function that returns this name of a run."""
    return lambda _: name


def claims_run(words: list[str]) -> str:
    """The run of a paper's claims; those of all papers have a run each."""
    return "" if words == ["of", "all"] else f"papers/{words[0]}"


WRITERS: dict[str, Writer] = {
    "claims": Writer(lambda words: script("tools/claims.py")["text"](" ".join(words)), claims_run),
    "table": Writer(lambda words: stored_table(words[0]), table_run),
    "items": Writer(lambda _: script("tools/items.py")["text"](), always(""), line=False),
    "cell": Writer(table_cell, table_run),
    "claim": Writer(script("tools/figure_numbers.py")["claim"], claims_run),
    **{
        name: Writer(function, always(run))
        for name, (run, function) in script("tools/figure_numbers.py")["NUMBERS"].items()
    },
    "codec": Writer(
        lambda _: script("benchmarks/holdem/codec.py")["text"](data("holdem/codec.json")), always("holdem/codec")
    ),
    "growing-actions": Writer(
        lambda _: script("benchmarks/growing_actions.py")["table"](data("growing_actions.json")["rows"]),
        always("growing-actions"),
    ),
    "rivals": Writer(
        lambda _: script("benchmarks/rivals/report.py")["readme"](data("rivals/results.json")),
        always("rivals"),
        line=False,  # the text has version, day and machine
    ),
}

WHOLE: dict[str, Whole] = {
    "benchmarks/AUTO.md": Whole("auto", "benchmarks/auto.py", "page"),
    "benchmarks/PURE.md": Whole("pure-variants", "benchmarks/pure_variants.py", "table", "pure_variants.json"),
    "benchmarks/RULES.md": Whole("rules", "benchmarks/rules.py", "page"),
    "benchmarks/SAMPLING.md": Whole("sampling", "benchmarks/sampling.py", "tables", "sampling.json"),
    "benchmarks/rivals/RESULTS.md": Whole("rivals", "benchmarks/rivals/report.py", "markdown", "rivals/results.json"),
    "benchmarks/rivals/SAMPLING.md": Whole(
        "rivals/sampling", "benchmarks/rivals/sampling.py", "markdown", "rivals/sampling.json"
    ),
    "benchmarks/holdem/RESULTS.md": Whole("holdem", "benchmarks/holdem/report.py", "page"),
    "benchmarks/sizes/RESULTS.md": Whole("sizes", "benchmarks/sizes/report.py", "page"),
}


def pages() -> list[Path]:
    """Pages that may ask for figures."""
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *BENCHMARKS.rglob("*.md")]
    return sorted(page for page in found if ".venv" not in page.parts)


def called(kind: str, name: str) -> tuple[Writer, list[str]]:
    """The writer of a place, and its words."""
    words = name.split() if kind == "figures" else ["claims", *name.split()]
    return WRITERS[words[0]], words[1:]


def written(text: str) -> str:
    """A page with its figures as they should be."""

    def fill(found: re.Match[str]) -> str:
        writer, words = called(found[2], found[3])
        if not found[4]:
            return found[1] + writer.write(words) + found[6]
        run = writer.run(words)
        below = f"\n{runs()[run].line()}\n" if run and writer.line else ""
        return f"{found[1]}\n\n{writer.write(words)}\n{below}\n{found[6]}"

    return BLOCK.sub(fill, text)


def whole(page: str) -> str:
    """A page that a benchmark writes entirely, with the line of its run."""
    entry = WHOLE[page]
    arguments = () if entry.file is None else (data(entry.file),)
    text = script(entry.program)[entry.function](*arguments)
    return f"{text.rstrip()}\n\n{runs()[entry.run].line()}\n"


def figures(page: Path) -> Iterator[Figure]:
    """The places of a page."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        begin, end = text.rfind("\n\n", 0, found.start()) + 2, text.find("\n\n", found.end())
        name = found[3] if found[2] == "figures" else f"claims {found[3]}"
        yield Figure(page, name, found[5], text[max(begin, 0) : end if end > 0 else None], not found[4])


def problems(page: Path) -> Iterator[str]:
    """What is stale or unknown on a page."""
    for figure in figures(page):
        writer, words = called("figures", figure.name)
        run = writer.run(words)
        if run and run not in (known := runs()):
            yield f"{figure.name}: benchmarks/runs.json has no {run!r}; measure it, then tools/figures.py --ran {run}"
        elif run:
            yield from old(figure, known[run])


def old(figure: Figure, run: Run) -> Iterator[str]:
    """What must be done about data of another minor version."""
    if run.stale:
        yield f"{figure.name}: the data is of {run.version}; `{run.command}` takes {run.minutes:g} minutes"
    elif minor(run.version) != minor(package_version()):
        words = f"treeplex {minor(run.version)}"
        if words not in (figure.paragraph if figure.inline else figure.text):
            yield f"{figure.name}: the text must say {words}"


def machine() -> str:
    """Machine of this process, in words; whether other processes were busy at the end of the run."""
    models = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    busy = " with other work on them" if os.getloadavg()[0] > BUSY else ""
    return f"{os.cpu_count()} cores of an {(models or [platform.processor()])[0]}{busy}"


def record(name: str) -> None:
    """Store that a run has just been made, here."""
    known = json.loads(RUNS.read_text(encoding="utf-8"))
    fields = known.setdefault(name, {"command": f"treeplex reproduce {name.removeprefix('papers/')}", "minutes": None})
    fields |= {"version": package_version(), "date": datetime.now(UTC).date().isoformat(), "machine": machine()}
    RUNS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Write every page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ran", metavar="NAME", help="a run that has just been made on this machine")
    options = parser.parse_args()
    if options.ran:
        record(options.ran)
    for name in WHOLE:
        (ROOT / name).write_text(whole(name), encoding="utf-8")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
