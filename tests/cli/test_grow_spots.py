"""``treeplex grow`` on hold'em spots, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SPOT = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 300,
    "oop_range": "AA,KQs,T9s,87s",
    "ip_range": "KK:0.5,QQ,AJs,T8s,76s",
}


@pytest.fixture
def spot(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("spot.json").write_text(json.dumps(SPOT))
    return "spot.json"


def test_sizes_are_told_and_a_folder_is_left_that_other_commands_read(cli, spot) -> None:
    said = cli("grow", spot, "--iterations", 80, "--show", 3, "--out", "run")
    assert said.code == 0
    assert "it starts with bets 50%, a and raises a" in said.err
    assert "against an opponent who may use every candidate size, but does not know how it is translated" in said.out
    assert "sizes found; the tree grew from 21 to" in said.out
    files = {path.name for path in Path("run").iterdir()}
    assert files >= {"result.json", "spot.json", "additions.parquet", "log.parquet", "checkpoint.safetensors"}
    result = json.loads(Path("run/result.json").read_text())
    assert result["nash_conv"] > result["nash_conv_in_abstraction"] > 0.0
    assert result["reading"] == "secret"
    assert {"street", "decision", "size", "action", "gain", "frequency", "iteration"} <= result["sizes"][0].keys()
    again = cli("holdem", "solve", "run/spot.json", "--exploitability", "0.5%pot", "--no-save", "--json").last
    assert again["nodes"] == result["nodes"]
    assert set(again["root_strategy"]) == set(result["root_strategy"])
    view = cli("holdem", "show", "run", "--json").last
    assert view["actions"] == list(result["root_strategy"])


def test_stopped_and_resumed_to_the_same_bits(cli, spot) -> None:
    first = cli("grow", spot, "--iterations", 35, "--out", "run", "--json").last
    assert first["status"] == "iterations"
    resumed = cli("resume", "run", "--iterations", 90, "--json").last
    whole = cli("grow", spot, "--iterations", 90, "--no-save", "--json").last
    for field in ("iterations", "nodes_touched", "nash_conv", "value", "nodes", "root_strategy"):
        assert resumed[field] == whole[field]
    told = [{key: size[key] for key in size if key != "seconds"} for size in resumed["sizes"]]
    assert told == [{key: size[key] for key in size if key != "seconds"} for size in whole["sizes"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--street", "flop"), "The 'street' parameter must be one of river, all, got 'flop'."),
        (("--bets", "20%:10%:5%"), "must have 1 to 1000 sizes"),
        (("--bets", "20%:90%"), "written from:to:step"),
        (("--method", "transfer"), "The 'method' parameter must be 'recovery' for hold'em"),
        (("--archive", "3"), "The 'archive' parameter must be 0 for hold'em"),
        (("--remove", "current"), 'The \'remove\' parameter can be "current" only with algorithm "cfr+"'),
        (("--remove", "sometimes"), 'must be one of "never", "current", "discard"'),
        (("--algorithm", "pcfr+"), "must be one of cfr, cfr+, lcfr, dcfr"),
        (("--storage", "int16"), "must be float64 or float32 for a growing spot"),
    ],
)
def test_refusals_are_one_sentence(cli, spot, options, said) -> None:
    refused = cli("grow", spot, "--iterations", 5, "--no-save", *options)
    assert refused.code == 2
    assert said in refused.err


def test_rake_is_refused(cli, spot) -> None:
    Path("raked.json").write_text(json.dumps(SPOT | {"rake_rate": 0.05}))
    refused = cli("grow", "raked.json", "--iterations", 5, "--no-save")
    assert refused.code == 2
    assert "set its rake_rate to 0" in refused.err


def test_a_target_in_the_real_game_is_met_or_missed(cli, spot) -> None:
    target = ("--exploitability", "2%pot")
    met = cli("grow", spot, *target, "--iterations", 400, "--no-save", "--json", "--bets", "33%, 100%").last
    assert met["status"] == "solved"
    assert met["exploitability_percent_of_pot"] <= 2.0
    assert cli("grow", spot, *target, "--iterations", 2, "--no-save").code == 1


def test_other_games_have_no_candidates(cli) -> None:
    refused = cli("grow", "continuous_leduc", "--iterations", 5, "--no-save", "--bets", "33%")
    assert refused.code == 2
    assert "The 'bets' parameter is for hold'em spots" in refused.err


TURN = SPOT | {"board": "Ks 9h 6d 3h", "oop_range": "AhQh,KcQc,T9s", "ip_range": "AsKd,QhJh,87s"}
BY_CLASS = ("--street", "river", "--by-class", "--bets", "25%, 100%", "--raises", "a")


def test_sizes_of_one_class_of_boards(cli, spot) -> None:
    """Found for single classes, resumed to the same bits, browsed by card and solved anew."""
    Path("turn.json").write_text(json.dumps(TURN))
    cli("grow", "turn.json", *BY_CLASS, "--iterations", 15, "--out", "run")
    resumed = cli("resume", "run", "--iterations", 40, "--json").last
    whole = cli("grow", "turn.json", *BY_CLASS, "--iterations", 40, "--no-save", "--json").last
    for field in ("nodes_touched", "nash_conv", "value", "nodes", "root_strategy"):
        assert resumed[field] == whole[field]
    added = {(size["decision"], size["action"]) for size in resumed["sizes"]}
    assert added
    assert all(line.count("[") == 1 for line, _ in added)
    line, action = min(added)
    cards = {"[flush]": "2h", "[pair]": "9c", "[over]": "Ac", "[other]": "2c"}
    for word, card in cards.items():
        named = "[" + line.partition("[")[2].partition("]")[0] + "]"
        view = cli("holdem", "show", "run", "--line", line.replace(named, card), "--json").last
        assert (action in view["actions"]) == ((line.replace(named, word), action) in added)
    assert not {(line.replace(named, word), action) for word in cards} <= added
    again = cli("holdem", "solve", "run/spot.json", "--iterations", 1, "--no-save", "--json").last
    assert again["nodes"] == resumed["nodes"]


def test_classes_need_cards_to_come(cli, spot) -> None:
    refused = cli("grow", spot, "--by-class", "--iterations", 5, "--no-save")
    assert refused.code == 2
    assert "The 'by_class' parameter must be false on a river, where no card is to come" in refused.err
    refused = cli("grow", "continuous_leduc", "--by-class", "--iterations", 5, "--no-save")
    assert refused.code == 2
    assert "The 'by_class' parameter is for hold'em spots" in refused.err
