"""What strangers meet first: the README, versions, and the workflows of the forge."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("file", ["CITATION.cff", "README.md", "docs/reference/file-formats.md"])
def test_versions_agree(file: str) -> None:
    assert PROJECT["version"] in (ROOT / file).read_text(encoding="utf-8")


def test_the_first_screen_says_what_for_whom_and_how() -> None:
    first = README.splitlines()[:25]
    assert any("NashConv" in line for line in first)
    assert any(line.startswith("$ treeplex solve") for line in first)
    assert any(line.startswith("![") for line in first)
    assert max(len(line) for line in first) <= 240


def test_pictures_have_texts() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", README)
    assert len(pictures) >= 5
    for text, path in pictures:
        assert len(text.split()) >= 6
        assert (ROOT / path).stat().st_size > 10_000


def test_workflows_fit_their_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_workflow_is_noticed(tmp_path: Path) -> None:
    wrong = tmp_path / "ci.yml"
    wrong.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on:", "run-on:"), encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(wrong)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_the_matrix_has_every_python_that_is_promised() -> None:
    promised = {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if "Python :: 3." in text}
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert promised <= set(re.findall(r'"(3\.\d+)"', text))
