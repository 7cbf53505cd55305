"""How soon the explorer answers: opening a run, clicks of one client, clicks while a solve runs, many clients at once.

python benchmarks/explorer.py SPOT.json [--iterations 60] [--clicks 200] [--clients 20] [--folder FOLDER]

A click is a random walk down the tree of the run: a decision or a card, never the same node twice in a row. Times are
taken at the client, JSON included.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx

import treeplex as tp


def percentile(times: list[float], share: float) -> float:
    return 1000.0 * sorted(times)[min(int(share * len(times)), len(times) - 1)]


def told(what: str, times: list[float]) -> None:
    shown = ", ".join(f"{name} {percentile(times, share):.0f}" for name, share in (("median", 0.5), ("95 %", 0.95)))
    print(f"{what}: {shown}, largest {1000 * max(times):.0f} ms ({len(times)} answers)", flush=True)


def walk(client: httpx.Client, run: str, clicks: int, seed: int) -> list[float]:
    """Seconds of each answer."""
    rng, line, times = random.Random(seed), "", []
    while len(times) < clicks:
        began = time.perf_counter()
        answer = client.get("/api/node", params={"run": run, "line": line})
        times.append(time.perf_counter() - began)
        answer.raise_for_status()
        node = answer.json()
        ways = [each["line"] for each in node.get("actions", node.get("cards", []))]
        line = rng.choice(ways) if ways else ""
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spot")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--clicks", type=int, default=200)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--folder")
    given = parser.parse_args()
    folder = Path(given.folder or tempfile.mkdtemp())
    if not (folder / "run" / "result.json").exists():
        tp.solve(tp.holdem.read_spot(given.spot), iterations=given.iterations, out=folder / "run")
    command = [sys.executable, "-m", "treeplex", "serve", str(folder), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        link = urlsplit(server.stdout.readline().strip())
        token = parse_qs(link.query)["token"][0]

        def client() -> httpx.Client:
            return httpx.Client(base_url=f"http://{link.netloc}", headers={"X-Token": token}, timeout=120)

        one = client()
        began = time.perf_counter()
        one.get("/api/node", params={"run": "run", "line": ""}).raise_for_status()
        first = time.perf_counter() - began
        nodes = tp.holdem.load_spot(tp.holdem.read_spot(given.spot)).nodes
        print(f"{nodes:,} nodes: opened, and the first node told, in {first:.2f} s", flush=True)
        told("clicks of one client", walk(one, "run", given.clicks, 0))
        times: list[float] = []
        for line in ("", "x"):
            began = time.perf_counter()
            one.get("/api/exploit", params={"run": "run", "line": line}).raise_for_status()
            times.append(time.perf_counter() - began)
        print(f"best responses, the first time: {times[0]:.2f} s for one player, {times[1]:.2f} s for the other")
        job = one.post("/api/jobs", json={"what": "solve", "spot": tp.holdem.read_spot(given.spot).summary(),
                                          "exploitability": "0.001%pot", "name": "busy"}).json()  # fmt: skip
        while not (one.get("/api/jobs").json()["jobs"][0]["progress"] or {}).get("iteration"):
            time.sleep(0.2)
        told("one client while a solve runs with all cores", walk(one, "run", given.clicks, 1))
        one.post(f"/api/jobs/{job['job']}/stop")
        while one.get("/api/jobs").json()["jobs"][0]["state"] == "running":
            time.sleep(0.2)
        many: list[list[float]] = [[] for _ in range(given.clients)]

        def visit(k: int) -> None:
            many[k] = walk(client(), "run", max(given.clicks // 10, 5), 10 + k)

        threads = [threading.Thread(target=visit, args=(k,)) for k in range(given.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told(f"{given.clients} clients at once, without pauses", [x for times in many for x in times])
    finally:
        os.kill(server.pid, signal.SIGINT)
        server.wait(60)


if __name__ == "__main__":
    main()
