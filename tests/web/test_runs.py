"""Runs, logs, ranges, trees and infosets as the API tells them."""

from __future__ import annotations

import json
import shutil

import pytest

import treeplex as tp
from treeplex.files import LOCK
from treeplex.games.holdem.ranges import parse_range

from .conftest import RIVER


def test_about(client, kept):
    said = client.ask("about")
    assert said["version"] == tp.__version__
    assert said["directory"] == kept.name
    assert "kuhn" in said["games"]
    assert "cfr+" in said["algorithms"]
    for text in said["presets"]["ranges"].values():
        assert parse_range(text).any()
    for sizes in said["presets"]["sizes"].values():
        client.tell("spot", spot=RIVER | {"sizes": sizes})


def test_rows_say_what_the_folder_says(client, kept):
    rows = {row["run"]: row for row in client.ask("runs")["runs"]}
    result = json.loads((kept / "kuhn" / "result.json").read_text())
    row = rows["kuhn"]
    assert (row["kind"], row["game"], row["algorithm"], row["status"]) == ("game", "kuhn", "cfr+", "iterations")
    assert (row["nash_conv"], row["iterations"]) == (result["nash_conv"], 60)
    assert (row["percent_of_pot"], row["locks"], row["job"]) == (None, 0, None)
    whole = client.ask("run", run="kuhn")
    assert whole["result"] == result
    assert whole["request"]["asked"] == "cfr+"
    assert "policy.parquet" in whole["files"]
    assert client.ask("run", run="deeper/pennies")["kind"] == "game"


def test_log(client, kept):
    columns = client.ask("log", run="kuhn")["columns"]
    assert columns["iteration"][-1] == 60
    assert columns["nash_conv"][-1] == client.ask("run", run="kuhn")["nash_conv"]
    assert columns["percent_of_pot"] is None
    assert len({len(column) for column in columns.values() if column is not None}) == 1


def test_a_run_without_an_answer_tells_what_its_checkpoint_has(client, kept, tmp_path):
    half = kept / "half"
    shutil.copytree(kept / "kuhn", half)
    try:
        for name in ("result.json", "log.parquet", "policy.parquet"):
            (half / name).unlink()
        row = next(row for row in client.ask("runs")["runs"] if row["run"] == "half")
        assert (row["status"], row["iterations"]) == ("stopped", 41)  # of the last evaluation that was due
        assert row["nash_conv"] > 0
        assert client.ask("log", run="half")["columns"]["iteration"][-1] == 41
        (half / LOCK).write_text("1\n")  # a process that is alive
        assert client.ask("run", run="half")["status"] == "running"
        (half / LOCK).write_text("4194304\n")
        assert client.ask("run", run="half")["status"] == "stopped"
        (half / "checkpoint.safetensors").write_bytes(b"\xff" * 100)
        assert client.ask("log", run="half")["columns"]["iteration"] == []
        (half / "run.json").write_text('{"format": "treeplex-run-2", "kind": "<script>"}')
        assert "half" not in {row["run"] for row in client.ask("runs")["runs"]}
        client.sentence(client.get("/api/run", params={"run": "half"}), 400)
    finally:
        shutil.rmtree(half)


def test_markup_in_a_file_stays_text(client, kept):
    odd = kept / "odd"
    shutil.copytree(kept / "kuhn", odd)
    try:
        request = json.loads((odd / "run.json").read_text())
        (odd / "run.json").write_text(json.dumps(request | {"game": "<script>alert(1)</script>\u2028"}))
        (odd / "result.json").write_text('{"status": "<b>", "nash_conv": NaN, "iterations": "many", "seconds": 1e999}')
        answer = client.get("/api/runs")
        row = next(row for row in answer.json()["runs"] if row["run"] == "odd")
        assert row["game"].startswith("<script>")
        assert (row["nash_conv"], row["iterations"], row["seconds"]) == (None, None, None)
        assert answer.headers["content-type"] == "application/json"
        assert answer.text.isascii()
    finally:
        shutil.rmtree(odd)


def test_ranges_in_every_form(client):
    said = client.tell("range", text="QQ+,AhKh:0.5,!AsAh")
    assert said["text"].startswith("AdAc,AhAc")
    assert said["combos"] == 5 + 6 + 6 + 0.5
    assert said["weights"][0] == pytest.approx(5 / 6)
    assert said["hands"]["AhKh"] == 0.5
    assert client.tell("range", hands=said["hands"])["hands"] == said["hands"]
    plain = client.tell("range", text="22+,A5s")
    assert client.tell("range", weights=plain["weights"]) == plain
    assert plain["weights"][9] == 1  # A5s: first row, tenth column
    assert client.tell("range", text=" ")["combos"] == 0


def test_spots_are_measured(client):
    said = client.tell("spot", spot=RIVER | {"dead_money": 20})
    assert said["spot"]["pot"] == 120
    assert said["spot"]["sizes"]["river"]["oop"] == {"bet": "50%, a", "raise": "a"}
    assert said["boards_by_street"] == [1]
    assert said["nodes"] > 10
    assert said["hands"] == [12, 9]
    assert set(said["bytes"]) >= {"float32", "int16"}
    assert "0.5%pot" in said["seconds"]


def test_infosets(client, kept):
    policy = tp.Policy.load(kept / "kuhn" / "policy.parquet")
    said = client.ask("infosets", run="kuhn")
    assert said["total"] == 12
    for row in said["infosets"]:
        assert dict(zip(row["actions"], row["probabilities"], strict=True)) == policy[row["player"], row["infoset"]]
    assert all(row["player"] == 1 for row in client.ask("infosets", run="kuhn", player=1)["infosets"])
    some = client.ask("infosets", run="kuhn", search="PB", offset=1, most=2)
    assert (some["total"], len(some["infosets"])) == (3, 2)
    assert all("pb" in row["infoset"] for row in some["infosets"])


def test_trees(client):
    root = client.ask("tree", run="kuhn")
    assert (root["kind"], root["reach"], root["crumbs"]) == ("chance", 1.0, [{"name": "", "path": ""}])
    assert root["value"] == pytest.approx(client.ask("run", run="kuhn")["result"]["value"], abs=1e-9)
    node, values = root, 0.0
    while node["kind"] != "terminal":
        node = client.ask("tree", run="kuhn", path=node["actions"][0]["path"])
        values += 1
    assert node["payoff"] == node["value"]
    assert len(node["crumbs"]) == values + 1
    pennies = client.ask("tree", run="deeper/pennies")
    assert (pennies["kind"], pennies["player"]) == ("decision", 0)
    assert [action["probability"] for action in pennies["actions"]] == pytest.approx([0.5, 0.5], abs=0.2)
    for path in ("7", "x", "0/0/0/0/0/0/0", "-1", "٣", "9" * 50):
        client.sentence(client.get("/api/tree", params={"run": "kuhn", "path": path}), 400)


@pytest.mark.slow
def test_growth_has_a_tree_with_the_sizes_that_were_found(client, kept):
    tp.grow("continuous_leduc", iterations=60, out=kept / "grown")
    try:
        row = client.ask("run", run="grown")
        assert row["kind"] == "growth"
        assert row["result"]["sizes"]
        node = client.ask("tree", run="grown", path="0/0")
        assert node["kind"] == "decision"
        assert sum(action["probability"] for action in node["actions"]) == pytest.approx(1)
    finally:
        shutil.rmtree(kept / "grown")
