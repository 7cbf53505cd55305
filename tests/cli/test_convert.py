"""``treeplex holdem convert``, and spots of other programs wherever a spot is read."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from treeplex.games.holdem.formats.registry import FORMATS
from treeplex.holdem import make_spot

SAMPLES = Path(__file__).parent.parent / "data" / "formats"


@pytest.fixture
def samples(tmp_path):
    shutil.copytree(SAMPLES, tmp_path, dirs_exist_ok=True)


def test_convert_prints_what_others_read(cli, samples):
    said = cli("holdem", "convert", "texas.txt", "--to", "pio")
    assert said.code == 0
    assert said.out.startswith("#Type#NoLimit\n")
    assert "add_line 0 0 0 0\n" in said.out
    notes = said.err.splitlines()
    assert all(line.startswith("note: ") for line in notes)
    assert notes[-1] == "note: the file asks for an accuracy of 0.5%pot: give it as --exploitability 0.5%pot"


def test_convert_there_and_back(cli, samples):
    cli("holdem", "convert", "pio.txt", "--to", "desktop", "-o", "spot.json")
    back = cli("holdem", "convert", "spot.json", "--to", "treeplex", "--json")
    told = json.loads(back.last["text"])
    assert make_spot(told).pot == 60
    assert told["sizes"]["river"]["oop"]["bet"] == "33%, 75%"
    assert "already exists" in cli("holdem", "convert", "pio.txt", "--to", "wasm", "--out", "spot.json").sentence
    said = cli("holdem", "convert", "pio.txt", "--to", "wasm", "--out", "spot.json", "--force")
    assert said.err.splitlines()[-1] == "saved spot.json"


def test_ranges_on_stdin(cli, monkeypatch):
    for text, to, made in (
        ("[50]AA,KK[/50],QJs", "range", "AA:0.5,KK:0.5,QJs"),
        ("AA:0.5,KK:0.5", "gtoplus", "[50.0]AA,KK[/50.0]"),
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        assert cli("holdem", "convert", "-", "--to", to).out.strip() == made
    monkeypatch.setattr(sys, "stdin", io.StringIO(" "))
    assert "input on stdin is empty" in cli("holdem", "convert", "-", "--to", "range").sentence


def test_ranges_of_a_spot(cli, samples):
    said = cli("holdem", "convert", "texas.txt", "--to", "gtoplus").out.splitlines()
    assert said == ["AKs,QQ,T9s", "[50.0]JTs[/50.0],AA,KK"]
    assert len(cli("holdem", "convert", "texas.txt", "--to", "floats").out.splitlines()[1].split()) == 1326


def test_a_configuration_is_completed_by_options(cli, samples):
    assert "also give the option --board" in cli("holdem", "convert", "wasm.json", "--to", "texas").sentence
    given = ("--board", "Ks 9h 6d 3c Jh", "--oop", "AA,KQs", "--ip", "QQ,AKs")
    told = cli("holdem", "convert", "wasm.json", *given, "--to", "treeplex")
    assert json.loads(told.out)["effective_stack"] == 100
    told = cli("holdem", "info", "wasm.json", *given, "--json")
    assert told.last["board"] == "Ks 9h 6d 3c Jh"


@pytest.mark.parametrize("command", [("holdem", "solve"), ("solve",)])
def test_files_of_others_are_solved(command, cli, samples):
    said = cli(*command, "pio_lines.txt", "--iterations", 3, "--no-save", "--json")
    assert said.code == 0
    assert set(said.last["root_strategy"]) == {"check", "bet 50"}
    assert "0.2%pot" in said.err


def test_refusals(cli, samples):
    assert "one of treeplex, pio" in cli("holdem", "convert", "pio.txt", "--to", "hrc").sentence
    assert "one of treeplex, pio" in cli("holdem", "convert", "pio.txt", "--to", "pio", "--from", "hrc").sentence
    assert "rake" in cli("holdem", "convert", "pio.txt", "--to", "texas").sentence
    assert "writes a spot" in cli("holdem", "convert", "gtoplus.txt", "--to", "pio").sentence
    assert "holds a range" in cli("holdem", "info", "gtoplus.txt").sentence
    assert "#TurnConfig" not in cli("holdem", "convert", "pio.txt", "--from", "texas", "--to", "pio").sentence
    assert "cannot be read" in cli("holdem", "convert", "none.txt", "--to", "pio").sentence
    Path("bad.txt").write_bytes(b"\xff\xfe")
    assert "UTF-8" in cli("holdem", "convert", "bad.txt", "--to", "pio").sentence


def test_help_names_every_format(cli):
    said = " ".join(cli("holdem", "convert", "--help").out.replace("│", " ").split())
    assert ", ".join(FORMATS) in said
