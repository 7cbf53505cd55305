"""``treeplex holdem sizes``: answers, files, the page, refusals in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import parquet

FIELDS = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 300,
    "oop_range": "AA,KQs,QTs:0.5,98s,77",
    "ip_range": "KK,QQ,AKs,T8s:0.25,77",
    "sizes": {"bet": "50%, a", "raise": "60%, a"},
}


@pytest.fixture
def spot_file(tmp_path):
    path = tmp_path / "spot.json"
    path.write_text(json.dumps(FIELDS))
    return path


def test_sizes(cli, spot_file, tmp_path):
    options = ("--bets", "50%, a", "--raises", "a", "--accuracy", "0.2%pot")
    told = cli("holdem", "sizes", spot_file, *options, "--png", "x.png", "--parquet", "x.parquet", "--json")
    assert told.code == 0
    last = told.last
    assert set(last) >= {
        "spots",
        "player",
        "street",
        "keep",
        "menu",
        "loss_percent_of_pot",
        "ev_rich",
        "ev_kept",
        "sizes",
    }
    assert last["certified"] is True
    assert (last["complete"], last["status"]) == (True, "solved")
    assert last["menu"] in (["50%"], ["a"])
    assert last["loss_percent_of_pot"][0] <= last["loss_percent_of_pot"][1]
    assert set(last["sizes"][0]) == {
        "slot", "size", "chips", "kept", "frequency", "loss_if_only", "gain_if_added", "loss_if_removed"
    }  # fmt: skip
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == len(last["sizes"])
    words = cli("holdem", "sizes", spot_file, *options, "--player", "ip", "--keep", 2)
    assert words.code == 0
    assert words.out.startswith("Ks 9h 6d 3c Jh, sizes: solved after ")
    assert words.out.splitlines()[1] == "ip, river bet: 50%, a"
    fewest = cli("holdem", "sizes", spot_file, *options, "--lose", "50%pot", "--json").last
    assert fewest["keep"] == 1
    assert fewest["proved_fewest"] is False


def test_the_page_shows_what_sizes_prints(cli, tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs/how-to/bet-sizes.md").read_text(encoding="utf-8")
    (tmp_path / "river.json").write_text(page.split("`river.json` is\n\n```json\n")[1].split("```")[0])
    shown = page.split("```text\n")[1].split("```")[0].splitlines()
    printed = cli("holdem", "sizes", "river.json").out.splitlines()
    assert shown[0].rpartition(",")[0] == printed[0].rpartition(",")[0]
    assert [line.split() for line in shown[1:]] == [line.split() for line in printed[1:]]
    assert len(shown) == 13


def test_sizes_for_several_spots(cli, spot_file, tmp_path):
    spot = json.loads((tmp_path / spot_file).read_text())
    (tmp_path / "two.json").write_text(json.dumps({"spots": {"a": spot, "b": spot | {"pot": 60}}}))
    told = cli(
        "holdem", "sizes", "two.json", "--bets", "50%, a", "--raises", "a", "--accuracy", "0.5%pot", "--json"
    ).last
    assert len(told["spots"]) == 2
    assert told["sizes"] is None
    words = cli("holdem", "sizes", "two.json", "--bets", "50%, a", "--raises", "a", "--accuracy", "0.5%pot")
    assert "on average over 2 spots" in words.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--lose", "much"), "--lose"),
        (("--png", "x.jpg"), "--png"),
        (("--street", "turn"), "street"),
        (("--player", "sb"), "player"),
        (("--bets", "x"), "bets"),
    ],
)
def test_sizes_refuses_in_a_sentence(cli, spot_file, options, words):
    told = cli("holdem", "sizes", spot_file, *options)
    assert told.code == 2
    assert words in told.err
