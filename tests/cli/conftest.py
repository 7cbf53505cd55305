"""What all tests of the command line share: running it in this process, and reading what it said."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from treeplex.cli.main import run
from treeplex.cli.output import console


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """All lines on stdout, which must be JSON."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def last(self) -> dict[str, Any]:
        return self.lines[-1]

    @property
    def sentence(self) -> str:
        """The one sentence of a refusal with exit code 2, and nothing else anywhere; with --json on stdout, too."""
        assert self.code == 2, self
        assert not self.out or self.lines == [{"status": "error", "error": self.err[7:-1]}]
        assert self.err.startswith("error: ")
        assert self.err.endswith(".\n")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err.removeprefix("error: ").rstrip("\n")


@pytest.fixture
def outcome() -> type[Outcome]:
    """For what ran in another process."""
    return Outcome


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path) -> Callable[..., Outcome]:
    """``treeplex ARGUMENTS`` in this process and an empty folder, as its entry point runs it."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["treeplex", *map(str, arguments)])
        monkeypatch.setattr(console, "quiet", False)  # an earlier command of this process may have had --quiet
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capsys.readouterr()
        return Outcome(int(ended.value.code or 0), captured.out, captured.err)

    return call
