"""Words of a line of play, such as ``check, bet 75%, call, 2c``, ``x/b75/c``, ``x-b750``, or ``r:0:c:b100:c:8h``."""

from __future__ import annotations

import re
from collections import deque
from typing import Final, NamedTuple

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import plain

VERBS: Final = {
    **dict.fromkeys(("x", "k", "check"), "check"),
    **dict.fromkeys(("c", "call"), "call"),
    **dict.fromkeys(("f", "fold"), "fold"),
    **dict.fromkeys(("b", "bet"), "bet"),
    **dict.fromkeys(("r", "raise"), "raise"),
    **dict.fromkeys(("a", "ai", "allin", "jam", "shove"), "all-in"),
}
SIZED: Final = ("bet", "raise", "all-in")
SINCE: Final = "since the start"
STREET_NAMES: Final = ("turn", "river")

_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_WORD: Final = re.compile(rf"([a-z]+?)(?:to)?(?:({_NUMBER})([%x]?))?")
_SIZE: Final = re.compile(rf"({_NUMBER})([%x]?)")
_CARD: Final = re.compile(r"(?:turn|river)?((?:[2-9tjqka]|10)[cdhs])")
_BETWEEN: Final = re.compile(r"[ ,;/|:>-]+")
_PIO: Final = re.compile(r"r:0(?::|$)")


class Word(NamedTuple):
    """One action, or one card. ``verb``: check, call, fold, bet, raise, all-in, card, or empty if it is unknown."""

    text: str  # as it was written; for a card only the card
    verb: str
    number: float | None
    unit: str  # "%" of the pot, "x" the previous bet, SINCE (all chips of the hand, as PioSOLVER counts), or empty

    @property
    def full(self) -> bool:
        """Whether the action is named by its whole word."""
        return self.text.startswith(("bet", "raise", "allin"))


def words_of(line: object) -> list[Word]:
    """Split a line into words at commas, slashes, dashes and blanks.

    >>> [(word.verb, word.number, word.unit) for word in words_of("x/b75%/c")]
    [('check', None, ''), ('bet', 75.0, '%'), ('call', None, '')]
    """
    if not isinstance(line, str):
        raise ParameterError(f"The 'line' must be text such as \"check, bet 75%, call, 2c\", got {quoted(line)}.")
    text = " ".join(re.sub(r"\([^()]*\)", " ", plain(line).lower()).split())
    text = re.sub(r" (?=%)", "", re.sub(r"\ball[ -]in(?![a-z])", "allin", text))
    pio = _PIO.match(text)
    tokens = deque(token for token in _BETWEEN.split(text[pio.end() :] if pio else text) if token)
    words: list[Word] = []
    while tokens:
        words.append(_next(tokens))
    words = [word for word in words if word.verb != "street"]
    return [word._replace(unit=SINCE) if pio and not word.unit else word for word in words]


def _next(tokens: deque[str]) -> Word:
    """Remove the first word from the tokens and return it; a size may be separate from its verb: ``bet to 750``."""
    token = tokens.popleft()
    card = _CARD.fullmatch(token)
    if card:
        return Word(card[1], "card", None, "")
    if token in STREET_NAMES:
        return Word(token, "street", None, "")
    match = _WORD.fullmatch(token)
    verb = VERBS.get(match[1], "") if match else ""
    if not match or not verb:
        return Word(token, "", None, "")
    number, unit = match[2], match[3] or ""
    if verb in SIZED and number is None:
        if len(tokens) > 1 and tokens[0] == "to" and _SIZE.fullmatch(tokens[1]):
            tokens.popleft()
        size = _SIZE.fullmatch(tokens[0]) if tokens else None
        if size:
            token, number, unit = f"{token} {tokens.popleft()}", size[1], size[2]
        elif tokens and tokens[0] == "pot":
            token, number, unit = f"{token} {tokens.popleft()}", "100", "%"
    return Word(token, verb, None if number is None else float(number), unit)
