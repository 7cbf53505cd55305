"""Every command on every page is run, or is listed in ``docs/commands.toml`` with the reason and its last result."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from docs.commands import all_commands, arguments, commands, in_shell, prepared, shorter, table
from docs.pages import ROOT, name, pages, parts
from treeplex.cli.lazy import COMMANDS, loaded
from treeplex.cli.main import run

TABLE = table()
LISTED = {entry["command"]: entry for entry in TABLE["long"]}
LONG = {"large-games", "compare", "holdem", "bet-sizes"}  # pages whose commands take over five seconds
INLINE = re.compile(r"`(treeplex [a-z][^`]*)`")
PLACEHOLDER = re.compile(r"[|…]|\.\.\.|COMMAND|\[")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page.stem in LONG else [], id=name(page))
        for page in pages()
        if commands(page)
    ],
)
def test_commands_of_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """In the order in which they stand, with smaller files and limits; exit code 0, or 1 where a limit ends a run."""
    monkeypatch.chdir(tmp_path)
    prepared(tmp_path)
    before = [entry for entry in TABLE["before"] if entry["page"] == name(page)]
    asked = [text for entry in before for text in entry["commands"]] + [each.text for each in commands(page)]
    for text in asked:
        if text in LISTED and not LISTED[text].get("shortened"):
            continue
        words = arguments(shorter(text))
        if words is None:
            assert in_shell(shorter(text), tmp_path, 600.0) == 0, text
            continue
        monkeypatch.setattr(sys, "argv", ["treeplex", *words])
        with pytest.raises(SystemExit) as ended:
            run()
        said = capsys.readouterr()
        codes = (0, 1) if shorter(text) != text else (0,)
        assert (ended.value.code or 0) in codes, f"{text}\n{said.err}"


def test_what_is_listed_is_on_a_page_and_says_why() -> None:
    written = {each.text for each in all_commands()}
    assert LISTED.keys() - written == set()
    for entry in TABLE["long"]:
        assert entry["why"]
        assert entry.keys() & {"result", "elsewhere", "shortened"}, entry
        assert "result" not in entry or re.match(r"exit \d+ after \d+ s, \d{4}-\d\d-\d\d$", entry["result"]), entry
        if "elsewhere" in entry:
            assert (ROOT / entry["elsewhere"].split("::")[0].removeprefix("make ")).exists() or entry[
                "elsewhere"
            ].removeprefix("make ") in (ROOT / "Makefile").read_text()


def _inline() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for page in pages():
        if page.name == "CHANGELOG.md":
            continue  # tells of names that are gone
        for line in parts(page.read_text(encoding="utf-8"))[0]:
            found += [(name(page), text) for text in INLINE.findall(line)]
    return found


def test_commands_in_sentences_have_real_options() -> None:
    """What is named in passing is parsed, not run: the command and each of its options exist."""
    wrong: list[str] = []
    for page, text in _inline():
        words = text.split("#")[0].split()[1:]
        known = loaded(words[0]) if words[0] in COMMANDS else None
        if known is not None and len(words) > 1 and words[1] in getattr(known, "commands", {}):
            known = known.commands[words[1]]
        if known is None:
            wrong.append(f"{page}: {text}")
            continue
        options = {option for each in known.params for option in (*each.opts, *each.secondary_opts)} | {"--help", "-h"}
        if not getattr(known, "commands", None):
            named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", text))
            wrong += [f"{page}: {text}: no {option}" for option in sorted(named - options)]
    assert wrong == []


def test_make_targets_on_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named: set[str] = set()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        named |= set(re.findall(r"`make ([a-z-]+)`", text)) | set(re.findall(r"^\$ make ([a-z-]+)", text, re.MULTILINE))
    assert named <= targets
    assert "docs" in named


def test_scripts_on_pages_exist() -> None:
    lost: list[str] = []
    for page in pages():
        if page.name == "CHANGELOG.md":
            continue
        text = page.read_text(encoding="utf-8")
        scripts = re.findall(r"python ((?:benchmarks|tests|tools|examples)/[\w/]+\.py)", text)
        lost += [f"{name(page)}: {script}" for script in scripts if not (ROOT / script).exists()]
    assert lost == []
