"""Rules in, flat arrays out: treeplexes, payoff operator and history tree, checked before anything is solved."""

from treeplex.compiled.build import compile_game
from treeplex.compiled.game import CompiledGame
from treeplex.compiled.history import HistoryTree
from treeplex.compiled.labels import Labels
from treeplex.compiled.payoffs import Csr, Payoffs
from treeplex.compiled.storage import load, save
from treeplex.compiled.treeplex import Treeplex

__all__ = ["CompiledGame", "Csr", "HistoryTree", "Labels", "Payoffs", "Treeplex", "compile_game", "load", "save"]
