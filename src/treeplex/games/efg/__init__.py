r"""Games in Gambit's ``.efg`` format: reading, writing, and their rules.

>>> text = '''EFG 2 R "Guess" { "Hider" "Guesser" }
... p "" 1 1 "hide" { "left" "right" } 0
... p "" 2 1 "guess" { "left" "right" } 0
... t "" 1 "found" { -1/2 1/2 }
... t "" 2 "missed" { .5, -.5 }
... p "" 2 1 0
... t "" 2
... t "" 1
... '''
>>> game = EfgGame(parse(text))
>>> history = game.child(game.child(game.root(), "left"), "right")
>>> game.name, game.payoff(history), game.constant_sum
('Guess', (0.5, -0.5), Fraction(0, 1))
>>> parse(write(game.file)) == game.file
True
"""

from treeplex.games.efg.game import EfgGame, load
from treeplex.games.efg.model import EfgFile, EfgNode, NodeKind
from treeplex.games.efg.reader import parse, read
from treeplex.games.efg.writer import write

__all__ = ["EfgFile", "EfgGame", "EfgNode", "NodeKind", "load", "parse", "read", "write"]
