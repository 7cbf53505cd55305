"""Notebooks: tutorials that equal their pages and run, progress that is shown once and taken away, pictures inline."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest

import treeplex as tp
from docs.pages import ROOT
from treeplex.errors import ParameterError
from treeplex.limits import Limits
from treeplex.plots.draw import MOST_NODES, layout
from treeplex.runs.log import LogRow
from treeplex.runs.loop import Progress
from treeplex.runs.progress import NotebookLine, notebook

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

TUTORIAL = ROOT / "docs" / "tutorial"
TOOL = runpy.run_path(str(ROOT / "tools" / "notebook.py"))


def executed(cells: list[Any], folder: Path) -> Any:
    """A notebook after all its cells have run; whatever IPython's own libraries warn about is theirs."""
    book = nbformat.v4.new_notebook(cells=cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        resources = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources=resources).execute()
    return book


def outputs(cell: Any) -> str:
    """The text that a cell shows."""
    return "".join(one.get("text", "") or str(one.get("data", {}).get("text/plain", "")) for one in cell.outputs)


@pytest.mark.parametrize("name", TOOL["TUTORIALS"])
def test_a_notebook_is_its_page(name) -> None:
    assert (TUTORIAL / f"{name}.ipynb").read_text(encoding="utf-8") == TOOL["written"](TUTORIAL / f"{name}.md")
    nbformat.validate(nbformat.read(TUTORIAL / f"{name}.ipynb", 4))


@pytest.mark.parametrize("name", ["ten-minutes", pytest.param("regret-matching", marks=pytest.mark.slow)])
def test_a_notebook_runs_and_says_what_the_page_says(name, tmp_path) -> None:
    book = executed(nbformat.read(TUTORIAL / f"{name}.ipynb", 4).cells, tmp_path)
    page = (TUTORIAL / f"{name}.md").read_text(encoding="utf-8")
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    refused = [cell for cell in code if "raises-exception" in cell.metadata.get("tags", [])]
    assert len(refused) == page.count("Traceback (most recent call last):")
    assert all(cell.outputs[-1]["output_type"] == "error" for cell in refused)
    assert not any(one["output_type"] == "error" for cell in code if cell not in refused for one in cell.outputs)
    for cell in code:
        if cell not in refused and "image/png" not in str(cell.outputs):
            for line in outputs(cell).splitlines():
                assert line.strip() in page
    if name == "ten-minutes":
        assert any("image/png" in one.get("data", {}) for cell in code for one in cell.outputs)  # the tree


def test_progress_is_one_line_changed_in_place_and_gone_at_the_end(tmp_path) -> None:
    code = (
        "import treeplex.runs.progress as progress\nprogress.SHOWN_AFTER = progress.RENEWED = 0.0\n"
        "import treeplex as tp\nsolution = tp.solve('leduc', 'cfr', seconds=0.5)"
    )
    quiet = "silent = tp.solve('leduc', 'cfr', seconds=0.3, watch=lambda moment: None)"
    first, second, third = executed(
        [nbformat.v4.new_code_cell(text) for text in (code, quiet, "solution")], tmp_path
    ).cells
    assert len(first.outputs) == 1
    assert first.outputs[0]["data"]["text/html"] == ""
    assert second.outputs == []
    assert "data:image/png;base64," in third.outputs[0]["data"]["text/html"]


class Shown:
    """Stands in for ``IPython.display``."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def HTML(self, page: str) -> str:  # noqa: N802 - IPython's name
        return page

    def display(self, page: str, display_id: bool) -> Shown:
        assert display_id
        self.pages.append(page)
        return self

    def update(self, page: str) -> None:
        self.pages.append(page)


def test_short_runs_show_nothing_and_long_ones_words_and_a_bar(monkeypatch) -> None:
    shown = Shown()
    now = iter([0.0, 1.0, 2.5, 2.5, 2.6, 3.1, 3.1])
    monkeypatch.setattr("treeplex.runs.progress.time.monotonic", lambda: next(now))
    line = NotebookLine(shown, "<kuhn>, cfr", Limits(seconds=10.0))
    row = LogRow(5, 100, 1.0, 0.0, 0.0, 0.25, 0.125)
    line.watch(Progress(5, 1.0, [row]))  # after a second: nothing yet
    assert shown.pages == []
    line.watch(Progress(10, 2.5, [row]))
    line.watch(Progress(11, 2.6, [row]))  # too soon after the last
    line.watch(Progress(20, 3.1, [row]))
    line.stop()
    assert len(shown.pages) == 3
    assert shown.pages[0].startswith(
        '<progress max="1" value="0.250"></progress> &lt;kuhn&gt;, cfr: NashConv 0.25, iteration 10'
    )
    assert "about 8 s left" in shown.pages[0]
    assert shown.pages[-1] == ""


def test_a_script_is_no_notebook() -> None:
    assert notebook() is None


def test_a_tree_has_every_node_branch_and_payoff(tmp_path) -> None:
    game = tp.load("kuhn")
    picture = tp.draw(game, tp.solve(game, "lp").policy, tmp_path / "kuhn.png")
    texts = [text.get_text() for text in picture.axes[0].texts]
    assert len([text for text in texts if re.fullmatch(r"[+-]\d", text)]) == game.terminals == 30
    assert texts.count("b: .33") + texts.count("p: .67") == 2 * texts.count("b: .33") > 0
    assert len([text for text in texts if re.fullmatch(r"\d: \.(33|50)", text)]) == 3 + 6
    assert sum(texts.count(label) for label in game.infoset_index[1]) == 12
    assert (tmp_path / "kuhn.png").read_bytes().startswith(b"\x89PNG")
    assert picture._repr_png_().startswith(b"\x89PNG")
    at = layout(game)
    assert at.rows == 30
    assert len({(x, y) for x, y in zip(at.x, at.y, strict=True)}) == game.nodes


def test_trees_that_cannot_be_read_are_refused_in_a_sentence() -> None:
    with pytest.raises(
        ParameterError, match=rf"^The tree of leduc has 1,939 nodes, and at most {MOST_NODES} can be drawn; .*\.$"
    ):
        tp.draw("leduc")


def test_answers_show_their_picture() -> None:
    assert "data:image/png;base64," in tp.compare("kuhn", ["cfr", "cfr+"], iterations=20)._repr_html_()
    assert "<img" not in tp.solve("kuhn", "lp")._repr_html_()  # one row is no curve


def test_a_decision_of_a_spot_is_a_table() -> None:
    spot = tp.Spot(board="Ks 9h 6d 3c Jh", pot=100, effective_stack=100, oop_range="AA,77", ip_range="KK,QQ")
    view = tp.solve(spot, iterations=10).at("")
    page = view._repr_html_()
    assert page.startswith("<table>")
    assert "<td>AA</td>" in page
    assert tp.holdem.plot_grid(view)._repr_png_().startswith(b"\x89PNG")
