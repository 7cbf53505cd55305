"""``auto``: a race of a few algorithms that are best at different games, decided by counted work.

Every member keeps its own state. The leader's iterations are the run's. At iterations that are ``race.STEP`` apart the
others are brought as far as they are to follow, all are measured, and ``race`` decides who leads from then on and how
much the linear program is granted. Whoever is found to be good enough is the answer, at whatever iteration it is.

Decisions depend on NashConv and on counted work alone, never on a clock or the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms import portfolio, race
from treeplex.algorithms.auto_story import LED, PROGRAM_FAILED, PROGRAM_ROUGH, Event, Raced
from treeplex.algorithms.linear_program import LinearProgram
from treeplex.algorithms.lp_session import LPSession
from treeplex.algorithms.protocol import Algorithm, Cost, Execution, Extras, Stop, StrategyReport, Work, never
from treeplex.algorithms.race import MemberRow
from treeplex.algorithms.reports import ProfileReport
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.open import AUTO, CPU
from treeplex.engines.sequence.engine import TabularProfile
from treeplex.engines.sequence.evaluate import evaluate_strategies
from treeplex.errors import ParameterError, quoted
from treeplex.limits import Limits
from treeplex.tensors import MOST, TINY, Tensors, checked

Array = npt.NDArray[Any]
Member = Algorithm[CompiledGame, Any]

WAITING, SOLVED, FAILED, ROUGH = range(4)  # how the linear program stands: not ended, or how it ended
BURST: Final = 2e7  # nanoseconds of counted work between two looks at ``stop``
LARGEST_PROGRAM: Final = 3e7  # payoff entries; beyond, the linear program would take more memory than the race
NEARER: Final = 8  # at most this part of the nodes that are left is taken at once

UNLIMITED: Final = Limits()


class Program(NamedTuple):
    """The linear program as it stands."""

    standing: int
    calls: int  # granted so far: HiGHS asks once per iteration whether to go on
    iterations: int  # of the simplex method, once it is solved
    strategies: tuple[Array, Array]  # the equilibrium; empty before
    session: LPSession | None = None  # where it goes on; not saved, but begun again where it is missing


UNSOLVED: Final = Program(WAITING, 0, 0, (np.empty(0), np.empty(0)))


class AutoState(NamedTuple):
    """What the next iteration needs."""

    entrants: tuple[Any, ...]  # each member's own state
    rows: tuple[tuple[MemberRow, ...], ...]  # what was measured of each
    leader: int
    due: int  # the iteration of the next decision
    program: Program
    events: tuple[Event, ...]

    @property
    def iteration(self) -> int:
        """Of what gives the answer."""
        return self.program.iterations or self.entrants[self.leader].iteration


class AutoReport(StrategyReport):
    """The report of a member, and what ran."""

    def __init__(self, answer: StrategyReport, story: Callable[[], Extras]) -> None:
        self.answer, self.story = answer, story

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``StrategyReport``."""
        return self.answer.evaluate(threads)

    def host(self) -> AutoReport:
        """As ``StrategyReport``."""
        return AutoReport(self.answer.host(), self.story)

    @property
    def arrays(self) -> Any:
        """As ``StrategyReport``."""
        return self.answer.arrays

    def replace(self, arrays: Any) -> AutoReport:
        """As ``StrategyReport``."""
        return AutoReport(self.answer.replace(arrays), self.story)

    def policy(self) -> Any:
        """As ``StrategyReport``."""
        return self.answer.policy()

    def extras(self, evaluation: Evaluation) -> Extras:
        """As ``StrategyReport``."""
        return self.story()


@dataclass(frozen=True)
class Auto(Tabular[AutoState]):
    """The race."""

    solves_spots: ClassVar[bool] = True
    steady: ClassVar[bool] = False

    names: tuple[str, ...]
    members: tuple[Member, ...]
    with_program: bool  # whether the linear program is one of them
    spots: str  # what hold'em spots are solved by
    programmed: bool = False  # and whether it takes part in this run: it cannot heed a limit on iterations or nodes
    limits: Limits = UNLIMITED
    iterate: str = "average"  # what the run reports
    threads: int = 0  # for measuring

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As its members."""
        return self.members[0].storage

    @property
    def backend(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As its members."""
        return self.members[0].backend

    def open(self, game: Any, execution: Execution) -> Algorithm[Any, Any]:
        """As ``Algorithm``: by every member that supports the execution; a spot, by the one that is best there."""
        if not isinstance(game, CompiledGame):
            return _built(self.spots).open(game, execution)
        ready: list[tuple[str, Member]] = []
        refusals: list[ParameterError] = []
        for name, member in zip(self.names, self.members, strict=True):
            try:
                able = member.open(game, execution)
            except ParameterError as error:
                refusals.append(error)
                continue
            if execution.backend in (AUTO, able.backend):
                ready.append((name, able))
        on_device = [(name, able) for name, able in ready if able.backend != CPU]
        ready = on_device or ready  # where a GPU is faster, who has none comes too late
        if not ready:
            raise refusals[-1] if refusals else _refused(execution.backend)
        heeded = not on_device and not execution.limits.counted
        programmed = self.with_program and heeded and game.operator.entries <= LARGEST_PROGRAM
        names, members = tuple(name for name, _ in ready), tuple(member for _, member in ready)
        found = replace(self, names=names, members=members, programmed=programmed)
        return replace(found, limits=execution.limits, iterate=execution.iterate, threads=execution.threads)

    def start(self, game: CompiledGame, seed: int = 0) -> AutoState:
        """The first leads."""
        entrants = tuple(member.start(game, seed) for member in self.members)
        return AutoState(entrants, ((),) * len(entrants), 0, race.FIRST, UNSOLVED, ())

    def advance(self, game: CompiledGame, state: AutoState, iterations: int, stop: Stop = never) -> AutoState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        while not self._is_finished(state) and state.iteration < last:
            if state.iteration == state.due:
                state, done = self._decided(game, state, stop)
            else:
                upto = min(last, state.due)
                state = self._brought(game, state, state.leader, upto, stop)
                done = state.iteration == upto
            if not done:
                break
        return state

    def _is_finished(self, state: AutoState) -> bool:
        """When the linear program is the answer, or the leader has just been found to be good enough."""
        rows, target = state.rows[state.leader], self.limits.nash_conv
        good = target is not None and bool(rows) and rows[-1].nash_conv <= target
        return state.program.standing == SOLVED or (good and rows[-1].iteration == state.iteration)

    def work(self, game: CompiledGame, state: AutoState) -> Work:
        """As ``Algorithm``: a member goes on to another target, the linear program does not."""
        resumable, finished = state.program.standing != SOLVED, self._is_finished(state)
        return Work(state.iteration, self.nodes_touched(game, state), self.counters(state), finished, resumable)

    def nodes_touched(self, game: CompiledGame, state: AutoState) -> int:
        """Everyone's."""
        every = zip(self.members, state.entrants, strict=True)
        solved = game.nodes if state.program.standing == SOLVED else 0
        return sum(member.work(game, own).nodes for member, own in every) + solved

    def average(self, game: CompiledGame, state: AutoState) -> Strategies:
        """As ``Algorithm``: the leader's, or the linear program's."""
        return self.report(game, state, "average").arrays

    def current(self, game: CompiledGame, state: AutoState) -> Strategies:
        """As ``Algorithm``."""
        return self.report(game, state, "current").arrays

    def report(self, game: CompiledGame, state: AutoState, iterate: str) -> StrategyReport:
        """As ``Algorithm``: the leader's strategies, or the linear program's; they may be on a GPU."""
        if state.program.standing == SOLVED:
            answer: StrategyReport = ProfileReport(TabularProfile(game, state.program.strategies))
        else:
            answer = self.members[state.leader].report(game, state.entrants[state.leader], iterate)
        return AutoReport(answer, lambda: self._extras(game, state))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: of one member's iterations."""
        return self.members[0].cost(game)

    def counters(self, state: AutoState) -> dict[str, int]:
        """As ``Algorithm``: who leads, and everyone's iterations."""
        told = {f"iterations of {name}": own.iteration for name, own in zip(self.names, state.entrants, strict=True)}
        if self.programmed:
            told["iterations of lp"] = state.program.calls
        return {"leader": len(self.members) if state.program.standing == SOLVED else state.leader} | told

    def _extras(self, game: CompiledGame, state: AutoState) -> Raced:
        """What ran, and why, in one line."""
        iterations = [own.iteration for own in state.entrants]
        work = [self._spent(game, state, place) for place in range(len(self.members))]
        forecasts, names, answer = self._forecasts(state), list(self.names), state.leader
        if state.program.calls:
            names.append(portfolio.LP)
            iterations.append(state.program.iterations or state.program.calls)
            work.append(portfolio.prices(game, self.backend).program(state.program.calls))
            forecasts.append(work[-1])
            answer = len(self.members) if state.program.standing == SOLVED else answer
        return Raced(tuple(names), tuple(iterations), tuple(work), tuple(forecasts), answer, state.events)

    def save(self, state: AutoState) -> Tensors:
        """As ``Algorithm``: each member's own arrays, what was measured, and what was decided."""
        told = (len(self.members), state.leader, state.due, state.program.standing, state.program.calls)
        found: Tensors = {
            "race": np.array(told, dtype=np.int64),
            "events": np.array(state.events, dtype=np.float64).reshape(-1, len(Event._fields)),
        }
        for place, (member, own, rows) in enumerate(zip(self.members, state.entrants, state.rows, strict=True)):
            found[f"{place}.rows"] = np.array(rows, dtype=np.float64).reshape(-1, len(MemberRow._fields))
            found |= {f"{place}.{key}": array for key, array in member.save(own).items()}
        return found

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> AutoState:
        """As ``Algorithm``; the linear program begins again, and is given all it had before."""
        numbers = checked("race", tensors["race"], np.int64, (5,), 0, MOST)
        count, leader, due, standing, calls = (int(number) for number in numbers)
        if count != len(self.members) or leader >= count or standing not in (WAITING, FAILED, ROUGH):
            raise ValueError("it is of another race")
        entrants: list[Any] = []
        rows: list[tuple[MemberRow, ...]] = []
        for place, member in enumerate(self.members):
            head = f"{place}."
            own = {key.removeprefix(head): array for key, array in tensors.items() if key.startswith(head)}
            entrants.append(member.restore(game, own, seed))
            rows.append(_rows(own["rows"], entrants[-1].iteration))
        if due < entrants[leader].iteration:
            raise ValueError("its next decision is over")
        program = UNSOLVED._replace(standing=standing, calls=calls)
        return AutoState(tuple(entrants), tuple(rows), leader, due, program, _events(tensors["events"], count))

    def _decided(self, game: CompiledGame, state: AutoState, stop: Stop) -> tuple[AutoState, bool]:
        """Measure, decide, and give the linear program its share; False if ``stop`` or the limit on nodes cut it short.

        What is done is in the state, so that it goes on where it was cut, to the same bits.
        """
        if not state.rows[state.leader] or state.rows[state.leader][-1].iteration < state.due:
            state = self._measured(game, state, state.leader)
        for place in range(len(self.members)):
            while (goal := self._goal(game, state, place)) is not None:
                state, done = self._tried(game, state, place, goal, stop)
                if not done or self._is_finished(state):
                    return state, done
        while (place := race.challenger(self._needed(state), state.leader)) is not None:
            at = state.rows[place][-1].iteration
            if at == state.due:
                state = self._led(state, place)
                break
            state, done = self._tried(game, state, place, min(race.later(at), state.due), stop)
            if not done or self._is_finished(state):
                return state, done
        program, done = self._granted(game, state, stop)
        if not done:
            return state._replace(program=program), False
        events = (*state.events, *self._ending(program, state))
        return state._replace(program=program, events=events, due=race.later(state.due)), True

    def _goal(self, game: CompiledGame, state: AutoState, place: int) -> int | None:
        """The iteration at which someone who follows is measured next, if its share of the work suffices."""
        led_now = any((event.what, event.iteration) == (LED, state.due) for event in state.events)
        if place == state.leader or state.due < race.JOIN or led_now:  # the last: cut short after it was decided
            return None
        rows, price = state.rows[place], portfolio.prices(game, self.members[place].backend)
        share = portfolio.share(self.names[place], race.is_distant(self.limits.nash_conv, state.rows))
        goal = race.next_row(rows[-1].iteration if rows else 0)
        each = rows[-1].work / rows[-1].iteration if rows else price.iteration
        needed = goal * each + (len(rows) + 1) * price.evaluation
        within = needed <= share * self._spent(game, state, state.leader)
        return goal if within and goal <= state.due else None  # nobody is ahead of the leader

    def _tried(self, game: CompiledGame, state: AutoState, place: int, goal: int, stop: Stop) -> tuple[AutoState, bool]:
        """Someone else brought to iteration ``goal`` and measured, who leads at once if that is good enough."""
        state = self._brought(game, state, place, goal, stop)
        if state.entrants[place].iteration < goal:
            return state, False
        state = self._measured(game, state, place)
        good = self.limits.nash_conv is not None and state.rows[place][-1].nash_conv <= self.limits.nash_conv
        return (self._led(state, place) if good else state), True

    def _led(self, state: AutoState, place: int) -> AutoState:
        """The same under another leader."""
        forecasts = self._forecasts(state)
        event = Event(LED, place, state.due, forecasts[place] / forecasts[state.leader])
        return state._replace(leader=place, events=(*state.events, event))

    def _brought(self, game: CompiledGame, state: AutoState, place: int, upto: int, stop: Stop) -> AutoState:
        """The same with one member at iteration ``upto``, or before if ``stop`` or the limit on nodes says so."""
        member, own = self.members[place], state.entrants[place]
        burst = max(1, int(BURST / portfolio.prices(game, self.backend).iteration))
        others = self.nodes_touched(game, state) - member.work(game, own).nodes
        while (done := own.iteration) < upto:
            more = upto - done if place == state.leader else min(burst, upto - done)
            if self.limits.nodes is not None and place != state.leader:
                left = self.limits.nodes - others - member.work(game, own).nodes
                if left <= 0:
                    break
                each = member.work(game, own).nodes / done if done else 2.0 * game.nodes
                more = max(1, min(more, int(left / (NEARER * each))))
            own = member.advance(game, own, more, stop)
            if own.iteration < upto and stop():
                break
        return state._replace(entrants=_put(state.entrants, place, own))

    def _measured(self, game: CompiledGame, state: AutoState, place: int) -> AutoState:
        """The same with one more row, of the iterate that the run reports."""
        member, own = self.members[place], state.entrants[place]
        kinds = ("average", "current") if self.iterate == "best" else (self.iterate,)
        found = [member.report(game, own, kind).evaluate(self.threads) for kind in kinds]
        work = portfolio.spent(member, portfolio.prices(game, member.backend), game, own)
        row = MemberRow(own.iteration, work, min(one.nash_conv for one in found))
        return state._replace(rows=_put(state.rows, place, (*state.rows[place], row)))

    def _forecasts(self, state: AutoState) -> list[float]:
        """Everyone's; infinite where nothing was measured."""
        if not any(state.rows):
            return [math.inf] * len(state.rows)
        aim = race.aim_of(self.limits.nash_conv, state.rows)
        return [race.forecast(own, aim) for own in state.rows]

    def _needed(self, state: AutoState) -> list[float]:
        """What everyone seems to need from now on."""
        aim = race.aim_of(self.limits.nash_conv, state.rows)
        return [race.still_needed(own, aim) for own in state.rows]

    def _granted(self, game: CompiledGame, state: AutoState, stop: Stop) -> tuple[Program, bool]:
        """The linear program after its share of the work; False if ``stop`` cut that short."""
        program, price = state.program, portfolio.prices(game, self.backend)
        if program.standing != WAITING or not self.programmed:
            return program, True
        rows = state.rows[state.leader]
        target = self.limits.nash_conv or race.EXACT * rows[0].nash_conv
        work = sum(self._spent(game, state, place) for place in range(len(self.members)))
        left = race.still_needed(rows, target)
        if self.limits.nash_conv is None:  # nothing else would end the run
            left = max(left, work)
        allowed = race.allowance(state.due, work, left, price.typical)
        calls = price.calls(allowed)
        if calls <= program.calls or calls < race.LEAST * price.rows:
            return program, True
        session = program.session or LPSession(game, self.limits.nash_conv)
        if not session.upto(calls, stop):
            return program._replace(session=session), False
        if not session.ended:
            return program._replace(calls=calls, session=session), True
        found = session.found
        if found is None:
            return program._replace(standing=FAILED, calls=calls, session=None), True
        target = self.limits.nash_conv
        exact = target is None or evaluate_strategies(game, found.strategies).nash_conv <= target
        ended = program._replace(standing=SOLVED if exact else ROUGH, calls=found.iteration, session=None)
        return ended._replace(iterations=found.iteration, strategies=found.strategies) if exact else ended, True

    def _ending(self, program: Program, state: AutoState) -> list[Event]:
        """What there is to tell of a linear program that has just ended without an answer."""
        if program.standing in (WAITING, SOLVED, state.program.standing):
            return []
        what = PROGRAM_FAILED if program.standing == FAILED else PROGRAM_ROUGH
        return [Event(what, len(self.members), state.due, 0.0)]

    def _spent(self, game: CompiledGame, state: AutoState, place: int) -> float:
        """A member's counted work, with what it took to measure it."""
        price = portfolio.prices(game, self.members[place].backend)
        measuring = len(state.rows[place]) * price.evaluation
        return measuring + portfolio.spent(self.members[place], price, game, state.entrants[place])


def auto(members: str = portfolio.GAMES, spots: str = portfolio.SPOTS) -> Auto:
    """A race of ``members``, named algorithms with ``;`` between them, and perhaps ``lp``; ``spots`` solves hold'em.

    The run keeps the names, so that it is continued by the same members whatever later versions choose.
    """
    listed = [name.strip() for name in str(members).split(";")]
    names = [name for name in listed if name != portfolio.LP]
    made = [_built(name) for name in names]
    if not names or len(set(listed)) < len(listed) or any(isinstance(one, Auto | LinearProgram) for one in made):
        raise ParameterError(
            "The 'members' parameter must be different algorithms with ';' between them, at least one other than lp and"
            f" none of them auto, got {quoted(members)}."
        )
    _built(spots)
    return Auto(tuple(names), tuple(made), portfolio.LP in listed, spots)


def _built(name: str) -> Algorithm[Any, Any]:
    from treeplex.algorithms.registry import build  # noqa: PLC0415 - which lists this one, too

    return build(name)


def _rows(saved: Array, done: int) -> tuple[MemberRow, ...]:
    """Read the rows of a member from a checkpoint; raise ValueError unless each is later than the one before."""
    rows = checked("rows", saved, np.float64, (len(saved), len(MemberRow._fields)), 0.0)
    iteration, positive = rows[:, 0], rows[:, 2][rows[:, 2] > 0.0]
    rising = not np.any(np.diff(iteration, prepend=0.0) < 1.0) and iteration.max(initial=0.0) <= done
    if not rising or positive.min(initial=math.inf) < TINY * positive.max(initial=0.0):  # ``race`` divides them
        raise ValueError("its rows do not follow each other")
    return tuple(MemberRow(int(t), float(work), float(nash_conv)) for t, work, nash_conv in rows)


def _events(saved: Array, members: int) -> tuple[Event, ...]:
    """Read the decisions about members and the linear program from a checkpoint; raise ValueError if they cannot be."""
    events = checked("events", saved, np.float64, (len(saved), len(Event._fields)), math.nan)  # a ratio may be infinite
    if np.any(checked("events", events[:, :3], np.float64, None, 0.0) > (PROGRAM_ROUGH, members, MOST)):
        raise ValueError("its events are of another race")
    return tuple(Event(int(what), int(who), int(when), float(ratio)) for what, who, when, ratio in events)


def _refused(backend: str) -> ParameterError:
    return ParameterError(f"The 'backend' parameter must be auto or cpu with these members, got {quoted(backend)}.")


def _put(row: tuple[Any, ...], place: int, thing: Any) -> tuple[Any, ...]:
    return (*row[:place], thing, *row[place + 1 :])
