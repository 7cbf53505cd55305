"""Check the project's English: names and docstrings of the package, and sentences of its pages.

    python tools/english.py [ROOT] [--names | --prose] [--counts]

Without options every problem is printed by file and line, and the exit code is 1 if there is one. ``--counts`` prints
the number of problems of each kind in the package, and the statistics of each page, and always exits with 0.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

PAGES = ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "experiments/*.md", "examples/*.md")
PARTICIPLES = frozenset(
    ("told", "kept", "found", "given", "asked", "wanted", "meant", "said", "taken", "tried", "held")
)
NAMELESS = PARTICIPLES | {
    "worth",
    "heeded",
    "brought",
    "elsewhere",
    "moment",
    "patience",
    "crew",
    "mail",
    "way",
    "books",
}
"""Words that name nothing, or that stand for another thing than they say; also in the plural."""

ALLOWED: dict[str, str] = {
    "algorithms/warm_start.py:kept": "the name of arrays in checkpoints, state.kept.0",
    "growth/answer.py:found": "public: the sizes of a growing run, solution.found",
    "growth/answer.py:worth": "a key of the sizes in result.json",
    "growth/part_algorithm.py:found": "public: the actions of a growing run, solution.found",
    "growth/spot_algorithm.py:found": "public: the sizes of a growing run, solution.found",
    "poker/sizes/answer.py:ev_kept": "a key of result.json",
    "poker/sizes/answer.py:kept": "a key of result.json and a column of sizes.parquet",
    "poker/views/node.py:taken": "a key of the JSON of a node",
    "problems/protocol.py:asked": "the field of run.json below",
    "runs/request.py:asked": "a field of run.json: the algorithm as the user wrote it",
    "updates/regret_matching.py:RegretMatching": "the rule of CFR; the other one is for a single decision",
}
"""Names that have one of these words all the same, each with its reason."""

BEGINNINGS = re.compile(r"(what|who|whose|whoever|as|of|the same)\b", re.IGNORECASE)
OVERRIDE = re.compile(r"As ``\w+``")
LONGEST, SEMICOLONS = 30, 1  # words of a sentence; semicolons of a paragraph
PHRASES = (
    r"whoever",
    r"one's own",
    r"as if by itself",
    r"(?:is|are|was|were|be) (?:told|heeded|gone on with|taken for|carried out|brought home|sent away)",
    r"tells? (?:apart|of)",
    r"in a sentence",
    r"so many \w+ as",
    r"is no (?:member|longer a)",
    r"nobody (?:is|has|asks|waits|reads)",
    r"of its own accord",
    r"the like",
)
BANNED = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.IGNORECASE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Problem(NamedTuple):
    """A place that a reader would stumble over."""

    file: str
    line: int
    kind: str
    text: str


class Sentence(NamedTuple):
    """A sentence of a page, without markup."""

    line: int
    words: int
    text: str


def words_of(name: str) -> list[str]:
    """The words of an identifier, in lower case."""
    return [word.lower() for part in name.split("_") for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", part)]


def nameless(name: str) -> bool:
    """Whether an identifier has a word that names nothing."""
    return any({word, word.removesuffix("s")} & NAMELESS for word in words_of(name))


def bound_names(module: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, kind and name of every class, function, parameter, attribute and variable."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            yield node.lineno, "class", node.name
        elif isinstance(node, FUNCTIONS):
            yield node.lineno, "function", node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, "parameter", node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, "attribute", node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, "variable", node.id


def public(node: Any) -> bool:
    """Whether a class or function is public by its name."""
    return isinstance(node, (ast.ClassDef, *FUNCTIONS)) and not node.name.startswith("_")


def docstrings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of a module or class and of the public names inside it."""
    text = ast.get_docstring(node) if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) else None
    if text:
        yield getattr(node, "lineno", 1), text
    for part in ast.iter_child_nodes(node):
        if public(part):
            yield from docstrings(part)


def riddle(text: str) -> bool:
    """Whether a docstring begins as no sentence does, or is too short to say anything."""
    if OVERRIDE.match(text):
        return False
    return bool(BEGINNINGS.match(text)) or len(text.split()) < 4


def check_code(root: Path) -> list[Problem]:
    """The problems of names and docstrings in the package."""
    problems: list[Problem] = []
    classes: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for file in sorted((root / "src").rglob("*.py")):
        module, path = ast.parse(file.read_text(encoding="utf-8")), file.relative_to(root).as_posix()
        problems += [Problem(path, *found) for found in bound_names(module) if nameless(found[2])]
        problems += [
            Problem(path, line, "docstring", text.splitlines()[0]) for line, text in docstrings(module) if riddle(text)
        ]
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append((path, node.lineno))
    for name, places in classes.items():
        problems += [Problem(path, line, "class name used before", name) for path, line in places[1:]]
    return [each for each in problems if f"{each.file.removeprefix('src/treeplex/')}:{each.text}" not in ALLOWED]


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of the paragraphs and list items of a page; tables, code, formulas and headings are left out."""
    block: list[str] = []
    start, fence = 1, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        mark = re.match(r"```+|~~~+|:::+|\$\$", bare)
        if mark and (not fence or bare.startswith(fence)):
            closed = fence or (mark.group() == "$$" and bare.count("$$") == 2)
            fence = "" if closed else mark.group()
            bare = ""
        elif fence:
            bare = ""
        apart = not bare or bare.startswith(("#", "|", "<", "[", "{", "%", "![", "(")) or line.startswith("    ")
        item = re.match(r"(?:[-*+]|\d+[.)])\s+", bare)
        if (apart or item) and block:
            yield start, " ".join(block)
            block = []
        if not apart:
            start = number if not block else start
            block.append(bare[item.end() :] if item else bare.lstrip("> "))


def plain(paragraph: str) -> str:
    """A paragraph without markup: code and formulas count as one word each."""
    paragraph = re.sub(r"<!--.*?-->", "", paragraph)
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", paragraph)
    text = re.sub(r"`[^`]*`|\$[^$]*\$|\{[^}]*\}", "X", text)
    return re.sub(r"[*_<>]{1,3}|https?://\S+", "", text)


def sentences(line: int, paragraph: str) -> list[Sentence]:
    """The sentences of a paragraph."""
    text = re.sub(r"\b(e\.g|i\.e|etc|vs|al|cf|Fig|No|St|approx)\.", r"\1", plain(paragraph))
    parts = re.split(r"(?<=[.!?:])[)\"']*\s+(?=[\"'(]?(?:[A-Z0-9]|treeplex\b))", text)
    found = [(re.findall(r"[A-Za-z0-9][\w.,'/%+-]*", part), part) for part in parts]
    return [Sentence(line, len(words), part) for words, part in found if words]


def check_page(path: str, text: str) -> list[Problem]:
    """The problems of a page's sentences."""
    problems: list[Problem] = []
    for line, paragraph in paragraphs(text):
        bare = plain(paragraph)
        problems += [
            Problem(path, line, f"{s.words} words", s.text[:90])
            for s in sentences(line, paragraph)
            if s.words > LONGEST
        ]
        problems += [Problem(path, line, "phrase", match.group()) for match in BANNED.finditer(bare)]
        if bare.count(";") > SEMICOLONS:
            problems.append(Problem(path, line, f"{bare.count(';')} semicolons", bare[:90]))
    return problems


def pages(root: Path) -> list[Path]:
    """The pages that people read."""
    every = {file for pattern in PAGES for file in root.glob(pattern)}
    return sorted(file for file in every if not {"build", ".venv", "generated"} & set(file.relative_to(root).parts))


def statistics(root: Path) -> list[str]:
    """A line per page: median and 95th percentile of words per sentence, semicolons per 1,000 words."""
    lines: list[str] = []
    for file in pages(root):
        parts = list(paragraphs(file.read_text(encoding="utf-8")))
        lengths = sorted(s.words for line, part in parts for s in sentences(line, part))
        if lengths:
            high, marks = lengths[int(0.95 * (len(lengths) - 1))], sum(plain(part).count(";") for _, part in parts)
            share = 1000.0 * marks / sum(lengths)
            lines.append(
                f"{file.relative_to(root).as_posix():60}{median(lengths):6.0f}{high:6}{share:8.1f}{sum(lengths):8,}"
            )
    return lines


def main(arguments: list[str]) -> int:
    """Print the problems, or their counts."""
    root = Path(next((a for a in arguments if not a.startswith("--")), Path(__file__).parents[1]))
    problems = [] if "--prose" in arguments else check_code(root)
    if "--counts" in arguments:
        print(*(f"{kind:24}{count:>7,}" for kind, count in sorted(Counter(p.kind for p in problems).items())), sep="\n")
        print(f"\n{'page':60}{'median':>6}{'95 %':>6}{'; / 1000':>8}{'words':>8}", *statistics(root), sep="\n")
        return 0
    if "--names" not in arguments:
        for file in pages(root):
            problems += check_page(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    print(*(f"{p.file}:{p.line}: {p.kind}: {p.text}" for p in problems), sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
