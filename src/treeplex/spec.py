"""Names of games and algorithms with parameters, ``name(parameter=value,...)``, on the command line and in Python."""

from __future__ import annotations

import difflib
import inspect
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from treeplex.errors import ParameterError, quoted


def parse(spec: str) -> tuple[str, list[tuple[str, Any]]]:
    """Split into the name and (parameter, value) pairs; the parameter of a value without a name is "".

    >>> parse('leduc5(sizes="dt")')
    ('leduc5', [('sizes', 'dt')])
    """
    if not isinstance(spec, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from a file
        raise ParameterError(f"Write name(parameter=value,...), got {quoted(spec)}.")
    name, bracket, rest = spec.strip().partition("(")
    if not bracket:
        return name, []
    if not rest.endswith(")"):
        raise ParameterError(f"Write name(parameter=value,...), got {quoted(spec)}: the last ')' is missing.")
    return name.strip(), [_argument(part, spec) for part in _split(rest[:-1])]


def parameters(build: Callable[..., Any]) -> dict[str, Any]:
    """Parameters of a builder and their defaults; ``...`` for a required one."""
    builder_parameters = inspect.signature(build).parameters.values()
    return {p.name: ... if p.default is p.empty else p.default for p in builder_parameters if p.name != "name"}


def usage(name: str, build: Callable[..., Any]) -> str:
    """Format a name with its parameters as ``name(parameter=default,...)``."""
    shown = [key if value is ... else f"{key}={_show(value)}" for key, value in parameters(build).items()]
    return f"{name}({','.join(shown)})" if shown else name


def bind(kind: str, name: str, build: Callable[..., Any], values: list[tuple[str, Any]]) -> dict[str, Any]:
    """Map parameters to values; raise ParameterError if a parameter is unknown, repeated or missing."""
    legal = parameters(build)
    names = list(legal)
    named: dict[str, Any] = {}
    for position, (key, value) in enumerate(values):
        parameter = key or (names[position] if position < len(names) else "")
        if parameter not in legal:
            received = quoted(key) if key else f"{len(values)} values"
            has = f"the parameters {usage(name, build)}" if legal else "no parameters"
            raise ParameterError(f"The {kind} '{name}' has {has}, got {received}.")
        if parameter in named:
            raise ParameterError(f"The parameter '{parameter}' of '{name}' is given twice.")
        named[parameter] = value
    missing = [key for key, default in legal.items() if default is ... and key not in named]
    if missing:
        raise ParameterError(f"The {kind} '{name}' needs the parameter '{missing[0]}': {usage(name, build)}.")
    return named


def folded(name: str) -> str:
    """Normalise the spelling of a name: case, blanks, ``_``, ``-`` and "plus" for ``+`` do not matter."""
    return re.sub(r"[\s_-]+", "", name.casefold().replace("plus", "+"))


def match_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``name`` spells; None if there is none, or more than one.

    >>> match_name("CFR_plus", ["cfr", "cfr+"])
    'cfr+'
    """
    names = list(known)
    alike = [name] if name in names else [other for other in names if folded(other) == folded(name)]
    return alike[0] if len(alike) == 1 else None


def unknown(kind: str, name: str, known: Iterable[str], see: str = "treeplex list") -> ParameterError:
    """Error for an unknown name: it suggests variants or similar names, and the command that lists all."""
    names = {folded(other): other for other in known}
    family = [other for other in names.values() if other.startswith(f"{name.lower()}-")]
    if family:
        return ParameterError(f"There is no {kind} {quoted(name)} by itself; choose one of {', '.join(family)}.")
    near = [names[other] for other in difflib.get_close_matches(folded(name[:80]), names, n=3, cutoff=0.3)]
    advice = f"; the nearest are {', '.join(near)}" if near else ""
    return ParameterError(f"There is no {kind} {quoted(name)}{advice} (see: {see}).")


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets and quotes."""
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    tail = text[start:]
    return [*parts, tail] if parts or tail.strip() else []


def _argument(part: str, spec: str) -> tuple[str, Any]:
    key, equals, text = part.partition("=")
    key, text = (key.strip(), text.strip()) if equals else ("", part.strip())
    if not text or (equals and not key.isidentifier()):
        raise ParameterError(
            f"Write name(parameter=value,...), got {quoted(spec)}: {quoted(part)} is not parameter=value."
        )
    if text[0] == text[-1] == "'" and len(text) > 1:
        return key, text[1:-1]
    try:
        value: Any = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except (ValueError, RecursionError):
        return key, text
    if isinstance(value, float) and value % 1 == 0 and "e" in text.lower():  # 1e6 is a count like 1000000
        value = int(value)
    return key, value


def _show(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | str) else str(value)
