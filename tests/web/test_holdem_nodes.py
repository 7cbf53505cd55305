"""Hold'em through the API: solved, opened and looked at, to the digit that the library tells."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import treeplex as tp
from treeplex.games.holdem.ranges import parse_range
from treeplex.poker.browse import open_spot
from treeplex.web.schema import nodes as schemas

from .conftest import RIVER, Served

TURN = RIVER | {"board": "Ks 9h 6d 3c"}


@pytest.fixture(scope="module")
def poker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("poker") / "runs"
    tp.solve(RIVER, exploitability="0.5%pot", out=folder / "river")
    tp.solve(RIVER, exploitability="5%pot", out=folder / "rough")
    tp.solve(TURN, exploitability="5%pot", out=folder / "turn")
    running = Served(folder)
    yield running
    running.close()


@pytest.fixture(scope="module")
def folder(poker) -> Path:
    return poker.site.directory.root


def plain(content: Any) -> Any:
    return json.loads(json.dumps(content))


def test_views_are_the_librarys(poker, folder):
    client, opened = poker.client, open_spot(folder / "turn")
    assert client.tell("open", run="turn")["state"] in ("opening", "open")
    for line, player in (("", None), ("", "ip"), ("x", None), ("x/x", None), ("x/x/Qh", "oop"), ("b50", None)):
        told = client.ask("node", run="turn", line=line, **({} if player is None else {"player": player}))
        assert told == plain(opened.node(line, player))
        schemas.Node.model_validate(told)
    assert client.tell("open", run="turn") == {"run": "turn", "state": "open", "passes": [4, 4]}
    told = client.ask("runouts", run="turn", line="x/x")
    assert told == plain(opened.runouts("x/x"))
    schemas.Runouts.model_validate(told)
    told = client.ask("exploit", run="turn", line="b50")
    assert told == plain(opened.exploit("b50"))
    schemas.Node.model_validate(told)
    told = client.ask("compare", run="river", other="rough")
    assert told == plain(open_spot(folder / "river").compare(open_spot(folder / "rough")))
    schemas.NodeComparison.model_validate(told)


def test_tables_and_ranges_to_take_away(poker):
    client = poker.client
    answer = client.get("/api/node.csv", params={"run": "river", "line": "x"})
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    node = client.ask("node", run="river", line="x")
    assert [row["hand"] for row in rows] == [hand["hand"] for hand in node["hands"]]
    name = node["actions"][0]["name"]
    assert float(rows[0][f"{name} frequency"]) == node["hands"][0]["strategy"][0]
    text = client.get("/api/range.txt", params={"run": "river", "line": "x", "player": "oop"}).text
    shown = client.ask("node", run="river", line="x", player="oop")["hands"]
    assert parse_range(text).sum() == pytest.approx(sum(hand["reach"] for hand in shown))


def test_training(poker):
    client = poker.client
    question = client.tell("train", run="river", player="ip", seed=3)
    assert question == client.tell("train", run="river", player="ip", seed=3)
    marked = client.tell("train/answer", run="river", question=question, action=0)
    assert marked["chosen"] == 0
    assert marked["lost"] >= 0
    for wrong in ({}, {"line": 3}, question | {"line": "zz"}, question | {"hand": "<b>"}, question | {"opponent": []},
                  question | {"seed": "x"}, question | {"player": 7}, question | {"number": -1}):  # fmt: skip
        body = {"run": "river", "question": wrong, "action": 0}
        client.sentence(client.post("/api/train/answer", json=body), 400)
    client.sentence(client.post("/api/train/answer", json={"run": "river", "question": question, "action": 99}), 400)


@pytest.mark.parametrize(
    "query",
    [
        {"line": "zz"},
        {"line": "b7"},
        {"line": "x/x/x/x"},
        {"player": "button"},
        {"line": "<script>"},
        {"line": "\0"},
        {"line": "As"},
    ],
)
def test_lines_that_lead_nowhere(poker, query):
    for view in ("node", "exploit", "runouts", "node.csv", "range.txt"):
        if view == "runouts" and "player" in query:
            continue
        poker.client.sentence(poker.client.get(f"/api/{view}", params={"run": "river"} | query), 400)


@pytest.mark.slow
def test_a_changed_run_is_opened_again(poker, folder):
    client = poker.client
    before = client.ask("node", run="rough")
    more = client.tell("jobs", what="resume", run="rough", exploitability="0.5%pot")
    assert (more["game"], more["run"]) == (None, "rough")
    client.until(more["job"], "done")
    assert client.ask("node", run="rough") != before
    assert client.ask("node", run="rough") == client.ask("node", run="river")


def test_runs_of_other_games_and_without_a_checkpoint(poker, folder):
    client = poker.client
    tp.solve("kuhn", iterations=5, out=folder / "kuhn")
    assert "not a hold'em spot" in client.sentence(client.get("/api/node", params={"run": "kuhn"}), 400)
    (folder / "bare").mkdir()
    (folder / "bare" / "run.json").write_text((folder / "river" / "run.json").read_text())
    assert "no checkpoint" in client.sentence(client.get("/api/node", params={"run": "bare"}), 400)
    (folder / "bare" / "checkpoint.safetensors").write_bytes(b"nothing")
    assert "checkpoint" in client.sentence(client.get("/api/node", params={"run": "bare"}), 400)
    assert client.tell("open", run="bare")["state"] == "failed"


@pytest.mark.slow
def test_locked_and_solved_around(poker):
    client = poker.client
    locks = [{"line": "", "strategy": {"AA": {"check": 1.0}}}]
    job = client.tell("jobs", what="solve", spot=RIVER, locks=locks, exploitability="1%pot", name="locked")
    done = client.until(job["job"], "done")
    assert done["progress"]["percent_of_pot"] <= 1.0
    assert done["progress"]["target_percent_of_pot"] == pytest.approx(1.0)
    assert client.ask("run", run="locked")["locks"] == 1
    node = client.ask("node", run="locked")
    aces = [hand for hand in node["hands"] if hand["class"] == "AA"]
    assert all(hand["strategy"][0] == pytest.approx(1) for hand in aces)


def test_twenty_clients_at_once(poker):
    client = poker.client
    client.ask("node", run="turn")
    queries = [("node", {"run": "turn", "line": line}) for line in ("", "x", "x/x/Qh", "b50")] + [
        ("runs", {}),
        ("jobs", {}),
    ]

    def ask(k: int) -> list[float]:
        took = []
        for place in range(10):
            path, query = queries[(k + place) % len(queries)]
            began = time.perf_counter()
            client.ask(path, **query)
            took.append(time.perf_counter() - began)
        return took

    with ThreadPoolExecutor(20) as pool:
        seconds = sorted(x for each in pool.map(ask, range(20)) for x in each)
    assert seconds[-1] < 10


def test_the_server_answers_while_a_run_is_opened(poker, monkeypatch):
    client, go = poker.client, threading.Event()
    opener = poker.site.opened._opener()

    def slow(folder: Path, watch: object) -> object:
        go.wait(20)
        return opener(folder, watch=watch)

    monkeypatch.setattr(poker.site.opened, "opener", slow)
    os.utime(poker.site.directory.root / "turn" / "checkpoint.safetensors")
    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(client.ask, "node", run="turn") for _ in range(50)]
        time.sleep(0.3)
        assert client.ask("about")["cores"] > 0
        assert client.tell("open", run="turn")["state"] == "opening"
        go.set()
        assert all(each.result()["kind"] == "decision" for each in waiting)


def test_a_search_for_sizes_is_a_run_that_goes_on(poker):
    client, options = poker.client, {"bets": "50%, a", "raises": "a", "counts": 2}
    stopped = client.tell("jobs", what="sizes", spot=RIVER, name="menus", seconds=0, **options)
    first = client.until(stopped["job"], "done", seconds=200)
    assert (first["run"], first["result"]["status"], first["result"]["complete"]) == ("menus", "seconds", False)
    (row,) = (row for row in client.ask("runs")["runs"] if row["run"] == "menus")
    assert (row["kind"], row["status"], row["nash_conv"]) == ("sizes", "seconds", None)
    goes_on = client.tell("jobs", what="resume", run="menus", seconds=1e6)
    result = client.until(goes_on["job"], "done", seconds=200)["result"]
    assert result["complete"]
    expected = tp.holdem.sizes(RIVER, **options).summary()
    assert {**result, "seconds": 0} == {**plain(expected), "seconds": 0}
    assert client.ask("run", run="menus")["result"] == result
    assert "no tree" in client.sentence(client.get("/api/tree", params={"run": "menus"}), 400)
    client.sentence(client.get("/api/node", params={"run": "menus"}), 400)


@pytest.mark.slow
def test_sizes_and_growth(poker):
    client = poker.client
    sizes = client.tell("jobs", what="sizes", spot=RIVER, bets="50%, a", raises="a", counts=2)
    grown = client.tell("jobs", what="grow", spot=RIVER, iterations=60)
    result = client.until(sizes["job"], "done", seconds=200)["result"]
    assert result["menu"]
    assert [row["keep"] for row in result["by_count"]] == [1, 2]
    done = client.until(grown["job"], "done", seconds=200)
    assert done["progress"]["additions"]
    assert client.ask("node", run=done["run"])["kind"] == "decision"
    assert client.ask("run", run=done["run"])["spot"]["line_sizes"]
