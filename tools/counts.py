"""Count what the design of the package promises to keep small, in any checkout of it.

    python tools/counts.py [ROOT] [--details]       # ROOT: a checkout, by default this one

Counts are made from the syntax trees of ``src/treeplex``: nothing of it is imported. ``--details`` lists what was
counted, by file and line. Each function below defines one count in its docstring.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

REQUEST_FILES = re.compile(r"(cli/(options|solve)|api|runs/\w+|(algorithms|engines)/protocol)\.py")
PROBLEM_FILES = re.compile(r"(games|compile|problems)/|(\w+/)?problems?\.py|engines/open\.py")
PROBLEM_CLASSES = re.compile(r"\w*(Game|Spot|Abstraction|Problem|Subgame|Search)|DealtRules")
STATE_CLASSES = re.compile(r"\w*(State|Tables|InTiles|OnDevice)")

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Node = TypeVar("Node", bound=ast.AST)
Modules = dict[str, ast.Module]
Items = list[tuple[str, int, str]]  # file, line, what is there


def parse(root: Path) -> Modules:
    """The modules of a checkout, by their paths below ``src/treeplex``."""
    source = root / "src" / "treeplex"
    if not source.is_dir():
        raise SystemExit(f"The ROOT argument must be a checkout that has src/treeplex, got {root}.")
    files = sorted(source.rglob("*.py"))
    return {file.relative_to(source).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def find(modules: Modules, *kinds: type[Node]) -> Iterator[tuple[str, Node]]:
    """Nodes of these kinds, each with its file."""
    for file, module in modules.items():
        yield from ((file, node) for node in ast.walk(module) if isinstance(node, kinds))


def word(node: Any) -> str:
    """The last word of a name: ``CFR`` of ``cfr.CFR`` and of ``CFR[State]``."""
    return word(node.value) if isinstance(node, ast.Subscript) else getattr(node, "id", getattr(node, "attr", ""))


def words(node: ast.AST) -> set[str]:
    """The last words of all names inside an expression."""
    return {word(part) for part in ast.walk(node)}


def fields(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Annotations of a class's fields."""
    return {word(part.target): part.annotation for part in node.body if isinstance(part, ast.AnnAssign)}


def family(modules: Modules, roots: set[str]) -> set[str]:
    """Names of ``roots`` and of all classes that inherit from one of them."""
    every, names = list(find(modules, ast.ClassDef)), set(roots)
    while more := {one.name for _, one in every if names & {word(base) for base in one.bases}} - names:
        names |= more
    return names


def prose(node: Any) -> range:
    """Lines of a string that stands alone: a docstring, or that of a constant; none for any other node."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return range(node.lineno, (node.end_lineno or 0) + 1) if alone else range(0)


def tests_class(node: ast.Call, concrete: Callable[[str], object]) -> bool:
    """Whether a call is ``isinstance`` or ``issubclass`` on a class whose name is ``concrete``."""
    return word(node.func) in {"isinstance", "issubclass"} and any(concrete(name) for name in words(node.args[1]))


def cfr_classes(modules: Modules) -> Items:
    """Algorithms that are CFR with a rule of the regret matching family, on one engine or another.

    An algorithm is CFR if it has fields for a ``Minimizer`` or ``Rule``, for an averaging weight, and for a storage or
    an engine; or inherits from such a class; or has a field that is exactly such a class, and none for another
    algorithm, which would make it a combinator.
    """
    solvers = family(modules, {"Algorithm"})
    known = {one.name: fields(one) for _, one in find(modules, ast.ClassDef) if one.name in solvers}
    rules = {name for name, has in known.items() if any(words(kind) & {"Minimizer", "Rule"} for kind in has.values())}
    made = family(modules, {n for n in rules if "weight" in known[n] and {"storage", "engine"} & set(known[n])})
    held = {name: [word(kind) for kind in has.values() if word(kind) in solvers] for name, has in known.items()}
    made = family(modules, made | {name for name, kinds in held.items() if len(kinds) == 1 and kinds[0] in made})
    return [(file, one.lineno, one.name) for file, one in find(modules, ast.ClassDef) if one.name in made]


def algorithm_methods(modules: Modules) -> Items:
    """Functions in the body of the class ``Algorithm``, properties included."""
    return [(file, part.lineno, part.name) for file, one in find(modules, ast.ClassDef) if one.name == "Algorithm"
            for part in one.body if isinstance(part, FUNCTIONS)]  # fmt: skip


def problem_checks(modules: Modules) -> Items:
    """Questions of what a problem is, outside the problems themselves and ``engines/open.py``.

    These are ``isinstance`` on a game or spot of the package, comparisons with a kind of run or with the name of such a
    class, look-ups by a kind of run, and every call or property that has ``is_spot`` in its name.
    """

    def asks(node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            tabled = word(node.func) == "get" and any(word(a) == "kind" and "request" in words(a) for a in node.args)
            return "is_spot" in word(node.func) or tabled or tests_class(node, PROBLEM_CLASSES.fullmatch)
        if isinstance(node, ast.Compare):
            texts = [str(getattr(part, "value", "")) for part in ast.walk(node)]
            kinds = words(node) & {"SPOT", "GROWTH", "EXPLORATION"}
            return bool(kinds) or any(PROBLEM_CLASSES.fullmatch(text) for text in texts)
        return isinstance(node, ast.Attribute) and "is_spot" in node.attr

    others = {file: module for file, module in modules.items() if not PROBLEM_FILES.match(file)}
    return [(file, node.lineno, ast.unparse(node)) for file, node in find(others, ast.expr) if asks(node)]


def solver_checks(modules: Modules) -> Items:
    """``isinstance`` on an algorithm, or on a state or strategies of one engine, outside ``engines/``."""
    names = family(modules, {"Algorithm"})
    outside = {file: module for file, module in modules.items() if not file.startswith("engines/")}
    return [(file, node.lineno, ast.unparse(node)) for file, node in find(outside, ast.Call)
            if tests_class(node, lambda name: name in names or STATE_CLASSES.fullmatch(name))]  # fmt: skip


def backend_files(modules: Modules) -> Items:
    """Files outside the engines and ``kernels/`` that have the string "cuda", or import a module of GPUs."""
    outside = {file: m for file, m in modules.items() if not file.startswith(("engines/", "kernels/", "cuda/"))}
    knows = [(file, one) for file, one in find(outside, ast.Constant, ast.ImportFrom)
             if getattr(one, "value", "") == "cuda" or "cuda" in str(getattr(one, "module", ""))]  # fmt: skip
    return list({file: (file, one.lineno, ast.unparse(one)) for file, one in knows}.values())


def infoset_loops(modules: Modules) -> Items:
    """Functions of engines, other than NumPy twins, that turn numbers of an infoset into its strategy.

    They call ``normalise`` or ``matched`` of ``updates.rules``, or a GPU function made of them; divide by
    ``select(total > zero, ...)``, which is regret matching by hand; or call a rule by its address.
    """

    def normalises(node: ast.AST, names: set[str]) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            node, names = node.right, {"select", "where"}
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names

    engines = {f: m for f, m in modules.items() if f.startswith("engines/") and "reference" not in f}
    names = {file: normalisers(module) for file, module in engines.items()}
    return [(file, one.lineno, one.name) for file, one in find(engines, *FUNCTIONS)
            if any(normalises(part, names[file]) for part in own_nodes(one))]  # fmt: skip


def normalisers(module: ast.Module) -> set[str]:
    """What a module calls ``normalise`` and ``matched``: by import, or by ``match = rule(matched, ...)``."""
    names = {"call_rule"}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and re.fullmatch(r"treeplex\.updates\.rules?", f"{node.module}"):
            names |= {alias.asname or alias.name for alias in node.names if alias.name in {"normalise", "matched"}}
        if isinstance(node, ast.Assign):
            targets, values = (getattr(part, "elts", [part]) for part in (node.targets[0], node.value))
            for to, value in zip(targets, values, strict=False):
                if isinstance(value, ast.Call) and word(value.func) == "rule" and words(value) & names:
                    names.add(word(to))
    return names


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside a function, without functions nested in it."""
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, FUNCTIONS):
            yield from (part, *own_nodes(part))


def repackings(modules: Modules) -> Items:
    """Carriers of a request from the command line to the run loop: the review's nine were read, these are counted.

    These are classes with a field ``threads`` or ``limits``, or with seconds, iterations and nodes as limits; and
    functions whose result is unpacked as keyword arguments.
    """
    files = {file: module for file, module in modules.items() if REQUEST_FILES.fullmatch(file)}
    calls = {word(one.value.func): (file, one.value.lineno, ast.unparse(one)) for file, one in find(files, ast.keyword)
             if one.arg is None and isinstance(one.value, ast.Call)}  # fmt: skip
    held = [(file, one.lineno, one.name, set(fields(one))) for file, one in find(files, ast.ClassDef)]
    return [*calls.values(), *((file, line, name) for file, line, name, has in held
            if has & {"threads", "limits"} or has >= {"seconds", "iterations", "nodes"})]  # fmt: skip


def repeated_names(modules: Modules) -> Items:
    """Class names that are defined more than once in the package, private and nested ones included."""
    places: dict[str, list[str]] = defaultdict(list)
    for file, node in find(modules, ast.ClassDef):
        places[node.name].append(f"{file}:{node.lineno}")
    return [(name, len(where), " ".join(where)) for name, where in sorted(places.items()) if len(where) > 1]


def plain_any(modules: Modules) -> Items:
    """Parameters annotated with plain ``Any``; ``*args`` and ``**kwargs`` do not count."""
    return [(file, one.lineno, f"{node.name}({one.arg})") for file, node in find(modules, *FUNCTIONS)
            for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if word(one.annotation) == "Any"]  # fmt: skip


def long_functions(modules: Modules) -> Items:
    """Functions above 60 lines, from ``def`` to the end without the docstring, with what is nested in them."""
    sizes = [(file, node, (node.end_lineno or 0) - node.lineno + 1 - len(prose(node.body[0])))
             for file, node in find(modules, *FUNCTIONS)]  # fmt: skip
    return [(file, node.lineno, f"{node.name}: {size} lines") for file, node, size in sizes if size > 60]


def code_lines(source: Path) -> int:
    """Lines that are neither blank, nor a comment, nor in a string that stands alone."""
    count = 0
    for text in [file.read_text(encoding="utf-8") for file in source.rglob("*.py")]:
        apart = {line for node in ast.walk(ast.parse(text)) for line in prose(node)}
        lines = enumerate(map(str.strip, text.splitlines()), 1)
        count += sum(bool(line) and not line.startswith("#") and number not in apart for number, line in lines)
    return count


COUNTS: dict[str, tuple[Callable[[Modules], Items], str]] = {
    "CFR classes": (cfr_classes, "1"),
    "methods of Algorithm": (algorithm_methods, "8"),
    "checks of problems": (problem_checks, "5"),
    "checks of solvers and states": (solver_checks, ""),
    "files that name a backend": (backend_files, "2"),
    "compiled infoset loops": (infoset_loops, "10"),
    "repackings of a request": (repackings, "4"),
    "class names used more than once": (repeated_names, "15"),
    "plain Any parameters": (plain_any, "250"),
    "functions above 60 lines": (long_functions, "8"),
}
"""By name: how it is counted, and the most that the design allows."""


def main(arguments: list[str]) -> None:
    """Print the table."""
    root = Path(next((a for a in arguments if not a.startswith("--")), Path(__file__).parents[1]))
    modules = parse(root)
    for name, (count, most) in COUNTS.items():
        items = count(modules)
        print(f"{name:32}{len(items):>8,}{f'   at most {most}' if most else ''}")
        if "--details" in arguments:
            print(*(f"    {file}:{line}: {' '.join(what.split())}" for file, line, what in items), sep="\n")
    print(f"{'lines of code':32}{code_lines(root / 'src' / 'treeplex'):>8,}")
    print(f"{'files':32}{len(modules):>8,}")


if __name__ == "__main__":
    main(sys.argv[1:])
