"""Reader of ``.efg`` files with any number of players and any depth.

Where the format's manual leaves a question open, this reader does the same as Gambit, with these exceptions. Labels may
repeat from one infoset or node to another. A description may omit only its label, as older manuals do. ``1/2`` and
``0.5`` are the same payoff when an outcome is described twice. The sum of decimal probabilities may differ from 1 by a
rounding error. Words after the end of the tree are an error.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeVar

from treeplex.errors import ParameterError
from treeplex.games.efg.lexer import Lexer, Token, TokenKind, is_decimal, quoted
from treeplex.games.efg.model import SUM_BITS, EfgFile, EfgNode, NodeKind

ROUNDING: Final = Fraction(1, 10**9)
"""Allowed error in the sum of probabilities if some of them are decimals; fractions must add up to exactly 1."""

_Content = TypeVar("_Content")
_Moves = tuple[tuple[str, ...], tuple[Fraction, ...]]
"""Actions and, at chance, their probabilities."""
_Described = dict[tuple[int, int], tuple[str, _Content]]
"""Label and content of infosets or outcomes, which a file must state once and may omit afterwards."""


def read(path: str | Path) -> EfgFile:
    """Read the file at ``path``."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ParameterError(f"The .efg file '{path}' cannot be read ({reason}); check the path.") from error
    return parse(data, str(path))


def parse(source: str | bytes, path: str = "") -> EfgFile:
    """Parse the content of a file, text or bytes; ``path`` names it in errors.

    Bytes are decoded as UTF-8 or, if they are not UTF-8, as Latin-1, which many old files use.
    """
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8")
        except UnicodeDecodeError:
            source = source.decode("latin-1")
    return _Parser(Lexer(source, path)).file()


class _Parser:
    """Parser of one file, with the infosets and outcomes described so far, by number."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._players = 0
        self._infosets: _Described[_Moves] = {}
        self._outcomes: _Described[tuple[Fraction, ...]] = {}

    def file(self) -> EfgFile:
        """Parse the whole file: header, players, comment, tree."""
        lexer = self._lexer
        for what, legal in (("'EFG' at the start", ("EFG",)), ("the version 2", ("2",)), ("'R' or 'D'", ("R", "D"))):
            if lexer.token.kind not in (TokenKind.WORD, TokenKind.NUMBER) or lexer.token.text not in legal:
                raise lexer.unexpected(what)
            lexer.advance()
        title = lexer.take(TokenKind.LABEL, "the title of the game in double quotes").text
        lexer.take(TokenKind.OPEN, "'{' before the players")
        players = self._labels("the name of a player in double quotes")
        self._players = len(players)
        comment = lexer.take_if(TokenKind.LABEL)
        return EfgFile(title, players, self._nodes(), comment.text if comment else "")

    def _nodes(self) -> tuple[EfgNode, ...]:
        nodes: list[EfgNode] = []
        missing = 1
        while missing:
            if self._lexer.token.kind is TokenKind.END:
                raise self._lexer.unexpected(f"{missing} more node{'s' * (missing > 1)}")
            node = self._node()
            nodes.append(node)
            missing += len(node.actions) - 1
        if self._lexer.token.kind is not TokenKind.END:
            raise self._lexer.unexpected("the end of the file, as every branch of the tree has ended")
        return tuple(nodes)

    def _node(self) -> EfgNode:
        lexer = self._lexer
        letter = lexer.token
        if letter.kind is not TokenKind.WORD or letter.text not in ("c", "p", "t"):
            raise lexer.unexpected("a node: 'c', 'p' or 't'")
        lexer.advance()
        kind = NodeKind(letter.text)
        label = lexer.take(TokenKind.LABEL, "the label of the node in double quotes").text
        player = self._player() if kind is NodeKind.PLAYER else 0
        infoset, infoset_label, (actions, probabilities) = (
            (0, "", ((), ())) if kind is NodeKind.TERMINAL else self._infoset(player)
        )
        outcome, outcome_label, payoffs = self._outcome()
        return EfgNode(
            kind, label, player, infoset, infoset_label, actions, probabilities, outcome, outcome_label, payoffs
        )

    def _player(self) -> int:
        token = self._lexer.token
        player = self._lexer.take_whole("the number of the player")
        if not 1 <= player <= self._players:
            raise self._lexer.error(f"the player must be from 1 to {self._players}, found {player}.", token.offset)
        return player

    def _infoset(self, player: int) -> tuple[int, str, _Moves]:
        """Parse an infoset, of chance if ``player`` is 0: number, label, moves."""
        first = self._lexer.token
        number = self._lexer.take_whole("the number of the infoset")
        name = f"infoset {number} of player {player}" if player else f"chance infoset {number}"
        read_moves = self._actions if player else self._chances
        return number, *self._described(self._infosets, (player, number), first, name, "actions", read_moves)

    def _outcome(self) -> tuple[int, str, tuple[Fraction, ...]]:
        """Parse an outcome: number, label, payoffs. Number 0 is the null outcome."""
        first = self._lexer.token
        number = self._lexer.take_whole("the number of the outcome")
        if number == 0:
            if self._lexer.token.kind in (TokenKind.LABEL, TokenKind.OPEN):
                raise self._lexer.unexpected("the next node, as outcome 0 has neither label nor payoffs")
            return 0, "", ()
        name = f"outcome {number}"
        return number, *self._described(self._outcomes, (0, number), first, name, "payoffs", self._payoffs)

    def _described(
        self,
        described: _Described[_Content],
        key: tuple[int, int],
        first: Token,
        name: str,
        what: str,
        read_content: Callable[[str, Token], _Content],
    ) -> tuple[str, _Content]:
        """Parse the description after the number ``first``, which is required once and must not change later."""
        lexer, known = self._lexer, described.get(key)
        label = lexer.take_if(TokenKind.LABEL)
        if known and label and label.text != known[0]:
            sentence = f"{name} is labelled {quoted(label.text)} here and {quoted(known[0])} before."
            raise lexer.error(sentence, label.offset)
        opening = lexer.take_if(TokenKind.OPEN)
        if opening is None:
            if known:
                return known
            if label:
                raise lexer.unexpected(f"'{{' before the {what} of {name}")
            raise lexer.error(f"{name} is new here; its label and {what} must follow.", first.offset)
        content = read_content(name, opening)
        if known and content != known[1]:
            raise lexer.error(f"{name} has different {what} here than before.", opening.offset)
        return described.setdefault(key, (label.text if label else "", content))

    def _labels(self, what: str) -> tuple[str, ...]:
        """Parse at least one label and the closing brace."""
        labels = [self._lexer.take(TokenKind.LABEL, what).text]
        while self._lexer.token.kind is not TokenKind.CLOSE:
            labels.append(self._lexer.take(TokenKind.LABEL, f"{what}, or '}}'").text)
        self._lexer.advance()
        return tuple(labels)

    def _actions(self, name: str, _opening: Token) -> _Moves:
        return self._labels(f"an action of {name} in double quotes"), ()

    def _chances(self, name: str, opening: Token) -> _Moves:
        """Parse actions, each with its probability, and the closing brace."""
        lexer = self._lexer
        actions: list[str] = []
        probabilities: list[Fraction] = []
        rounded = False
        while not actions or lexer.token.kind is not TokenKind.CLOSE:
            what = f"an action of {name} in double quotes" + (", or '}'" if actions else "")
            actions.append(lexer.take(TokenKind.LABEL, what).text)
            token = lexer.token
            rounded |= is_decimal(token)
            probabilities.append(lexer.take_number(f"the probability of {quoted(actions[-1])}"))
            if probabilities[-1] < 0:
                raise lexer.error(f"a probability must not be negative, found {token.shown()}.", token.offset)
        lexer.advance()
        self._check_sum(name, probabilities, rounded, opening)
        return tuple(actions), tuple(probabilities)

    def _check_sum(self, name: str, probabilities: list[Fraction], rounded: bool, opening: Token) -> None:
        total = Fraction(0)
        for probability in probabilities:
            total += probability
            if total.denominator.bit_length() > SUM_BITS:
                raise self._lexer.error(
                    f"the probabilities of {name} are too intricate to add up exactly.", opening.offset
                )
        if abs(total - 1) > (ROUNDING if rounded else 0):
            shown = str(total) if max(total.numerator, total.denominator) < 10**6 else f"{float(total):.12g}"
            raise self._lexer.error(f"the probabilities of {name} add up to {shown} instead of 1.", opening.offset)

    def _payoffs(self, name: str, _opening: Token) -> tuple[Fraction, ...]:
        """Parse one number per player, each with an optional comma, and the closing brace."""
        payoffs: list[Fraction] = []
        for player in range(1, self._players + 1):
            payoffs.append(self._lexer.take_number(f"the payoff of player {player} in {name}"))
            self._lexer.take_if(TokenKind.COMMA)
        self._lexer.take(TokenKind.CLOSE, f"'}}' after the payoffs of all {self._players} players")
        return tuple(payoffs)
