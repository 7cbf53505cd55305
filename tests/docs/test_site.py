"""The site is built without a warning: links, anchors, docstrings, formulas, citations, contents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.pages import ROOT

pytest.importorskip("sphinx")
pytest.importorskip("furo")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``make docs`` builds it, in a process of its own."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "sphinx", "-c", "docs", "-W", "--keep-going", "-n", "-q", ".", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return folder


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    """The site is read without a network: scripts, styles and pictures are its own."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text, page
        assert '<link rel="stylesheet" type="text/css" href="http' not in text, page


def test_commands_and_names_have_pages(site: Path) -> None:
    commands = (site / "docs/reference/generated/commands.html").read_text(encoding="utf-8")
    names = (site / "docs/reference/generated/python.html").read_text(encoding="utf-8")
    assert all(f'id="treeplex-{each}"' in commands for each in ("solve", "holdem-solve", "serve"))
    assert all(f'id="treeplex.{each}"' in names for each in ("solve", "load", "Policy", "Spot"))
    assert (site / "searchindex.js").stat().st_size > 100_000
    assert (site / "index.html").exists()
