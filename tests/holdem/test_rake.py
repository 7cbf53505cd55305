"""Rake: a spot is no longer zero-sum. Gains are counted by hand, and nothing is claimed that does not hold."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import hand_number, parse_card
from treeplex.games.holdem.spot import make_spot
from treeplex.holdem import Spot, sizes_for, solve

POT, STACK = 100, 80
OOP, IP = {"AcAd": 1.0, "QcQd": 0.5}, {"KcKd": 0.75, "AhAs": 1.0}
AHEAD = {("AcAd", "KcKd"): -1, ("AcAd", "AhAs"): 0, ("QcQd", "KcKd"): -1, ("QcQd", "AhAs"): -1}  # kings make a set
BOARD = "Ks 9h 6d 3c 2h"


def spot(rate, cap):
    text = [",".join(f"{hand}:{weight}" for hand, weight in hands.items()) for hands in (OOP, IP)]
    return Spot(BOARD, POT, STACK, *text, sizes_for("a", ""), rake_rate=rate, rake_cap=cap)


def outcome(first, second, deal, rake):
    """What both players take of the pot in one deal; each plays ``(alone, facing the bet)``, 1: bet or call."""
    (bets, calls), (bets_behind, calls_behind) = first, second
    if bets:
        bettor, called = 0, calls_behind
    elif bets_behind:
        bettor, called = 1, calls
    else:
        bettor, called = None, None
    if bettor is not None and not called:
        taken = [0.0, 0.0]
        taken[bettor] = POT - rake(POT)
        return taken
    put_in = 0 if bettor is None else STACK
    pot = POT + 2 * put_in
    left = pot - rake(pot)
    share = {1: 1.0, 0: 0.5, -1: 0.0}[AHEAD[deal]]
    return [left * share - put_in, left * (1.0 - share) - put_in]


CHOICES = list(itertools.product((0, 1), repeat=2))


def mixed(solution):
    """The probability of every pure plan of every hand: of betting alone and, apart from that, of calling."""
    plans = []
    for hands, alone, facing in ((OOP, "", "check, all-in"), (IP, "check", "all-in")):
        bet, call = (
            {h: view.strategy[-1, hand_number(parse_card(h[:2]), parse_card(h[2:]))] for h in hands}
            for view in (solution.at(alone), solution.at(facing))
        )
        plans.append(
            {
                h: {(b, c): (bet[h] if b else 1 - bet[h]) * (call[h] if c else 1 - call[h]) for b, c in CHOICES}
                for h in hands
            }
        )
    return plans


def _of(probability, chosen):
    return probability if chosen else 1.0 - probability


def counted(plans, rake):
    """What both players take on average."""
    total = {deal: OOP[deal[0]] * IP[deal[1]] for deal in itertools.product(OOP, IP)}
    taken = [0.0, 0.0]
    for (one, two), weight in total.items():
        for (first, p), (second, q) in itertools.product(plans[0][one].items(), plans[1][two].items()):
            won = outcome(first, second, (one, two), rake)
            for player in (0, 1):
                taken[player] += weight * p * q * won[player] / sum(total.values())
    return taken


def best(plans, player, rake):
    """The most a pure strategy takes: all 16 of a player with two hands are tried."""
    hands = list(plans[player])
    tried = []
    for choice in itertools.product(CHOICES, repeat=len(hands)):
        pure = {
            hand: {plan: float(plan == chosen) for plan in CHOICES} for hand, chosen in zip(hands, choice, strict=True)
        }
        tried.append(counted([pure, plans[1]] if player == 0 else [plans[0], pure], rake)[player])
    return max(tried)


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
@pytest.mark.parametrize(("rate", "cap"), [(0.0, 0.0), (0.05, 1000.0), (0.1, 6.0), (0.05, 2.0)])
@pytest.mark.parametrize("iterations", [1, 3, 40])
def test_gains_and_what_the_house_takes_are_those_counted_by_hand(iterations, rate, cap, storage):
    def rake(pot):
        return min(rate * pot, cap)

    solution = solve(spot(rate, cap), iterations=iterations, storage=storage)
    plans = mixed(solution)
    taken = counted(plans, rake)
    near = 1e-9 if storage == "float64" else 1e-3
    assert solution.ev == pytest.approx(taken, abs=near)
    gains = [best(plans, player, rake) - taken[player] for player in (0, 1)]
    assert solution.gains == pytest.approx(gains, abs=near)
    assert solution.nash_conv == pytest.approx(sum(gains), abs=2 * near)
    assert solution.zero_sum == (rate * cap == 0.0)
    paid = POT - sum(taken)
    assert (paid > 1.0) == (not solution.zero_sum)
    assert sum(solution.ev) == pytest.approx(POT - paid, abs=near)


def test_what_is_told_of_a_raked_spot():
    raked, free = (solve(spot(rate, 6.0), percent_of_pot=0.3) for rate in (0.1, 0.0))
    told = raked.summary()
    assert (told["zero_sum"], told["value"]) == (False, None)
    assert told["gains"] == list(raked.gains)
    assert told["status"] == "solved"  # the average of both gains is below the target
    assert sum(raked.gains) / 2 <= 0.003 * POT
    assert told["nash_conv"] == pytest.approx(sum(raked.gains), abs=1e-6)
    told = free.summary()
    assert told["zero_sum"] is True
    assert told["value"] == free.value


def test_a_rake_without_a_cap():
    """Aces and queens bet the pot into kings: bluffs make the caller indifferent, calls the bluffer, both by hand."""
    found = solve(
        Spot("2s 2h 2d 7c 8c", 100, 100, "AA,QQ", "KK", sizes_for("a", ""), rake_rate="5%"),
        percent_of_pot=0.005,
        storage="float64",
    )
    bluffs = 100 / (285 - 100)  # per value bet: the call of 100 wins 285
    calls = 95 / 195  # the bluff of 100 wins 95
    first = 0.5 * ((1 - calls) * 95 + calls * (285 - 100))
    assert (round(first, 1), round(0.5 * (1 - bluffs) * 95, 1)) == (69.4, 21.8)
    assert found.ev == pytest.approx((first, 0.5 * (1 - bluffs) * 95), abs=0.05)
    assert not found.zero_sum


@pytest.mark.parametrize("cap", [0, 0.0, "0"])
def test_a_cap_of_nothing_is_refused(cap):
    fields = {"board": BOARD, "pot": POT, "effective_stack": STACK, "oop_range": "AA", "ip_range": "QQ"}
    with pytest.raises(ParameterError, match="'rake_cap'"):
        make_spot(fields | {"rake_rate": 0.05, "rake_cap": cap})
    assert make_spot(fields | {"rake_rate": 0.05, "rake_cap": None}).rake(1000) == 50.0
    free = make_spot(fields)
    assert free.summary()["rake_cap"] == 0.0  # as in runs of earlier versions
    assert make_spot(free.summary()) == free
    assert replace(free, rake_rate=0.05).rake(1000) == 50.0
    if cap != "0":
        assert make_spot(fields | {"rake_rate": 0, "rake_cap": cap}).rake(1000) == 0.0
