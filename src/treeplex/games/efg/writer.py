"""Writer of ``.efg`` files, one line per node; reading the text gives the same content.

Every node has its full description, for readers that do not support the optional parts.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Final

from treeplex.errors import FormatError
from treeplex.games.efg.lexer import quoted
from treeplex.games.efg.model import EfgFile, EfgNode, NodeKind, fits

EXACTLY: Final = Context(prec=3000, traps=[Inexact])  # 300 digits before the decimal point, 10 / 3 times 500 after it


def write(file: EfgFile) -> str:
    """Return the text of a file with this content; reading it gives the same content, with exact numbers."""
    players = " ".join(map(_label, file.players))
    head = [f"EFG 2 R {_label(file.title)} {{ {players} }}", _label(file.comment), ""]
    return "\n".join([*head, *map(_node, file.nodes), ""])


def _node(node: EfgNode) -> str:
    words = [node.kind.value, _label(node.label)]
    if node.kind is NodeKind.PLAYER:
        words.append(str(node.player))
    if node.kind is not NodeKind.TERMINAL:
        words += [str(node.infoset), _label(node.infoset_label), f"{{ {_moves(node)} }}"]
    words.append(str(node.outcome))
    if node.outcome:
        words += [_label(node.outcome_label), f"{{ {', '.join(map(_number, node.payoffs))} }}"]
    return " ".join(words)


def _moves(node: EfgNode) -> str:
    actions = map(_label, node.actions)
    if node.kind is NodeKind.PLAYER:
        return " ".join(actions)
    # A decimal point marks rounded probabilities, because readers tolerate rounding errors only in decimals.
    rounded = sum(node.probabilities) != 1
    odds = (text + ".0" if rounded and text.isdigit() else text for text in map(_number, node.probabilities))
    return " ".join(f"{action} {probability}" for action, probability in zip(actions, odds, strict=True))


def _number(value: Fraction) -> str:
    """Format a number as ``3`` or ``-1.25`` if a finite decimal is exact, otherwise as ``1/3``."""
    if not fits(value):
        raise _refusal("a number goes beyond 1e300 in size or 500 digits in length")
    with localcontext(EXACTLY):
        try:
            return format(Decimal(value.numerator) / value.denominator, "f")
        except Inexact:
            return str(value)


def _label(text: str) -> str:
    if text.endswith("\\") or "\0" in text:
        raise _refusal(f"the label {quoted(text)} ends in a backslash or has a NUL character")
    return '"' + text.replace('"', '\\"') + '"'


def _refusal(reason: str) -> FormatError:
    return FormatError(f"{reason}, which the format cannot hold.", path="writing .efg")
