"""The served folder and its runs. The server reads nothing outside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from treeplex.errors import ParameterError, quoted
from treeplex.web.refusals import RefusalError

DEPTH: Final = 4  # folders between the root and a run
MOST: Final = 5000  # runs that are listed
PLAIN: Final = re.compile(r"\w[\w+.=,-]{0,89}")  # the name of a new run


@dataclass(frozen=True)
class Directory:
    """A folder with run folders in it, at any of a few depths."""

    root: Path  # without links

    @staticmethod
    def of(path: str | Path) -> Directory:
        """Return the directory of a path; create the folder if it does not exist."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return Directory(folder.resolve(strict=True))
        except (OSError, ValueError) as error:
            raise ParameterError(f"The folder {quoted(folder)} cannot be served: {error!s:.80}.") from error

    def folder(self, run: str) -> Path:
        """Return the folder of a run; refuse one that is not below the root or does not contain a run."""
        path = self.inside(run)
        if path is None or not (path / "run.json").is_file() or not self._contained(path):
            raise RefusalError(404, f"There is no run {quoted(run)} in the served folder.")
        return path

    def free(self, run: str) -> Path:
        """Create an empty folder for a new run; raise ``FileExistsError`` if it exists."""
        if not PLAIN.fullmatch(run):
            raise ParameterError(
                f"The name of a run must have 1 to 90 letters, digits and + . = , - _, none of . - = + , first;"
                f" got {quoted(run)}."
            )
        path = self.root / run
        path.mkdir()
        return path

    def runs(self) -> Iterator[tuple[str, Path]]:
        """Yield the name and folder of every run."""
        count = 0
        for path in self._walk(self.root, 0):
            if count == MOST:
                return
            if self._contained(path):
                count += 1
                yield path.relative_to(self.root).as_posix(), path

    def inside(self, run: str) -> Path | None:
        """Return the folder of that name below the root, or None if it is missing or leads outside.

        Every name of a run becomes a path here or in ``free``, whatever its source.
        """
        parts = run.split("/")
        if not run or "\0" in run or "\\" in run or any(part in ("", ".", "..") or part[0] == "." for part in parts):
            return None
        try:
            path = self.root.joinpath(*parts).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            return None
        return path if path.is_relative_to(self.root) and path != self.root and path.is_dir() else None

    def _contained(self, folder: Path) -> bool:
        """Return whether all files of a run are regular or folders, and no link leads out of the root."""
        try:
            with os.scandir(folder) as entries:
                files = list(entries)
            plain = all(entry.is_file() or entry.is_dir() for entry in files)
            links = [Path(entry.path) for entry in files if entry.is_symlink()]
            return plain and all(link.resolve().is_relative_to(self.root) for link in links)
        except (OSError, RuntimeError):
            return False

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        try:
            with os.scandir(folder) as entries:
                inner = sorted(
                    e.name for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")
                )
        except OSError:
            return
        for name in inner:
            path = folder / name
            if (path / "run.json").is_file():
                yield path
            elif depth + 1 < DEPTH:
                yield from self._walk(path, depth + 1)
