"""Names and docstrings of the package, and sentences of its pages, are plain English (``tools/english.py``)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import english

ROOT = Path(__file__).parents[2]


def problems_of(tmp_path: Path, code: str) -> list[tuple[str, str]]:
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src" / "module.py").write_text(code, encoding="utf-8")
    return [(problem.kind, problem.text) for problem in english.check_code(tmp_path)]


def test_names_and_docstrings_of_the_package() -> None:
    assert not english.check_code(ROOT)


def test_exceptions_are_still_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english, "ALLOWED", {})
    needed = {f"{each.file.removeprefix('src/treeplex/')}:{each.text}" for each in english.check_code(ROOT)}
    monkeypatch.undo()
    assert needed == set(english.ALLOWED)


@pytest.mark.parametrize("page", english.pages(ROOT), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_of_pages(page: Path) -> None:
    assert not english.check_page(page.name, page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("def told():\n    pass\n", "function", "told"),
        ("def show(line, best_found):\n    pass\n", "parameter", "best_found"),
        ("class SizeFound:\n    pass\n", "class", "SizeFound"),
        ("class Run:\n    kept: int = 0\n", "variable", "kept"),
        ("class Run:\n    def start(self):\n        self.wanted = 1\n", "attribute", "wanted"),
        ("places, ways = 1, 2\n", "variable", "ways"),
        ("class Run:\n    pass\n\n\nclass Other:\n    class Run:\n        pass\n", "class name used before", "Run"),
        ('def show():\n    """What everybody sees here."""\n', "docstring", "What everybody sees here."),
        ('def show():\n    """The same of a spot."""\n', "docstring", "The same of a spot."),
        ('def show():\n    """Its own books."""\n', "docstring", "Its own books."),
        ('"""Of all games there are."""\n', "docstring", "Of all games there are."),
    ],
)
def test_what_is_wrong_is_noticed(tmp_path: Path, code: str, kind: str, text: str) -> None:
    assert problems_of(tmp_path, code) == [(kind, text)]


@pytest.mark.parametrize(
    "code",
    [
        'def show(line, result):\n    """Return the value of a line."""\n',
        'class Run:\n    def start(self):\n        """As ``Algorithm``."""\n',
        'def _show():\n    """Short."""\n',
        "unkept, always, weight = 1, 2, 3\n",
    ],
)
def test_what_is_right_passes(tmp_path: Path, code: str) -> None:
    assert not problems_of(tmp_path, code)


LONG = "This sentence " + "goes on and on " * 8 + "until nobody remembers how it began."


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LONG, "40 words"),
        ("One thing; another thing; a third thing.", "2 semicolons"),
        ("A GPU is fast. The line is told twice.", "phrase"),
        ("- " + LONG, "40 words"),
    ],
)
def test_sentences_that_are_not_plain_are_noticed(text: str, kind: str) -> None:
    assert [problem.kind for problem in english.check_page("page", text)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Short. " * 20,
        "```\n" + LONG + "\n```",
        "| " + LONG + " |",
        "$$\n" + LONG + "\n$$",
        "[Ten words](of/a/link/that/is/not/read/at/all/by/anybody.md) and `code of many words that count as one`.",
    ],
)
def test_tables_code_and_formulas_are_left_out(text: str) -> None:
    assert not english.check_page("page", text)
