"""``auto``: a race of a few algorithms that are best at different games, decided by counted work.

Every member keeps its own state. The leader's iterations are the run's. At iterations that are ``race.STEP`` apart all
who run are brought to the leader's iteration and measured, and ``race`` decides who leads from then on, who waits, and
how much the linear program is granted. When that has found an equilibrium that is good enough, it is the answer.

Decisions depend on NashConv and on counted work alone, never on a clock or the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms import portfolio, race
from treeplex.algorithms.auto_story import LED, PARKED, PROGRAM_FAILED, PROGRAM_ROUGH, RECALLED, Event, Raced
from treeplex.algorithms.linear_program import LinearProgram
from treeplex.algorithms.lp_session import Session
from treeplex.algorithms.protocol import Algorithm, Cost, Execution, Goal, Stop, never
from treeplex.algorithms.race import Row
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError, quoted
from treeplex.evaluation.exact import Evaluation
from treeplex.evaluation.policy import Policy
from treeplex.tensors import Tensors

Array = npt.NDArray[Any]
Member = Algorithm[CompiledGame, Any]

WAITING, SOLVED, FAILED, ROUGH = range(4)  # how the linear program stands: not ended, or how it ended
BURST: Final = 2e7  # nanoseconds of counted work between two looks at ``stop``
SPREAD: Final = 1e9  # others run along in step with the leader if a decision would have to wait longer for them
LARGEST_PROGRAM: Final = 3e7  # payoff entries; beyond, the linear program would take more memory than the race


ANY_GOAL: Final = Goal()


class Program(NamedTuple):
    """The linear program as it stands."""

    standing: int
    calls: int  # granted so far: HiGHS asks once per iteration whether to go on
    iterations: int  # of the simplex method, once it is solved
    strategies: tuple[Array, Array]  # the equilibrium; empty before
    session: Session | None = None  # where it goes on; not saved, but begun again where it is missing


UNSOLVED: Final = Program(WAITING, 0, 0, (np.empty(0), np.empty(0)))


class AutoState(NamedTuple):
    """What the next iteration needs."""

    entrants: tuple[Any, ...]  # each member's own state
    rows: tuple[tuple[Row, ...], ...]  # what was measured of each
    running: tuple[bool, ...]  # the others wait
    leader: int
    due: int  # the iteration of the next decision
    program: Program
    events: tuple[Event, ...]

    @property
    def iteration(self) -> int:
        """Of what gives the answer."""
        return self.program.iterations or self.entrants[self.leader].iteration


@dataclass(frozen=True)
class Auto(Tabular[AutoState]):
    """The race."""

    names: tuple[str, ...]
    members: tuple[Member, ...]
    with_program: bool  # whether the linear program is one of them
    spots: str  # what hold'em spots are solved by
    programmed: bool = False  # and whether it takes part in this run: it cannot heed a limit on iterations or nodes
    goal: Goal = ANY_GOAL
    threads: int = 0  # for measuring

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.members[0].stored_as

    @property
    def backend(self) -> str:
        """As ``Algorithm``."""
        return self.members[0].backend

    def prepared(self, game: Any, execution: Execution) -> Algorithm[Any, Any]:
        """As ``Algorithm``: by every member that can heed what is asked; of a spot, by the one that is best there."""
        if not isinstance(game, CompiledGame):
            return _built(self.spots).prepared(game, execution)
        ready: list[tuple[str, Member]] = []
        refusals: list[ParameterError] = []
        for name, member in zip(self.names, self.members, strict=True):
            try:
                able = member.prepared(game, execution)
            except ParameterError as error:
                refusals.append(error)
                continue
            if execution.backend in ("auto", able.backend):
                ready.append((name, able))
        if not ready:
            raise refusals[0] if refusals else _refused(execution.backend)
        heeded = execution.backend != "cuda" and not execution.goal.counted
        programmed = self.with_program and heeded and game.operator.entries <= LARGEST_PROGRAM
        names, members = tuple(name for name, _ in ready), tuple(member for _, member in ready)
        found = replace(self, names=names, members=members, programmed=programmed)
        return replace(found, goal=execution.goal, threads=execution.threads)

    def start(self, game: CompiledGame, seed: int = 0) -> AutoState:
        """Everyone runs; the first leads."""
        count = len(self.members)
        return AutoState(
            tuple(member.start(game, seed) for member in self.members),
            ((),) * count,
            (True,) * count,
            0,
            race.FIRST,
            UNSOLVED,
            (),
        )

    def advance(self, game: CompiledGame, state: AutoState, iterations: int, stop: Stop = never) -> AutoState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        while not self.finished(state) and state.iteration < last:
            if state.iteration == state.due:
                before, state = state, self._decided(game, state, stop)
                if state.due == before.due:  # cut short
                    return state
                continue
            upto = min(last, state.due)
            state = self._brought(game, state, state.leader, upto, stop)
            if state.iteration < upto:
                return state
            if (state.due - upto) * portfolio.prices(game, self.backend).iteration > SPREAD:
                for place in self._others(state):
                    state = self._brought(game, state, place, upto, stop)
        return state

    def finished(self, state: AutoState) -> bool:
        """When the linear program is the answer."""
        return state.program.standing == SOLVED

    def nodes_touched(self, game: CompiledGame, state: AutoState) -> int:
        """Everyone's."""
        every = zip(self.members, state.entrants, strict=True)
        return sum(member.work(game, own).nodes for member, own in every) + (game.nodes if self.finished(state) else 0)

    def average(self, game: CompiledGame, state: AutoState) -> Strategies:
        """As ``Algorithm``: the leader's, or the linear program's."""
        return self.fetched(self.strategies(game, state, "average"))

    def current(self, game: CompiledGame, state: AutoState) -> Strategies:
        """As ``Algorithm``."""
        return self.fetched(self.strategies(game, state, "current"))

    def strategies(self, game: CompiledGame, state: AutoState, iterate: str) -> Any:
        """As ``Algorithm``: the leader's, or the linear program's; they may be on a GPU."""
        if self.finished(state):
            return state.program.strategies
        return self.members[state.leader].strategies(game, state.entrants[state.leader], iterate)

    def fetched(self, strategies: Any) -> Any:
        """As ``Algorithm``."""
        return self.members[0].fetched(strategies)

    def evaluate(self, game: CompiledGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``Algorithm``."""
        return self.members[0].evaluate(game, strategies, threads)

    def policy(self, game: CompiledGame, strategies: Any) -> Policy:
        """As ``Algorithm``."""
        return super().policy(game, self.fetched(strategies))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: of one member's iterations."""
        return self.members[0].cost(game)

    def counters(self, state: AutoState) -> dict[str, int]:
        """As ``Algorithm``: who leads, and everyone's iterations."""
        told = {f"iterations of {name}": own.iteration for name, own in zip(self.names, state.entrants, strict=True)}
        if self.programmed:
            told["iterations of lp"] = state.program.calls
        return {"leader": len(self.members) if self.finished(state) else state.leader} | told

    def extras(self, game: CompiledGame, state: AutoState, strategies: Any, evaluation: Evaluation) -> Raced:
        """As ``Algorithm``: what ran, and why, in one line."""
        price = portfolio.prices(game, self.backend)
        iterations = [state.entrants[place].iteration for place in range(len(self.members))]
        work = [self._spent(game, state, place) for place in range(len(self.members))]
        names = list(self.names)
        if state.program.calls:
            names.append(portfolio.LP)
            iterations.append(state.program.iterations or state.program.calls)
            work.append(price.program(state.program.calls))
        answer = len(names) - 1 if self.finished(state) else state.leader
        return Raced(tuple(names), tuple(iterations), tuple(work), answer, state.events)

    def save(self, state: AutoState) -> Tensors:
        """As ``Algorithm``: each member's own arrays, what was measured, and what was decided."""
        told = (state.leader, state.due, state.program.standing, state.program.calls, *state.running)
        found: Tensors = {
            "race": np.array(told, dtype=np.int64),
            "events": np.array(state.events, dtype=np.float64).reshape(-1, len(Event._fields)),
        }
        for place, (member, own, rows) in enumerate(zip(self.members, state.entrants, state.rows, strict=True)):
            found[f"{place}.rows"] = np.array(rows, dtype=np.float64).reshape(-1, len(Row._fields))
            found |= {f"{place}.{key}": array for key, array in member.save(own).items()}
        return found

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> AutoState:
        """As ``Algorithm``; the linear program begins again, and is given all it had before."""
        leader, due, standing, calls, *running = (int(number) for number in tensors["race"])
        if (
            len(running) != len(self.members)
            or not 0 <= leader < len(running)
            or standing not in (WAITING, FAILED, ROUGH)
        ):
            raise ValueError("it is of another race")
        entrants: list[Any] = []
        rows: list[tuple[Row, ...]] = []
        for place, member in enumerate(self.members):
            head = f"{place}."
            own = {key.removeprefix(head): array for key, array in tensors.items() if key.startswith(head)}
            entrants.append(member.restore(game, own, seed))
            rows.append(tuple(Row(int(t), float(work), float(found)) for t, work, found in own["rows"]))
        told = ((int(what), int(who), int(when), float(ratio)) for what, who, when, ratio in tensors["events"])
        events = tuple(Event(*one) for one in told)
        program = UNSOLVED._replace(standing=standing, calls=calls)
        on = tuple(bool(one) for one in running)
        return AutoState(tuple(entrants), tuple(rows), on, leader, due, program, events)

    def _decided(self, game: CompiledGame, state: AutoState, stop: Stop) -> AutoState:
        """Measure all who run, decide, and give the linear program its share.

        If ``stop`` cuts that short, only the members' own states are others: then all of it is done again.
        """
        ran = [place for place, runs in enumerate(state.running) if runs]
        state, done = self._together(game, state, ran, stop)
        if not done:
            return state
        rows = self._measured(game, state, ran)
        aim = race.aim_of(self.goal.nash_conv, rows)
        forecasts = [race.forecast(own, aim) for own in rows]
        called = race.recalled(forecasts, state.running, race.leading(forecasts, state.running, state.leader))
        state, done = self._together(game, state, called, stop)
        if not done:
            return state
        rows = self._measured(game, state._replace(rows=rows), called)
        forecasts = [race.forecast(own, aim) for own in rows]
        ordered = self._ordered(state._replace(rows=rows), called, forecasts)
        program, done = self._granted(game, ordered, stop)
        if not done:
            return state._replace(program=program)
        events = (*ordered.events, *self._ending(program, ordered))
        return ordered._replace(program=program, events=events, due=math.ceil(race.STEP * state.due))

    def _together(
        self, game: CompiledGame, state: AutoState, places: Iterable[int], stop: Stop
    ) -> tuple[AutoState, bool]:
        """Bring some to the iteration of the decision; False if ``stop`` cut that short."""
        for place in places:
            state = self._brought(game, state, place, state.due, stop)
            if state.entrants[place].iteration < state.due:
                return state, False
        return state, True

    def _brought(self, game: CompiledGame, state: AutoState, place: int, upto: int, stop: Stop) -> AutoState:
        """The same with one member at iteration ``upto``, or before if ``stop`` says so."""
        member, own = self.members[place], state.entrants[place]
        burst = max(1, int(BURST / portfolio.prices(game, self.backend).iteration))
        alone, done = place == state.leader, state.entrants[place].iteration
        while done < upto:
            own = member.advance(game, own, upto - done if alone else min(burst, upto - done), stop)
            done = own.iteration
            if done < upto and stop():
                break
        return state._replace(entrants=_put(state.entrants, place, own))

    def _measured(self, game: CompiledGame, state: AutoState, places: Iterable[int]) -> tuple[tuple[Row, ...], ...]:
        """All rows, with one more for some."""
        rows = state.rows
        for place in places:
            row = Row(state.due, self._spent(game, state, place), self._nash_conv(game, state, place))
            rows = _put(rows, place, (*rows[place], row))
        return rows

    def _nash_conv(self, game: CompiledGame, state: AutoState, place: int) -> float:
        """Of the iterate that the run reports."""
        member, own = self.members[place], state.entrants[place]
        kinds = ("average", "current") if self.goal.iterate == "best" else (self.goal.iterate,)
        found = [member.evaluate(game, member.strategies(game, own, kind), self.threads) for kind in kinds]
        return min(one.nash_conv for one in found)

    def _ordered(self, state: AutoState, called: list[int], forecasts: list[float]) -> AutoState:
        """Who leads, who runs and who waits from now on, and why."""
        events, running = list(state.events), list(state.running)
        for place in called:
            running[place] = True
        leader = race.leading(forecasts, running, state.leader)

        def told(what: int, place: int) -> Event:
            return Event(what, place, state.due, forecasts[place] / forecasts[leader])

        events += [told(RECALLED, place) for place in called]
        if leader != state.leader:
            events.append(told(LED, leader))
        for place in race.parked(forecasts, state.rows, running, leader):
            running[place] = False
            events.append(told(PARKED, place))
        return state._replace(leader=leader, running=tuple(running), events=tuple(events))

    def _granted(self, game: CompiledGame, state: AutoState, stop: Stop) -> tuple[Program, bool]:
        """The linear program after its share of the work; False if ``stop`` cut that short."""
        program, price = state.program, portfolio.prices(game, self.backend)
        if program.standing != WAITING or not self.programmed:
            return program, True
        rows = state.rows[state.leader]
        target = self.goal.nash_conv or race.EXACT * rows[0].nash_conv
        work = sum(self._spent(game, state, place) for place in range(len(self.members)))
        allowed = race.allowance(work, race.forecast(rows, target) - rows[-1].work)
        calls = price.calls(allowed)
        if calls <= program.calls or calls < race.LEAST * price.rows:
            return program, True
        session = program.session or Session(game)
        if not session.upto(calls, stop):
            return program._replace(session=session), False
        if not session.ended:
            return program._replace(calls=calls, session=session), True
        found = session.found
        if found is None:
            return program._replace(standing=FAILED, calls=calls, session=None), True
        exact = self.goal.nash_conv is None or self.evaluate(game, found.strategies).nash_conv <= self.goal.nash_conv
        ended = program._replace(standing=SOLVED if exact else ROUGH, calls=found.iteration, session=None)
        return ended._replace(iterations=found.iteration, strategies=found.strategies) if exact else ended, True

    def _ending(self, program: Program, state: AutoState) -> list[Event]:
        """What there is to tell of a linear program that has just ended without an answer."""
        if program.standing in (WAITING, SOLVED, state.program.standing):
            return []
        what = PROGRAM_FAILED if program.standing == FAILED else PROGRAM_ROUGH
        return [Event(what, len(self.members), state.due, 0.0)]

    def _others(self, state: AutoState) -> list[int]:
        return [place for place, runs in enumerate(state.running) if runs and place != state.leader]

    def _spent(self, game: CompiledGame, state: AutoState, place: int) -> float:
        member = self.members[place]
        price = portfolio.prices(game, member.backend)
        measuring = len(state.rows[place]) * price.evaluation
        return measuring + portfolio.spent(member, price, game, state.entrants[place])


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


def _refused(backend: str) -> ParameterError:
    return ParameterError(f"The 'backend' parameter must be auto or cpu with these members, got {quoted(backend)}.")


def _put(row: tuple[Any, ...], place: int, thing: Any) -> tuple[Any, ...]:
    return (*row[:place], thing, *row[place + 1 :])
