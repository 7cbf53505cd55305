"""A game of your own: a thief, a guard and an unreliable bell. Run me: python examples/own_game.py [--out PICTURE.png]

Every night the thief (player 0) robs or rests. A bell then rings: it is right four times out of five. The guard
(player 1) hears the bell, does not see the thief, and may go on patrol once. The thief sees the guard's lantern, but
does not hear the bell. Caught: the thief pays 2 and the game is over. Otherwise every robbery is worth 1.
"""

from argparse import ArgumentParser

import treeplex as tp


class NightWatch:
    name = "night watch"

    def __init__(self, nights=2):
        self.nights = nights

    def root(self):
        return ()

    def mover(self, history):
        if history[-3::2] == ("rob", "patrol") or len(history) == 3 * self.nights:
            return tp.TERMINAL
        return (0, tp.CHANCE, 1)[len(history) % 3]

    def actions(self, history):
        if len(history) % 3 == 2 and "patrol" in history:
            return ("sleep",)
        return (("rob", "rest"), ("bell", "quiet"), ("patrol", "sleep"))[len(history) % 3]

    def probabilities(self, history):
        return (0.8, 0.2) if history[-1] == "rob" else (0.2, 0.8)

    def child(self, history, action):
        return (*history, action)

    def infoset(self, history):
        unseen = ("bell", "quiet") if self.mover(history) == 0 else ("rob", "rest")
        return " ".join(event for event in history if event not in unseen) or "start"

    def payoff(self, history):
        return -2.0 if history[-3::2] == ("rob", "patrol") else float(history.count("rob"))


def main(out=None):
    solution = tp.solve(NightWatch(), "lp")
    print(f"The thief earns {solution.value:.4f} per game; no deviation gains more than {solution.nash_conv:.0e}.")
    for (player, infoset), plays in solution.policy.items():
        if len(plays) > 1:
            print(f"{('thief', 'guard')[player]}  {infoset:18}", *(f"{a} {p:.3f}" for a, p in plays.items()), sep="  ")
    if out:
        tp.draw(NightWatch(), solution.policy, out)
    return solution


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
