"""Sampling on the command line: seeds, ``merge`` and ``explore``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import treeplex as tp
from treeplex.games.dealt import DealtGame


def test_the_seed_reaches_the_algorithm(cli) -> None:
    options = ("solve", "leduc", "--algorithm", "pure-mccfr", "--iterations", 200, "--no-save", "--json")
    one, same, other = (cli(*options, "--seed", seed).last for seed in (1, 1, 2))
    assert one["nash_conv"] == same["nash_conv"] != other["nash_conv"]
    assert one["seed"] == 1


def test_a_wrong_seed_is_one_sentence(cli) -> None:
    assert "'seed' parameter" in cli("solve", "kuhn", "--algorithm", "pure-mccfr", "--seed", -1).sentence


def test_merge_averages_and_measures(cli, tmp_path) -> None:
    for seed in range(3):
        run = tmp_path / f"r{seed}"
        cli("solve", "leduc", "--algorithm", "pure-mccfr", "--iterations", 1000, "--seed", seed, "--out", run)
    files = [tmp_path / f"r{seed}" / "policy.parquet" for seed in range(3)]
    merged = cli("merge", "leduc", *files, "--to", "merged.json", "--json")
    assert merged.code == 0
    parts = [part["nash_conv"] for part in merged.last["policies"]]
    assert merged.last["nash_conv"] < sum(parts) / 3
    exact = tp.evaluate("leduc", tmp_path / "merged.json").nash_conv
    assert exact == pytest.approx(merged.last["nash_conv"], abs=1e-12)
    told = cli("merge", "leduc", *files, "--to", "merged.parquet")
    assert "merged.parquet" in told.out
    assert "saved merged.parquet" in told.err


def test_merge_refuses_in_one_sentence(cli, tmp_path) -> None:
    tp.Policy.uniform(tp.load("kuhn")).save(tmp_path / "kuhn.json")
    assert "must end in .json or .parquet" in cli("merge", "kuhn", "kuhn.json", "--to", "x.txt").sentence
    assert "not one for leduc" in cli("merge", "leduc", "kuhn.json", "--to", "x.json").sentence
    assert "There is no policy file" in cli("merge", "kuhn", "none.json", "--to", "x.json").sentence


def test_merge_prints_before_it_saves(cli, tmp_path) -> None:
    tp.Policy.uniform(tp.load("kuhn")).save(tmp_path / "kuhn.json")
    ended = cli("merge", "kuhn", "kuhn.json", "--to", "no/where.json", "--json")
    assert ended.code == 2
    assert ended.err == "error: The file no/where.json cannot be written: No such file or directory.\n"
    assert ended.last["nash_conv"] == pytest.approx(11 / 12)


def test_explore_says_that_it_estimates(cli, tmp_path) -> None:
    found = cli("explore", "kuhn", "--iterations", 500, "--responses", 200, "--to", "policy.json", "--json")
    assert found.code == 0
    assert found.last["nash_conv"] is found.last["exploitability"] is None
    assert found.last.keys() >= {"game", "algorithm", "seconds", "value", "backend", "threads", "storage", "iterate"}
    assert found.last["nash_conv_margin"] > 0
    assert found.last["infosets"] == [6, 6]
    assert json.loads((tmp_path / "policy.json").read_text())["game"] == "kuhn"
    words = cli("explore", "kuhn", "--iterations", 50, "--responses", 20)
    assert "sampled" in words.out
    assert "sampled lower bound on NashConv" in words.out


def test_explore_refuses_in_one_sentence(cli) -> None:
    assert "'algorithm' parameter must be one of" in cli("explore", "kuhn", "--algorithm", "cfr+").sentence
    assert "must end in" in cli("explore", "kuhn", "--to", "x.txt").sentence
    assert "There is no game" in cli("explore", "kun").sentence
    assert "'iterations' parameter" in cli("explore", "kuhn", "--iterations", 0).sentence


def test_a_game_too_large_to_compile_can_be_explored(cli) -> None:
    """Goofspiel with seven cards has (7!)^2 = 25 million ends, each of which its rules would have to be asked for."""
    found = cli(
        "explore", "goofspiel(cards=7)", "--algorithm", "mccfr-outcome", "--iterations", 100, "--responses", 2, "--json"
    )
    assert found.code == 0
    assert 0 < sum(found.last["infosets"]) < 5_000


def test_ctrl_c_ends_an_exploration_with_an_answer(cli, tmp_path, monkeypatch) -> None:
    """It comes after a thousand moves, in the middle of a walk; the exit code says that the run was cut short."""
    moves, child = 0, DealtGame.child

    def interrupted(game: DealtGame, history: object, action: str) -> object:
        nonlocal moves
        moves += 1
        if moves == 1000:
            os.kill(os.getpid(), signal.SIGINT)
        return child(game, history, action)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(DealtGame, "child", interrupted)
    limits = ("--seconds", 60, "--responses", 20)
    ended = cli("explore", "kuhn", *limits, "--to", "policy.json", "--json")
    assert (ended.code, ended.last["status"]) == (1, "interrupted")
    assert 10 < ended.last["iterations"] < 1000
    assert ended.last["seconds"] < 30
    assert ended.last["nodes_touched"] >= 1000
    assert "Traceback" not in ended.err
    learnt = tp.evaluate("kuhn", tmp_path / "policy.json")
    assert 0 < learnt.nash_conv < 11 / 12  # which is what uniform play has
    assert cli("explore", "kuhn", "--iterations", 5, "--responses", 2).code == 0


def test_an_exploration_that_is_terminated_prints_its_answer(tmp_path) -> None:
    """A run folder is there when kernels and rules are loaded; some walks later the process is told to end."""
    command = [sys.executable, "-m", "treeplex"]
    options = ["--seconds", "60", "--responses", "20", "--checkpoint-seconds", "0", "--out", "run", "--json"]
    process = subprocess.Popen(
        [*command, "explore", "leduc", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    told = json.loads(out.splitlines()[-1])
    assert (told["status"], told["folder"]) == ("interrupted", "run")
    assert told["iterations"] >= 1
    assert told["seconds"] < 60
    assert json.loads((tmp_path / "run" / "result.json").read_text())["status"] == "interrupted"


def test_an_exploration_is_resumed_to_the_same_answer(cli, tmp_path) -> None:
    whole = cli("explore", "kuhn", "--iterations", 60, "--responses", 20, "--to", "whole.json", "--json").last
    cli("explore", "kuhn", "--iterations", 25, "--responses", 20, "--out", "run", "--json")
    resumed = cli("resume", "run", "--iterations", 60, "--json")
    assert resumed.code == 0
    for name in ("iterations", "nodes_touched", "value", "nash_conv_sampled_at_least", "infosets"):
        assert resumed.last[name] == whole[name]
    parts, policy = tp.Policy.load(tmp_path / "run" / "policy.parquet"), tp.Policy.load(tmp_path / "whole.json")
    assert list(parts.rows()) == list(policy.rows())
    assert "NashConv cannot be a target of explore" in cli("resume", "run", "--nash-conv", 0.1).sentence


@pytest.mark.parametrize("identity", ["pmccfr-table1", "pmccfr-fig2", "pmccfr-fig3"])
def test_reproductions_are_listed(cli, identity) -> None:
    assert identity in {entry["id"] for entry in cli("reproduce", "--json").last["reproductions"]}
