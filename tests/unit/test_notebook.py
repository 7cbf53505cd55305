"""Solutions as a notebook or a script wants them: a short text, a table in HTML, a figure, a DataFrame."""

from __future__ import annotations

import sys

import pytest

import treeplex as tp
from treeplex.errors import MissingExtraError


@pytest.fixture(scope="module")
def solution() -> tp.Solution:
    return tp.solve("kuhn", "cfr+", iterations=50)


def test_words(solution) -> None:
    assert len(repr(solution)) < 200
    assert "NashConv" in repr(solution)
    page = solution._repr_html_()
    assert page.startswith("<table>")
    table, _, picture = page.partition("</table>")
    assert f"{solution.nash_conv:.3g}" in table
    assert picture.startswith('<img alt="kuhn, cfr+: NashConv"')


def test_names_in_html_are_escaped(solution, monkeypatch) -> None:
    monkeypatch.setitem(solution.record.__dict__, "game", "<b>kuhn</b>")
    assert "<b>" not in solution._repr_html_()


def test_a_figure(solution, tmp_path) -> None:
    figure = solution.plot(tmp_path / "kuhn.png")
    assert len(figure.axes) == 3
    assert (tmp_path / "kuhn.png").read_bytes().startswith(b"\x89PNG")
    drawn = figure.axes[0].lines[0].get_ydata()
    assert drawn[-1] == solution.nash_conv
    assert len(solution.plot().axes) == 3


def test_a_frame(solution, monkeypatch) -> None:
    frame = solution.to_pandas()
    assert list(frame["iteration"]) == [row.iteration for row in solution.rows]
    assert frame["nash_conv"].iloc[-1] == solution.nash_conv
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'treeplex\[pandas\]'"):
        solution.to_pandas()
