r"""Lexer of ``.efg`` files, whose words are labels in double quotes, numbers, bare words, braces and commas.

Space only separates words. Inside quotes every character, including line ends, stands for itself, except that ``\"`` is
a quote. A backslash before anything else is just a backslash. The format has no comments: the only remark in a file is
the label after its players, so ``#`` and ``//`` are errors.
"""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from typing import Final, NamedTuple

from treeplex.errors import FormatError
from treeplex.games.efg.model import fits

_TOKEN: Final = re.compile(r'[ \t\r\n\v\f]*(?:(?P<mark>[{},])|(?P<quote>")|(?P<word>[^ \t\r\n\v\f{},"]+))')
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_WHOLE: Final = re.compile(r"\+?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+/[0-9]+|(?=\.?[0-9])[0-9]*(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?)")
_LONGEST: Final = 4000
"""Largest length of a number, and largest power of ten: below Python's own limit for integers."""
_SHOWN: Final = 40
"""Largest number of characters of a word in an error message."""
_OUT_OF_RANGE: Final = "is out of range: numbers go up to 1e300 in size and 500 digits in length"


class TokenKind(Enum):
    """Kinds of words; the value is their name in error messages."""

    LABEL = "a label in double quotes"
    NUMBER = "a number"
    WORD = "a word"
    OPEN = "'{'"
    CLOSE = "'}'"
    COMMA = "','"
    END = "the end of the file"


_MARKS: Final = {"{": TokenKind.OPEN, "}": TokenKind.CLOSE, ",": TokenKind.COMMA}


class Token(NamedTuple):
    """One word: its text (for a label, without quotes and escapes) and its start."""

    kind: TokenKind
    text: str
    offset: int

    def shown(self) -> str:
        """Format the word for an error message."""
        if self.kind is TokenKind.LABEL:
            return f"the label {quoted(self.text)}"
        return quoted(self.text) if self.kind in (TokenKind.NUMBER, TokenKind.WORD) else self.kind.value


class Lexer:
    """Reads a text word by word; ``token`` is the current word."""

    def __init__(self, text: str, path: str = "") -> None:
        self._text = text.removeprefix("\ufeff")  # some editors start a file with this mark
        self._path = path
        self._next = 0
        binary = self._text.find("\0")
        if binary >= 0:
            raise self.error("found a NUL character: this is a binary file, not the text of a game.", binary)
        self.token = self._scan()

    def advance(self) -> Token:
        """Step to the next word, and return the previous one."""
        passed = self.token
        self.token = self._scan()
        return passed

    def take(self, kind: TokenKind, what: str) -> Token:
        """Step over a word that must be of this kind; ``what`` describes it for the error message."""
        if self.token.kind is not kind:
            raise self.unexpected(what)
        return self.advance()

    def take_if(self, kind: TokenKind) -> Token | None:
        """Step over the word if it is of this kind."""
        return self.advance() if self.token.kind is kind else None

    def take_whole(self, what: str) -> int:
        """Step over a whole number from 0 up."""
        if self.token.kind is not TokenKind.NUMBER or not _WHOLE.fullmatch(self.token.text):
            raise self.unexpected(f"{what} (a whole number)")
        return int(self.advance().text)

    def take_number(self, what: str) -> Fraction:
        """Step over a number of any form: ``3``, ``-1.5e3``, ``.5`` or ``1/3``."""
        if self.token.kind is not TokenKind.NUMBER:
            raise self.unexpected(what)
        try:
            value = _fraction(self.token.text)
        except ValueError as problem:
            raise self.error(f"the number {self.token.shown()} {problem}.", self.token.offset) from None
        self.advance()
        return value

    def unexpected(self, what: str) -> FormatError:
        """Return the error that ``what`` was expected instead of the current word."""
        return self.error(f"expected {what}, found {self.token.shown()}.", self.token.offset)

    def error(self, sentence: str, offset: int) -> FormatError:
        """Return the error with this message, and the line and column of ``offset``."""
        line, start = 1, 0
        for end in _LINE_END.finditer(self._text, 0, offset):
            line, start = line + 1, end.end()
        return FormatError(sentence, path=self._path, line=line, column=offset - start + 1)

    def _scan(self) -> Token:
        match = _TOKEN.match(self._text, self._next)
        if match is None:
            return Token(TokenKind.END, "", self._next)
        if match.lastgroup == "quote":
            return self._label(match.start("quote"))
        self._next = match.end()
        if match.lastgroup == "mark":
            return Token(_MARKS[match["mark"]], match["mark"], match.start("mark"))
        kind = TokenKind.NUMBER if match["word"][0] in "+-.0123456789" else TokenKind.WORD
        return Token(kind, match["word"], match.start("word"))

    def _label(self, start: int) -> Token:
        end = self._text.find('"', start + 1)
        while end > 0 and self._text[end - 1] == "\\":
            end = self._text.find('"', end + 1)
        if end < 0:
            raise self.error("the label that starts here has no closing quote.", start)
        self._next = end + 1
        return Token(TokenKind.LABEL, self._text[start + 1 : end].replace('\\"', '"'), start)


def quoted(text: str) -> str:
    """Quote a piece of the file for an error message: escaped and shortened."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def is_decimal(token: Token) -> bool:
    """Whether a number is written as a decimal, and so may have been rounded."""
    return any(mark in token.text for mark in ".eE")


def _fraction(text: str) -> Fraction:
    """Return the exact value of ``3``, ``.5``, ``-1.5e3`` or ``1/3``; raise ValueError if the text is not a number."""
    if len(text) > _LONGEST:
        raise ValueError(_OUT_OF_RANGE)
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError("cannot be read; write an integer, a decimal such as -1.5e3 or a ratio such as 1/3")
    part, power = match.groups("")
    if abs(int(power or "0") - len(part)) > _LONGEST:  # a hostile power of ten is rejected before it is computed
        raise ValueError(_OUT_OF_RANGE)
    try:
        value = Fraction(text)
    except ZeroDivisionError:
        raise ValueError("divides by zero") from None
    if not fits(value):
        raise ValueError(_OUT_OF_RANGE)
    return value
