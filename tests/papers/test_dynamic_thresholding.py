"""The reproductions of dynamic thresholding, in small: every claim is measured, and files are left behind."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from treeplex.papers import dt_fig1, dt_fig2


def claims(identity: str) -> set[str]:
    text = resources.files("treeplex.papers").joinpath(f"expected/{identity}.json").read_text(encoding="utf-8")
    return {claim["measure"] for claim in json.loads(text)["claims"]}


@pytest.fixture
def small(monkeypatch) -> None:
    """Leduc in the place of both games, and runs of a few hundred thousand nodes."""
    games: dict[str, str] = {"leduc": 'leduc(sizes="dt")', "leduc5": "leduc"}
    for module in (dt_fig1, dt_fig2):
        monkeypatch.setattr(module, "GAMES", games)
        monkeypatch.setattr(module, "NODES", dict.fromkeys(module.NODES, 300_000))
    monkeypatch.setattr(dt_fig1, "_speed", lambda _: 1.0)


@pytest.mark.parametrize("module", [dt_fig1, dt_fig2], ids=lambda module: module.ID)
@pytest.mark.usefixtures("small")
def test_every_claim_is_measured(module: Any, tmp_path) -> None:
    lines: list[str] = []
    report = module.reproduce(tmp_path, lines.append)
    assert len(report.claims) == len(claims(module.ID))
    assert all(claim.ours > 0.0 for claim in report.claims)  # nan would not be
    assert {path.suffix for path in report.files} == {".csv", ".png"}
    assert all(path.stat().st_size > 50 for path in report.files)
    assert any("Hedge" in line for line in lines)


@pytest.mark.usefixtures("small")
def test_thresholds_save_nodes_even_in_small(tmp_path) -> None:
    measured = {claim.claim: claim for claim in dt_fig2.reproduce(tmp_path, lambda _: None).claims}
    gains = [claim.ours for text, claim in measured.items() if "beneficial" in text]
    assert gains
    assert min(gains) > 1.0
