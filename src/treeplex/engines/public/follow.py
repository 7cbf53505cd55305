"""The subgame behind a neighbouring size, as a guide to the sizes of a new one."""

from __future__ import annotations

from dataclasses import dataclass

from treeplex.engines.public.tree import GrowingTree
from treeplex.games.mapping import most_likely


@dataclass(frozen=True)
class Guide:
    """A node of the tree that stands for one of a new subgame."""

    tree: GrowingTree
    words: list[str]
    node: int

    def sizes(self) -> list[float]:
        """Those that have been found here."""
        sizes = self.tree.nodes.size
        return [float(sizes[child]) for child in self.tree.children(self.node) if sizes[child] > 0.0]

    def after(self, action: str) -> Guide | None:
        """After an action without a size."""
        nodes = self.tree.nodes
        for child in self.tree.children(self.node):
            if nodes.size[child] <= 0.0 and self.words[int(nodes.word[child])] == action:
                return Guide(self.tree, self.words, child)
        return None

    def after_size(self, size: float, unit: float) -> Guide | None:
        """After the size that this one is most likely read as: itself, where it has been found here."""
        sizes = self.sizes()
        if not sizes:
            return None
        like = most_likely(sizes, size, unit)
        found = (child for child in self.tree.children(self.node) if self.tree.nodes.size[child] == like)
        return Guide(self.tree, self.words, next(found))
