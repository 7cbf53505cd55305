"""``auto``: a race between a few algorithms, each best at different games, decided by counted work.

Every member has its own state. The leader's iterations are the run's. Decisions are made at iterations that are a
factor of ``race.STEP`` apart. The other members are then advanced as far as their share of the work allows, all are
measured, and ``race`` chooses the next leader and the linear program's budget. A member that reaches the target is
the answer, at whatever iteration that happens.

Decisions depend only on NashConv and counted work, never on a clock or the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms import portfolio, race
from treeplex.algorithms.auto_report import LED, PROGRAM_FAILED, PROGRAM_ROUGH, AutoExtras, Event
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

WAITING, SOLVED, FAILED, ROUGH = range(4)  # status of the linear program: not ended, or how it ended
BURST: Final = 2e7  # nanoseconds of counted work between two calls of ``stop``
LARGEST_PROGRAM: Final = 3e7  # payoff entries; above, the linear program would need more memory than the race
NEARER: Final = 8  # one step uses at most 1 / NEARER of the remaining nodes

UNLIMITED: Final = Limits()


class Program(NamedTuple):
    """The linear program and its progress."""

    status: int
    calls: int  # granted so far; HiGHS calls back once per iteration
    iterations: int  # simplex iterations, once it is solved
    strategies: tuple[Array, Array]  # the equilibrium; empty until then
    session: LPSession | None = None  # the paused program; not saved, restarted if missing


UNSOLVED: Final = Program(WAITING, 0, 0, (np.empty(0), np.empty(0)))


class AutoState(NamedTuple):
    """State of the race between iterations."""

    entrants: tuple[Any, ...]  # each member's own state
    rows: tuple[tuple[MemberRow, ...], ...]  # measurements of each member
    leader: int
    due: int  # iteration of the next decision
    program: Program
    events: tuple[Event, ...]

    @property
    def iteration(self) -> int:
        """Iteration of the member, or of the linear program, that gives the answer."""
        return self.program.iterations or self.entrants[self.leader].iteration


class AutoReport(StrategyReport):
    """The report of a member, with an account of the race."""

    def __init__(self, answer: StrategyReport, make_extras: Callable[[], Extras]) -> None:
        self.answer, self.make_extras = answer, make_extras

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``StrategyReport``."""
        return self.answer.evaluate(threads)

    def host(self) -> AutoReport:
        """As ``StrategyReport``."""
        return AutoReport(self.answer.host(), self.make_extras)

    @property
    def arrays(self) -> Any:
        """As ``StrategyReport``."""
        return self.answer.arrays

    def replace(self, arrays: Any) -> AutoReport:
        """As ``StrategyReport``."""
        return AutoReport(self.answer.replace(arrays), self.make_extras)

    def policy(self) -> Any:
        """As ``StrategyReport``."""
        return self.answer.policy()

    def extras(self, evaluation: Evaluation) -> Extras:
        """As ``StrategyReport``."""
        return self.make_extras()


@dataclass(frozen=True)
class Auto(Tabular[AutoState]):
    """A race between algorithms, of which one gives the answer."""

    solves_spots: ClassVar[bool] = True
    steady: ClassVar[bool] = False

    names: tuple[str, ...]
    members: tuple[Member, ...]
    with_program: bool  # True: the linear program is one of the members
    spots: str  # the algorithm for hold'em spots
    programmed: bool = False  # True: it takes part in this run, which has no limit on iterations or nodes
    limits: Limits = UNLIMITED
    iterate: str = "average"  # strategies that the run reports
    threads: int = 0  # threads for measurements

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Storage type of the members."""
        return self.members[0].storage

    @property
    def backend(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Backend of the members."""
        return self.members[0].backend

    def open(self, game: Any, execution: Execution) -> Algorithm[Any, Any]:
        """As ``Algorithm``: keep the members that support the execution; a spot uses only ``spots``."""
        if not isinstance(game, CompiledGame):
            return _built(self.spots).open(game, execution)
        ready: list[tuple[str, Member]] = []
        refusals: list[ParameterError] = []
        for name, member in zip(self.names, self.members, strict=True):
            try:
                prepared = member.open(game, execution)
            except ParameterError as error:
                refusals.append(error)
                continue
            if execution.backend in (AUTO, prepared.backend):
                ready.append((name, prepared))
        on_device = [(name, prepared) for name, prepared in ready if prepared.backend != CPU]
        ready = on_device or ready  # if a GPU pays, drop members without a GPU version
        if not ready:
            raise refusals[-1] if refusals else _refused(execution.backend)
        allowed = not on_device and not execution.limits.counted
        programmed = self.with_program and allowed and game.operator.entries <= LARGEST_PROGRAM
        names, members = tuple(name for name, _ in ready), tuple(member for _, member in ready)
        opened = replace(self, names=names, members=members, programmed=programmed)
        return replace(opened, limits=execution.limits, iterate=execution.iterate, threads=execution.threads)

    def start(self, game: CompiledGame, seed: int = 0) -> AutoState:
        """Start all members; the first one leads."""
        entrants = tuple(member.start(game, seed) for member in self.members)
        return AutoState(entrants, ((),) * len(entrants), 0, race.FIRST, UNSOLVED, ())

    def advance(self, game: CompiledGame, state: AutoState, iterations: int, stop: Stop = never) -> AutoState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        while not self._is_finished(state) and state.iteration < last:
            if state.iteration == state.due:
                state, done = self._decide(game, state, stop)
            else:
                upto = min(last, state.due)
                state = self._advance_member(game, state, state.leader, upto, stop)
                done = state.iteration == upto
            if not done:
                break
        return state

    def _is_finished(self, state: AutoState) -> bool:
        """True once the linear program is the answer, or the leader's latest row reaches the target."""
        rows, target = state.rows[state.leader], self.limits.nash_conv
        good = target is not None and bool(rows) and rows[-1].nash_conv <= target
        return state.program.status == SOLVED or (good and rows[-1].iteration == state.iteration)

    def work(self, game: CompiledGame, state: AutoState) -> Work:
        """As ``Algorithm``: a member can continue towards another target, the linear program cannot."""
        resumable, finished = state.program.status != SOLVED, self._is_finished(state)
        return Work(state.iteration, self.nodes_touched(game, state), self.counters(state), finished, resumable)

    def nodes_touched(self, game: CompiledGame, state: AutoState) -> int:
        """Histories entered by all members and the linear program."""
        every = zip(self.members, state.entrants, strict=True)
        solved = game.nodes if state.program.status == SOLVED else 0
        return sum(member.work(game, own).nodes for member, own in every) + solved

    def average(self, game: CompiledGame, state: AutoState) -> Strategies:
        """As ``Algorithm``: the leader's average, or the linear program's solution."""
        return self.report(game, state, "average").arrays

    def current(self, game: CompiledGame, state: AutoState) -> Strategies:
        """As ``Algorithm``."""
        return self.report(game, state, "current").arrays

    def report(self, game: CompiledGame, state: AutoState, iterate: str) -> StrategyReport:
        """As ``Algorithm``: the leader's strategies, or the linear program's. They may be on a GPU."""
        if state.program.status == SOLVED:
            answer: StrategyReport = ProfileReport(TabularProfile(game, state.program.strategies))
        else:
            answer = self.members[state.leader].report(game, state.entrants[state.leader], iterate)
        return AutoReport(answer, lambda: self._extras(game, state))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: the cost of one member."""
        return self.members[0].cost(game)

    def counters(self, state: AutoState) -> dict[str, int]:
        """As ``Algorithm``: index of the leading member, and the iterations of all members."""
        counts = {f"iterations of {name}": own.iteration for name, own in zip(self.names, state.entrants, strict=True)}
        if self.programmed:
            counts["iterations of lp"] = state.program.calls
        return {"leader": len(self.members) if state.program.status == SOLVED else state.leader} | counts

    def _extras(self, game: CompiledGame, state: AutoState) -> AutoExtras:
        """Return the account of the race: members, iterations, work and decisions."""
        iterations = [own.iteration for own in state.entrants]
        work = [self._spent(game, state, index) for index in range(len(self.members))]
        forecasts, names, answer = self._forecasts(state), list(self.names), state.leader
        if state.program.calls:
            names.append(portfolio.LP)
            iterations.append(state.program.iterations or state.program.calls)
            work.append(portfolio.prices(game, self.backend).program(state.program.calls))
            forecasts.append(work[-1])
            answer = len(self.members) if state.program.status == SOLVED else answer
        return AutoExtras(tuple(names), tuple(iterations), tuple(work), tuple(forecasts), answer, state.events)

    def save(self, state: AutoState) -> Tensors:
        """As ``Algorithm``: each member's own arrays, the measurements and the decisions."""
        numbers = (len(self.members), state.leader, state.due, state.program.status, state.program.calls)
        tensors: Tensors = {
            "race": np.array(numbers, dtype=np.int64),
            "events": np.array(state.events, dtype=np.float64).reshape(-1, len(Event._fields)),
        }
        for index, (member, own, rows) in enumerate(zip(self.members, state.entrants, state.rows, strict=True)):
            tensors[f"{index}.rows"] = np.array(rows, dtype=np.float64).reshape(-1, len(MemberRow._fields))
            tensors |= {f"{index}.{key}": array for key, array in member.save(own).items()}
        return tensors

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> AutoState:
        """As ``Algorithm``. The linear program starts over, with the number of calls it had before."""
        numbers = checked("race", tensors["race"], np.int64, (5,), 0, MOST)
        count, leader, due, status, calls = (int(number) for number in numbers)
        if count != len(self.members) or leader >= count or status not in (WAITING, FAILED, ROUGH):
            raise ValueError("it belongs to another race")
        entrants: list[Any] = []
        rows: list[tuple[MemberRow, ...]] = []
        for index, member in enumerate(self.members):
            head = f"{index}."
            own = {key.removeprefix(head): array for key, array in tensors.items() if key.startswith(head)}
            entrants.append(member.restore(game, own, seed))
            rows.append(_rows(own["rows"], entrants[-1].iteration))
        if due < entrants[leader].iteration:
            raise ValueError("its next decision lies in the past")
        program = UNSOLVED._replace(status=status, calls=calls)
        return AutoState(tuple(entrants), tuple(rows), leader, due, program, _events(tensors["events"], count))

    def _decide(self, game: CompiledGame, state: AutoState, stop: Stop) -> tuple[AutoState, bool]:
        """Measure, decide, and run the linear program; False if ``stop`` or the limit on nodes interrupted it.

        An interrupted decision continues from the partial state, to the same bits.
        """
        if not state.rows[state.leader] or state.rows[state.leader][-1].iteration < state.due:
            state = self._measure(game, state, state.leader)
        for index in range(len(self.members)):
            while (goal := self._goal(game, state, index)) is not None:
                state, done = self._try_member(game, state, index, goal, stop)
                if not done or self._is_finished(state):
                    return state, done
        while (index := race.challenger(self._needed(state), state.leader)) is not None:
            at = state.rows[index][-1].iteration
            if at == state.due:
                state = self._led_by(state, index)
                break
            state, done = self._try_member(game, state, index, min(race.later(at), state.due), stop)
            if not done or self._is_finished(state):
                return state, done
        program, done = self._run_program(game, state, stop)
        if not done:
            return state._replace(program=program), False
        events = (*state.events, *self._ending(program, state))
        return state._replace(program=program, events=events, due=race.later(state.due)), True

    def _goal(self, game: CompiledGame, state: AutoState, index: int) -> int | None:
        """Return the next iteration at which a non-leading member is measured, or None if its share is used up."""
        led_now = any((event.kind, event.iteration) == (LED, state.due) for event in state.events)
        if index == state.leader or state.due < race.JOIN or led_now:  # the last one: interrupted after the decision
            return None
        rows, price = state.rows[index], portfolio.prices(game, self.members[index].backend)
        share = portfolio.share(self.names[index], race.is_distant(self.limits.nash_conv, state.rows))
        goal = race.next_row(rows[-1].iteration if rows else 0)
        each = rows[-1].work / rows[-1].iteration if rows else price.iteration
        needed = goal * each + (len(rows) + 1) * price.evaluation
        within = needed <= share * self._spent(game, state, state.leader)
        return goal if within and goal <= state.due else None  # no member passes the leader

    def _try_member(
        self, game: CompiledGame, state: AutoState, index: int, goal: int, stop: Stop
    ) -> tuple[AutoState, bool]:
        """Advance another member to iteration ``goal`` and measure it; it leads at once if it reaches the target."""
        state = self._advance_member(game, state, index, goal, stop)
        if state.entrants[index].iteration < goal:
            return state, False
        state = self._measure(game, state, index)
        good = self.limits.nash_conv is not None and state.rows[index][-1].nash_conv <= self.limits.nash_conv
        return (self._led_by(state, index) if good else state), True

    def _led_by(self, state: AutoState, index: int) -> AutoState:
        """Return the state with another leading member."""
        forecasts = self._forecasts(state)
        event = Event(LED, index, state.due, forecasts[index] / forecasts[state.leader])
        return state._replace(leader=index, events=(*state.events, event))

    def _advance_member(self, game: CompiledGame, state: AutoState, index: int, upto: int, stop: Stop) -> AutoState:
        """Advance one member to iteration ``upto``, or less far if ``stop`` or the limit on nodes requires it."""
        member, own = self.members[index], state.entrants[index]
        burst = max(1, int(BURST / portfolio.prices(game, self.backend).iteration))
        others = self.nodes_touched(game, state) - member.work(game, own).nodes
        while (done := own.iteration) < upto:
            more = upto - done if index == state.leader else min(burst, upto - done)
            if self.limits.nodes is not None and index != state.leader:
                left = self.limits.nodes - others - member.work(game, own).nodes
                if left <= 0:
                    break
                each = member.work(game, own).nodes / done if done else 2.0 * game.nodes
                more = max(1, min(more, int(left / (NEARER * each))))
            own = member.advance(game, own, more, stop)
            if own.iteration < upto and stop():
                break
        return state._replace(entrants=_with_item(state.entrants, index, own))

    def _measure(self, game: CompiledGame, state: AutoState, index: int) -> AutoState:
        """Measure one member: append a row for the strategies that the run reports."""
        member, own = self.members[index], state.entrants[index]
        kinds = ("average", "current") if self.iterate == "best" else (self.iterate,)
        evaluations = [member.report(game, own, kind).evaluate(self.threads) for kind in kinds]
        work = portfolio.spent(member, portfolio.prices(game, member.backend), game, own)
        row = MemberRow(own.iteration, work, min(evaluation.nash_conv for evaluation in evaluations))
        return state._replace(rows=_with_item(state.rows, index, (*state.rows[index], row)))

    def _forecasts(self, state: AutoState) -> list[float]:
        """Return the forecast of every member; infinite where too little was measured."""
        if not any(state.rows):
            return [math.inf] * len(state.rows)
        aim = race.aim_of(self.limits.nash_conv, state.rows)
        return [race.forecast(own, aim) for own in state.rows]

    def _needed(self, state: AutoState) -> list[float]:
        """Return the forecast work that every member still needs."""
        aim = race.aim_of(self.limits.nash_conv, state.rows)
        return [race.still_needed(own, aim) for own in state.rows]

    def _run_program(self, game: CompiledGame, state: AutoState, stop: Stop) -> tuple[Program, bool]:
        """Run the linear program within its budget; False if ``stop`` interrupted it."""
        program, price = state.program, portfolio.prices(game, self.backend)
        if program.status != WAITING or not self.programmed:
            return program, True
        rows = state.rows[state.leader]
        target = self.limits.nash_conv or race.EXACT * rows[0].nash_conv
        work = sum(self._spent(game, state, index) for index in range(len(self.members)))
        left = race.still_needed(rows, target)
        if self.limits.nash_conv is None:  # without a target nothing else ends the run
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
        result = session.result
        if result is None:
            return program._replace(status=FAILED, calls=calls, session=None), True
        target = self.limits.nash_conv
        exact = target is None or evaluate_strategies(game, result.strategies).nash_conv <= target
        ended = program._replace(status=SOLVED if exact else ROUGH, calls=result.iteration, session=None)
        return ended._replace(iterations=result.iteration, strategies=result.strategies) if exact else ended, True

    def _ending(self, program: Program, state: AutoState) -> list[Event]:
        """Return the event of a linear program that has just ended without an answer."""
        if program.status in (WAITING, SOLVED, state.program.status):
            return []
        kind = PROGRAM_FAILED if program.status == FAILED else PROGRAM_ROUGH
        return [Event(kind, len(self.members), state.due, 0.0)]

    def _spent(self, game: CompiledGame, state: AutoState, index: int) -> float:
        """Return the counted work of a member, including its measurements."""
        price = portfolio.prices(game, self.members[index].backend)
        measuring = len(state.rows[index]) * price.evaluation
        return measuring + portfolio.spent(self.members[index], price, game, state.entrants[index])


def auto(members: str = portfolio.GAMES, spots: str = portfolio.SPOTS) -> Auto:
    """A race between ``members``: algorithms separated by ``;``, optionally with ``lp``. ``spots`` solves hold'em.

    The run stores the names, so a continued run has the same members whatever later versions choose.
    """
    listed = [name.strip() for name in str(members).split(";")]
    names = [name for name in listed if name != portfolio.LP]
    racers = [_built(name) for name in names]
    if (
        not names
        or len(set(listed)) < len(listed)
        or any(isinstance(member, Auto | LinearProgram) for member in racers)
    ):
        raise ParameterError(
            "The 'members' parameter must be different algorithms with ';' between them, at least one other than lp and"
            f" none of them auto, got {quoted(members)}."
        )
    _built(spots)
    return Auto(tuple(names), tuple(racers), portfolio.LP in listed, spots)


def _built(name: str) -> Algorithm[Any, Any]:
    from treeplex.algorithms.registry import build  # noqa: PLC0415 - it also lists this algorithm

    return build(name)


def _rows(saved: Array, done: int) -> tuple[MemberRow, ...]:
    """Read the rows of a member from a checkpoint; raise ValueError unless iterations increase from row to row."""
    rows = checked("rows", saved, np.float64, (len(saved), len(MemberRow._fields)), 0.0)
    iteration, positive = rows[:, 0], rows[:, 2][rows[:, 2] > 0.0]
    rising = not np.any(np.diff(iteration, prepend=0.0) < 1.0) and iteration.max(initial=0.0) <= done
    if not rising or positive.min(initial=math.inf) < TINY * positive.max(initial=0.0):  # ``race`` divides by them
        raise ValueError("its rows do not follow each other")
    return tuple(MemberRow(int(t), float(work), float(nash_conv)) for t, work, nash_conv in rows)


def _events(saved: Array, members: int) -> tuple[Event, ...]:
    """Read the decisions from a checkpoint; raise ValueError if they are impossible."""
    events = checked("events", saved, np.float64, (len(saved), len(Event._fields)), math.nan)  # a ratio may be infinite
    if np.any(checked("events", events[:, :3], np.float64, None, 0.0) > (PROGRAM_ROUGH, members, MOST)):
        raise ValueError("its events belong to another race")
    return tuple(Event(int(kind), int(member), int(t), float(ratio)) for kind, member, t, ratio in events)


def _refused(backend: str) -> ParameterError:
    return ParameterError(f"The 'backend' parameter must be auto or cpu with these members, got {quoted(backend)}.")


def _with_item(row: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*row[:index], item, *row[index + 1 :])
