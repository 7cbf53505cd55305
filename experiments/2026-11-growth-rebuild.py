"""Growth of continuous Leduc by appends, and by rebuild and carry in lockstep: CPU seconds of one thread.

    OMP_NUM_THREADS=1 .venv/bin/python experiments/2026-11-growth-rebuild.py cfr|cfr+ NODES [EVERY] [rules]

The growing tree decides what is added. After each check that adds, the abstraction is compiled anew and rows are
carried over; both then iterate. ``rules``: public trees come from the rules, and not from the growing tree's arrays.
EVERY: iterations between two checks, each of which then adds all that pays.
"""

import sys
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np

import treeplex.compile.dealt as dealt
from treeplex.compile.history import levels, parents_from_depth
from treeplex.compile.public import PublicTree
from treeplex.engines.protocol import Scheme
from treeplex.engines.public.cpu.growing import subtree
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.cpu import treeplex as walks
from treeplex.engines.sequence.engine import SequenceEngine, SequenceTables
from treeplex.engines.sequence.learners import scratch
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.growth import add
from treeplex.growth.algorithm import Growing
from treeplex.growth.answer import abstraction
from treeplex.growth.options import ALL, Growth
from treeplex.runs.games import sized_game
from treeplex.updates import RegretMatching, RegretMatchingPlus
from treeplex.updates.schedules import linear, uniform
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

CFR = Scheme(RegretMatching(), uniform(), SIMULTANEOUS)
PLUS = Scheme(RegretMatchingPlus(), linear(), ALTERNATING)  # averages are the public engine's but for their order
REBUILD = ("public", "compile", "tiles", "carry")
CLOCKS = ("iterate appended", "check", "append", "iterate rebuilt", *REBUILD)
seconds, from_rules = Counter(), dealt.build_public


@contextmanager
def clock(name):
    began = time.process_time()
    yield
    seconds[name] += time.process_time() - began


def from_arrays(game, first):
    """The public tree of a growing tree, as the compiler numbers it; ``first`` is that of the start."""
    old, tree = game.tree.nodes, game.tree
    order, words = np.empty(tree.count, dtype=np.int32), game.builder.words
    subtree(old, 0, order)
    moves, code = np.unique(np.stack([old.word, old.size])[:, order[1:]], axis=1, return_inverse=True)
    labels = [add.sized_label(words[int(w)], x) if x > 0.0 else words[int(w)] for w, x in moves.T.tolist()]
    depth, above = np.zeros(tree.count, dtype=np.int32), old.parent[order]
    while (above >= 0).any():
        depth, above = depth + (above >= 0), np.where(above >= 0, old.parent[above], -1)
    parent, size, place = parents_from_depth(depth), np.ones(tree.count, np.int32), np.zeros(tree.count, np.int32)
    for level in levels(depth)[:0:-1]:
        np.add.at(size, parent[level], size[level])
        starts = np.flatnonzero(np.diff(parent[level], prepend=-1))
        place[level] = np.arange(len(level)) - np.repeat(starts, np.diff(starts, append=len(level)))
    outcome = np.zeros(len(game.tables[0]), dtype=np.int32)
    for key, number in [one for one in game.builder._numbers.items() if isinstance(one[0], tuple)]:
        outcome[number] = first.outcomes.index(key[1])
    mover, table = old.mover[order], old.table[order]
    table = np.where(mover == TERMINAL, outcome[table], np.where(mover == CHANCE, 0, -1)).astype(np.int32)
    code, amount = np.r_[-1, code.ravel()].astype(np.int32), np.where(mover == TERMINAL, old.amount[order], 0.0)
    grown = PublicTree(mover, depth, size, code, place, amount, table)
    return first._replace(tree=grown, parent=parent, actions=labels)


class Rebuilt:
    """A compiled abstraction; rows of an older one count ``share``, new rows are those of the growing tree."""

    def __init__(self, rules, game, old=None, share=1.0):
        with clock("compile"):
            compiled = dealt.compile_dealt(rules)
        with clock("carry"):
            public, order = compiled.dealt.public, np.empty(game.tree.count, np.int32)
            subtree(game.tree.nodes, 0, order)  # as the compiler numbers public nodes
            self.sequences = np.zeros((2, game.tree.count, game.tree.hands), dtype=np.int32)  # 0: another's move
            learners = [Learner(*(np.zeros(t.sequences) for _ in Learner._fields)) for t in compiled.treeplexes]
            for player, treeplex in enumerate(compiled.treeplexes):
                moved = np.flatnonzero(public.tree.mover[public.parent[1:]] == player) + 1
                infoset = compiled.dealt.infoset[player][public.parent[moved]]
                sequence = treeplex.first[infoset] + public.tree.place[moved, None]
                self.sequences[player, order[moved]] = np.where(infoset >= 0, sequence, 0)
                regret, average, strategy, plan = learners[player]
                regret[self.sequences[player]] = game.tree.rows.regret / game.weight
                average[self.sequences[player]] = game.tree.rows.average / game.weight
                if old is not None:
                    before, learner = old.sequences[player], old.tables.learners[player]
                    now = self.sequences[player, : len(before)]
                    regret[now], average[now] = share * learner.regret[before], share * learner.average[before]
                regret[0] = average[0] = 0.0
                walks.normalise(treeplex, np.maximum(regret, 0.0), strategy)
                walks.realization_plan(treeplex, strategy, plan)
        self.engine = SequenceEngine(compiled, threads=1)
        with clock("tiles"):
            self.tables = self.engine._in_tiles(SequenceTables(tuple(learners), game.iteration))

    def difference(self, regret):  # the largest one to the growing tree's regrets, over the largest regret
        pairs = zip(self.sequences, self.tables.learners, strict=True)
        return max(np.abs(regret - one.regret[own])[own > 0].max() for own, one in pairs) / np.abs(regret).max()


def lockstep(start, growth, snapshots, by_rules=False):
    """Grow; after so many nodes each, print counts, CPU seconds so far, and milliseconds of the last rebuild."""
    algorithm, scheme, builds, last = Growing(growth), {"cfr": CFR, "cfr+": PLUS}[growth.algorithm], 0, {}
    state, every, public = algorithm.start(start), algorithm.growth.every, from_rules(start)
    game = state.game
    dealt.build_public = clock("public")(from_rules if by_rules else lambda _: from_arrays(game, public))
    rebuilt = Rebuilt(start, game)
    seconds.clear()
    while snapshots:
        with clock("iterate appended"):
            game.advance(every)
        with clock("iterate rebuilt"):
            rebuilt.tables = rebuilt.engine.iterate(rebuilt.tables, scheme, every)
        weight, added, earlier = game.weight, len(state.additions), Counter(seconds)
        with clock("check"):
            algorithm._check(state)
        if len(state.additions) > added:
            rules = abstraction(game, "grown") if by_rules else start
            builds, rebuilt = builds + 1, Rebuilt(rules, game, rebuilt, weight / game.weight)
            last = {name: 1e3 * (seconds[name] - earlier[name]) for name in CLOCKS}
        if game.touched >= snapshots[0]:
            snapshots = [n for n in snapshots if n > game.touched]
            figures = [game.touched, game.iteration, len(state.additions), builds, game.tree.count]
            figures += (
                [rebuilt.difference(game.tree.rows.regret / game.weight)]
                + [seconds[name] for name in CLOCKS]
                + [last.get(name, 0.0) for name in REBUILD]
            )
            print(*(f"{x:.4g}" for x in figures), sep=",", flush=True)


if __name__ == "__main__":
    add._copied, add._merge = clock("append")(add._copied), clock("append")(add._merge)
    leduc, name, nodes, *rest = sized_game("continuous_leduc"), sys.argv[1], float(sys.argv[2]), *sys.argv[3:]
    chosen = {"every": int(rest[0]), "per_check": ALL} if rest and rest[0] != "rules" else {}
    lockstep(leduc, Growth(algorithm=name), [2e6])  # kernels compile
    print("nodes,iterations,sizes,rebuilds,public nodes,difference", *CLOCKS, *(f"last {c}" for c in REBUILD), sep=",")
    lockstep(leduc, Growth(algorithm=name, **chosen), np.geomspace(1e6, nodes, 10).tolist(), "rules" in rest)
